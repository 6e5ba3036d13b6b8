//! Sessions: listed, shown, and gone on with, whatever ended them.

use crate::{
    run::{NO_SECRETS, turns},
    server::{Server, line},
    world::{World, check_plain, finish, is_running, ran, start, wait_until},
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs;

const USAGE: i32 = 2;

/// What a conversation is made of, short.
fn outline(messages: &[Value]) -> Vec<String> {
    let short = |it: &Value| {
        let role = it["role"].as_str().unwrap();
        let words = it["content"].as_str().unwrap_or_default();
        let is_long = role == "system" || role == "tool";
        if is_long {
            role.to_owned()
        } else {
            format!("{role}: {words}")
        }
    };
    messages.iter().map(short).collect()
}

fn list(world: &World) -> Vec<Value> {
    let ran = world.run(&["sessions", "list", "--json"]).ended_with(0);
    ran.json().as_array().unwrap().clone()
}

fn id(session: &Value) -> String {
    session["id"].as_str().unwrap().to_owned()
}

#[test]
fn sessions_are_listed_the_newest_first() {
    let world = World::new();
    assert_eq!(list(&world), Vec::<Value>::new());
    for agent in ["code", "plan"] {
        ran(&mut world.play(&json!([]), &["--agent", agent])).ended_with(0);
    }
    let all = list(&world);
    let agents: Vec<&Value> = all.iter().map(|it| &it["agent"]).collect();
    assert_eq!(agents, ["plan", "code"]);
    let workspace = world.path("ws").display().to_string();
    assert!(
        all.iter()
            .all(|it| it["workspace"] == workspace && it["created_ms"].is_u64()),
        "{all:?}"
    );
    let out = world.run(&["sessions", "list"]).ended_with(0).out;
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 2, "{out}");
    assert!(
        lines[0].starts_with(&id(&all[0])) && lines[0].ends_with(&workspace),
        "{out}"
    );
}

#[test]
fn a_session_is_shown_as_it_was_said() {
    let world = World::new();
    world.rules(NO_SECRETS);
    ran(&mut world.play(&turns(), &["Do it.\u{1b}[2J"])).ended_with(0);
    let id = id(&list(&world)[0]);
    let out = world.run(&["sessions", "show", &id]).ended_with(0).out;
    for words in [
        "user: Do it.\\u{1b}[2J\nmodel: I begin.\ncall w: write {\"filePath\":\"new.txt\"",
        "result w: Wrote file successfully.",
        "call bad: read {\n",
        "error env: Denied: `read` for `.env`",
        "model: I end.\n",
    ] {
        assert!(out.contains(words), "`{words}` is not in {out}");
    }
    check_plain(&out);
    let ran = world
        .run(&["sessions", "show", &id, "--json"])
        .ended_with(0);
    let messages: Vec<Value> = ran
        .out
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    assert_eq!(messages.len(), 9);
    assert_eq!(
        (&messages[0]["role"], &messages[8]["text"]),
        (&json!("user"), &json!("I end."))
    );
    world.run(&["sessions", "show", "ses_no"]).ended_with(USAGE);
}

#[test]
fn a_session_that_goes_on_knows_what_was_said() {
    let world = World::new();
    let turns = json!([
        {"calls": [{"id": "r", "tool": "read", "args": {"filePath": "a.txt"}}]},
        {"text": "It has three lines."},
        {"text": "I said so."},
        {"text": "Still."},
    ]);
    let server = Server::start(&turns, []);
    server.configure(&world, &json!({}));
    world.run(&line("How long?", &[])).ended_with(0);
    let first = id(&list(&world)[0]);
    world.run(&line("Sure?", &["--continue"])).ended_with(0);
    // Another one in between; then the first is no longer the last, and goes on by its id.
    world.run(&line("Something else.", &[])).ended_with(0);
    world
        .run(&line("Really?", &["--session", &first]))
        .ended_with(0);

    let early = ["system", "user: How long?", "assistant: ", "tool"].map(str::to_owned);
    assert_eq!(outline(&server.messages(1)), early);
    let later = ["assistant: It has three lines.", "user: Sure?"].map(str::to_owned);
    let want = [&early[..], &later].concat();
    assert_eq!(outline(&server.messages(2)), want);
    assert_eq!(
        outline(&server.messages(3)),
        ["system", "user: Something else."]
    );
    let last = ["assistant: I said so.", "user: Really?"].map(str::to_owned);
    let requests = server.received().len();
    assert_eq!(
        outline(&server.messages(requests - 1)),
        [&want[..], &last].concat()
    );
    assert_eq!(list(&world).len(), 2);
}

