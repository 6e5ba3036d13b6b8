//! What the machine can do for us, as ports. A host acts on an [`Order`] alone, and nothing
//! outside gate 3 can make one.

use crate::{
    BoxFuture,
    access::{ReadFile, ReadTree, Spawn, WriteFile},
    call::CallId,
    g3_confine::{Confinement, Order},
};
use std::path::Path;

/// What agents, editors and shells take from the root of a project without being asked. A host that walls commands in
/// keeps it from being made where nothing has the name, and tools say so; by other names only what exists is protected.
pub const HELD_NAMES: &[&str] = &[
    ".claude",
    ".codex",
    ".cursor",
    ".envrc",
    ".kilo",
    ".mcp.json",
    ".opencode",
    ".vscode",
    "AGENTS.md",
    "CLAUDE.md",
];

/// Which file this is, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileId {
    /// The device number.
    pub device: u64,
    /// The inode number.
    pub inode: u64,
}

/// What kind of thing stands under a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A FIFO, device or socket: never opened.
    Other,
}

/// What a host found under a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its identity.
    pub id: FileId,
    /// How many names it has. More than one: somebody outside may see a write, or be read.
    pub links: u64,
    /// What it is.
    pub kind: FileKind,
}

/// Whether a path lies in the workspace, links followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the workspace.
    Inside,
    /// Anywhere else: also asked as `external_directory`.
    Outside,
}

/// A path as the host resolved it: where it really leads and what stood there. Plain data; it
/// becomes a `Handle` only in the gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// Inside or outside the workspace.
    pub place: Place,
    /// The real path, relative to the workspace when inside (`.` for itself), else absolute.
    pub real: String,
    /// The real path, absolute.
    pub absolute: String,
    /// Other spellings under which it was named, relative and absolute.
    pub named: Vec<String>,
    /// What stood there; `None`: nothing did.
    pub found: Option<Found>,
    /// The nearest existing directory above it, so that a swapped parent is noticed too.
    pub above: FileId,
}

/// Why a path could not be resolved. Says nothing about what exists outside the workspace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ResolveError(pub String);

/// Why a host did not act, or could not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// What stands there now is not what was decided about.
    #[error("{0}")]
    Changed(String),
    /// The walls of the call do not let it, or the call is over.
    #[error("{0}")]
    Refused(String),
    /// The machine could not.
    #[error("{0}")]
    Failed(String),
}

/// What a read brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// The bytes of a regular file.
    Bytes(Vec<u8>),
    /// A directory; its names need a `ReadTree`.
    Directory,
    /// There is no such file.
    Missing,
}

/// One name in a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The name, lossy where it is not UTF-8.
    pub name: String,
    /// A directory, or a link to one.
    pub is_directory: bool,
}

/// What looking into a tree brings, by its purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// The names in a directory, sorted.
    Listing(Vec<Entry>),
    /// Files.
    Paths(Paths),
    /// Lines of files.
    Matches(Matches),
}

/// Files that fit, sorted by the bytes of their paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    /// Their real paths, absolute; the first ones, as many as the limit lets through.
    pub paths: Vec<String>,
    /// How many more fit.
    pub omitted: usize,
    /// What was not looked at.
    pub left_out: LeftOut,
}

/// Lines that fit, by file, sorted by the bytes of the paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// The first ones, as many as the limit lets through.
    pub files: Vec<FileMatches>,
    /// Whether more lines fit. How many is not known: the search ends there.
    pub has_more: bool,
    /// What was not looked at.
    pub left_out: LeftOut,
}

/// The lines of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMatches {
    /// Its real path, absolute.
    pub path: String,
    /// In order, those of the context among them.
    pub lines: Vec<Line>,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number, from 1.
    pub number: u64,
    /// Its text without the line end, lossy where it is not UTF-8, cut at [`LINE_CHARS_MAX`].
    pub text: String,
    /// Whether it fits; if not, it is context.
    pub fits: bool,
}

/// Longer lines that were found are cut, in characters (as in the compatible systems).
pub const LINE_CHARS_MAX: usize = 2_000;

impl Line {
    /// A line as it stands in a file, with or without its end.
    pub fn new(number: u64, bytes: &[u8], fits: bool) -> Self {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        // A character has at most four bytes: no more of a very long line is looked at.
        let head = bytes.get(..4 * (LINE_CHARS_MAX + 1)).unwrap_or(bytes);
        let text = String::from_utf8_lossy(head);
        let text = match text.char_indices().nth(LINE_CHARS_MAX) {
            Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
            None => text.into_owned(),
        };
        Self { number, text, fits }
    }
}

