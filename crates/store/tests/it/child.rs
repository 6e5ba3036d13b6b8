//! What a child process does: this test binary again, with its part in the environment.
#![expect(clippy::print_stdout, reason = "a child speaks to its parent")]

use crate::{approval, integrity, open, records};
use gate::{g2_admit::Scope, journal::Journal};
use policy::Pattern;
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use tollgate_store::Filter;

const PART: &str = "STORE_TEST_PART";
const PLACE: &str = "STORE_TEST_PLACE";
const NAME: &str = "STORE_TEST_NAME";

/// How many records a writer appends.
pub(crate) const WRITER_COUNT: usize = 500;

/// Begins the line on which a child says what came of it.
pub(crate) const SAID: &str = "said ";

/// A child that will play this part; its output comes through a pipe.
pub(crate) fn child(part: &str, place: &Path, name: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "child::a_child_plays_its_part", "--nocapture"]);
    command.env(PART, part).env(PLACE, place).env(NAME, name);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// Not a test by itself: without a part there is nothing to do.
#[test]
fn a_child_plays_its_part() {
    let Ok(part) = env::var(PART) else { return };
    let place = PathBuf::from(env::var_os(PLACE).unwrap());
    let name = env::var(NAME).unwrap();
    match part.as_str() {
        "write some" => write_some(&place, &name),
        "write until killed" => write_until_killed(&place, &name),
        "approve until killed" => approve_until_killed(&place, &name),
        "fill the disk" => fill_the_disk(&place),
        _ => panic!("unknown part {part}"),
    }
}

/// Appends `WRITER_COUNT` records named after `name`.
pub(crate) fn write_some(path: &Path, name: &str) {
    let store = open(path);
    for number in 0..WRITER_COUNT {
        store
            .append(records::intent(&format!("{name}-{number}")))
            .unwrap();
    }
}

fn write_until_killed(path: &Path, name: &str) {
    let store = open(path);
    for number in 0.. {
        let name = format!("{name}-{number}");
        store.append(records::intent(&name)).unwrap();
        println!("{SAID}{name}");
    }
}

fn approve_until_killed(path: &Path, name: &str) {
    let store = open(path);
    let ids = approval::ids("ses");
    for number in 0.. {
        let rule = approval::rule("bash", Pattern::exact(&format!("{name}-{number}")));
        let kept = store.approve(Scope::Project, "/w", &[rule], &ids, "me");
        println!("{SAID}{}", kept.unwrap()[0]);
    }
}

/// `place` is an empty file system of 1 MiB.
fn fill_the_disk(place: &Path) {
    let path = place.join("store.db");
    let ballast = place.join("ballast");
    fs::write(&ballast, vec![1; 512 * 1024]).unwrap();
    let store = open(&path);
    let kept = |count: usize| {
        let names = store
            .journal(Filter::All)
            .unwrap()
            .into_iter()
            .map(|it| it.tool_call_id);
        assert!(
            names.eq((0..count).map(|number| number.to_string())),
            "not the first {count}"
        );
    };
    let mut count = 0;
    let error = loop {
        match store.append(records::intent(&count.to_string())) {
            Ok(()) => count += 1,
            Err(error) => break error,
        }
    };
    assert!(count > 0, "{error}");
    assert_eq!(
        error,
        format!(
            "store `{}`: the disk is full; free some space and try again",
            path.display()
        )
    );
    kept(count);
    assert_eq!(integrity(&path), "ok");

    // A second store is told as much, and once there is room the first goes on where it stopped.
    let again =
        crate::try_open(&path).and_then(|it| it.create_session(&"s".repeat(64 * 1024), "a", "w"));
    assert!(again.unwrap_err().to_string().contains("the disk is full"));
    fs::remove_file(ballast).unwrap();
    store.append(records::intent(&count.to_string())).unwrap();
    kept(count + 1);
    assert_eq!(integrity(&path), "ok");
    println!("{SAID}{count}");
}
