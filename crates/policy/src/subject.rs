//! What is asked: one thing a call needs, in every spelling that matters.
//!
//! Must not: work out a spelling. Whoever asks has resolved the path and read the command.

use std::ops::Range;
use std::sync::Arc;

/// What kind of thing a subject is; each has its own rule for spellings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubjectKind {
    /// A bare name or text: judged as it is.
    Name,
    /// A path: an allow is judged on the real path, an ask or a deny on every spelling.
    Path,
    /// One simple command, its wrapper taken off.
    Command,
}

/// One thing a call needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The permission the rules speak of, such as `bash`.
    pub permission: String,
    /// A narrower name that rules may use for the same permission: `external_directory.read`.
    pub narrower: Option<&'static str>,
    /// Which rule for spellings holds.
    pub kind: SubjectKind,
    /// P. A command without quotes and needless spaces; the real path, relative to the workspace when
    /// inside and absolute when not; the name.
    pub canonical: String,
    /// S. A command as it was typed; the real path, absolute; the name.
    pub source: String,
    /// Q. A command by its base name and with options skipped; a path as it was named, relative and
    /// absolute. Nothing is ever allowed because of these.
    pub others: Vec<String>,
    /// Whether every word is known as it stands: no variable, no substitution, no glob.
    pub is_literal: bool,
    /// Why it cannot be told what would run, if it cannot.
    pub opaque: Option<String>,
    /// The bytes of the argument it was read from.
    pub span: Option<Range<usize>>,
    /// What a person may be offered to allow beyond this once, narrowest first.
    pub always: Vec<String>,
    /// Why an allow is not enough here and becomes an ask: no sandbox, a hard link.
    pub ask_because: Option<String>,
    /// Whether it is not known that this is touched at all: a word that looks like a path, given to a
    /// program that nobody knows. Catch-alls were not written for that and say nothing of it; only what
    /// names it counts.
    pub is_possible: bool,
    /// Whether it is touched by a command that is asked about itself: where no rule speaks of it, nothing
    /// is said against it.
    pub is_beside: bool,
    /// The command that touches it, where one does.
    pub by: Option<Arc<Self>>,
    /// The arguments of the call, for patterns that are about them.
    pub arguments: Arguments,
}

/// The arguments of a call, each a name and its value: text as it is, anything else as JSON; what lies
/// in an object by its names with dots between, a name that holds a dot itself as JSON writes it.
pub type Arguments = Arc<[(String, String)]>;

impl Subject {
    /// What a decision about nothing is about.
    pub(crate) fn nothing() -> Self {
        Self {
            permission: String::new(),
            narrower: None,
            kind: SubjectKind::Name,
            canonical: String::new(),
            source: String::new(),
            others: Vec::new(),
            is_literal: true,
            opaque: None,
            span: None,
            always: Vec::new(),
            ask_because: None,
            is_possible: false,
            is_beside: false,
            by: None,
            arguments: Arc::from([]),
        }
    }

    /// What people are shown: a command as it was typed, anything else by its canonical text.
    pub fn as_asked(&self) -> &str {
        match self.kind {
            SubjectKind::Command => &self.source,
            SubjectKind::Path | SubjectKind::Name => &self.canonical,
        }
    }

    /// The permission that a rule for just this is written under. A yes to reading a directory is none to
    /// writing there; of a command or a file the narrower name only says how it was used, and a person's
    /// rule is about the thing.
    pub fn kept_under(&self) -> &str {
        let directory = self
            .narrower
            .filter(|name| name.starts_with("external_directory."));
        directory.unwrap_or(&self.permission)
    }

    /// A bare name or text.
    pub fn name(permission: impl Into<String>, text: impl Into<String>) -> Self {
        let canonical = text.into();
        let source = canonical.clone();
        Self {
            permission: permission.into(),
            canonical,
            source,
            ..Self::nothing()
        }
    }

    /// A path: real (relative when inside the workspace), real and absolute, and as it was named.
    pub fn path(
        permission: impl Into<String>,
        canonical: impl Into<String>,
        absolute: impl Into<String>,
        others: Vec<String>,
    ) -> Self {
        Self {
            permission: permission.into(),
            kind: SubjectKind::Path,
            canonical: canonical.into(),
            source: absolute.into(),
            others,
            ..Self::nothing()
        }
    }

    /// One simple command; literal and told until its fields say otherwise.
    pub fn command(
        permission: impl Into<String>,
        canonical: impl Into<String>,
        source: impl Into<String>,
        others: Vec<String>,
    ) -> Self {
        Self {
            permission: permission.into(),
            kind: SubjectKind::Command,
            canonical: canonical.into(),
            source: source.into(),
            others,
            ..Self::nothing()
        }
    }
}
