//! A room is not opened without the root authority.

#![expect(unused, reason = "only whether it compiles is asked")]

use tollgate_gate as gate;

use gate::{
    authority::RootAuthority,
    call::{Parts, Room},
};

fn open<'r>(root: &RootAuthority, parts: Parts<'r>) -> Room<'r> {
    Room::open(root, parts)
}

fn main() {}
