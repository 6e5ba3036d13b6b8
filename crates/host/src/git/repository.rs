//! Which of its own files git executes or obeys. Must not look at the disk.

use std::ffi::OsStr;

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
    /// `info` in one of them, or the repository of a submodule that has this name.
    Info,
}

impl Repository {
    /// What a directory of this name in a project is.
    pub(crate) fn called(name: &OsStr) -> Option<Self> {
        name.eq_ignore_ascii_case(".git").then_some(Self::Main)
    }

    /// What a directory of this name in this one is, if there is anything in it that git executes.
    pub(crate) fn inner(self, name: &OsStr) -> Option<Self> {
        let plain = ["branches", "hooks", "lfs", "logs", "objects", "refs"];
        match self {
            Self::Main | Self::Module if name == "info" => Some(Self::Info),
            Self::Main | Self::Module if name == "modules" => Some(Self::Module),
            Self::Main | Self::Module if name == "worktrees" => Some(Self::Worktrees),
            Self::Module if !plain.iter().any(|it| name == *it) => Some(Self::Module),
            Self::Worktrees => Some(Self::Worktree),
            Self::Main | Self::Module | Self::Worktree | Self::Info => None,
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
            Self::Info => &[
                "attributes",
                "commondir",
                "config",
                "config.worktree",
                "hooks",
            ],
        }
    }

    /// Whether a name is kept from being made where nothing has it. Git bears an empty directory there.
    pub(crate) fn is_held(self, name: &str) -> bool {
        self == Self::Main && matches!(name, "config" | "hooks" | "info/attributes")
    }
}
