//! That a line failed inside the sandbox is written down by the gate alone.

#![expect(unused, reason = "only whether it compiles is asked")]

use tollgate_gate as gate;

use gate::g3_confine::FailedLines;

fn claim() {
    let _ = FailedLines::clone;
}

fn main() {}
