//! The machines that lines reach, as a table. It must not ask whether they may.

use crate::{read, table::rows};

const REACHES: &str = include_str!("../../../../spec/shell/reaches.tsv");

#[test]
fn every_machine_is_found_and_no_other() {
    let rows = rows(REACHES);
    assert!(rows.len() >= 19, "{}", rows.len());
    let mut wrong = Vec::new();
    for row in rows {
        let [line, expected, why] = row.as_slice() else {
            panic!("{row:?}")
        };
        let line = read(line);
        let named = line.hosts.iter().map(|host| match host.port {
            _ if !host.is_known => "?".to_owned(),
            Some(port) => format!("{}:{port}", host.name),
            None => host.name.clone(),
        });
        let mut found: Vec<String> = named.collect();
        found.sort();
        if found.join(" ") != *expected {
            wrong.push(format!("{row:?} ({why}): {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
