//! A permit is spent once.

#![expect(unused, reason = "only whether it compiles is asked")]

use tollgate_gate as gate;

use gate::{access::Spawn, g2_admit::Permit, g3_confine::Effects};

async fn spend<'a>(effects: Effects<'a>, first: Permit<'a, Spawn>, second: Permit<'a, Spawn>) {
    drop(effects.spawn(first).await);
    drop(effects.spawn(second).await);
}

fn main() {}
