//! Puts tables and chapters to the engine and shows the rows that came out otherwise. It judges nothing itself:
//! what a row means is known to the reader.

use std::fs;
use std::path::{Path, PathBuf};

use ::conform::literate::{self, Page};
use ::conform::vectors::{Deviations, Missing, Report, Sets, Suite, run as put};
use anyhow::{Context, Result, anyhow};

use crate::{Outcome, hostile};

/// Runs the named files; without a name, all of spec/, the hostile calls last.
///
/// # Errors
/// As [`vectors`] and [`hostile::run`].
pub(crate) fn run(root: &Path, files: &[&str]) -> Result<Outcome> {
    let tables = vectors(root, files)?;
    if !files.is_empty() {
        return Ok(tables);
    }
    println!();
    Ok(match hostile::run(root, &hostile::Options::default())? {
        hostile::End::Faults => Outcome::Faults,
        hostile::End::Clean => tables,
        hostile::End::Skipped(why) => {
            println!("hostile: every row was skipped: {why}");
            tables
        }
    })
}

/// Runs the named tables and chapters, from anywhere, with our own rule sets and deviations; without a
/// name, every table of `spec/vectors`, where a deviation from a row that is nowhere fails as well, and
/// every chapter of `spec/permissions`.
pub(crate) fn vectors(root: &Path, files: &[&str]) -> Result<Outcome> {
    let is_whole = files.is_empty();
    let suite = Suite {
        sets: Sets::read(&read(&root.join("spec/vectors/rulesets.json"))?)?,
        deviations: Deviations::read(&read(&root.join("spec/deviations.tsv"))?)?,
        missing: Missing::read(&read(&root.join("spec/missing.tsv"))?)?,
    };
    let files: Vec<PathBuf> = match files {
        [] => [
            files_of(&root.join("spec/vectors"), "tsv")?,
            files_of(&root.join("spec/permissions"), "md")?,
        ]
        .concat(),
        named => named.iter().map(PathBuf::from).collect(),
    };
    let (pages, tables): (Vec<_>, Vec<_>) = files.iter().partition(|it| ends_with(it, "md"));

    let mut report = Report::default();
    for table in &tables {
        let one = put(&read(table)?, &suite).with_context(|| format!("in {}", table.display()))?;
        report.merge(one);
    }
    let unknown = if is_whole {
        report.unknown(&suite)
    } else {
        Vec::new()
    };
    let cases = chapters(root, &pages)?;

    for row in &report.failed {
        println!(
            "{} {}: expected `{}`, got `{}`",
            row.id, row.op, row.expected, row.got
        );
    }
    for row in &unknown {
        println!("{row}: listed for a row that no table holds");
    }
    if report.deviated > 0 {
        println!(
            "{} rows answered as spec/deviations.tsv says",
            report.deviated
        );
    }
    for (capability, count) in &report.skipped {
        println!("skipped {count}: {capability}");
    }
    if !pages.is_empty() {
        println!("{} cases in {} chapters", cases.passed, pages.len());
    }
    let failed = report.failed.len() + unknown.len() + cases.failed.len();
    println!(
        "{} passed, {failed} failed, {} skipped",
        report.passed + cases.passed,
        report.skipped_count()
    );
    Ok(match failed {
        0 => Outcome::Clean,
        _ => Outcome::Faults,
    })
}

/// Puts every case of the chapters, and shows those that came out otherwise.
fn chapters(root: &Path, pages: &[&PathBuf]) -> Result<literate::Report> {
    let mut all = literate::Report::default();
    for path in pages {
        let label = path
            .strip_prefix(root)
            .unwrap_or(path)
            .display()
            .to_string();
        let page = Page::read(&read(path)?, &label).map_err(|faults| {
            let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
            anyhow!("in {label}: {}", faults.join("; "))
        })?;
        let one = page.run(None);
        for failure in &one.failed {
            print!("{}", failure.for_person(&label));
        }
        all.passed += one.passed;
        all.failed.extend(one.failed);
    }
    Ok(all)
}

/// The files of a folder whose names end so, in order.
fn files_of(folder: &Path, end: &str) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if ends_with(&path, end) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn ends_with(path: &Path, end: &str) -> bool {
    path.extension().is_some_and(|it| it == end)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}
