//! Sessions and messages.

use crate::{NOW_MS, open};
use tollgate_store::{Cause, StoreError, StoredMessage, StoredSession, ascending_id};

fn message(seq: u64, id: &str, json: &str) -> StoredMessage {
    StoredMessage {
        seq,
        id: id.into(),
        at_ms: NOW_MS,
        json: json.into(),
    }
}

#[test]
fn messages_come_back_in_order_and_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let json = "{\"b\": 1,  \"a\": \"\\u0000 \u{fc} \u{1f980}\"}";
    let store = open(&path);
    store.create_session("ses_1", "code", "/w").unwrap();
    store.create_session("ses_2", "plan", "/w").unwrap();
    store.append_message("ses_1", 0, "msg_b", "{}").unwrap();
    store.append_message("ses_2", 0, "msg_x", "{}").unwrap();
    store.append_message("ses_1", 1, "msg_a", json).unwrap();
    store.append_message("ses_1", 10, "msg_c", "[]").unwrap();
    drop(store);

    let store = open(&path);
    let want = [
        message(0, "msg_b", "{}"),
        message(1, "msg_a", json),
        message(10, "msg_c", "[]"),
    ];
    assert_eq!(store.messages("ses_1").unwrap(), want);
    assert_eq!(
        store.messages("ses_2").unwrap(),
        [message(0, "msg_x", "{}")]
    );
    assert_eq!(store.messages("ses_3").unwrap(), []);
    let (id, agent, workspace) = ("ses_2".into(), "plan".into(), "/w".into());
    let want = StoredSession {
        id,
        agent,
        workspace,
        created_ms: NOW_MS,
    };
    assert_eq!(store.session("ses_2").unwrap(), Some(want));
    assert_eq!(store.session("ses_3").unwrap(), None);
}

#[test]
fn two_processes_cannot_interleave_their_messages() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let (mine, theirs) = (open(&path), open(&path));
    mine.create_session("ses", "code", "/w").unwrap();
    mine.append_message("ses", 0, "msg_0", "{}").unwrap();
    theirs.append_message("ses", 1, "msg_1", "{}").unwrap();
    theirs.append_message("ses", 2, "msg_2", "{}").unwrap();
    for seq in [0, 1, 2] {
        let error = mine.append_message("ses", seq, "msg_3", "{}").unwrap_err();
        let is_told =
            matches!(error.cause(), Cause::OutOfOrder { seq: it, last: 2, .. } if *it == seq);
        assert!(is_told, "{error}");
    }
    assert_eq!(mine.messages("ses").unwrap().len(), 3);
}

#[test]
fn ids_are_used_once_and_a_message_needs_its_session() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("store.db"));
    store.create_session("ses", "code", "/w").unwrap();
    store.append_message("ses", 0, "msg", "{}").unwrap();
    let cause = |made: Result<(), StoreError>| made.unwrap_err().to_string();
    let told = [
        (
            cause(store.create_session("ses", "plan", "/v")),
            "session `ses` exists; choose another id",
        ),
        (
            cause(store.append_message("no", 0, "new", "{}")),
            "session `no` does not exist; create it first",
        ),
        (
            cause(store.append_message("ses", 1, "msg", "{}")),
            "message `msg` exists; choose another id",
        ),
    ];
    for (error, words) in told {
        assert!(error.ends_with(words), "{error}");
    }
    assert_eq!(store.session("ses").unwrap().unwrap().agent, "code");
    assert_eq!(store.messages("ses").unwrap().len(), 1);
}

#[test]
fn ascending_ids_sort_in_the_store_as_they_were_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = open(&path);
    let ids: Vec<String> = (0..200)
        .map(|number| ascending_id("ses", NOW_MS + number / 50))
        .collect();
    for id in &ids {
        store.create_session(id, "code", "/w").unwrap();
    }
    let connection = rusqlite::Connection::open(&path).unwrap();
    let mut query = connection
        .prepare("SELECT id FROM session ORDER BY id")
        .unwrap();
    let sorted: Vec<String> = query
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(sorted, ids);
}
