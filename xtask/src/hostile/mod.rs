//! The calls of spec/hostile made for real, each by the `tollgate` binary in a session with a
//! scripted model, in a cage of its own. Nothing of a row runs outside a cage; where none can be had,
//! no row is run.

mod cage;
mod canary;
mod row;
mod terminal;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use std::{fs, thread};

use ::conform::hostile::{Baseline, Outcome, Policy, Row, Tally};
use anyhow::{Context, Result, bail, ensure};
use cage::Cage;

use crate::check::cargo;
pub(crate) use row::in_cage;

/// Which rows are made, and what with.
#[derive(Debug, Default)]
pub(crate) struct Options {
    policy: Option<String>,
    row: Option<String>,
    /// Another `tollgate` than the one of this checkout.
    binary: Option<PathBuf>,
    /// The counts become the baseline.
    is_accepted: bool,
}

impl Options {
    /// Reads `[--policy NAME] [--row ID] [--binary FILE] [--accept]`.
    ///
    /// # Errors
    /// Any other word.
    pub(crate) fn read(words: &[&str]) -> Result<Self> {
        let mut options = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if *word == "--accept" {
                options.is_accepted = true;
                continue;
            }
            let value = words
                .next()
                .with_context(|| format!("`{word}` lacks a word behind it"))?;
            match *word {
                "--policy" => options.policy = Some((*value).to_owned()),
                "--row" => options.row = Some((*value).to_owned()),
                "--binary" => options.binary = Some(fs::canonicalize(value)?),
                other => bail!("hostile knows no `{other}`"),
            }
        }
        ensure!(
            !(options.is_accepted && options.is_part()),
            "--accept wants every row under every policy"
        );
        Ok(options)
    }

    fn is_part(&self) -> bool {
        self.policy.is_some() || self.row.is_some()
    }
}

/// `cargo xtask hostile`.
///
/// # Errors
/// As [`Options::read`] and [`run`], and where no cage can be had: somebody asked for these rows.
pub(crate) fn chore(root: &Path, words: &[&str]) -> Result<crate::Outcome> {
    match run(root, &Options::read(words)?)? {
        End::Clean => Ok(crate::Outcome::Clean),
        End::Faults => Ok(crate::Outcome::Faults),
        End::Skipped(why) => bail!(why),
    }
}

/// How the rows ended.
#[derive(Debug)]
pub(crate) enum End {
    Clean,
    Faults,
    /// None was run, and why.
    Skipped(String),
}

/// One run: a row under a policy.
struct Job<'r> {
    row: &'r Row,
    policy: &'r str,
}

/// Makes the rows, prints what got through, what was refused and the counts, and holds them against
/// `spec/baseline.tsv`.
///
/// # Errors
/// A table of another form, no binary, or a row that could not be judged.
pub(crate) fn run(root: &Path, options: &Options) -> Result<End> {
    let start = Instant::now();
    let spec = root.join("spec/hostile");
    let rows = Row::read_all(&read(&spec.join("calls.tsv"))?).context("calls.tsv")?;
    let policies = Policy::read_all(&read(&spec.join("policies.jsonc"))?)?;
    let jobs = jobs(&rows, &policies, options)?;
    let binary = match &options.binary {
        Some(binary) => binary.clone(),
        None => build(root)?,
    };
    let cage = Cage::lay(root, &binary)?;
    let needs: BTreeSet<&str> = rows
        .iter()
        .flat_map(|row| row.needs.iter().map(String::as_str))
        .collect();
    let machine = match cage.try_out(&needs) {
        Ok(machine) => machine,
        Err(error) => {
            let why = format!("no cage can be had here: {error:#}");
            return Ok(End::Skipped(why));
        }
    };
    let mut results = play(&cage, &machine, &jobs);
    results.sort_by_key(|(index, _)| *index);

    let mut tally = Tally::default();
    let mut broken = 0;
    for (job, result) in jobs
        .iter()
        .zip(results.into_iter().map(|(_, result)| result))
    {
        let name = format!("{} {} ({})", job.policy, job.row.id, job.row.group);
        match result {
            Ok(outcome) => {
                match &outcome {
                    Outcome::Through(why) => println!("got through: {name}: {why}"),
                    Outcome::Refused(why) => println!("control refused: {name}: {why}"),
                    other if options.row.is_some() => println!("{name}: {other:?}"),
                    _ => {}
                }
                tally.add(job.policy, job.row, &outcome);
            }
            Err(error) => {
                broken += 1;
                println!("not judged: {name}: {error:#}");
            }
        }
    }
    let took = start.elapsed().as_secs_f64();
    println!(
        "\n{tally}hostile: {} runs in {took:.0} s, {broken} not judged",
        jobs.len()
    );
    let is_worse = !options.is_part() && is_worse(root, options, &tally)?;
    Ok(if broken > 0 || is_worse {
        End::Faults
    } else {
        End::Clean
    })
}

