//! What a child process may touch, held by the operating system.
//! Must not decide what is allowed: it holds the walls it is given, and says what it cannot hold.
//!
//! On Linux this same program is executed once more, through a descriptor opened at the start, and waits. For each
//! command it forks a supervisor. Where namespaces can be had, the supervisor clones a first process of new ones; that
//! one builds a file tree of what may be seen and nothing else. The command's process puts itself behind Landlock and
//! seccomp, proves that all of it holds, and only then executes the program. When it ends, is told to end, or the
//! program that started it dies, every process it left is killed.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

#[cfg(unix)]
mod bare;
#[cfg(unix)]
mod closed;
mod gap;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(not(target_os = "linux"), test))]
mod none;
mod seatbelt;
mod toolchain;

#[cfg(unix)]
pub use bare::begin_session;
#[cfg(unix)]
pub use closed::system_closed;
pub use gap::{Extent, Gap, Wall};
#[cfg(target_os = "linux")]
pub use linux::{Child, Launcher, run_if_helper};
#[cfg(not(target_os = "linux"))]
pub use none::{Child, Launcher, run_if_helper};
pub use seatbelt::seatbelt_profile;
pub use toolchain::{system_readable, toolchain_links, toolchain_readable};

/// The descriptor a command writes its output to.
#[cfg(unix)]
pub type Output = std::os::fd::OwnedFd;
/// The handle a command writes its output to.
#[cfg(windows)]
pub type Output = std::os::windows::io::OwnedHandle;

/// What one command may touch and use; everything else is closed to it.
///
/// Each path must be absolute and free of symbolic links (canonical): a link met while the walls are built
/// refuses the start, because a command that ran earlier may have planted it.
/// A readable path that does not exist opens nothing; a writable one that does not exist refuses the start.
///
/// Masks and write protection inside of what is open are held in the full tier alone: in the partial one they
/// only take away what is listed by itself. [`Confinement`] says which tier it is, and its gaps name what is
/// not held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walls {
    /// Files and directories, with all below, that may be read and executed.
    pub readable: Vec<PathBuf>,
    /// Files and directories, with all below, that may be read, executed, written and removed.
    pub writable: Vec<PathBuf>,
    /// Files and directories whose content stays hidden, whatever opens the directory around them.
    /// The name stays visible. See [`Walls::write_protected`] for one that does not exist.
    pub masked: Vec<PathBuf>,
    /// Files and directories, with all below, that cannot be written, removed or renamed although they lie
    /// inside a writable directory, and neither can the directories between.
    ///
    /// One that does not exist cannot be made: its first missing part is, while commands run, an empty
    /// directory that they can put nothing in. That directory is visible outside too, and gone afterwards. What
    /// somebody outside puts in stays.
    pub write_protected: Vec<PathBuf>,
    /// A directory of the caller's where such empty directories are kept for the next command that needs them: to
    /// move one costs a fifth of making and removing it. It must be on the file system of those places, or it is of
    /// no use, and no command may reach it.
    pub spares: Option<PathBuf>,
    /// Symbolic links to be seen where the path to them would otherwise be empty, such as a `~/.rustup` that
    /// was moved to another disk. They open nothing by themselves.
    pub links: Vec<PathBuf>,
    /// UNIX sockets of services outside that may be connected to, such as an agent that signs. Their names alone
    /// are shown, nothing that lies beside them. One that does not exist opens nothing; one that is no socket
    /// refuses the start. In the partial tier none can be reached.
    pub sockets: Vec<PathBuf>,
    /// What the command and all it starts may use up.
    pub limits: Limits,
    /// Which network there is.
    pub network: Network,
}

impl Walls {
    /// All paths, in the order in which failures count them.
    #[cfg(target_os = "linux")]
    fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.writable
            .iter()
            .chain(&self.readable)
            .chain(&self.masked)
            .chain(&self.write_protected)
            .chain(&self.sockets)
            .chain(&self.links)
    }
}

/// The port of a command's own 127.0.0.1 that leads to the listener of [`Network::Proxied`].
/// It is the same for every command, so that variables about a proxy can be set before there is one.
pub const PROXY_PORT: u16 = 3128;

