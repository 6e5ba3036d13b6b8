//! `policy diff`: what the journal keeps is decided again by the rules of now.

use crate::{
    terminal::{PROMPT, Terminal},
    world::{Ran, World, ran},
};
use serde_json::{Value, json};

const BEFORE: &str =
    r#"{"permission": {"bash": {"*": "ask", "true *": "allow", "false *": "deny"}}}"#;

/// A run in which one command is allowed, one asked in vain and one denied.
fn world() -> World {
    let world = World::new();
    world.rules(BEFORE);
    let call = |command: &str| json!({"tool": "bash", "args": {"command": command}});
    let calls = ["true one", "true one", "touch x", "false"].map(call);
    ran(&mut world.play(&json!([{ "calls": calls }]), &[])).ended_with(3);
    world
}

fn diff(world: &World, more: &[&str]) -> Ran {
    world.run(&[&["policy", "diff"], more].concat())
}

fn differences(world: &World, more: &[&str], code: i32) -> Vec<(String, String, String)> {
    let ran = diff(world, &[&["--json"], more].concat()).ended_with(code);
    let found = ran.json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let one = |it: &Value| {
        // The files that a command names stand before it.
        let asked = it["asked"].as_array().unwrap();
        let what = text(&asked.last().unwrap()["pattern"]);
        (
            what,
            text(&it["then"]["action"]),
            text(&it["now"]["action"]),
        )
    };
    found["differences"]
        .as_array()
        .unwrap()
        .iter()
        .map(one)
        .collect()
}

fn all(rows: &[[&str; 3]]) -> Vec<(String, String, String)> {
    let row =
        |[what, then, now]: &[&str; 3]| ((*what).to_owned(), (*then).to_owned(), (*now).to_owned());
    rows.iter().map(row).collect()
}

#[test]
fn under_the_same_rules_there_is_no_difference() {
    let world = world();
    assert_eq!(differences(&world, &[], 0), []);
    let ran = diff(&world, &[]).ended_with(0);
    assert_eq!(
        ran.out,
        "none of 4 past questions would be decided otherwise\n"
    );
}

#[test]
fn what_other_rules_would_decide_otherwise_is_shown_with_both_rules() {
    let world = world();
    let after = r#"{"permission": {"bash": {"*": "ask", "true *": "deny", "touch *": "allow"}}}"#;
    let want = all(&[
        ["true one", "allow", "deny"],
        ["touch x", "ask", "allow"],
        ["false", "deny", "ask"],
    ]);
    world.put("after.jsonc", after);
    let file = world.path("after.jsonc").display().to_string();
    assert_eq!(differences(&world, &["--config", &file], 1), want);
    assert_eq!(differences(&world, &[], 0), []);

    world.rules(after);
    let ran = diff(&world, &[]).ended_with(1);
    let says = [
        "3 of 4 past questions would be decided otherwise\n",
        "  allow -> deny  `bash` for `true one` (2 times, last in record ",
        "      then: base bash \"true *\" allow (",
        "      now:  base bash \"true *\" deny (",
    ];
    for says in says {
        assert!(ran.out.contains(says), "{says}: {ran:#?}");
    }
}

#[test]
fn one_session_can_be_chosen_and_other_workspaces_are_left_alone() {
    let world = world();
    world.rules(r#"{"permission": {"bash": "deny"}}"#);
    let sessions = world
        .run(&["sessions", "list", "--json"])
        .ended_with(0)
        .json();
    let id = sessions[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(differences(&world, &["--session", &id], 1).len(), 2);
    diff(&world, &["--session", "ses_none"]).ended_with(2);
    let other = world.path("out").display().to_string();
    assert_eq!(differences(&world, &["--dir", &other], 0), []);
}

#[test]
fn what_was_answered_is_no_difference_until_it_is_taken_back() {
    let world = World::new();
    world.rules(r#"{"permission": {"bash": "ask"}}"#);
    let call = |command: &str| ("bash", json!({ "command": command }));
    let mut terminal = Terminal::play(&world, &["make one", "make one", "make two"].map(call));
    terminal.wait_for(PROMPT);
    terminal.answer("p\n", PROMPT);
    terminal.answer("o\n", "done");
    terminal.ends_with(0);
    assert_eq!(differences(&world, &[], 0), []);

    let list = world
        .run(&["approvals", "list", "--json"])
        .ended_with(0)
        .json();
    let id = list[0]["id"].to_string();
    let id = id.trim_matches('"');
    world.run(&["approvals", "revoke", id]).ended_with(0);
    let want = all(&[["make one", "allow", "ask"]]);
    assert_eq!(differences(&world, &[], 1), want);
}
