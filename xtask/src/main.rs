//! The checks and chores of this repository: `cargo xtask <chore>`. Nothing here ships, and no
//! crate of ours may depend on it.
#![expect(clippy::print_stdout, reason = "a chore reports on standard output")]
#![expect(clippy::print_stderr, reason = "and its own failure on standard error")]

mod bench;
mod check;
mod conform;
mod fuzz;
mod hostile;
mod mock;
mod seal;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <chore>

  check            everything a change has to pass; all steps run, a table ends it
  tidy             crate edges, file headers and sizes, spec files without a test
  seal             proof on a copy that a tool cannot reach the machine past the gate
  conform [FILE..] rows of vector tables, and cases of chapters (.md), that are not
                   answered as written; without a file, the whole of spec/vectors
                   and spec/permissions, then hostile
  hostile [OPTION..]
                   calls that try to get past a policy, made for real in a cage each:
                   --policy NAME, --row ID, --binary FILE (another tollgate),
                   --accept (the counts become spec/baseline.tsv)
  mock --script FILE [--port N]
                   a chat-completions server on 127.0.0.1 that plays a script to all
                   who ask, until it is killed; its first line is the port
  fuzz [--seconds N] [--seed N]
                   what has to hold for every shell text, on mutated lines of spec/shell;
                   a text for which it does not is kept in target/fuzz
  bench [--runs N] [--json FILE] [--quick]
                   times, memory and budgets of the release build, on a repository made
                   for it; docs/benchmarks.md says what each row is
";

/// What a chore found, where nothing went wrong in the chore itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Clean,
    Faults,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["check"] => Ok(check::run(&root())),
        ["tidy"] => tidy::run(&root()),
        ["seal"] => seal::run(&root()),
        ["conform", files @ ..] => conform::run(&root(), files),
        ["hostile", options @ ..] => hostile::chore(&root(), options),
        ["in-cage", words @ ..] => hostile::in_cage(words),
        ["fuzz", words @ ..] => fuzz::run(&root(), words),
        ["bench", words @ ..] => bench::run(&root(), words),
        ["mock", words @ ..] => mock::run(words).map(|never| match never {}),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(Outcome::Clean) => ExitCode::SUCCESS,
        Ok(Outcome::Faults) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The checkout this binary was built in.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}
