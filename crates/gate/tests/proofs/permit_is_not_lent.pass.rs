//! A longer-lived call does not lend a permit to a shorter: the brand is invariant.

#![expect(unused, reason = "only whether it compiles is asked")]

use tollgate_gate as gate;

use gate::{access::Spawn, g2_admit::Permit};

fn lend<'short, 'long: 'short>(permit: Permit<'long, Spawn>) -> Permit<'long, Spawn> {
    permit
}

fn main() {}
