//! The kinds of access are closed.

#![expect(unused, reason = "only whether it compiles is asked")]

use tollgate_gate as gate;

#[derive(Debug)]
struct Mine;

impl Unpin for Mine {}

fn main() {}
