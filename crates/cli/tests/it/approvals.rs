//! Approvals that last: where they hold, where not, and how they are shown and taken back.

use crate::{
    terminal::{COMMANDS_ASK, PROMPT, Terminal},
    world::{World, check_plain},
};
use serde_json::{Value, json};
use std::fs;

const OK: i32 = 0;
const REFUSED: i32 = 3;

/// A scene with a second workspace, in which commands ask.
fn world() -> World {
    let world = World::new();
    world.rules(COMMANDS_ASK);
    fs::create_dir(world.path("other")).unwrap();
    world
}

/// Calls a command once and answers with this letter.
fn approve(world: &World, command: &str, letter: &str) {
    let arguments = json!({ "command": command }).to_string();
    let mut terminal = Terminal::start(world, &["call", "bash", &arguments]);
    terminal.wait_for(PROMPT);
    terminal.answer(&format!("{letter}\n"), "(no output)");
    terminal.ends_with(OK);
}

/// Calls a command in a process of its own, with nobody to ask.
#[track_caller]
fn check(world: &World, folder: &str, command: &str, code: i32) -> String {
    let arguments = json!({ "command": command }).to_string();
    let folder = world.path(folder).display().to_string();
    let line = [
        "call", "bash", &arguments, "--on-ask", "deny", "--dir", &folder,
    ];
    world.run(&line).ended_with(code).said()
}

fn list(world: &World) -> Vec<Value> {
    let ran = world.run(&["approvals", "list", "--json"]).ended_with(OK);
    ran.json().as_array().unwrap().clone()
}

#[test]
fn an_answer_for_the_project_or_for_everywhere_outlives_its_process() {
    for (letter, scope, elsewhere) in [("p", "project", REFUSED), ("g", "global", OK)] {
        let world = world();
        check(&world, "ws", "touch made", REFUSED);
        approve(&world, "touch made", letter);
        check(&world, "ws", "touch made", OK);
        check(&world, "other", "touch made", elsewhere);
        for other in [
            "touch made2",
            "touch",
            "touch made now",
            "touch made; touch x",
        ] {
            check(&world, "ws", other, REFUSED);
        }
        let [approval] = &list(&world)[..] else {
            panic!("{:?}", list(&world))
        };
        let workspace = world.path("ws").display().to_string();
        assert_eq!(
            (
                &approval["scope"],
                &approval["workspace"],
                &approval["pattern"]
            ),
            (&json!(scope), &json!(workspace), &json!("touch made"))
        );
        assert_eq!(
            (
                &approval["permission"],
                &approval["is_exact"],
                &approval["who"]
            ),
            (
                &json!("bash"),
                &json!(true),
                &json!("the person at the terminal")
            )
        );
        assert_eq!(approval["tool_call_id"], "call_1");
    }
}

#[test]
fn an_answer_for_once_or_for_the_session_of_one_call_holds_in_no_other() {
    let world = world();
    for letter in ["o", "s"] {
        approve(&world, "touch made", letter);
        check(&world, "ws", "touch made", REFUSED);
    }
    let scopes: Vec<Value> = list(&world).iter().map(|it| it["scope"].clone()).collect();
    assert_eq!(scopes, ["session"]);
}

#[test]
fn a_level_is_chosen_by_its_number_and_kept_as_it_was_shown() {
    let world = world();
    let arguments = json!({"command": "touch made | cat"}).to_string();
    let mut terminal = Terminal::start(&world, &["call", "bash", &arguments]);
    let ask = terminal.wait_for(PROMPT);
    assert!(
        ask.contains("1 bash exactly `touch made` and bash exactly `cat`")
            && ask.contains("2 bash `touch *` and bash `cat *`"),
        "{ask}"
    );
    terminal.answer("p3\n", "please answer with one letter");
    terminal.wait_for(PROMPT);
    terminal.answer("p2\n", "(no output)");
    terminal.ends_with(OK);
    check(&world, "ws", "touch other | cat a.txt", OK);
    check(&world, "ws", "touch other | cat > a.txt; rm a.txt", REFUSED);
    let kept = list(&world);
    let patterns: Vec<&Value> = kept.iter().map(|it| &it["pattern"]).collect();
    assert_eq!(patterns, ["touch *", "cat *"]);
}

#[test]
fn a_pattern_is_edited_before_it_is_kept() {
    let world = world();
    let arguments = json!({"command": "touch made"}).to_string();
    let mut terminal = Terminal::start(&world, &["call", "bash", &arguments]);
    terminal.wait_for(PROMPT);
    // What is about something else is not kept, and the question stands.
    terminal.answer("e2\n", "bash `touch *`, or else: ");
    terminal.answer("rm *\n", "not kept: `bash: rm *` is not what is asked");
    terminal.wait_for(PROMPT);
    terminal.answer("e2\n", "bash `touch *`, or else: ");
    terminal.answer("touch m*\n", "keep bash `touch m*`: s in this session");
    terminal.answer("p\n", "(no output)");
    terminal.ends_with(OK);
    check(&world, "ws", "touch more", OK);
    check(&world, "ws", "touch other", REFUSED);
}

