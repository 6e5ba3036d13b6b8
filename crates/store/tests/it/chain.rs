//! The chain: what was done to the file behind the store's back shows.

use crate::{open, records};
use gate::journal::Journal;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tollgate_store::{Broken, Filter, Verified};

const COUNT: u64 = 6;

/// A store with some records, closed.
fn kept() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = open(&path);
    for record in records::read() {
        store.append(record).unwrap();
    }
    store.append(records::denied()).unwrap();
    store.append(records::rejected()).unwrap();
    for record in records::read() {
        store.append(record).unwrap();
    }
    (folder, path)
}

fn tamper(path: &Path, sql: &str) {
    let connection = Connection::open(path).unwrap();
    assert!(connection.execute(sql, []).unwrap() > 0, "{sql}");
}

fn verify(path: &Path) -> Verified {
    open(path).verify(None).unwrap()
}

#[test]
fn an_untouched_journal_fits_its_chain_and_tells_its_head() {
    let (_folder, path) = kept();
    let verified = verify(&path);
    assert_eq!((verified.count, verified.older_count), (COUNT, 0));
    assert_eq!(verified.broken, None);
    let head = verified.head.unwrap();
    assert_eq!(head.len(), 64);

    // The head stays one of the journal's however much is written behind it.
    let store = open(&path);
    store.append(records::denied()).unwrap();
    let later = store.verify(Some(&head)).unwrap();
    assert_eq!((later.count, later.holds_head), (COUNT + 1, Some(true)));
    assert_ne!(later.head.as_ref(), Some(&head));
    assert_eq!(store.verify(Some("00")).unwrap().holds_head, Some(false));
}

#[test]
fn whatever_is_done_to_a_record_breaks_the_chain_there() {
    let changed = "it, or one before it, was changed";
    for (sql, id, why) in [
        (
            "UPDATE journal SET effect = 'read b.txt' WHERE id = 2",
            2,
            changed,
        ),
        (
            "UPDATE journal SET action = 'allow' WHERE id = 3",
            3,
            changed,
        ),
        (
            "UPDATE journal SET subjects = NULL WHERE id = 3",
            3,
            changed,
        ),
        (
            "UPDATE journal SET at_ms = at_ms + 1 WHERE id = 1",
            1,
            changed,
        ),
        ("UPDATE journal SET chain = 'x' WHERE id = 4", 4, changed),
        (
            "UPDATE journal SET chain = NULL WHERE id = 4",
            4,
            "its digest is gone",
        ),
        (
            "DELETE FROM journal WHERE id = 3",
            4,
            "records before it are gone",
        ),
        ("DELETE FROM journal WHERE id = 1", 2, changed),
        (
            "UPDATE journal SET chain = (SELECT chain FROM journal WHERE id = 1) WHERE id = 2",
            2,
            changed,
        ),
    ] {
        let (_folder, path) = kept();
        tamper(&path, sql);
        assert_eq!(verify(&path).broken, Some(Broken { id, why }), "{sql}");
    }
}

#[test]
fn an_end_that_was_cut_off_shows_by_a_head_that_was_written_down() {
    let (_folder, path) = kept();
    let head = verify(&path).head.unwrap();
    tamper(&path, "DELETE FROM journal WHERE id = 6");
    let store = open(&path);
    let verified = store.verify(Some(&head)).unwrap();
    assert_eq!(verified.broken, None);
    assert_eq!(verified.holds_head, Some(false));
    // What is written behind the cut does not mend it.
    store.append(records::denied()).unwrap();
    assert_eq!(store.verify(Some(&head)).unwrap().holds_head, Some(false));
}

#[test]
fn what_was_asked_about_comes_back_with_the_ruling() {
    let (_folder, path) = kept();
    let records = open(&path).journal(Filter::All).unwrap();
    let asked: Vec<String> = records
        .iter()
        .filter_map(|it| it.event.ruling()?.subjects())
        .flatten()
        .map(|it| format!("{} {}", it.permission, it.canonical))
        .collect();
    assert_eq!(
        asked,
        ["read a.txt", "read .env", "read a.txt", "read a.txt"]
    );
}
