//! What git needs to know of its user where it cannot read the user's own configuration, and what keeps it from
//! running what a repository brings along.
//! Must not hand on anything else of that configuration: it may name programs, and hold logins.

mod config;
mod location;
mod named;
mod repository;

use config::text_of;
pub(crate) use location::{Location, name_of_work_tree};
pub(crate) use named::{HOOKS as HOOK_NAMES, Named, Settings, is_harmless, running};
pub(crate) use repository::Repository;
use std::{
    ffi::{OsStr, OsString},
    path::Path,
};

/// Variables that name the user to git, and keep it from a configuration that it may not read: there,
/// git gives up where a file is unreadable and not merely absent. What `environment` already says stays.
pub(crate) fn identity(
    home: Option<&Path>,
    environment: &[(OsString, OsString)],
) -> Vec<(OsString, OsString)> {
    let files = home.map(|home| [home.join(".config/git/config"), home.join(".gitconfig")]);
    let texts = files.iter().flatten().filter_map(|file| text_of(file));
    let (mut name, mut email) = (None, None);
    for text in texts {
        // As in git, what is written last counts, and the file in the home itself is read last.
        for (key, value) in user(&text) {
            match key.as_str() {
                "name" => name = Some(value),
                "email" => email = Some(value),
                _ => {}
            }
        }
    }
    let named = ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|variable| (variable, name.clone()));
    let mailed = ["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|it| (it, email.clone()));
    let is_new = |variable: &str| environment.iter().all(|(name, _)| name != variable);
    let known = named
        .into_iter()
        .chain(mailed)
        .filter(|(variable, _)| is_new(variable));
    let known = known.filter_map(|(variable, value)| Some((variable, value?)));
    known
        .chain([("GIT_CONFIG_GLOBAL", "/dev/null".to_owned())])
        .map(|(variable, value)| (variable.into(), value.into()))
        .collect()
}

/// Where git looks for hooks.
const HOOKS: &str = "core.hooksPath";

/// Settings under which git runs nothing that a repository brings along, unless somebody trusts it. What a
/// repository's own configuration says about these does not count then.
const UNTRUSTED: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    (HOOKS, "/dev/null"),
    ("safe.bareRepository", "explicit"),
];

/// More of that for a command that only looks. Converters of text (`textconv`) have names of their own and are
/// held by the walls alone.
const LOOKING: &[(&str, &str)] = &[
    ("core.pager", "cat"),
    ("diff.external", ""),
    ("log.showSignature", "false"),
];

/// What git does in commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Git {
    /// What it is asked for, and nothing that the repository brings along.
    Plain,
    /// The same, and the hooks that are there: the person wants them run.
    WithHooks,
    /// As plain, without changing anything, not even to remember what it saw.
    Looking,
}

/// Keeps git from whatever a repository would have it run. `excludes` is a file of names that it passes over.
pub(crate) fn restrain(
    environment: &mut Vec<(OsString, OsString)>,
    git: Git,
    excludes: Option<&Path>,
) {
    let is_ours = |name: &OsString| {
        let name = name.to_string_lossy();
        name.starts_with("GIT_CONFIG_")
            && name
                .rsplit('_')
                .next()
                .is_some_and(|end| end == "COUNT" || end.parse::<u32>().is_ok())
    };
    let programs = [
        "GIT_EXTERNAL_DIFF",
        "GIT_PAGER",
        "PAGER",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
    ];
    let is_looking = git == Git::Looking;
    let is_dropped = |name: &OsString| is_looking && programs.iter().any(|it| name == it);
    environment.retain(|(name, _)| !is_ours(name) && !is_dropped(name));
    let mut put = |name: String, value: &OsStr| environment.push((name.into(), value.into()));
    if is_looking {
        put("GIT_OPTIONAL_LOCKS".to_owned(), "0".as_ref());
        put("GIT_PAGER".to_owned(), "cat".as_ref());
        put("PAGER".to_owned(), "cat".as_ref());
    }
    let looking = if is_looking { LOOKING } else { &[] };
    let is_kept = |setting: &&(&str, &str)| git != Git::WithHooks || setting.0 != HOOKS;
    let plain = UNTRUSTED.iter().filter(is_kept).chain(looking);
    let plain = plain.map(|(key, value)| (*key, OsStr::new(value)));
    let excludes = excludes.map(|path| ("core.excludesFile", path.as_os_str()));
    let all: Vec<_> = plain.chain(excludes).collect();
    put(
        "GIT_CONFIG_COUNT".to_owned(),
        all.len().to_string().as_ref(),
    );
    for (number, (key, value)) in all.into_iter().enumerate() {
        put(format!("GIT_CONFIG_KEY_{number}"), key.as_ref());
        put(format!("GIT_CONFIG_VALUE_{number}"), value);
    }
}

/// What git passes over everywhere: what the user's own file says, and directories of these names. They hold
/// places while a command runs, and git would try to clear them away.
pub(crate) fn excludes(home: Option<&Path>, names: &[&str]) -> String {
    let own = home.and_then(|home| text_of(&home.join(".config/git/ignore")));
    let mut text = own.unwrap_or_default();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    for name in names {
        text.push_str(name);
        text.push_str("/\n");
    }
    text
}

/// What is said in the section `[user]`. Includes are not followed.
fn user(text: &str) -> Vec<(String, String)> {
    let said = config::entries(text)
        .into_iter()
        .filter(|it| it.section == "user" && it.subsection.is_none());
    let plain = said.filter_map(|it| {
        let value = it.value?;
        let is_plain = !value.is_empty() && !value.contains(char::is_control);
        is_plain.then_some((it.key, value))
    });
    plain.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn of(config: &str, environment: &[(&str, &str)]) -> Vec<(String, String)> {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join(".gitconfig"), config).unwrap();
        let environment: Vec<_> = environment
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        let found = identity(Some(home.path()), &environment);
        let text = |it: OsString| it.into_string().unwrap();
        found
            .into_iter()
            .map(|(name, value)| (text(name), text(value)))
            .collect()
    }

    #[test]
    fn only_the_name_and_the_address_go_on() {
        let config = "[core]\n\tpager = evil\n[User]\n\tname = \"Some One\"\n\temail = a@example.invalid\n\
                      \tsigningkey = K\n[url \"https://u:p@x\"]\n\tname = no\n";
        let found = of(config, &[]);
        let want = [
            ("GIT_AUTHOR_NAME", "Some One"),
            ("GIT_COMMITTER_NAME", "Some One"),
            ("GIT_AUTHOR_EMAIL", "a@example.invalid"),
            ("GIT_COMMITTER_EMAIL", "a@example.invalid"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ];
        assert_eq!(
            found,
            want.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }

    #[test]
    fn what_the_environment_says_stays_and_what_is_not_plain_is_left_out() {
        let config = "[user]\n\tname = a\\tb\n\temail = x@example.invalid\n";
        let found = of(config, &[("GIT_AUTHOR_EMAIL", "other")]);
        let names: Vec<_> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["GIT_COMMITTER_EMAIL", "GIT_CONFIG_GLOBAL"]);
    }
}
