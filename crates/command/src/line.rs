//! What a shell text holds, as data. It must not read text itself.

use std::ops::Range;

/// Everything found in one shell text. All ranges are byte ranges of that text, on character boundaries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    /// The simple commands in the order they end, those inside substitutions included.
    /// The ranges of two commands are apart, or one lies in the other.
    pub commands: Vec<Simple>,
    /// The redirects on groups and subshells, and those that stand without a command.
    pub redirects: Vec<Redirect>,
    /// The places that were not understood, in the order met. Empty means the rest is complete.
    pub unknown: Vec<Unknown>,
    /// Whether `cd`, `pushd` or `popd` is run anywhere, so that relative paths may start elsewhere.
    pub changes_directory: bool,
}

/// A place the reader does not understand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// Where it is.
    pub range: Range<usize>,
    /// What it is, in words for people: `command substitution`, `unterminated quote`.
    pub what: &'static str,
}

/// One simple command: assignments, words and redirects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simple {
    /// From the first assignment, word or redirect to the end of the last.
    pub range: Range<usize>,
    /// The program and its arguments. Empty when there are only assignments.
    pub words: Vec<Word>,
    /// The assignments before the program.
    pub assignments: Vec<Assignment>,
    /// The redirects of this command alone.
    pub redirects: Vec<Redirect>,
    /// Why this command may run something its words do not say, if it may.
    pub opaque: Option<Opaque>,
}

/// The reason a command hides what it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opaque {
    /// The word or assignment that is to blame.
    pub range: Range<usize>,
    /// The reason, in words for people, lower case and without a full stop.
    pub why: String,
}

/// One word after quotes are removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Where it is, quotes included.
    pub range: Range<usize>,
    /// The word with its quotes removed; parts that are not understood stand as they are written.
    pub text: String,
    /// What the shell may still make of it.
    pub kind: WordKind,
}

/// What the shell may still make of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WordKind {
    /// Nothing: the program gets exactly the text.
    Literal,
    /// File names, through an unquoted `*`, `?` or `[`.
    Glob,
    /// A home directory, through an unquoted `~` at the start or after `=` or `:`.
    Tilde,
    /// Anything: it holds a place that is listed in [`Line::unknown`].
    Dynamic,
}

/// `NAME=value` before a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// Where it is, name included.
    pub range: Range<usize>,
    /// The variable.
    pub name: String,
    /// What it is set to, or what is appended to it.
    pub value: Word,
}

/// One redirect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// From the descriptor number, or the operator, to the end of the target.
    pub range: Range<usize>,
    /// The descriptor written before the operator.
    pub fd: Option<u32>,
    /// What is done.
    pub op: RedirectOp,
    /// The file, or for [`RedirectOp::Duplicate`] the descriptor or `-`.
    pub target: Word,
}

/// What a redirect does with its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RedirectOp {
    /// `<`: reads a file.
    Read,
    /// `>`: empties and writes a file.
    Write,
    /// `>>`: writes at the end of a file.
    Append,
    /// `<>`: reads and writes a file.
    ReadWrite,
    /// `>|`: empties and writes a file even where the shell was told not to.
    Clobber,
    /// `&>`, `&>>` and `>&` with a file: writes a file.
    Both,
    /// `>&` and `<&` with a descriptor or `-`: touches no file.
    Duplicate,
}
