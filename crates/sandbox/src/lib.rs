//! What a child process may touch, held by the operating system.
//! Must not decide what is allowed: it holds the walls it is given, and says what it cannot hold.
//!
//! On Linux a command runs below a supervisor, which is this same program executed again through a
//! descriptor opened at the start. The supervisor forks the command, which puts itself behind Landlock
//! and seccomp, proves that both hold, and only then executes the program. When the command ends, is
//! told to end, or the program that started it dies, the supervisor kills every process the command left.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(not(target_os = "linux"), test))]
mod none;
mod toolchain;

#[cfg(target_os = "linux")]
pub use linux::{Child, Launcher, run_if_helper};
#[cfg(not(target_os = "linux"))]
pub use none::{Child, Launcher, run_if_helper};
pub use toolchain::{system_readable, toolchain_readable};

/// The descriptor a command writes its output to, standard output and standard error alike.
#[cfg(unix)]
pub type Output = std::os::fd::OwnedFd;
/// The handle a command writes its output to, standard output and standard error alike.
#[cfg(windows)]
pub type Output = std::os::windows::io::OwnedHandle;

/// The paths one command may touch; everything else is closed to it, and so is the network.
///
/// Each path must be absolute and free of symbolic links (canonical): a link met while the walls are built
/// refuses the start, because a command that ran earlier may have planted it.
/// A readable path that does not exist opens nothing; a writable one that does not exist refuses the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walls {
    /// Files and directories, with all below, that may be read and executed.
    pub readable: Vec<PathBuf>,
    /// Files and directories, with all below, that may be read, executed, written and removed.
    pub writable: Vec<PathBuf>,
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
    /// Every wall holds (namespaces). Nothing makes this value yet.
    Full,
    /// Landlock and seccomp hold the walls, but for the gaps named.
    Partial {
        /// The version of Landlock's interface in use.
        abi: u32,
        /// What this tier cannot hold, each a phrase for people.
        gaps: Vec<&'static str>,
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