#[test]
fn a_folder_that_was_approved_holds_its_files_and_no_folder_below() {
    let world = World::new();
    world.rules(r#"{"permission": {"*": "ask"}}"#);
    fs::create_dir(world.path("ws/sub/deep")).unwrap();
    world.put("ws/sub/deep/c.txt", "c\n");
    let read = |path: &str| json!({ "filePath": path }).to_string();
    let mut terminal = Terminal::start(&world, &["call", "read", &read("sub/b.txt")]);
    let ask = terminal.wait_for(PROMPT);
    assert!(ask.contains("2 read `path:sub/*`"), "{ask}");
    terminal.answer("p2\n", "</content>");
    terminal.ends_with(OK);
    world.put("ws/sub/new.txt", "new\n");
    for (path, code) in [
        ("sub/new.txt", OK),
        ("sub/deep/c.txt", REFUSED),
        ("a.txt", REFUSED),
    ] {
        let line = ["call", "read", &read(path), "--on-ask", "deny"];
        world.run(&line).ended_with(code);
    }
}

#[test]
fn everything_is_allowed_only_after_a_warning_and_in_this_session() {
    let world = world();
    let run = |command: &str| ("bash", json!({ "command": command }));
    let mut terminal = Terminal::play(&world, &[run("touch made"), run("touch more")]);
    terminal.wait_for(PROMPT);
    terminal.answer("a\n", "Type `everything` to allow it: ");
    terminal.answer("y\n", "not everything");
    terminal.wait_for(PROMPT);
    let warned = terminal.answer("a\n", "Type `everything` to allow it: ");
    assert!(warned.contains("For the rest of this session"), "{warned}");
    let rest = terminal.answer("everything\n", "done");
    assert!(!rest.contains("wants leave to"), "{rest}");
    terminal.ends_with(OK);
    assert_eq!(list(&world)[0]["pattern"], "*");
    check(&world, "ws", "touch made", REFUSED);
}

#[test]
fn a_wildcard_in_an_approved_command_is_only_a_character() {
    let world = world();
    approve(&world, "true a*", "g");
    check(&world, "ws", "true a*", OK);
    check(&world, "ws", "true ab", REFUSED);
}

#[test]
fn what_is_revoked_is_asked_again() {
    let world = world();
    approve(&world, "touch made", "g");
    approve(&world, "touch kept", "p");
    let id = list(&world)[0]["id"].as_str().unwrap().to_owned();
    let ran = world.run(&["approvals", "revoke", &id]).ended_with(OK);
    assert_eq!(ran.out, format!("{id} revoked\n"));
    check(&world, "ws", "touch made", REFUSED);
    check(&world, "ws", "touch kept", OK);

    // It stays in the list, and cannot be revoked twice.
    let all = list(&world);
    assert!(
        all[0]["revoked_ms"].is_u64() && all[1]["revoked_ms"].is_null(),
        "{all:?}"
    );
    let ran = world.run(&["approvals", "list"]).ended_with(OK);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(
        lines[0].ends_with("(revoked)") && !lines[1].contains("revoked"),
        "{lines:?}"
    );
    for unknown in [id.as_str(), "apr_no", "\u{1b}[2J", "%"] {
        let ran = world.run(&["approvals", "revoke", unknown]).ended_with(1);
        assert!(
            ran.out.contains("is not an approval that holds"),
            "{ran:#?}"
        );
        check_plain(&ran.said());
    }
    check(&world, "ws", "touch kept", OK);
}

#[test]
fn one_unknown_id_does_not_keep_the_others_from_being_revoked() {
    let world = world();
    approve(&world, "touch made", "g");
    let id = list(&world)[0]["id"].as_str().unwrap().to_owned();
    world
        .run(&["approvals", "revoke", "apr_no", &id])
        .ended_with(1);
    check(&world, "ws", "touch made", REFUSED);
}

#[test]
fn an_approval_for_the_session_goes_on_with_it_and_with_no_other() {
    let world = world();
    let turns = json!([{"calls": [{"tool": "bash", "args": {"command": "touch made"}}]}]);
    let mut terminal = Terminal::play(&world, &[("bash", json!({"command": "touch made"}))]);
    terminal.wait_for(PROMPT);
    terminal.answer("s\n", "done");
    terminal.ends_with(OK);
    let sessions = world
        .run(&["sessions", "list", "--json"])
        .ended_with(OK)
        .json();
    let id = sessions[0]["id"].as_str().unwrap().to_owned();
    for (more, code) in [(["--session", &id].as_slice(), OK), (&[], REFUSED)] {
        let ran = crate::world::ran(&mut world.play(&turns, more));
        ran.ended_with(code);
    }
}

#[test]
fn a_denial_that_is_configured_beats_an_approval() {
    let world = world();
    approve(&world, "touch made", "g");
    check(&world, "ws", "touch made", OK);
    world.rules(r#"{"permission": {"bash": {"*": "ask", "touch *": "deny"}}}"#);
    let said = check(&world, "ws", "touch made", REFUSED);
    assert!(said.contains("`bash: touch * = deny`"), "{said}");
    // So does one of the repository.
    world.rules(COMMANDS_ASK);
    world.put(
        "ws/tollgate.json",
        r#"{"permission": {"bash": {"touch *": "deny"}}}"#,
    );
    let said = check(&world, "ws", "touch made", REFUSED);
    assert!(said.contains("`bash: touch * = deny`"), "{said}");
}

#[test]
fn what_was_approved_is_shown_with_nothing_raw() {
    let world = world();
    let evil = "true '\u{1b}[2J\u{202e}\u{9b}31m'";
    approve(&world, evil, "g");
    check(&world, "ws", evil, OK);
    let ran = world.run(&["approvals", "list"]).ended_with(OK);
    check_plain(&ran.out);
    assert!(
        ran.out.contains(r"true '\u{1b}[2J\u{202e}\u{9b}31m'"),
        "{ran:#?}"
    );
    assert_eq!(ran.out.lines().count(), 1, "{ran:#?}");
    assert_eq!(list(&world)[0]["pattern"], evil);
}

#[test]
fn without_approvals_there_is_nothing_to_list() {
    let world = world();
    assert_eq!(world.run(&["approvals", "list"]).ended_with(OK).out, "");
    assert_eq!(list(&world), Vec::<Value>::new());
}
