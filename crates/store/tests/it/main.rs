//! The integration tests of the store. The child processes they need are this same binary.
#![expect(clippy::unwrap_used, reason = "a test may stop where it stands")]

mod approval;
mod chain;
mod child;
mod crowd;
mod full_disk;
mod killed;
mod place;
mod records;
mod round_trip;
mod session;
mod trust;

use gate::host::Clock;
use std::{path::Path, sync::Arc};
use tollgate_store::{Store, StoreError};

/// The time of every test store.
const NOW_MS: u64 = 1_700_000_000_123;

#[derive(Debug)]
struct Stopped;

impl Clock for Stopped {
    fn now_ms(&self) -> u64 {
        NOW_MS
    }
}

fn try_open(path: &Path) -> Result<Store, StoreError> {
    Store::open(path, Arc::new(Stopped))
}

fn open(path: &Path) -> Store {
    try_open(path).unwrap()
}

/// Asks SQLite itself, past the store.
fn integrity(path: &Path) -> String {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection
        .query_one("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap()
}
