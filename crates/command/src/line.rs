//! What a shell text runs, reads, writes and reaches, as data. It must not read text itself.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// What is known about where a text is read.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// The absolute directory in which the text starts to run.
    pub directory: &'a str,
    /// The absolute home directory, where it is known.
    pub home: Option<&'a str>,
    /// The shell that reads the text.
    pub shell: Shell,
}

/// A shell whose differences are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shell {
    /// GNU bash.
    Bash,
    /// A POSIX shell, which may be bash, dash or another.
    Sh,
    /// zsh.
    Zsh,
}

/// Everything found in one shell text. All ranges are byte ranges of that text, on character boundaries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    /// The simple commands that may run, those inside substitutions and wrappers included.
    pub commands: Vec<Simple>,
    /// The files that may be read or written.
    pub touches: Vec<Touch>,
    /// The machines that may be reached.
    pub hosts: Vec<Host>,
    /// The places that were not understood. Where there are none the rest is complete; where there are,
    /// it is enough to find a forbidden command in, never enough to allow one.
    pub unknown: Vec<Unknown>,
    /// The characters that do not look like what they are.
    pub flagged: Vec<Flagged>,
}

/// What a line does to the machine, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AccessClass {
    /// It is proven to write nothing and to reach no other machine.
    ReadOnly,
    /// It may write.
    Writes,
    /// It cannot be told.
    Unknown,
}

impl Line {
    /// What the line does to the machine.
    pub fn access(&self) -> AccessClass {
        let is_hidden = !self.unknown.is_empty()
            || self.commands.iter().any(|command| command.opaque.is_some())
            || self
                .touches
                .iter()
                .any(|touch| matches!(touch.path, TouchedPath::Unknown(_)));
        let writes = !self.hosts.is_empty()
            || self.touches.iter().any(|touch| touch.mode == Mode::Write)
            || self
                .commands
                .iter()
                .any(|command| command.class != Class::ReadOnly);
        match (is_hidden, writes) {
            (true, _) => AccessClass::Unknown,
            (false, true) => AccessClass::Writes,
            (false, false) => AccessClass::ReadOnly,
        }
    }
}

/// A place the reader does not understand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// Where it is.
    pub range: Range<usize>,
    /// What it is, in words for people: `an unterminated quote`.
    pub what: Cow<'static, str>,
}

/// A character that does not look like what it is: a person who reads the text sees something else
/// than the shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flagged {
    /// Where it is.
    pub range: Range<usize>,
    /// The character.
    pub character: char,
    /// Why it stands out.
    pub why: Oddity,
}

/// Why a character stands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Oddity {
    /// A control character.
    Control,
    /// It changes the direction of the text around it.
    Direction,
    /// It takes no room.
    Hidden,
    /// It looks like a blank and is none to the shell.
    Blank,
    /// It looks like an ASCII letter or operator and is none.
    LookAlike,
}

/// One simple command that may run: assignments, words and redirects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simple {
    /// From the first assignment, word or redirect to the end of the last. Where the command came out of
    /// a text inside a word, this is the place of that word if no closer one is known.
    pub range: Range<usize>,
    /// The command as it was written, with its assignments and redirects.
    pub source: String,
    /// The program and its arguments. Empty when there are only assignments.
    pub words: Vec<Word>,
    /// The assignments before the program.
    pub assignments: Vec<Assignment>,
    /// The redirects of this command alone.
    pub redirects: Vec<Redirect>,
    /// Why this command may run something its words do not say, if it may.
    pub opaque: Option<Opaque>,
    /// What kind of work it does.
    pub class: Class,
    /// Whether all it does stands in its words, by the grammar of its program: it writes only the files
    /// that are listed as touched, and what git keeps beside its own history; it runs no code of the
    /// project but the hooks of the repository, reaches no machine, shows nothing of the environment,
    /// and destroys and publishes nothing. What it runs inside is a command of its own. Whoever judges
    /// the files of such a command has judged the command. `false` where it is opaque, where an option
    /// is not on the list, and where a word is not known and would tell what is written.
    pub is_told: bool,
    /// Where it runs.
    pub directory: Directory,
    /// The command that runs this one, where it is not the shell.
    pub via: Option<Via>,
}