/// The mode of the empty directories that keep a name from being made, see [`Walls::write_protected`]. One that
/// was left by a command which was cut off is known by it, and taken over by the next that protects the name.
/// Its owner may write, because no other directory can be moved into another.
pub const HELD_MODE: u32 = 0o1755;

/// Which network a command has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Network {
    /// One of its own: in the full tier with a loopback interface and nothing else, in the partial tier none.
    #[default]
    Private,
    /// One of its own like [`Network::Private`], with one way out: connections to [`PROXY_PORT`] of its loopback
    /// interface wait for whoever has the [`Child::take_listener`]. In the partial tier there is no way out.
    Proxied,
    /// The machine's. Servers on this machine are reachable then, even those meant for it alone.
    Shared,
}

/// What a command may use up. Nothing is limited by default, except that no core is ever dumped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Processes and threads of the whole tree at once. Full tier only, and not for root.
    pub processes: Option<u64>,
    /// Memory one process may write to, in bytes: its heap and private mappings. Address space is not
    /// limited, because many runtimes reserve far more of it than they ever use.
    pub memory_bytes: Option<u64>,
    /// The size one file can reach, in bytes.
    pub file_bytes: Option<u64>,
    /// Processor time of one process, in seconds.
    pub cpu_s: Option<u64>,
}

/// How much of a sandbox to build at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Landlock and seccomp.
    Partial,
    /// Namespaces with a file tree of their own, then Landlock and seccomp.
    Full,
}

/// What a command reads and writes. It can do with each whatever whoever opened it could.
#[derive(Debug)]
pub struct Streams {
    /// Its standard input; empty if there is none.
    pub input: Option<Output>,
    /// Its standard output.
    pub output: Output,
    /// Its standard error.
    pub error: Output,
}

/// One command to run.
#[derive(Clone, Debug)]
pub struct Spawn {
    /// The absolute path of the program; `PATH` is never searched.
    pub program: OsString,
    /// The arguments after the program's own name.
    pub args: Vec<OsString>,
    /// The whole environment: nothing is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// The absolute directory the command starts in.
    pub cwd: PathBuf,
    /// What the command may touch.
    pub walls: Walls,
}

/// How a command ended. By then every process it started is dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It exited with this code.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
}

/// What this machine enforces, found by trying it and not by asking a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// Namespaces, Landlock and seccomp hold every wall.
    Full {
        /// The version of Landlock's interface in use.
        abi: u32,
        /// What no wall is about.
        gaps: Vec<Gap>,
    },
    /// Landlock and seccomp hold the walls, but for the gaps named.
    Partial {
        /// The version of Landlock's interface in use.
        abi: u32,
        /// What this tier cannot hold.
        gaps: Vec<Gap>,
        /// Why it is not the full tier.
        why: String,
    },
    /// Nothing is enforced, and [`Launcher::start`] refuses to run anything.
    NotEnforced {
        /// What is missing.
        why: String,
    },
}

/// Why a command did not start. None of its code ran.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The machine cannot hold the walls.
    #[error("no sandbox: {why}")]
    NotEnforced {
        /// What is missing.
        why: String,
    },
    /// A program, directory or wall is not an absolute path.
    #[error("`{}` is not an absolute path", path.display())]
    NotAbsolute {
        /// The path as given.
        path: PathBuf,
    },
    /// A wall could not be built around a path.
    #[error("cannot build the wall around `{}`: {source}", path.display())]
    Wall {
        /// The path as given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The command cannot start in its directory.
    #[error("cannot start in `{}`: {source}", path.display())]
    Directory {
        /// The directory as given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The program could not be executed inside its walls.
    #[error("cannot execute `{}`: {source}", path.display())]
    Program {
        /// The program as given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A step of the confinement failed.
    #[error("cannot {step}: {source}")]
    Confine {
        /// The step, as a verb and its object.
        step: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The supervisor could not be started or stopped answering.
    #[error("the sandbox supervisor failed: {0}")]
    Supervisor(#[source] io::Error),
}
