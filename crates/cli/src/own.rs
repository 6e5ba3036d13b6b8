//! What is ours: no tool reads or writes the configuration, no child inherits a key, and a session may
//! read its own long outputs. Must not touch what those files hold.

use config::{Config, Reference};
use policy::{Action, Origin, Pattern, Rule};
use std::path::{Path, PathBuf};

/// The variables and files that keys of the configuration are in.
pub(crate) fn keys(config: &Config) -> (Vec<String>, Vec<PathBuf>) {
    let (mut names, mut files) = (Vec::new(), Vec::new());
    for provider in &config.providers {
        let headers = provider.headers.iter().map(|(_, value)| value);
        for secret in provider.api_key.iter().chain(headers) {
            for reference in secret.text().references() {
                match reference {
                    Reference::Env(name) => names.push(name.clone()),
                    Reference::File(path) => files.push(path.clone()),
                }
            }
        }
    }
    (names, files)
}

/// SECURITY: Tollgate's own configuration decides what is allowed and may hold keys: it is neither read
/// nor written through tools, whatever the rules say, and by whichever of its paths it is named.
pub(crate) fn own_configuration(
    user_dir: Option<&Path>,
    files: impl Iterator<Item = PathBuf>,
    is_readonly: bool,
) -> Vec<Rule> {
    let spellings = |path: PathBuf| {
        let absolute = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
        let real = path.canonicalize().ok().filter(|real| *real != absolute);
        [Some(absolute), real].into_iter().flatten()
    };
    // The folder may be made later, and then lies where the real one above it is.
    let above = user_dir.map(Path::to_owned).into_iter().flat_map(spellings);
    let folders = above.map(|dir| dir.join("tollgate")).flat_map(spellings);
    let below = folders.map(|it| Pattern::wildcard(&format!("{}/*", it.display())));
    let files = files.flat_map(spellings);
    let exact = files.map(|it| Pattern::exact(&it.display().to_string()));
    // A readonly agent's edits are denied whole; a narrower rule behind that would hide it from gate 0.
    let permissions: &[&str] = if is_readonly {
        &["read"]
    } else {
        &["read", "edit"]
    };
    let rules = |pattern: Pattern| {
        let rule = move |name: &&str| {
            Rule::new(
                *name,
                pattern.clone(),
                Action::Deny,
                origin("Tollgate's own configuration"),
            )
        };
        permissions.iter().map(rule)
    };
    below.chain(exact).flat_map(rules).collect()
}

/// A session may read what it was told to look up: its own long outputs. As session rules they lift
/// an ask and never a denial.
pub(crate) fn own_output(session_dir: &Path) -> Vec<Rule> {
    let pattern = format!("{}/*", session_dir.display());
    let rule = |permission: &str| {
        let origin = origin("the output of this session");
        Rule::new(
            permission,
            Pattern::wildcard(&pattern),
            Action::Allow,
            origin,
        )
    };
    vec![rule("external_directory"), rule("read")]
}

fn origin(source: &'static str) -> Origin {
    Origin {
        source: source.into(),
        line: 0,
        column: 0,
    }
}
