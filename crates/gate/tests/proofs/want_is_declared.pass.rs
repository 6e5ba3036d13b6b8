//! A tool wants only what it declared.

#![expect(unused, reason = "only whether it compiles is asked")]

use tollgate_gate as gate;

use gate::{
    access::{ReadFile, Spawn, WriteFile},
    g1_decode::Asks,
};

fn want(asks: &mut Asks<'_, (ReadFile, Spawn)>) {
    asks.want(Spawn::new("true"));
}

fn main() {}