/// How much of a tree was not looked at, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Files and directories that the rules would have asked about.
    pub asked: usize,
    /// Files and directories that the rules deny.
    pub denied: usize,
    /// Files and directories whose name is not UTF-8, so that no rule can speak of them.
    pub unnamed: usize,
    /// Files and directories that could not be opened.
    pub unreadable: usize,
    /// Files that are too large to be searched.
    pub too_large: usize,
}

impl std::ops::AddAssign for LeftOut {
    fn add_assign(&mut self, more: Self) {
        self.asked += more.asked;
        self.denied += more.denied;
        self.unnamed += more.unnamed;
        self.unreadable += more.unreadable;
        self.too_large += more.too_large;
    }
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// With this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// Killed when its time was over.
    TimedOut,
}

/// What came of a child. The process and all it started are gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// How the command itself ended.
    pub exit: Exit,
    /// The last bytes of its output (stdout and stderr in order of arrival), at least as many as
    /// the output limits let through, if there were so many.
    pub tail: Vec<u8>,
    /// All bytes it wrote.
    pub bytes_total: u64,
    /// Machines that it wanted to reach and might not, `host:port` each; a few.
    pub refused: Vec<String>,
    /// What was changed while it ran although the rules do not let commands change it, and was undone, and what it
    /// left for others to run: a sentence each; a few. It may be of an earlier command that was cut off.
    pub undone: Vec<String>,
    /// Where the whole output was kept, if `tail` is not all of it.
    pub kept_at: Option<String>,
}

/// The machine.
///
/// A host keeps the set of open calls and refuses an order of any other: the run-time twin of the
/// brand on permits. It compares identity and digest at the moment of use. `close_call` runs from
/// `Drop`, so it may not wait.
pub trait Host: Send + Sync {
    /// What it really enforces on children; not what it would like to.
    fn confinement(&self) -> Confinement;
    /// The workspace, absolute and real.
    fn workspace(&self) -> &Path;
    /// The home that `~` and `$HOME` stand for in a command, absolute; `None`: it cannot be told.
    fn home(&self) -> Option<&Path>;
    /// Whether a variable of this name looks as if it held a secret, so that no command is given it.
    fn hides(&self, variable: &str) -> bool;
    /// The paths that a shell's pattern stands for now, absolute, at most `max`; none where nothing
    /// fits. They are for the rules alone: no tool hears of them. `None`: there are more, or it cannot
    /// be told.
    fn expand(&self, pattern: &str, max: usize) -> Option<Vec<String>>;
    /// Resolves a path, links followed, without opening it. Relative paths start at the workspace.
    ///
    /// # Errors
    /// The path cannot be resolved at all (a NUL, a loop of links, a link to nothing). A missing
    /// file is no error.
    fn resolve(&self, path: &str) -> Result<Resolved, ResolveError>;
    /// A call begins.
    fn open_call(&self, call: CallId);
    /// Ends everything the call started. Also runs when the call is cancelled.
    fn close_call(&self, call: CallId);
    /// Reads one file whole.
    fn read_file(&self, order: Order<ReadFile>) -> BoxFuture<'_, Result<Content, HostError>>;
    /// Lists or searches, as the order's purpose says. Nothing is brought back that the walls'
    /// [`read_filter`](crate::g3_confine::Walls::read_filter) does not allow, and no link is
    /// followed.
    fn read_tree(&self, order: Order<ReadTree>) -> BoxFuture<'_, Result<Tree, HostError>>;
    /// Replaces a file by the bytes of the order, whole or not at all.
    fn write_file(&self, order: Order<WriteFile>) -> BoxFuture<'_, Result<(), HostError>>;
    /// Runs a command to its end.
    fn spawn(&self, order: Order<Spawn>) -> BoxFuture<'_, Result<Ended, HostError>>;
    /// Keeps output that was too long for the model, and says where. Not an effect of a tool: the
    /// gate's own truncation calls it.
    fn keep_output(&self, call: CallId, text: &str) -> BoxFuture<'_, Result<String, HostError>>;
}

/// The time, as a port, so that tests and replays have one of their own.
pub trait Clock: Send + Sync {
    /// Milliseconds since the Unix epoch.
    fn now_ms(&self) -> u64;
}
