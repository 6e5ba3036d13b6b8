//! `cargo xtask bench`: what Tollgate takes, in release, on a repository made for it. It compares with
//! budgets and fails nobody: a slow machine is no fault of the code.

mod child;
mod probe;
mod report;
mod row;
mod scene;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::{Context, Result, ensure};

use crate::Outcome;
use probe::Probe;
use report::Report;
use scene::Scene;

/// How much is measured, and where it is kept.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    runs: usize,
    /// Calls of each tool in a run.
    calls: usize,
    json: Option<PathBuf>,
}

impl Options {
    /// Reads `[--runs N] [--json FILE] [--quick]`; of two words for one thing the last counts.
    fn read(words: &[&str]) -> Result<Self> {
        let mut options = Self {
            runs: 7,
            calls: 200,
            json: None,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if *word == "--quick" {
                (options.runs, options.calls) = (3, 40);
                continue;
            }
            let value = words.next();
            match (*word, value) {
                ("--runs", Some(count)) => {
                    options.runs = count.parse().context("--runs takes a number")?;
                }
                ("--json", Some(file)) => options.json = Some(file.into()),
                (other, _) => anyhow::bail!("bench knows no `{other}`, or not without a value"),
            }
        }
        ensure!(options.runs > 0, "--runs takes a number above 0");
        Ok(options)
    }
}

/// Measures everything once to warm up and then in so many rounds, one after the other, so that what
/// slows the machine for a while slows all alike. Prints the table, and keeps the JSON.
///
/// # Errors
/// A word that is not understood, a program that does not build, or something that was measured before
/// and then failed.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<Outcome> {
    let options = Options::read(words)?;
    let at_unix_s = UNIX_EPOCH.elapsed()?.as_secs();
    let scene = Scene::lay(root)?;

    let mut report = Report::default();
    let mut probes = Vec::new();
    for probe in Probe::all(options.calls) {
        match probe.prove(&scene).and_then(|()| probe.take(&scene)) {
            Ok(_) => probes.push(probe),
            Err(error) => report.skipped.push(format!("{probe:?}: {error:#}")),
        }
    }
    for round in 1..=options.runs {
        eprintln!("bench: round {round} of {}", options.runs);
        for probe in &probes {
            let readings = probe
                .take(&scene)
                .with_context(|| format!("{probe:?} failed after it had not"))?;
            for reading in readings {
                report.add(reading);
            }
        }
    }

    print!("{}", report.table());
    let kept = root.join(format!("target/bench/{at_unix_s}.json"));
    let file = options.json.unwrap_or(kept);
    let json = serde_json::to_string_pretty(&report.json(options.runs, at_unix_s))?;
    fs::write(&file, json + "\n").with_context(|| format!("cannot write {}", file.display()))?;
    println!("all samples: {}", file.display());
    // Whatever else ran is in the numbers.
    if let Ok(load) = fs::read_to_string("/proc/loadavg") {
        println!("load of this machine at the end: {}", load.trim());
    }
    Ok(Outcome::Clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quick_is_less_of_the_same() {
        let (quick, whole) = (Options::read(&["--quick"]), Options::read(&[]));
        let (quick, whole) = (quick.unwrap(), whole.unwrap());
        assert!(quick.runs < whole.runs && quick.calls < whole.calls);
        let options = Options::read(&["--quick", "--runs", "1", "--json", "a.json"]).unwrap();
        assert_eq!((options.runs, options.calls), (1, quick.calls));
        assert_eq!(options.json, Some("a.json".into()));
    }

    #[test]
    fn words_that_are_not_understood_are_said() {
        for words in [
            &["--runs"][..],
            &["--runs", "0"],
            &["--runs", "x"],
            &["--slow", "1"],
        ] {
            assert!(Options::read(words).is_err(), "{words:?}");
        }
    }
}
