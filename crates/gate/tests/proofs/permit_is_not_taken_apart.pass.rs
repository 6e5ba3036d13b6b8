//! A permit is not taken apart outside the gate.

#![expect(unused, reason = "only whether it compiles is asked")]

use tollgate_gate as gate;

use gate::{access::Spawn, g2_admit::Permit};

fn open(permit: Permit<'_, Spawn>) {
    permit.decision();
}

fn main() {}
