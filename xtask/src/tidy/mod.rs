//! What the compiler does not check about this repository. It reads sources and manifests and
//! changes none of them.

mod edges;
mod sources;

use std::path::Path;

use anyhow::Result;

use crate::Outcome;

/// What was found, all of it: faults fail the check, warnings do not.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) faults: Vec<String>,
    pub(crate) warnings: Vec<String>,
}

impl Findings {
    fn fault(&mut self, text: impl Into<String>) {
        self.faults.push(text.into());
    }

    fn warn(&mut self, text: impl Into<String>) {
        self.warnings.push(text.into());
    }
}

/// Prints every finding about the checkout at `root`.
pub(crate) fn run(root: &Path) -> Result<Outcome> {
    let findings = find(root)?;
    for warning in &findings.warnings {
        println!("tidy: warning: {warning}");
    }
    for fault in &findings.faults {
        println!("tidy: {fault}");
    }
    println!(
        "tidy: {} faults, {} warnings",
        findings.faults.len(),
        findings.warnings.len()
    );
    Ok(match findings.faults.as_slice() {
        [] => Outcome::Clean,
        _ => Outcome::Faults,
    })
}

/// Everything that is wrong with the checkout at `root`.
///
/// # Errors
/// A file that cannot be read, or a manifest that cargo does not understand.
pub(crate) fn find(root: &Path) -> Result<Findings> {
    let mut findings = Findings::default();
    edges::check(root, &mut findings)?;
    sources::check(root, &mut findings)?;
    Ok(findings)
}
