//! The open store: one connection behind a lock, and the two ways to use it, read and write.
//!
//! Must not know what is in a table.

use crate::{
    error::{Cause, StoreError},
    migration,
    place::{self, Identity},
};
use gate::host::Clock;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior, ffi};
use std::{
    fmt,
    path::{Path, PathBuf, absolute},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// How long to wait for another process that writes.
const BUSY: Duration = Duration::from_secs(5);

/// How long to wait where `SQLite` itself does not, before asking again.
const RETRY: Duration = Duration::from_millis(5);

/// Journal and sessions. Several may be open on one file, in one process or many.
pub struct Store {
    path: PathBuf,
    identity: Identity,
    clock: Arc<dyn Clock>,
    connection: Mutex<Connection>,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Store({})", self.path.display())
    }
}

impl Store {
    /// Opens the store at `path`, and makes it where there is none: the file with mode 0600, missing
    /// directories above it with 0700. A file with a wider mode is narrowed.
    ///
    /// # Errors
    /// It cannot be made or opened there, is not a store, or was written by a newer version.
    pub fn open(path: &Path, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        /// INVARIANT: while one thread makes the file, no other has it open in `SQLite`; see
        /// [`place::prepare`].
        static OPENING: Mutex<()> = Mutex::new(());
        let _opening = OPENING.lock().unwrap_or_else(PoisonError::into_inner);

        let open = |path: &Path| {
            let path = absolute(path)?;
            let identity = place::prepare(&path)?;
            Ok((connect(&path)?, identity, path))
        };
        let (connection, identity, path) = open(path).map_err(StoreError::at(path))?;
        Ok(Self {
            path,
            identity,
            clock,
            connection: Mutex::new(connection),
        })
    }

    /// Milliseconds since the Unix epoch, by the clock the store was opened with.
    pub(crate) fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    /// Does `work` and commits it, or undoes all of it.
    pub(crate) fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Cause>,
    ) -> Result<T, StoreError> {
        self.with(|connection| {
            place::verify(&self.path, self.identity)?;
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let made = work(&transaction)?;
            transaction.commit()?;
            Ok(made)
        })
    }

    /// Looks something up.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.with(|connection| Ok(work(connection)?))
    }

    fn with<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, Cause>,
    ) -> Result<T, StoreError> {
        let locked = self.connection.lock().map_err(|_| Cause::Poisoned);
        locked
            .and_then(|mut connection| work(&mut connection))
            .map_err(StoreError::at(&self.path))
    }
}

/// `SQLite` has no unsigned numbers. No clock or counter gets as far as the bound.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn connect(path: &Path) -> Result<Connection, Cause> {
    // Without SQLITE_OPEN_URI, lest a path that begins with `file:` mean something else.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // First of all: a file that is not ours is left as it is.
    migration::migrate(&mut connection)?;
    choose_log(&connection)?;
    Ok(connection)
}

/// Turns on the write-ahead log, or does without where the file system has no shared memory.
fn choose_log(connection: &Connection) -> Result<(), Cause> {
    let deadline = Instant::now() + BUSY;
    let mode = loop {
        match set_mode(connection, "wal") {
            // While another process writes without the log, SQLite says so at once and does not wait.
            Err(error) if is_busy(&error) && Instant::now() < deadline => thread::sleep(RETRY),
            Err(error) if lacks_shared_memory(&error) => break set_mode(connection, "delete")?,
            answer => break answer?,
        }
    };
    // With the log, a committed record outlives our process either way; without it, only FULL leaves
    // the file whole after a loss of power.
    let synchronous = if mode == "wal" { "normal" } else { "full" };
    connection.pragma_update(None, "synchronous", synchronous)?;
    Ok(())
}

/// Asks for a journal mode, and returns the one that holds now.
fn set_mode(connection: &Connection, mode: &str) -> rusqlite::Result<String> {
    connection.pragma_update_and_check(None, "journal_mode", mode, |row| row.get(0))
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
}

