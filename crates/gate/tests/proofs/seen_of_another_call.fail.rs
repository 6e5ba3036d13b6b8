//! Bytes seen in one call do not bind a write of another.

#![expect(unused, reason = "only whether it compiles is asked")]

use tollgate_gate as gate;

use gate::{
    access::WriteFile,
    g1_decode::Want,
    g3_confine::{Look, Seen},
};

fn bind<'a, 'b>(look: &mut Look<'a>, want: &Want<WriteFile>, seen: &Seen<'b>) {
    drop(look.bind(want, seen, Vec::new()));
}

fn main() {}
