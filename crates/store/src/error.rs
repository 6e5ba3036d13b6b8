//! What can go wrong with a store, in words for the user: which file, what, and what to do.
//!
//! Must not show the content of a record.

use rusqlite::{ErrorCode, ffi};
use std::{
    io,
    path::{Path, PathBuf},
};

/// A store could not do what was asked; nothing of it was done.
#[derive(Debug, thiserror::Error)]
#[error("store `{}`: {cause}", path.display())]
pub struct StoreError {
    path: PathBuf,
    cause: Cause,
}

impl StoreError {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What went wrong.
    pub fn cause(&self) -> &Cause {
        &self.cause
    }

    pub(crate) fn at(path: &Path) -> impl FnOnce(Cause) -> Self {
        let path = path.to_owned();
        move |cause| Self { path, cause }
    }
}

/// What went wrong with a store, and after the semicolon what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// Something on the way to the file is no directory.
    #[error("`{}` is not a directory; choose another place for the store", .0.display())]
    NotADirectory(PathBuf),
    /// The file or its directory may not be made, read or written.
    #[error("no permission; make the file and its directory writable for this user")]
    NoPermission,
    /// No room is left for the record.
    #[error("the disk is full; free some space and try again")]
    DiskFull,
    /// What stands there is something else.
    #[error("this is not a store of tollgate; move it away or choose another place for the store")]
    NotAStore,
    /// The database contradicts itself.
    #[error("the file is damaged; move it away, a new one is made in its place")]
    Damaged,
    /// The file was written by a later version of this program.
    #[error(
        "written by a newer tollgate (schema {found}, this one knows {known}); update tollgate"
    )]
    Newer {
        /// The schema version of the file.
        found: i64,
        /// The last schema version this program knows.
        known: i64,
    },
    /// Another process did not let go of the file within the busy timeout.
    #[error("another process keeps the file locked; end it and try again")]
    Busy,
    /// Another file, or none, now has the name of the one that was opened.
    #[error("the file was moved or deleted while it was open; start again")]
    Moved,
    /// An earlier use of this store panicked half way.
    #[error("an earlier use by this process ended half way; start again")]
    Poisoned,
    /// A session of this id was created before.
    #[error("session `{0}` exists; choose another id")]
    SessionExists(String),
    /// A message for a session that was never created.
    #[error("session `{0}` does not exist; create it first")]
    NoSuchSession(String),
    /// The id of a message was used before.
    #[error("message `{0}` exists; choose another id")]
    MessageExists(String),
    /// Somebody else wrote to the session meanwhile.
    #[error("message {seq} of session `{session}` comes after {last}; read the session again")]
    OutOfOrder {
        /// The session.
        session: String,
        /// The place that was asked for.
        seq: u64,
        /// The last place that is taken.
        last: u64,
    },
    /// Another failure of the file system.
    #[error(transparent)]
    Io(io::Error),
    /// Another failure of the database.
    #[error(transparent)]
    Sqlite(rusqlite::Error),
}

impl From<io::Error> for Cause {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::NoPermission
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull,
            _ => Self::Io(error),
        }
    }
}

impl From<rusqlite::Error> for Cause {
    fn from(error: rusqlite::Error) -> Self {
        let Some(ffi::Error {
            code,
            extended_code,
        }) = error.sqlite_error()
        else {
            return Self::Sqlite(error);
        };
        match (code, *extended_code) {
            (_, ffi::SQLITE_READONLY_DBMOVED) => Self::Moved,
            // SQLite could not make its shared memory file as large as it must be.
            (_, ffi::SQLITE_IOERR_SHMSIZE) | (ErrorCode::DiskFull, _) => Self::DiskFull,
            (ErrorCode::PermissionDenied | ErrorCode::ReadOnly, _) => Self::NoPermission,
            (ErrorCode::NotADatabase, _) => Self::NotAStore,
            (ErrorCode::DatabaseCorrupt, _) => Self::Damaged,
            (ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked, _) => Self::Busy,
            _ => Self::Sqlite(error),
        }
    }
}
