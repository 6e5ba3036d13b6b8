//! Where configuration may come from, told by whoever knows the machine. Must not look there.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::Trust;

/// Where to look.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The user's configuration folder: `$XDG_CONFIG_HOME` or `~/.config`. Absolute.
    pub user_dir: Option<PathBuf>,
    /// The directory that `~` and `$HOME` stand for.
    pub home: Option<String>,
    /// The directory to work in.
    pub workspace: PathBuf,
    /// A file that was named: `--config` or `TOLLGATE_CONFIG`.
    pub explicit: Option<PathBuf>,
    /// What the environment says.
    pub variables: Variables,
    /// The folders of whoever administers the machine, lowest first; see [`MANAGED_DIRS`].
    pub managed_dirs: Vec<PathBuf>,
    /// What a person trusts of the repository.
    pub trust: Trust,
}

/// The folders of whoever administers the machine, where they are looked for.
pub const MANAGED_DIRS: [&str; 3] = ["/etc/opencode", "/etc/kilo", "/etc/tollgate"];

/// Variables of the environment with their values, the lowest first. An empty one says nothing.
#[derive(Debug, Clone, Default)]
pub struct Variables {
    /// Files of configuration.
    pub files: Vec<(&'static str, PathBuf)>,
    /// Folders of configuration.
    pub dirs: Vec<(&'static str, PathBuf)>,
    /// Texts of configuration.
    pub contents: Vec<(&'static str, OsString)>,
    /// Values of the key `permission`.
    pub permissions: Vec<(&'static str, OsString)>,
    /// Whether the configuration of the repository is left alone, rules that tighten as well.
    pub is_project_off: bool,
}

// `TOLLGATE_CONFIG` is not among them: it is another way to write `--config`.
const FILES: [&str; 2] = ["OPENCODE_CONFIG", "KILO_CONFIG"];
const DIRS: [&str; 3] = [
    "OPENCODE_CONFIG_DIR",
    "KILO_CONFIG_DIR",
    "TOLLGATE_CONFIG_DIR",
];
const CONTENTS: [&str; 3] = [
    "OPENCODE_CONFIG_CONTENT",
    "KILO_CONFIG_CONTENT",
    "TOLLGATE_CONFIG_CONTENT",
];
const PERMISSIONS: [&str; 3] = [
    "OPENCODE_PERMISSION",
    "KILO_PERMISSION",
    "TOLLGATE_PERMISSION",
];
const PROJECT_OFF: [&str; 3] = [
    "OPENCODE_DISABLE_PROJECT_CONFIG",
    "KILO_DISABLE_PROJECT_CONFIG",
    "TOLLGATE_DISABLE_PROJECT_CONFIG",
];

impl Variables {
    /// Asks for the variables that say something here, and for no others.
    pub fn of(look_up: &dyn Fn(&str) -> Option<OsString>) -> Self {
        let value = |name: &&'static str| {
            let value = look_up(name).filter(|value| !value.is_empty())?;
            Some((*name, value))
        };
        let path = |name| value(name).map(|(name, path)| (name, path.into()));
        let is_yes = |name| value(name).is_some_and(|(_, value)| value == "1" || value == "true");
        Self {
            files: FILES.iter().filter_map(path).collect(),
            dirs: DIRS.iter().filter_map(path).collect(),
            contents: CONTENTS.iter().filter_map(value).collect(),
            permissions: PERMISSIONS.iter().filter_map(value).collect(),
            is_project_off: PROJECT_OFF.iter().any(is_yes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_says_nothing_and_only_a_yes_leaves_the_repository_alone() {
        let of = |name: &'static str, value: &'static str| {
            Variables::of(&move |asked| (asked == name).then(|| value.into()))
        };
        assert!(of("KILO_CONFIG_DIR", "").dirs.is_empty());
        assert_eq!(
            of("KILO_CONFIG_DIR", "/x").dirs,
            [("KILO_CONFIG_DIR", "/x".into())]
        );
        assert_eq!(of("OPENCODE_CONFIG", "/x").files.len(), 1);
        assert_eq!(of("OPENCODE_PERMISSION", "x").permissions.len(), 1);
        assert_eq!(of("TOLLGATE_CONFIG_CONTENT", "x").contents.len(), 1);
        for (value, want) in [
            ("1", true),
            ("true", true),
            ("0", false),
            ("false", false),
            ("", false),
        ] {
            assert_eq!(
                of("KILO_DISABLE_PROJECT_CONFIG", value).is_project_off,
                want,
                "{value}"
            );
        }
    }
}
