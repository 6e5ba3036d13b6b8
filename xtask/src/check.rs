//! Everything a change has to pass, in one command, the same here and on any runner. It fixes
//! nothing: a step reports and the next one runs.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::{Outcome, conform, hostile, seal, tidy};

/// How one step ended.
enum End {
    Passed,
    Failed,
    /// Not run, and what for.
    Skipped(String),
}

struct Step {
    name: &'static str,
    end: End,
    took: Duration,
}

/// Runs every step and ends with a table and a line `check: N passed, N failed, N skipped`.
pub(crate) fn run(root: &Path) -> Outcome {
    let (tests, runner): (&str, &[&str]) = if is_installed("nextest") {
        ("tests (nextest)", &["nextest", "run", "--no-tests=pass"])
    } else {
        (
            "tests (cargo test; nextest is not installed)",
            &["test", "--lib", "--bins", "--tests"],
        )
    };
    let tests_of_all = [runner, &["--workspace", "--locked", "--no-fail-fast"]].concat();
    let clippy = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--locked",
        "--",
        "-D",
        "warnings",
    ];
    let doc_tests = ["test", "--workspace", "--locked", "--no-fail-fast", "--doc"];
    let docs = ["doc", "--workspace", "--locked", "--no-deps"];

    let steps = [
        step("format", || cargo_step(root, &["fmt", "--all", "--check"])),
        step("clippy", || cargo_step(root, &clippy)),
        step("tidy", || tidy::run(root).map(end)),
        step(tests, || cargo_step(root, &tests_of_all)),
        step("doc tests", || cargo_step(root, &doc_tests)),
        step("docs", || cargo_step(root, &docs)),
        step("conform", || conform::vectors(root, &[]).map(end)),
        step("hostile", || {
            Ok(match hostile::run(root, &hostile::Options::default())? {
                hostile::End::Clean => End::Passed,
                hostile::End::Faults => End::Failed,
                hostile::End::Skipped(why) => End::Skipped(why),
            })
        }),
        step("seal", || seal::run(root).map(end)),
        step("deny", || {
            if is_installed("deny") {
                return cargo_step(root, &["deny", "--locked", "check"]);
            }
            Ok(End::Skipped("cargo-deny is not installed".into()))
        }),
    ];

    println!();
    for Step { name, end, took } in &steps {
        let end = match end {
            End::Passed => "passed".to_owned(),
            End::Failed => "FAILED".to_owned(),
            End::Skipped(why) => format!("skipped: {why}"),
        };
        println!("{:>8.1} s  {name}: {end}", took.as_secs_f64());
    }
    let count = |wanted: fn(&End) -> bool| steps.iter().filter(|step| wanted(&step.end)).count();
    let passed = count(|end| matches!(end, End::Passed));
    let failed = count(|end| matches!(end, End::Failed));
    let skipped = count(|end| matches!(end, End::Skipped(_)));
    println!("check: {passed} passed, {failed} failed, {skipped} skipped");
    match failed {
        0 => Outcome::Clean,
        _ => Outcome::Faults,
    }
}

/// A step that cannot be carried out has failed, and says why.
fn step(name: &'static str, body: impl FnOnce() -> Result<End>) -> Step {
    println!("== {name}");
    let start = Instant::now();
    let end = body().unwrap_or_else(|error| {
        println!("{name}: {error:#}");
        End::Failed
    });
    let took = start.elapsed();
    Step { name, end, took }
}

fn end(outcome: Outcome) -> End {
    match outcome {
        Outcome::Clean => End::Passed,
        Outcome::Faults => End::Failed,
    }
}

fn cargo_step(root: &Path, words: &[&str]) -> Result<End> {
    let status = Command::new(cargo())
        .args(words)
        .current_dir(root)
        // Read by `cargo doc` and by doc tests only.
        .env("RUSTDOCFLAGS", "-D warnings")
        .stdin(Stdio::null())
        .status()
        .context("cannot run cargo")?;
    Ok(if status.success() {
        End::Passed
    } else {
        End::Failed
    })
}

/// Whether `cargo <chore>` is there.
fn is_installed(chore: &str) -> bool {
    let status = Command::new(cargo())
        .args([chore, "--version"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

/// The cargo that runs this chore, so that every step uses the same toolchain.
pub(crate) fn cargo() -> String {
    std::env::var("CARGO").unwrap_or("cargo".into())
}
