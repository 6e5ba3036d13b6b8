//! Effects are not made up.

#![expect(unused, reason = "only whether it compiles is asked")]

use tollgate_gate as gate;

use gate::g3_confine::Effects;

fn forge<'a>(effects: Effects<'a>) -> Effects<'a> {
    effects
}

fn main() {}