fn lacks_shared_memory(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|error| {
        error.code == ErrorCode::SystemIoFailure
            && matches!(
                error.extended_code,
                ffi::SQLITE_IOERR_SHMOPEN | ffi::SQLITE_IOERR_SHMLOCK | ffi::SQLITE_IOERR_SHMMAP
            )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Stopped;

    impl Clock for Stopped {
        fn now_ms(&self) -> u64 {
            7
        }
    }

    fn setting(connection: &Connection, name: &str) -> String {
        let text = |row: &rusqlite::Row<'_>| {
            let value: rusqlite::types::Value = row.get(0)?;
            Ok(format!("{value:?}"))
        };
        connection.pragma_query_value(None, name, text).unwrap()
    }

    #[test]
    fn every_connection_has_the_settings_that_the_promises_rest_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        for _ in 0..2 {
            let store = Store::open(&path, Arc::new(Stopped)).unwrap();
            let connection = store.connection.lock().unwrap();
            assert_eq!(setting(&connection, "journal_mode"), "Text(\"wal\")");
            assert_eq!(setting(&connection, "synchronous"), "Integer(1)");
            assert_eq!(setting(&connection, "foreign_keys"), "Integer(1)");
            assert_eq!(setting(&connection, "busy_timeout"), "Integer(5000)");
        }
    }

    #[test]
    fn a_file_system_without_shared_memory_gets_a_rollback_journal() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        // This way of locking has no shared memory, so the log is refused as on a network share.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let connection =
            Connection::open_with_flags_and_vfs(&path, flags, c"unix-dotfile").unwrap();
        choose_log(&connection).unwrap();
        assert_eq!(setting(&connection, "journal_mode"), "Text(\"delete\")");
        assert_eq!(setting(&connection, "synchronous"), "Integer(2)");
    }

    #[test]
    fn the_log_is_turned_on_once_the_last_writer_without_it_is_done() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let (writer, connection) = (
            Connection::open(&path).unwrap(),
            Connection::open(&path).unwrap(),
        );
        connection.busy_timeout(BUSY).unwrap();
        writer.execute_batch("BEGIN IMMEDIATE").unwrap();
        let error = set_mode(&connection, "wal").unwrap_err();
        assert_eq!(
            error.sqlite_error_code(),
            Some(ErrorCode::DatabaseBusy),
            "it waits by itself now"
        );
        thread::scope(|scope| {
            let waiting = scope.spawn(move || choose_log(&connection).map(|()| connection));
            thread::sleep(RETRY * 10);
            writer.execute_batch("COMMIT").unwrap();
            let connection = waiting.join().unwrap().unwrap();
            assert_eq!(setting(&connection, "journal_mode"), "Text(\"wal\")");
        });
    }

    #[test]
    fn a_lock_that_a_panic_poisoned_is_an_error_ever_after() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("store.db"), Arc::new(Stopped)).unwrap();
        thread::scope(|scope| {
            let work = || store.read(|_| -> rusqlite::Result<()> { panic!("on purpose") });
            assert!(scope.spawn(work).join().is_err());
        });
        let error = store.write(|_| Ok(())).unwrap_err();
        assert!(matches!(error.cause(), Cause::Poisoned), "{error}");
    }

    #[test]
    fn work_that_fails_is_undone() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("store.db"), Arc::new(Stopped)).unwrap();
        let work = |transaction: &Transaction<'_>| -> Result<(), Cause> {
            transaction.execute("INSERT INTO session VALUES ('s', 'a', 'w', 1)", [])?;
            Err(Cause::DiskFull)
        };
        store.write(work).unwrap_err();
        let count = |connection: &Connection| {
            connection.query_one("SELECT count(*) FROM session", [], |row| {
                row.get::<_, i64>(0)
            })
        };
        assert_eq!(store.read(count).unwrap(), 0);
    }
}
