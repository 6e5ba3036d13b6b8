//! What the compiler proves, in pairs: a file that must not compile, with its message, and its twin,
//! one token apart, that must. The twins are modules of this test: they have compiled when it runs.

#![expect(clippy::disallowed_methods, reason = "the proofs are files")]
#![expect(
    clippy::elidable_lifetime_names,
    clippy::extra_unused_lifetimes,
    clippy::needless_pass_by_value,
    reason = "a twin differs from its proof in one place"
)]

use std::{fs, path::PathBuf};

/// Makes a module of each twin, and a list of their names.
macro_rules! twins {
    ($($name:ident: $path:literal,)*) => {
        $(#[path = $path] mod $name;)*
        const TWINS: &[&str] = &[$(stringify!($name)),*];
    };
}

twins! {
    admitted_is_not_named: "../proofs/admitted_is_not_named.pass.rs",
    effects_are_not_forged: "../proofs/effects_are_not_forged.pass.rs",
    erased_tool_is_not_made: "../proofs/erased_tool_is_not_made.pass.rs",
    failure_is_not_claimed: "../proofs/failure_is_not_claimed.pass.rs",
    gate_three_is_not_skipped: "../proofs/gate_three_is_not_skipped.pass.rs",
    gate_two_is_not_skipped: "../proofs/gate_two_is_not_skipped.pass.rs",
    kinds_are_closed: "../proofs/kinds_are_closed.pass.rs",
    kinds_are_not_extended: "../proofs/kinds_are_not_extended.pass.rs",
    late_ask_is_declared: "../proofs/late_ask_is_declared.pass.rs",
    order_is_not_forged: "../proofs/order_is_not_forged.pass.rs",
    order_is_not_made: "../proofs/order_is_not_made.pass.rs",
    permit_is_not_cloned: "../proofs/permit_is_not_cloned.pass.rs",
    permit_is_not_forged: "../proofs/permit_is_not_forged.pass.rs",
    permit_is_not_kept: "../proofs/permit_is_not_kept.pass.rs",
    permit_is_not_lent: "../proofs/permit_is_not_lent.pass.rs",
    permit_is_not_minted: "../proofs/permit_is_not_minted.pass.rs",
    permit_is_not_spent_twice: "../proofs/permit_is_not_spent_twice.pass.rs",
    permit_is_not_taken_apart: "../proofs/permit_is_not_taken_apart.pass.rs",
    permit_of_another_call: "../proofs/permit_of_another_call.pass.rs",
    permit_of_another_room: "../proofs/permit_of_another_room.pass.rs",
    room_needs_the_root: "../proofs/room_needs_the_root.pass.rs",
    sandbox_is_not_left: "../proofs/sandbox_is_not_left.pass.rs",
    seen_of_another_call: "../proofs/seen_of_another_call.pass.rs",
    stages_are_not_run: "../proofs/stages_are_not_run.pass.rs",
    want_is_declared: "../proofs/want_is_declared.pass.rs",
    write_takes_no_bytes: "../proofs/write_takes_no_bytes.pass.rs",
}

fn files(ending: &str) -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/proofs");
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .filter(|it| it.to_string_lossy().ends_with(ending))
        .collect();
    files.sort();
    files
}

#[test]
fn each_forgery_does_not_compile() {
    // Without a file that must pass, dependencies are checked and not built once more.
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/proofs/*.fail.rs");
}

#[test]
fn each_proof_has_a_message_and_a_twin_that_differs_in_one_place() {
    let proofs = files(".fail.rs");
    assert!(proofs.len() >= 20, "{} proofs", proofs.len());
    for proof in proofs {
        let path = proof.to_string_lossy().into_owned();
        assert!(
            PathBuf::from(path.replace(".fail.rs", ".fail.stderr")).exists(),
            "{path}"
        );
        let name = proof.file_name().unwrap().to_string_lossy().into_owned();
        let name = name.trim_end_matches(".fail.rs");
        assert!(TWINS.contains(&name), "{name} is not among the twins");
        let bad = fs::read_to_string(&proof).unwrap();
        let good = fs::read_to_string(path.replace(".fail.rs", ".pass.rs")).unwrap();
        let (bad, good): (Vec<_>, Vec<_>) = (bad.lines().collect(), good.lines().collect());
        assert_eq!(bad.len(), good.len(), "{path}");
        let apart = bad.iter().zip(&good).filter(|(a, b)| a != b).count();
        assert_eq!(apart, 1, "{path}");
    }
}
