//! A permit of one room's call is not spent in the call of another room, even one that lives longer.

#![expect(unused, reason = "only whether it compiles is asked")]

use tollgate_gate as gate;

use gate::{access::Spawn, g2_admit::Permit, g3_confine::Effects};

async fn spend<'room, 'other: 'room>(effects: Effects<'room>, permit: Permit<'room, Spawn>) {
    drop(effects.spawn(permit).await);
}

fn main() {}
