//! The erased form of a tool cannot be implemented.

#![expect(unused, reason = "only whether it compiles is asked")]

use tollgate_gate as gate;

use gate::tool::Erased;

fn main() {}
