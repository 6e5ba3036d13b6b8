//! What the machine can do for us, as ports. A host acts on an [`Order`] alone, and nothing
//! outside gate 3 can make one.

use crate::{
    BoxFuture,
    access::{ReadFile, ReadTree, Spawn, WriteFile},
    call::CallId,
    g3_confine::{Confinement, Order},
};
use std::path::Path;

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
    /// Lists what the order's purpose names.
    fn read_tree(&self, order: Order<ReadTree>) -> BoxFuture<'_, Result<Vec<Entry>, HostError>>;
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
