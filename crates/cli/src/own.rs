//! What is ours: no tool reads or writes the configuration, no child inherits a key, and a session may
//! read its own long outputs. Must not touch what those files hold.

use config::{Config, Reference};
use policy::{Action, Origin, Own, Pattern, Rule};
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
/// nor written through tools, whatever the rules say, and by whichever of its paths it is named. The state
/// folder (journal, sessions, approvals, outputs of other sessions) needs no rule: the host resolves no
/// path into it. The rules go behind the hard ones that are there.
pub(crate) fn close_configuration(
    hard: &mut Vec<Rule>,
    user_dir: Option<&Path>,
    files: impl Iterator<Item = PathBuf>,
) {
    let spellings = |path: PathBuf| {
        let absolute = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
        let real = path.canonicalize().ok().filter(|real| *real != absolute);
        [Some(absolute), real].into_iter().flatten()
    };
    // The folder may be made later, and then lies where the real one above it is.
    let above = user_dir.map(Path::to_owned).into_iter().flat_map(spellings);
    let folders = above.map(|dir| dir.join("tollgate")).flat_map(spellings);
    let folders = folders.map(|it| Own::Folder(it.display().to_string()));
    let files = files.flat_map(spellings);
    let files = files.map(|it| Own::File(it.display().to_string()));
    let owned: Vec<Own> = folders.chain(files).collect();
    hard.extend(policy::control_plane(&owned));
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

#[cfg(test)]
mod tests {
    use super::*;
    use policy::{RuleBook, RuleLayers, Subject, decide};

    fn closed(agent: &str, file: &str) -> RuleBook {
        let mut hard = agent::agent(agent).unwrap().hard;
        close_configuration(&mut hard, None, [PathBuf::from(file)].into_iter());
        RuleBook::new(RuleLayers {
            hard,
            ..RuleLayers::default()
        })
    }

    #[test]
    fn a_file_of_ours_is_closed_to_an_agent_that_may_write_where_it_lies() {
        let rules = closed("plan", "/w/plans/rules.md").current();
        for (path, want) in [
            ("plans/rules.md", Action::Deny),
            ("plans/a.md", Action::Ask),
        ] {
            let subject = Subject::path("edit", path, format!("/w/{path}"), Vec::new());
            let decision = decide(&rules, &[subject].into(), None);
            assert_eq!(decision.action(), want, "{path}");
        }
    }

    #[test]
    fn an_agent_that_edits_nothing_is_not_offered_to() {
        for (agent, want) in [
            ("ask", true),
            ("explore", true),
            ("plan", false),
            ("code", false),
        ] {
            let rules = closed(agent, "/c/rules.jsonc").current();
            assert_eq!(rules.disabled("edit"), want, "{agent}");
        }
    }
}
