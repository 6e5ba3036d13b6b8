//! With what a host is opened, and why it could not be.
//! Must not have defaults: who opens a host says what it stands on.

use crate::Openings;
use std::{ffi::OsString, fmt, io, path::PathBuf, sync::Arc};

/// What a host stands on. All of it is given: the library reads no environment.
pub struct Options {
    /// The project's directory.
    pub workspace: PathBuf,
    /// Our own directory, which must exist: out of reach of tools and children.
    pub state_dir: PathBuf,
    /// Below `state_dir`: where this session's long outputs are kept. Tools may read it. Created with
    /// mode 0700 if it is not there.
    pub session_dir: PathBuf,
    /// The private `TMPDIR` of children, outside the workspace. Created like `session_dir`.
    pub temp_dir: PathBuf,
    /// The user's home, for the toolchains in it.
    pub home: Option<PathBuf>,
    /// The `PATH` of children; `None`: the system's directories.
    pub path: Option<OsString>,
    /// The environment of our own process. Children get what is left of it without secrets.
    pub environment: Vec<(OsString, OsString)>,
    /// What the person opens to commands beyond the usual walls.
    pub openings: Openings,
    /// How much of an output goes on to the model; more is kept in a file.
    pub limits: OutputLimits,
    /// What starts children inside walls.
    pub launcher: sandbox::Launcher,
    /// For tests.
    pub hook: Option<Hook>,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("workspace", &self.workspace)
            .finish_non_exhaustive()
    }
}

/// How much of an output is not kept in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputLimits {
    /// The greatest number of lines.
    pub lines_max: u64,
    /// The greatest number of bytes.
    pub bytes_max: usize,
}

/// Called at each [`Moment`], on the thread that does the work, so that a test can change the disk
/// exactly there.
pub type Hook = Arc<dyn Fn(Moment) + Send + Sync>;

/// A point at which somebody else might change the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Moment {
    /// A path has been resolved.
    Resolved,
    /// A file was found to be the one that was judged, and is opened next.
    BeforeOpen,
    /// A file has been opened and is compared next.
    AfterOpen,
    /// The new bytes lie in a temporary file, which takes its place next.
    BeforeRename,
    /// The new bytes are in place; what came out is looked at next.
    AfterRename,
    /// What a command changed has been moved away; what was there before takes its place next.
    BeforePutBack,
}

/// Why a host could not be opened. Speaks to the user.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// A directory is not there or cannot be used.
    #[error("the {role} `{}` cannot be used: {source}", path.display())]
    Directory {
        /// What it is for.
        role: &'static str,
        /// The directory as given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The workspace's path is not UTF-8, so no rule could name it.
    #[error("the path of the workspace `{}` is not UTF-8", .0.display())]
    NotUtf8(PathBuf),
    /// The home directory itself is no workspace: credentials lie in it.
    #[error("`{}` is a home directory, not a workspace", .0.display())]
    HomeIsWorkspace(PathBuf),
    /// Two directories lie in each other that must not.
    #[error("the {inner} `{}` lies in the {outer} `{}`", inner_path.display(), outer_path.display())]
    Overlap {
        /// What the inner one is for.
        inner: &'static str,
        /// The inner one.
        inner_path: PathBuf,
        /// What the outer one is for.
        outer: &'static str,
        /// The outer one.
        outer_path: PathBuf,
    },
    /// The directory of this session's output lies elsewhere.
    #[error("the session directory `{}` does not lie below the state directory", .0.display())]
    SessionElsewhere(PathBuf),
    /// Others can enter a directory that must be ours alone.
    #[error("the {role} `{}` is not private: it must be owned by this user with mode 0700", path.display())]
    NotPrivate {
        /// What it is for.
        role: &'static str,
        /// The directory.
        path: PathBuf,
    },
}
