//! Many writers at once.

use crate::{
    child::{WRITER_COUNT, child, write_some},
    integrity, open, records,
};
use gate::journal::Journal;
use std::{collections::BTreeSet, thread};
use tollgate_store::Filter;

#[test]
fn processes_and_threads_that_write_at_once_lose_nothing_and_never_find_it_locked() {
    let folder = tempfile::tempdir().unwrap();
    // Nobody made the file: they race for that too.
    let path = folder.path().join("deep/er/store.db");
    let processes: Vec<_> = ["p0", "p1"]
        .map(|name| (name, child("write some", &path, name).spawn().unwrap()))
        .into();
    thread::scope(|scope| {
        for name in ["t0", "t1"] {
            let path = &path;
            scope.spawn(move || write_some(path, name));
        }
    });
    for (name, process) in processes {
        let output = process.wait_with_output().unwrap();
        assert!(
            output.status.success(),
            "{name}: {}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
    let store = open(&path);
    let found: Vec<String> = store
        .journal(Filter::All)
        .unwrap()
        .into_iter()
        .map(|it| it.tool_call_id)
        .collect();
    for name in ["p0", "p1", "t0", "t1"] {
        let own = found
            .iter()
            .filter_map(|it| it.strip_prefix(name)?.strip_prefix('-'));
        assert!(
            own.eq((0..WRITER_COUNT).map(|it| it.to_string())),
            "{name} out of order or incomplete"
        );
    }
    assert_eq!(found.len(), 4 * WRITER_COUNT);
    assert_eq!(store.verify(None).unwrap().broken, None);
    assert_eq!(integrity(&path), "ok");
}

#[test]
fn threads_share_one_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("store.db"));
    thread::scope(|scope| {
        for name in ["a", "b"] {
            let store = &store;
            scope.spawn(move || {
                for number in 0..WRITER_COUNT {
                    store
                        .append(records::intent(&format!("{name}-{number}")))
                        .unwrap();
                }
            });
        }
    });
    let found: BTreeSet<String> = store
        .journal(Filter::All)
        .unwrap()
        .into_iter()
        .map(|it| it.tool_call_id)
        .collect();
    assert_eq!(found.len(), 2 * WRITER_COUNT);
}

#[test]
fn each_process_has_a_name_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    for name in ["a", "b"] {
        assert!(
            child("write some", &path, name)
                .output()
                .unwrap()
                .status
                .success()
        );
    }
    let records = open(&path).journal(Filter::All).unwrap();
    let names: BTreeSet<&str> = records.iter().map(|it| it.process.as_str()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}
