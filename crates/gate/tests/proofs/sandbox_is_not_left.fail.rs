//! A line is asked for outside the sandbox by gate 1 alone, of what has failed inside.

#![expect(unused, reason = "only whether it compiles is asked")]

use tollgate_gate as gate;

use gate::access::Spawn;

fn leave() {
    let _ = Spawn::outside_sandbox;
}

fn main() {}
