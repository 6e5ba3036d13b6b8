//! Gate 2 is not called, or skipped, from outside.

#![expect(unused, reason = "only whether it compiles is asked")]

use tollgate_gate as gate;

use gate::g2_admit::admit_rest;

fn main() {}
