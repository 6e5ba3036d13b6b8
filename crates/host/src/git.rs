//! What git needs to know of its user where it cannot read the user's own configuration, and which of its
//! own files it executes or obeys.
//! Must not hand on anything else of that configuration: it may name programs, and hold logins.

use std::{
    ffi::{OsStr, OsString},
    fs,
    path::Path,
};

/// The most that is read of a configuration, in bytes.
const CONFIG_BYTES_MAX: u64 = 256 * 1024;

/// Variables that name the user to git, and keep it from a configuration that it may not read: there,
/// git gives up where a file is unreadable and not merely absent. What `environment` already says stays.
pub(crate) fn identity(
    home: Option<&Path>,
    environment: &[(OsString, OsString)],
) -> Vec<(OsString, OsString)> {
    let files = home.map(|home| [home.join(".config/git/config"), home.join(".gitconfig")]);
    let texts = files.iter().flatten().filter_map(|file| read(file));
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

/// Settings under which git runs nothing that a repository brings along, unless somebody trusts it. What a
/// repository's own configuration says about these does not count then.
const UNTRUSTED: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
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
    /// The same without changing anything, not even to remember what it saw.
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
    let plain = UNTRUSTED.iter().chain(looking);
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
    let own = home.and_then(|home| read(&home.join(".config/git/ignore")));
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

/// A directory of git's own, in which it writes whatever the rules say to other files there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repository {
    /// `.git` itself.
    Main,
    /// `.git/modules`, or a directory in it: a part of a name, or the repository of a submodule.
    Module,
    /// `.git/worktrees`.
    Worktrees,
    /// What git keeps of one work tree.
    Worktree,
}

impl Repository {
    /// What a directory of this name in a project is.
    pub(crate) fn called(name: &OsStr) -> Option<Self> {
        name.eq_ignore_ascii_case(".git").then_some(Self::Main)
    }

    /// What a directory of this name in this one is, if there is anything in it that git executes.
    pub(crate) fn inner(self, name: &OsStr) -> Option<Self> {
        let plain = [
            "branches", "hooks", "info", "lfs", "logs", "objects", "refs",
        ];
        match self {
            Self::Main | Self::Module if name == "modules" => Some(Self::Module),
            Self::Main | Self::Module if name == "worktrees" => Some(Self::Worktrees),
            Self::Module if !plain.iter().any(|it| name == *it) => Some(Self::Module),
            Self::Worktrees => Some(Self::Worktree),
            Self::Main | Self::Module | Self::Worktree => None,
        }
    }

    /// What in it names programs that git runs, or says where it is to look for more of that.
    pub(crate) fn executed(self) -> &'static [&'static str] {
        match self {
            Self::Main | Self::Module => &[
                "commondir",
                "config",
                "config.worktree",
                "hooks",
                "info/attributes",
            ],
            Self::Worktrees => &[],
            Self::Worktree => &["commondir", "config.worktree"],
        }
    }

    /// Whether a name is kept from being made where nothing has it. Git bears an empty directory there.
    pub(crate) fn is_held(self, name: &str) -> bool {
        self == Self::Main && matches!(name, "config" | "hooks" | "info/attributes")
    }
}

fn read(file: &Path) -> Option<String> {
    let found = fs::metadata(file).ok()?;
    let is_plain = found.is_file() && found.len() <= CONFIG_BYTES_MAX;
    is_plain.then(|| fs::read_to_string(file).ok()).flatten()
}

/// The plain `key = value` lines of the section `[user]`. Includes are not followed.
fn user(text: &str) -> Vec<(String, String)> {
    let mut is_user = false;
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            is_user = line.eq_ignore_ascii_case("[user]");
        } else if let Some((key, value)) = line.split_once('=').filter(|_| is_user) {
            let value = value.trim().trim_matches('"');
            let is_plain = !value.is_empty() && !value.contains(['\\', '"', '#', ';']);
            if is_plain {
                found.push((key.trim().to_ascii_lowercase(), value.to_owned()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

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
