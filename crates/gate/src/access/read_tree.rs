//! Listing or searching below a directory. What is found is not for this access to allow: a host
//! shows only what the rules for `read` plainly allow ([`crate::g3_confine::ReadFilter`]).

use super::{
    Handle,
    handle::{self, Touch},
};
use policy::Subject;
use std::fmt;

/// What a tree is looked into for; decides the permission asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The names directly in the directory. Asked as `read`, like the file it turned out not to be.
    List,
    /// The files below it whose path fits a pattern. Asked as `glob`.
    Glob(GlobQuery),
    /// The lines of files below it, or of the file itself, that fit a pattern. Asked as `grep`.
    Grep(GrepQuery),
}

/// Which files are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobQuery {
    /// A pattern as in a `.gitignore`: without a slash it fits names at any depth, with one it
    /// starts at the directory.
    pub pattern: String,
    /// The most paths brought back.
    pub limit: usize,
}

impl GlobQuery {
    /// Whether the pattern spells a name that begins with a dot. Only such a pattern finds hidden
    /// files.
    pub fn names_hidden(&self) -> bool {
        let is_dots = |name: &str| matches!(name, "." | "..");
        let mut names = self.pattern.split('/');
        names.any(|name| name.starts_with('.') && !is_dots(name))
    }
}

/// Which lines are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrepQuery {
    /// A regular expression, without look-around and backreferences; or plain text.
    pub pattern: String,
    /// Only in files whose path fits this pattern, as in [`GlobQuery`].
    pub include: Option<String>,
    /// Lines shown before and after each one that fits.
    pub context: usize,
    /// The most lines that fit brought back.
    pub limit: usize,
    /// Whether the pattern is plain text.
    pub is_literal: bool,
    /// Whether upper and lower case are the same.
    pub ignores_case: bool,
}

/// Leave is asked to look below this directory.
#[derive(Debug)]
pub struct ReadTree {
    handle: Handle,
    purpose: Purpose,
}

impl ReadTree {
    /// The names directly in a directory.
    pub fn list(handle: Handle) -> Self {
        let purpose = Purpose::List;
        Self { handle, purpose }
    }

    /// The files below a directory that fit.
    pub fn glob(handle: Handle, query: GlobQuery) -> Self {
        let purpose = Purpose::Glob(query);
        Self { handle, purpose }
    }

    /// The lines below a directory, or in one file, that fit.
    pub fn grep(handle: Handle, query: GrepQuery) -> Self {
        let purpose = Purpose::Grep(query);
        Self { handle, purpose }
    }

    /// The directory; for a search it may be a file.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// What for.
    pub fn purpose(&self) -> &Purpose {
        &self.purpose
    }

    /// COMPAT: `glob` and `grep` are asked with the pattern that is looked for; where, only if it is
    /// outside the workspace, and that first.
    pub(super) fn subjects(&self) -> Vec<Subject> {
        let (permission, pattern) = match &self.purpose {
            Purpose::List => return handle::subjects(Touch::Read, &self.handle),
            Purpose::Glob(query) => ("glob", &query.pattern),
            Purpose::Grep(query) => ("grep", &query.pattern),
        };
        let mut subject = Subject::name(permission, pattern);
        subject.always = vec![pattern.clone()];
        let outside = handle::external_directory(Touch::Read, &self.handle);
        outside.into_iter().chain([subject]).collect()
    }
}

/// The line the journal keeps.
impl fmt::Display for ReadTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.handle.path();
        match &self.purpose {
            Purpose::List => write!(f, "list {path}"),
            Purpose::Glob(query) => write!(f, "glob {path} for `{}`", query.pattern),
            Purpose::Grep(query) => write!(f, "grep {path} for `{}`", query.pattern),
        }
    }
}
