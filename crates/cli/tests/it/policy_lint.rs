//! `tollgate policy lint` on files, and on the configuration that holds.

use crate::world::{World, check_plain, ran};
use serde_json::json;
use std::{fs, path::Path};

const CLEAN: i32 = 0;
const FOUND: i32 = 1;
const CONFIG: i32 = 4;

const LATE: &str = r#"{"permission": {"bash": {"rm *": "deny", "*": "ask"}}}"#;
const FINE: &str = r#"{"permission": {"bash": {"*": "ask", "rm *": "deny"}}}"#;

fn lint(more: &[&str]) -> Vec<String> {
    let line = ["policy", "lint"].iter().chain(more);
    line.map(|&word| word.to_owned()).collect()
}

/// The paths of the files of a folder of `spec/lint`.
fn spec(folder: &str) -> Vec<String> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/lint")).join(folder);
    let files = fs::read_dir(folder).unwrap();
    let path = |entry: fs::DirEntry| entry.path().to_str().unwrap().to_owned();
    files.map(|entry| path(entry.unwrap())).collect()
}

#[test]
fn a_finding_has_its_place_its_reason_and_a_remedy() {
    let world = World::new();
    world.put("ws/late.jsonc", LATE);
    let ran = world.run(&lint(&["late.jsonc"])).ended_with(FOUND);
    assert_eq!(
        ran.out,
        "late.jsonc:1:42: catch-all-last: `*` matches everything and stands below a narrower rule, \
         which never decides: `rm *` (line 1); the last match wins\n    \
         help: put `\"*\": \"ask\"` above\n1 finding in 2 rules\n"
    );
    assert_eq!(ran.err, "");
}

#[test]
fn a_clean_file_is_said_to_be_clean() {
    let world = World::new();
    world.put("ws/fine.jsonc", FINE);
    let ran = world.run(&lint(&["fine.jsonc"])).ended_with(CLEAN);
    assert_eq!(ran.out, "nothing found in 2 rules\n");
}

#[test]
fn the_files_of_the_suite_come_out_here_as_there() {
    let world = World::new();
    // As the suite has it: the home of a test lies where its rules speak of too.
    let ended_with = |files: &[String], code: i32| {
        let mut command = world.command(&[lint(&[]), files.to_vec()].concat());
        command.env("HOME", "/home/u");
        ran(&mut command).ended_with(code);
    };
    ended_with(&spec("clean"), CLEAN);
    for file in spec("faults") {
        ended_with(&[file], FOUND);
    }
}

#[test]
fn findings_are_written_as_json() {
    let world = World::new();
    world.put("ws/late.jsonc", LATE);
    let ran = world
        .run(&lint(&["--json", "late.jsonc"]))
        .ended_with(FOUND);
    let found = &ran.json()["findings"][0];
    assert_eq!(found["kind"], "catch-all-last");
    assert_eq!(
        found["origin"],
        json!({"file": "late.jsonc", "line": 1, "column": 42})
    );
    assert_eq!(
        found["others"],
        json!([{"file": "late.jsonc", "line": 1, "column": 26}])
    );
    assert_eq!(found["agent"], json!(null));
}

#[test]
fn without_a_file_all_that_holds_here_is_looked_over_each_file_by_itself() {
    let world = World::new();
    world.rules(FINE);
    world.put_deep("home/.config/tollgate/tollgate.jsonc", FINE);
    world.put("ws/opencode.json", FINE);
    let ran = world.run(&lint(&[])).ended_with(CLEAN);
    assert_eq!(ran.out, "nothing found in 6 rules\n");

    world.put_deep("home/.config/tollgate/tollgate.jsonc", LATE);
    world.put("ws/opencode.json", LATE);
    let ran = world.run(&lint(&[])).ended_with(FOUND);
    for file in ["home/.config/tollgate/tollgate.jsonc", "ws/opencode.json"] {
        let place = format!("{}:1:42: catch-all-last", world.path(file).display());
        assert!(ran.out.contains(&place), "{ran:#?}");
    }
    assert!(ran.out.ends_with("2 findings in 6 rules\n"), "{ran:#?}");
}

#[test]
fn the_rules_of_an_agent_are_a_list_of_their_own() {
    let world = World::new();
    let agents = json!({
        "permission": {"edit": "allow"},
        "agent": {
            "plan": {"permission": {"edit": "ask"}},
            "docs": {"permission": {"edit": {"a/*": "allow", "*": "deny"}}},
        },
    });
    world.put("ws/agents.json", agents.to_string());
    let ran = world.run(&lint(&["agents.json"])).ended_with(FOUND);
    assert!(ran.out.contains("(agent docs)"), "{ran:#?}");
    assert!(ran.out.ends_with("1 finding in 4 rules\n"), "{ran:#?}");
    world
        .run(&lint(&["--agent", "plan", "agents.json"]))
        .ended_with(CLEAN);
    world
        .run(&lint(&["--agent", "docs", "agents.json"]))
        .ended_with(FOUND);
}

#[test]
fn what_cannot_be_read_is_no_clean_file() {
    let world = World::new();
    world.put("ws/broken.json", r#"{"permission": {"bash": "perhaps"}}"#);
    world.put("ws/fine.jsonc", FINE);
    for file in ["broken.json", "absent.json", "."] {
        let ran = world.run(&lint(&["fine.jsonc", file])).ended_with(CONFIG);
        assert_eq!(ran.out, "", "{ran:#?}");
    }
    let mut command = world.command(&lint(&[]));
    command.env("TOLLGATE_CONFIG", world.path("ws/broken.json"));
    ran(&mut command).ended_with(CONFIG);
}

#[test]
fn a_pattern_cannot_move_the_cursor() {
    let world = World::new();
    let rules = json!({"permission": {"bash": {"r\u{1b}[2Jm\u{202e} *": "deny", "*": "ask"}}});
    world.put("ws/odd.json", rules.to_string());
    let ran = world.run(&lint(&["odd.json"])).ended_with(FOUND);
    check_plain(&ran.said());
}
