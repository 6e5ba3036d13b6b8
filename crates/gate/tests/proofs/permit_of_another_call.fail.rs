//! A permit is not spent in another call, of this room or any.

#![expect(unused, reason = "only whether it compiles is asked")]

use tollgate_gate as gate;

use gate::{access::Spawn, g2_admit::Permit, g3_confine::Effects};

async fn spend<'a, 'b>(effects: Effects<'b>, permit: Permit<'a, Spawn>) {
    drop(effects.spawn(permit).await);
}

fn main() {}
