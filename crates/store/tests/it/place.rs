//! Where the file lies, and what else may lie there.

use crate::{open, records, try_open};
use gate::journal::Journal;
use rusqlite::Connection;
use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::Path,
};
use tollgate_store::Cause;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn the_file_and_the_directories_made_for_it_are_for_this_user_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let path = folder.path().join("a/b/store.db");
    let store = open(&path);
    store.append(records::intent("x")).unwrap();
    assert_eq!(mode(&path), 0o600);
    for extra in ["a/b/store.db-wal", "a/b/store.db-shm"] {
        assert_eq!(mode(&folder.path().join(extra)), 0o600, "{extra}");
    }
    assert_eq!(mode(&folder.path().join("a/b")), 0o700);
    assert_eq!(mode(&folder.path().join("a")), 0o700);
    assert_eq!(
        mode(folder.path()),
        0o755,
        "a directory that was there stays as it is"
    );
}

#[test]
fn a_file_that_others_may_read_is_narrowed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    drop(open(&path));
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    drop(open(&path));
    assert_eq!(mode(&path), 0o600);
}

#[test]
fn a_home_below_a_device_or_a_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    for place in [Path::new("/dev/null"), &file] {
        let path = place.join("x/state/store.db");
        let error = try_open(&path).unwrap_err();
        assert!(
            matches!(error.cause(), Cause::NotADirectory(it) if it == place),
            "{error:?}"
        );
        let words = format!(
            "store `{}`: `{}` is not a directory; choose another place for the store",
            path.display(),
            place.display()
        );
        assert_eq!(error.to_string(), words);
    }
}

#[test]
fn a_store_of_a_newer_version_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    drop(open(&path));
    let other = Connection::open(&path).unwrap();
    other.pragma_update(None, "user_version", 99).unwrap();
    let before = fs::read(&path).unwrap();
    let error = try_open(&path).unwrap_err();
    assert!(
        matches!(
            error.cause(),
            Cause::Newer {
                found: 99,
                known: 4
            }
        ),
        "{error:?}"
    );
    assert!(
        error
            .to_string()
            .ends_with("(schema 99, this one knows 4); update tollgate"),
        "{error}"
    );
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn what_is_not_a_store_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text");
    fs::write(&text, "remember the milk\n".repeat(100)).unwrap();
    let database = folder.path().join("database");
    Connection::open(&database)
        .unwrap()
        .execute_batch("CREATE TABLE recipe (name)")
        .unwrap();
    let numbered = folder.path().join("numbered");
    Connection::open(&numbered)
        .unwrap()
        .pragma_update(None, "user_version", 1)
        .unwrap();
    for path in [&text, &database, &numbered] {
        let before = fs::read(path).unwrap();
        let error = try_open(path).unwrap_err();
        assert!(matches!(error.cause(), Cause::NotAStore), "{error:?}");
        assert_eq!(fs::read(path).unwrap(), before, "{}", path.display());
    }
    let error = try_open(folder.path()).unwrap_err();
    assert!(matches!(error.cause(), Cause::NotAStore), "{error:?}");
}

#[test]
fn a_store_that_was_deleted_or_replaced_takes_no_more_records() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = open(&path);
    fs::remove_file(&path).unwrap();
    assert!(
        store
            .append(records::intent("x"))
            .unwrap_err()
            .contains("moved or deleted")
    );
    drop(open(&path));
    assert!(
        store
            .append(records::intent("x"))
            .unwrap_err()
            .contains("moved or deleted")
    );
}

#[test]
fn a_damaged_store_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    drop(open(&path));
    let mut bytes = fs::read(&path).unwrap();
    bytes[100..].fill(0xff);
    fs::write(&path, bytes).unwrap();
    let error = try_open(&path).unwrap_err();
    assert!(matches!(error.cause(), Cause::Damaged), "{error:?}");
}
