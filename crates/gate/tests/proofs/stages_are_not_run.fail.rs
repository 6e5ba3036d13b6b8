//! A tool is driven by the gates alone: its prepared form has no name outside.

#![expect(unused, reason = "only whether it compiles is asked")]

use tollgate_gate as gate;

use gate::tool::Prepared;

fn main() {}
