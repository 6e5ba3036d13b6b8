//! A permit is not kept past the call: a tool is `'static`, and so is all that it can keep.

#![expect(unused, reason = "only whether it compiles is asked")]

use tollgate_gate as gate;

use gate::{access::Spawn, g2_admit::Permit};

fn keep<'a>(kept: &mut Option<Permit<'a, Spawn>>, permit: Permit<'a, Spawn>) {
    *kept = Some(permit);
}

fn main() {}
