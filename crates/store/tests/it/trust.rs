//! Trust: of one text at one place, kept with who gave it, and taken back.

use crate::{NOW_MS, integrity, open};
use tollgate_store::{Store, TrustedItem};

fn item(file: &str, key: &str, text: &str) -> TrustedItem {
    TrustedItem {
        root: "/r".into(),
        file: file.into(),
        key: key.into(),
        digest: format!("digest of {text}"),
        text: text.into(),
        who: "me".into(),
    }
}

fn trust(store: &Store, file: &str, key: &str, text: &str) {
    store.trust(&item(file, key, text)).unwrap();
}

fn trusted(store: &Store) -> Vec<String> {
    let all = store.trusted().unwrap().into_iter();
    all.map(|it| format!("{} {} {}", it.item.file, it.item.key, it.item.text))
        .collect()
}

fn rows(path: &std::path::Path) -> i64 {
    let connection = rusqlite::Connection::open(path).unwrap();
    let sql = "SELECT count(*) FROM trust";
    connection.query_one(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn what_is_trusted_comes_back_with_who_trusted_it_and_where() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let given = item("/r/f", "mcp.x", "{\n\u{1b}[2J\u{0}}");
    open(&path).trust(&given).unwrap();
    let kept = open(&path).trusted().unwrap().remove(0);
    assert_eq!((kept.at_ms, kept.item), (NOW_MS, given));
    assert_eq!(integrity(&path), "ok");
}

#[test]
fn of_one_place_the_last_text_is_trusted_and_the_earlier_one_is_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = open(&path);
    trust(&store, "/r/f", "a", "1");
    trust(&store, "/r/f", "b", "1");
    trust(&store, "/r/g", "a", "1");
    trust(&store, "/r/f", "a", "2");
    assert_eq!(trusted(&store), ["/r/f a 2", "/r/f b 1", "/r/g a 1"]);
    assert_eq!(rows(&path), 4);
}

#[test]
fn what_is_taken_back_does_not_come_back_and_can_be_trusted_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = open(&path);
    trust(&store, "/r/f", "a", "1");
    trust(&store, "/r/f", "b", "1");
    let id = store.trusted().unwrap().remove(0).id;
    assert_eq!(store.revoke_trust(&[id, id, 99]).unwrap(), 1);
    assert_eq!(store.revoke_trust(&[id]).unwrap(), 0);
    assert_eq!(store.revoke_trust(&[]).unwrap(), 0);
    assert_eq!(trusted(&open(&path)), ["/r/f b 1"]);
    trust(&store, "/r/f", "a", "1");
    assert_eq!(trusted(&store), ["/r/f a 1", "/r/f b 1"]);
    assert_eq!(rows(&path), 3);
}
