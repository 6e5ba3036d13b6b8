//! A permit is not minted outside gate 2.

#![expect(unused, reason = "only whether it compiles is asked")]

use tollgate_gate as gate;

use gate::{access::Spawn, g2_admit::Permit};

fn mint() {
    let _ = Permit::<'static, Spawn>::mint;
}

fn main() {}
