//! Gate 3 is not called from outside.

#![expect(unused, reason = "only whether it compiles is asked")]

use tollgate_gate as gate;

use gate::g3_confine::Effects;

fn main() {}
