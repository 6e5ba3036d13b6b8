//! What the compiler proves, in pairs: a file that must not compile, with its message, and its twin,
//! one token apart, that must.

#![expect(clippy::disallowed_methods, reason = "the proofs are files")]

use std::{fs, path::PathBuf};

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
fn each_forgery_does_not_compile_and_its_twin_does() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/proofs/*.fail.rs");
    cases.pass("tests/proofs/*.pass.rs");
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
        let bad = fs::read_to_string(&proof).unwrap();
        let good = fs::read_to_string(path.replace(".fail.rs", ".pass.rs")).unwrap();
        let (bad, good): (Vec<_>, Vec<_>) = (bad.lines().collect(), good.lines().collect());
        assert_eq!(bad.len(), good.len(), "{path}");
        let apart = bad.iter().zip(&good).filter(|(a, b)| a != b).count();
        assert_eq!(apart, 1, "{path}");
    }
}
