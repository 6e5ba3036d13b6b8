//! A permit is not cloned.

#![expect(unused, reason = "only whether it compiles is asked")]

use tollgate_gate as gate;

use gate::{access::Spawn, g2_admit::Permit};

fn copy<'a>(permit: Permit<'a, Spawn>) -> Permit<'a, Spawn> {
    permit
}

fn main() {}
