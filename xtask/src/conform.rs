//! Puts vector tables to the engine and shows the rows that came out otherwise. It judges nothing
//! itself: what a row means is known to the reader.

use std::fs;
use std::path::{Path, PathBuf};

use ::conform::vectors::{self, Deviations, Report, Sets};
use anyhow::{Context, Result};

use crate::Outcome;

/// Runs the named tables, from anywhere, with our own rule sets and deviations; without a name,
/// every table of `spec/vectors`, where a deviation from a row that is nowhere fails as well.
pub(crate) fn run(root: &Path, files: &[&str]) -> Result<Outcome> {
    let sets = Sets::read(&read(&root.join("spec/vectors/rulesets.json"))?)?;
    let deviations = Deviations::read(&read(&root.join("spec/deviations.tsv"))?)?;
    let tables = match files {
        [] => own_tables(root)?,
        named => named.iter().map(PathBuf::from).collect(),
    };

    let mut report = Report::default();
    for table in &tables {
        let one = vectors::run(&read(table)?, &sets, &deviations)
            .with_context(|| format!("in {}", table.display()))?;
        report.merge(one);
    }
    let unknown = match files {
        [] => report.unknown_deviations(&deviations),
        _ => Vec::new(),
    };

    for row in &report.failed {
        println!(
            "{} {}: expected `{}`, got `{}`",
            row.id, row.op, row.expected, row.got
        );
    }
    for row in &unknown {
        println!("{row}: a deviation from a row that no table holds");
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
