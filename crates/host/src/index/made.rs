//! Directories whose content tools fetch or make (`data/made.tsv`), where git ignores them.
//! Must not believe it of a directory that was seen as something else before.
//!
//! SECURITY: a command may write `.gitignore`, so what was found first holds for the session. It may not move a
//! directory in which something is protected to such a name, because the walls hold it where it stands.

use crate::{
    ignored::{Ignored, Present, Said},
    walk::open_below,
};
use rustix::{
    fd::{AsFd as _, OwnedFd},
    fs::{AtFlags, OFlags, statat},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    path::{Path, PathBuf},
    sync::LazyLock,
};

const TABLE: &str = include_str!("../../data/made.tsv");

static NAMES: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#')).skip(1);
    let names = lines.filter_map(|line| line.split('\t').next());
    names.collect()
});

/// What was found of the directories of such names, by path.
#[derive(Debug, Default)]
pub(crate) struct Made(BTreeMap<PathBuf, bool>);

impl Made {
    /// Whether a directory below an open one holds what is fetched or made. What lies in it is not asked for.
    pub(super) fn holds(&mut self, root: &OwnedFd, below: &Path) -> bool {
        let is_called = |name: &OsStr| name.to_str().is_some_and(|it| NAMES.contains(it));
        if !below.file_name().is_some_and(is_called) {
            return false;
        }
        if let Some(known) = self.0.get(below) {
            return *known;
        }
        let found = is_ignored(root, below).unwrap_or(false);
        self.0.insert(below.to_owned(), found);
        found
    }
}

/// Whether git would ignore a directory, or one around it. `None`: that cannot be told.
fn is_ignored(root: &OwnedFd, below: &Path) -> Option<bool> {
    let mut ignored = Ignored::nothing(true);
    let mut around = String::new();
    for name in below {
        let dir = open_below(root.as_fd(), &around, OFlags::DIRECTORY).ok()?;
        let is_there = |name: &str| statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW).is_ok();
        let present = Present {
            git: is_there(".git"),
            gitignore: is_there(".gitignore"),
            ignore: false,
        };
        ignored = ignored.with(dir.as_fd(), &around, present);
        if !around.is_empty() {
            around.push('/');
        }
        around.push_str(name.to_str()?);
        match ignored.said(&around, true) {
            Said::Ignore => return Some(true),
            Said::Nothing | Said::Keep => {}
        }
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, Mode, openat};
    use std::fs;

    #[test]
    fn the_names_are_in_order_and_say_why() {
        let lines: Vec<_> = TABLE
            .lines()
            .filter(|it| !it.starts_with('#'))
            .skip(1)
            .collect();
        assert!(lines.is_sorted(), "{lines:?}");
        assert!(lines.iter().all(|it| it.split('\t').count() == 2));
        assert!(!NAMES.contains("vendor"), "people keep it");
    }

    #[test]
    fn what_git_ignores_under_such_a_name_is_made_and_stays_what_it_was_first() {
        let dir = tempfile::tempdir().unwrap();
        for path in [
            ".git",
            "app/node_modules/x",
            "lib/target",
            "out/lib/venv",
            "shop/target",
            "src",
        ] {
            fs::create_dir_all(dir.path().join(path)).unwrap();
        }
        let ignore = |text: &str| fs::write(dir.path().join(".gitignore"), text).unwrap();
        ignore("node_modules/\n/out\n/lib/target/\nsrc\n");
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let root = openat(CWD, dir.path(), flags, Mode::empty()).unwrap();
        let mut made = Made::default();
        let mut check = |cases: &[(&str, bool)]| {
            for (path, want) in cases {
                assert_eq!(made.holds(&root, Path::new(path)), *want, "{path}");
            }
        };
        let cases = [
            ("app/node_modules", true),
            ("lib/target", true),
            ("out/lib/venv", true),
            ("shop/target", false),
            ("src", false),
            ("missing/target", false),
        ];
        check(&cases);
        ignore("shop\n");
        check(&cases);
    }
}
