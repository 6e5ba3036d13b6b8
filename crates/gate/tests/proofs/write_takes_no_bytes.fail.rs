//! A write takes no bytes beside its permit.

#![expect(unused, reason = "only whether it compiles is asked")]

use tollgate_gate as gate;

use gate::{access::WriteFile, g2_admit::Permit, g3_confine::Effects};

async fn write<'a>(effects: Effects<'a>, permit: Permit<'a, WriteFile>) {
    drop(effects.write_file(permit, "other").await);
}

fn main() {}
