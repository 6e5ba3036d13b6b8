//! Puts tables to the engine and shows the rows that came out otherwise. It judges nothing itself:
//! what a row means is known to the reader.

use std::fs;
use std::path::{Path, PathBuf};

use ::conform::vectors::{Deviations, Missing, Report, Sets, Suite, run as put};
use anyhow::{Context, Result};

use crate::{Outcome, hostile};

/// Runs the named tables; without a name, all of spec/, the hostile calls last.
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

/// Runs the named tables, from anywhere, with our own rule sets and deviations; without a name,
/// every table of `spec/vectors`, where a deviation from a row that is nowhere fails as well.
pub(crate) fn vectors(root: &Path, files: &[&str]) -> Result<Outcome> {
    let suite = Suite {
        sets: Sets::read(&read(&root.join("spec/vectors/rulesets.json"))?)?,
        deviations: Deviations::read(&read(&root.join("spec/deviations.tsv"))?)?,
        missing: Missing::read(&read(&root.join("spec/missing.tsv"))?)?,
    };
    let tables = match files {
        [] => own_tables(root)?,
        named => named.iter().map(PathBuf::from).collect(),
    };

    let mut report = Report::default();
    for table in &tables {
        let one = put(&read(table)?, &suite).with_context(|| format!("in {}", table.display()))?;
        report.merge(one);
    }
    let unknown = match files {
        [] => report.unknown(&suite),
        _ => Vec::new(),
    };

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
    let failed = report.failed.len() + unknown.len();
    println!(
        "{} passed, {failed} failed, {} skipped",
        report.passed,
        report.skipped_count()
    );
    Ok(match failed {
        0 => Outcome::Clean,
        _ => Outcome::Faults,
    })
}

fn own_tables(root: &Path) -> Result<Vec<PathBuf>> {
    let mut tables = Vec::new();
    for entry in fs::read_dir(root.join("spec/vectors"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "tsv") {
            tables.push(path);
        }
    }
    tables.sort();
    Ok(tables)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}
