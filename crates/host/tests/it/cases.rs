//! The rows of the conformance suite that need a disk with links.

use crate::world::World;
use gate::host::{Host as _, Place};
use serde_json::Value;
use std::{fs, os::unix::fs::symlink, path::Path};

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/vectors/cases.tsv");

/// The id, the input and what is expected, of every row about paths.
fn rows() -> Vec<(String, Value, Value)> {
    let text = fs::read_to_string(CASES).unwrap();
    let rows = text.lines().map(|row| row.split('\t').collect::<Vec<_>>());
    let paths = rows.filter(|row| row.get(1) == Some(&"paths"));
    paths
        .map(|row| {
            let json = |at: usize| serde_json::from_str(row[at]).unwrap();
            (row[0].to_owned(), json(2), json(3))
        })
        .collect()
}

/// A path of a row, in this world.
fn placed(world: &World, path: &str) -> String {
    match path.strip_prefix('/') {
        Some(below) => world.path(below).to_str().unwrap().to_owned(),
        None => path.to_owned(),
    }
}

#[test]
fn every_row_about_paths_holds_on_a_real_disk() {
    let rows = rows();
    assert!(rows.len() >= 4, "{rows:?}");
    for (id, input, expected) in rows {
        let world = World::new();
        fs::create_dir_all(world.path("ext")).unwrap();
        assert_eq!(input["root"], "/ws", "{id}: the workspace of every world");
        for (link, target) in input["fs"].as_object().into_iter().flatten() {
            let target = target.as_str().unwrap().strip_prefix("->").unwrap();
            symlink(placed(&world, target), Path::new(&placed(&world, link))).unwrap();
        }
        let asked = input.get("write").or(input.get("read")).unwrap();
        let answer = world
            .host()
            .resolve(&placed(&world, asked.as_str().unwrap()));
        if let Some(words) = expected.get("error") {
            let error = answer.unwrap_err().to_string();
            assert!(error.contains(words.as_str().unwrap()), "{id}: {error}");
            continue;
        }
        let resolved = answer.unwrap();
        let is_outside = resolved.place == Place::Outside;
        assert_eq!(Some(is_outside), expected["external"].as_bool(), "{id}");
        if let Some(real) = expected.get("real") {
            assert_eq!(
                resolved.absolute,
                placed(&world, real.as_str().unwrap()),
                "{id}"
            );
        }
    }
}
