//! A writer that is killed at any moment.

use crate::{
    child::{SAID, child},
    integrity, open,
};
use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Read},
};
use tollgate_store::Filter;

#[test]
fn what_a_killed_process_said_it_had_written_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut said = BTreeSet::new();
    for round in 0..20 {
        let mut child = child("write until killed", &path, &format!("r{round}"))
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        // Later and later, so that it is met at many points, checkpoints among them.
        for _ in 0..round * 17 + 3 {
            assert!(
                output.read_line(&mut text).unwrap() > 0,
                "it ended by itself: {text}"
            );
        }
        child.kill().unwrap();
        output.read_to_string(&mut text).unwrap();
        assert!(!child.wait().unwrap().success());
        let whole_lines = text
            .split_inclusive('\n')
            .filter_map(|line| line.strip_suffix('\n'));
        let before = said.len();
        said.extend(
            whole_lines
                .filter_map(|line| line.strip_prefix(SAID))
                .map(str::to_owned),
        );
        assert!(said.len() > before, "round {round} wrote nothing: {text}");

        assert_eq!(integrity(&path), "ok", "round {round}");
        let records = open(&path).journal(Filter::All).unwrap();
        let kept: BTreeSet<String> = records.into_iter().map(|it| it.tool_call_id).collect();
        let lost: Vec<&String> = said.difference(&kept).collect();
        assert!(lost.is_empty(), "round {round} lost {lost:?}");
    }
}