#[test]
fn a_session_that_was_killed_in_a_call_goes_on_and_says_it_is_not_known() {
    let world = World::new();
    let turns = json!([{"calls": [
        {"id": "a", "tool": "bash", "args": {"command": "echo x > made; sleep 1000.405"}},
        {"id": "b", "tool": "bash", "args": {"command": "touch never"}},
    ]}]);
    let child = start(&mut world.play(&turns, &["Begin."]));
    wait_until("the command runs", || is_running("1000.405"));
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    finish(child);

    let server = Server::start(
        &json!([{"text": "not said"}, {"text": "I look first."}]),
        [],
    );
    server.configure(&world, &json!({}));
    let ran = world.run(&line("Go on.", &["--continue"])).ended_with(0);
    assert_eq!(ran.out, "I look first.\n");
    let messages = server.messages(0);
    let want = [
        "system",
        "user: Begin.",
        "assistant: ",
        "tool",
        "tool",
        "user: Go on.",
    ];
    assert_eq!(outline(&messages), want);
    for (at, id) in [(3, "a"), (4, "b")] {
        let result = &messages[at];
        assert_eq!(result["tool_call_id"], id);
        assert!(
            result["content"]
                .as_str()
                .unwrap()
                .starts_with("Not known: "),
            "{result}"
        );
    }
    assert!(world.path("ws/made").exists() && !world.path("ws/never").exists());
}

#[test]
fn a_session_of_another_workspace_is_refused() {
    let world = World::new();
    fs::create_dir(world.path("other")).unwrap();
    ran(&mut world.play(&json!([]), &[])).ended_with(0);
    let id = id(&list(&world)[0]);
    let other = world.path("other").display().to_string();
    for (more, says) in [
        (["--session", &id].as_slice(), "belongs to"),
        (&["--continue"], "there is no session in this workspace yet"),
        (&["--session", "ses_no"], "there is no session `ses_no`"),
    ] {
        let more = [more, &["--dir", &other]].concat();
        let ran = ran(&mut world.play(&json!([]), &more)).ended_with(USAGE);
        assert!(ran.err.contains(says), "{ran:#?}");
    }
    assert_eq!(list(&world).len(), 1);
    let messages = world.store().messages(&id).unwrap();
    assert_eq!(messages.len(), 2, "nothing was added to it");
}

#[test]
fn what_is_opened_while_a_session_lasts_opens_nothing_to_it() {
    let world = World::new();
    let rules = |sandbox: &str| {
        let bash = r#""permission": {"bash": "allow"}"#;
        world.rules(&format!(r#"{{{bash}, "sandbox": {sandbox}}}"#));
    };
    rules("{}");
    ran(&mut world.play(&json!([]), &["Begin."])).ended_with(0);
    rules(r#"{"network": "allow"}"#);
    let dials = json!([{"calls": [{"tool": "bash", "args": {"command": "curl -sm 1 https://h.invalid/"}}]}]);
    let on = ran(&mut world.play(&dials, &["--continue", "Go on."]));
    assert!(on.ended_with(3).out.contains("`network` for `h.invalid`"));
    let new = ran(&mut world.play(&dials, &["Begin anew."]));
    assert!(!new.said().contains("Denied"), "{new:#?}");
    let on = ran(&mut world.play(&dials, &["--continue", "Go on."]));
    assert!(!on.said().contains("Denied"), "as it began: {on:#?}");
    rules(r#"{"network": "deny"}"#);
    let on = ran(&mut world.play(&dials, &["--continue", "Go on."]));
    assert!(
        on.said().contains("Denied"),
        "a tighter word holds: {on:#?}"
    );
}