/// The runs that were asked for, in order of the table.
fn jobs<'r>(
    rows: &'r [Row],
    policies: &BTreeMap<String, Policy>,
    options: &Options,
) -> Result<Vec<Job<'r>>> {
    let mut jobs = Vec::new();
    for row in rows {
        for policy in &row.policies {
            ensure!(
                policies.contains_key(policy),
                "row {}: no policy `{policy}`",
                row.id
            );
            let is_wanted =
                |wanted: &Option<String>, it| wanted.as_ref().is_none_or(|wanted| wanted == it);
            if is_wanted(&options.row, &row.id) && is_wanted(&options.policy, policy) {
                jobs.push(Job { row, policy });
            }
        }
    }
    ensure!(!jobs.is_empty(), "there is no such row");
    Ok(jobs)
}

/// Plays every job, as many at a time as there are processors.
fn play(cage: &Cage, machine: &row::Machine, jobs: &[Job<'_>]) -> Vec<(usize, Result<Outcome>)> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(index) else { return };
            let result = match missing(job.row, machine) {
                Some(what) => Ok(Outcome::Skipped(what)),
                None => cage.play(&job.row.id, job.policy),
            };
            let mut results = results
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            results.push((index, result));
        }
    };
    let count = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(work);
        }
    });
    results
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// What a row needs that is not there: our tool, or a program. A tool that goes missing is no excuse
/// for an ordinary call.
fn missing(row: &Row, machine: &row::Machine) -> Option<String> {
    if !row.is_control && !machine.tools.contains(&row.tool) {
        return Some(format!("there is no tool `{}`", row.tool));
    }
    let program = row
        .needs
        .iter()
        .find(|it| !machine.programs.contains(*it))?;
    Some(format!("there is no program `{program}`"))
}

fn is_worse(root: &Path, options: &Options, tally: &Tally) -> Result<bool> {
    let path = root.join("spec/baseline.tsv");
    if options.is_accepted {
        fs::write(&path, tally.to_tsv())?;
        println!("hostile: these counts are the baseline now");
        return Ok(false);
    }
    let baseline = Baseline::read(&read(&path)?).context("baseline.tsv")?;
    let worse = baseline.worse(tally);
    for line in &worse {
        println!("worse than spec/baseline.tsv: {line}");
    }
    if worse.is_empty() && !baseline.is(tally) {
        println!(
            "hostile: no worse than spec/baseline.tsv, but not the same; --accept writes it anew"
        );
    }
    Ok(!worse.is_empty())
}

fn build(root: &Path) -> Result<PathBuf> {
    let output = Command::new(cargo())
        .args([
            "build",
            "--locked",
            "--package",
            "tollgate-cli",
            "--message-format",
            "json-render-diagnostics",
        ])
        .current_dir(root)
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("cannot run cargo")?;
    ensure!(output.status.success(), "tollgate does not build");
    let lines = String::from_utf8(output.stdout)?;
    let mut executable = lines.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(PathBuf::from(message.get("executable")?.as_str()?))
    });
    executable.next_back().context("cargo built no binary")
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_baseline_is_not_accepted_from_a_part() {
        assert!(
            Options::read(&["--row", "S01", "--policy", "ro"])
                .unwrap()
                .is_part()
        );
        assert!(Options::read(&["--accept"]).unwrap().is_accepted);
        for words in [
            &["--row"][..],
            &["S01"],
            &["--odd", "x"],
            &["--accept", "--row", "S01"],
        ] {
            assert!(Options::read(words).is_err(), "{words:?}");
        }
    }
}
