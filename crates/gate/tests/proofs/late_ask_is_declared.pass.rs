//! A tool late-asks only what it declared.

#![expect(unused, reason = "only whether it compiles is asked")]

use tollgate_gate as gate;

use gate::{
    access::{ReadFile, Spawn, WriteFile},
    g2_admit::Grants,
};

async fn late(grants: &mut Grants<'_, (ReadFile, Spawn)>) {
    drop(grants.late(Spawn::new("true")).await);
}

fn main() {}
