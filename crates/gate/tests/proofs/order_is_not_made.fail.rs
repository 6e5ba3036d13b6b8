//! An order is not made outside gate 3.

#![expect(unused, reason = "only whether it compiles is asked")]

use tollgate_gate as gate;

use gate::{access::Spawn, g3_confine::Order};

fn make() {
    let _ = Order::<Spawn>::make;
}

fn main() {}
