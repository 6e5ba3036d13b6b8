//! The proof of an admitted call has no name outside.

#![expect(unused, reason = "only whether it compiles is asked")]

use tollgate_gate as gate;

use gate::g2_admit::Admitted;

fn main() {}