/// How a command came to run inside another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Via {
    /// The place in [`Line::commands`] of the command that runs this one.
    pub command: usize,
    /// Whether it runs on this machine, in this file system.
    pub is_local: bool,
    /// Whether a rule that allows that command by its words allows this one with it: `pnpm exec tsc` is
    /// named as a whole. What is forbidden stays so.
    pub is_named: bool,
}

/// The kind of work a command does, from the mildest to the gravest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Proven by the grammar of its program to write nothing.
    ReadOnly,
    /// Anything else.
    Ordinary,
    /// It may destroy what cannot be brought back.
    Irreversible,
    /// It may change what others see.
    Publish,
}

/// A directory in which something runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Directory {
    /// This one: absolute and without `.` or doubled slashes. `..` stands only where the system, and not the
    /// shell, is told to go there: it may follow a link.
    Known(Arc<str>),
    /// It cannot be told.
    Unknown,
}

/// A file or files that a command or redirect may touch.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Touch {
    /// Which.
    pub path: TouchedPath,
    /// How.
    pub mode: Mode,
    /// Whether it surely happens when the command runs; `false` where the word only may be a path. Where the
    /// shell may be in one of a few directories, as after a `cd` that may fail, one file of several is
    /// touched, and each of them is said to be.
    pub is_certain: bool,
    /// The word or redirect that says so.
    pub range: Range<usize>,
    /// The place in [`Line::commands`] of the command that does it, where it is one.
    pub by: Option<usize>,
}

/// What is touched.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TouchedPath {
    /// One path, absolute and without `.` or doubled slashes; and if it is a directory, what lies below it.
    /// `..` behind a name is kept: where the name is a link, what is above is not what the text says. See
    /// [`by_name`](crate::by_name) for the text without.
    Exact(String),
    /// Any path that fits a pattern.
    Below {
        /// The directory before the first wildcard, as [`TouchedPath::Exact`].
        directory: String,
        /// The whole pattern, absolute.
        pattern: String,
    },
    /// It cannot be told, and why.
    Unknown(String),
}

/// How a file is touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Whether it is there, its size and times may be seen, and of a directory the names in it.
    Look,
    /// What it holds may be seen.
    Read,
    /// It may be made, changed or removed.
    Write,
}

/// A machine that may be reached.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Host {
    /// Its name or address, lower case; as it was written where `is_known` is `false`.
    pub name: String,
    /// The port, where it was given.
    pub port: Option<u16>,
    /// Whether the name is surely the one that is reached.
    pub is_known: bool,
    /// Whether no word names it: the program may reach it by itself.
    pub is_of_program: bool,
    /// The word or redirect that says so.
    pub range: Range<usize>,
    /// The place in [`Line::commands`] of the command that does it, where it is one.
    pub by: Option<usize>,
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
    /// The value where it is known. Parts that cannot be told stand as they are written.
    pub text: String,
    /// How well the value is known.
    pub kind: WordKind,
    /// Whether the program gets exactly one word, whatever it is: `"$x"` is one, `$x` may be none or many.
    pub is_single: bool,
}

/// How well the value of a word is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WordKind {
    /// The program gets exactly the text, and the text is what was written but for quotes.
    Literal,
    /// The program gets exactly the text, which came from `~` or a variable whose value is known.
    Known,
    /// The text is a pattern for file names, in which a backslash stands before a character that is no
    /// wildcard; the program gets names that fit, or the pattern itself where none does.
    Glob,
    /// Anything.
    Dynamic,
}

impl Word {
    /// A word that the program gets as it is.
    pub fn literal(text: impl Into<String>, range: Range<usize>) -> Self {
        Self {
            range,
            text: text.into(),
            kind: WordKind::Literal,
            is_single: true,
        }
    }

    /// Whether the program gets exactly the text, as one word.
    pub fn is_known(&self) -> bool {
        matches!(self.kind, WordKind::Literal | WordKind::Known)
    }
}

/// `NAME=value` before a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// Where it is, name included.
    pub range: Range<usize>,
    /// The variable, without a subscript.
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
    /// The file, the text, or for [`RedirectOp::Duplicate`] the descriptor or `-`.
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
    /// `<<` and `<<<`: reads the text that is the target.
    Text,
}
