//! What a walk passes over because a `.gitignore` or `.ignore` on the way says so.
//! Must not follow a link, nor read such a file above where the walk may look.
//!
//! As ripgrep does it: a deeper file comes before a higher one, `.ignore` before `.gitignore` before
//! `.git/info/exclude`; the two of git count only in a work tree of git, and not beyond its root.
//! Files of the user (`core.excludesFile`, `.rgignore`) are not read.

use crate::beneath;
use gate::host::FileKind;
use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};
use rustix::{
    fd::{AsFd, BorrowedFd},
    fs::{Mode, OFlags, fstat, openat},
};
use std::{ffi::OsStr, fs::File, io::Read as _, path::Path, sync::Arc};

/// More of a file that says what to ignore is not read, in bytes.
const BYTES_MAX: u64 = 1024 * 1024;

/// What the files of one directory, and of those above it, say.
#[derive(Debug)]
pub(crate) struct Ignored {
    above: Option<Arc<Self>>,
    ignore: Option<Gitignore>,
    git: Option<Gitignore>,
    exclude: Option<Gitignore>,
    /// Whether a work tree of git begins here.
    is_root: bool,
    /// Whether this lies in a work tree of git.
    is_in_tree: bool,
}

/// What is said about a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// Nothing.
    Nothing,
    /// Pass over it.
    Ignore,
    /// Keep it, even if it is hidden.
    Keep,
}

/// Which of the names that matter stand in a directory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Present {
    pub(crate) git: bool,
    pub(crate) gitignore: bool,
    pub(crate) ignore: bool,
}

impl Present {
    /// Takes note of a name.
    pub(crate) fn note(&mut self, name: &[u8]) {
        match name {
            b".git" => self.git = true,
            b".gitignore" => self.gitignore = true,
            b".ignore" => self.ignore = true,
            _ => {}
        }
    }
}

impl Ignored {
    /// Where nothing has been read yet, in a work tree of git or not.
    pub(crate) fn nothing(is_in_tree: bool) -> Arc<Self> {
        Arc::new(Self {
            above: None,
            ignore: None,
            git: None,
            exclude: None,
            is_root: false,
            is_in_tree,
        })
    }

    /// With what the files in a directory say, which lies at `path` below where all paths begin.
    pub(crate) fn with(
        self: &Arc<Self>,
        dir: BorrowedFd<'_>,
        path: &str,
        present: Present,
    ) -> Arc<Self> {
        if !(present.git || present.gitignore || present.ignore) {
            return Arc::clone(self);
        }
        let read = |is_there: bool, name: &str| {
            let text = is_there.then(|| text(dir, name)).flatten()?;
            Some(rules(path, &text))
        };
        Arc::new(Self {
            above: Some(Arc::clone(self)),
            ignore: read(present.ignore, ".ignore"),
            git: read(present.gitignore, ".gitignore"),
            exclude: read(present.git, ".git/info/exclude"),
            is_root: present.git,
            is_in_tree: self.is_in_tree || present.git,
        })
    }

    /// What is said about a path.
    pub(crate) fn said(&self, path: &str, is_directory: bool) -> Said {
        let [mut ignore, mut git, mut exclude] = [Said::Nothing; 3];
        let mut is_beyond_root = !self.is_in_tree;
        let mut here = Some(self);
        while let Some(level) = here {
            let add = |said: &mut Said, rules: &Option<Gitignore>| {
                if let (Said::Nothing, Some(rules)) = (*said, rules) {
                    *said = match rules.matched(path, is_directory) {
                        Match::None => Said::Nothing,
                        Match::Ignore(_) => Said::Ignore,
                        Match::Whitelist(_) => Said::Keep,
                    };
                }
            };
            add(&mut ignore, &level.ignore);
            if !is_beyond_root {
                add(&mut git, &level.git);
                add(&mut exclude, &level.exclude);
            }
            is_beyond_root |= level.is_root;
            here = level.above.as_deref();
        }
        let said = [ignore, git, exclude].into_iter();
        said.fold(Said::Nothing, |first, next| match first {
            Said::Nothing => next,
            Said::Ignore | Said::Keep => first,
        })
    }
}

/// The lines that make no sense are left out, as git does.
fn rules(path: &str, text: &str) -> Gitignore {
    let mut builder = GitignoreBuilder::new(path);
    for line in text.lines() {
        // A line that is no pattern is reported and otherwise without effect.
        let _read: Result<_, ignore::Error> = builder.add_line(None, line).map(drop);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// The text of a regular file below a directory, if there is one.
fn text(dir: BorrowedFd<'_>, path: &str) -> Option<String> {
    let path = Path::new(path);
    let parent = beneath::directory(dir, path.parent()?).ok()?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(
        parent.as_fd(),
        path.file_name().unwrap_or(OsStr::new(".")),
        flags,
        Mode::empty(),
    )
    .ok()?;
    if beneath::found_of(&fstat(&file).ok()?).kind != FileKind::File {
        return None;
    }
    let mut bytes = Vec::new();
    let mut file = File::from(file).take(BYTES_MAX);
    file.read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
