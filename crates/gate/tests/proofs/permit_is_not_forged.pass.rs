//! A permit is not made up from parts.

#![expect(unused, reason = "only whether it compiles is asked")]

use tollgate_gate as gate;

use gate::{access::Spawn, g2_admit::Permit};

fn forge<'a>(permit: Permit<'a, Spawn>, access: Spawn) -> Permit<'a, Spawn> {
    permit
}

fn main() {}
