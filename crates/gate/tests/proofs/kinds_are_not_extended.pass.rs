//! A tool cannot declare behind the gate's back.

#![expect(unused, reason = "only whether it compiles is asked")]

use tollgate_gate as gate;

use gate::access::{Includes, ReadFile, Spawn};

struct Here;

impl Unpin for Here {}

fn main() {}
