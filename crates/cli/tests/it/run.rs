//! `run`: what is printed, how it ends, and what of it is kept.

use crate::world::{Ran, World, check_plain, finish, is_running, ran, start, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use store::{Filter, StoredEvent};

fn play(world: &World, turns: &Value, more: &[&str]) -> Ran {
    ran(&mut world.play(turns, more))
}

pub(crate) fn lines(ran: &Ran) -> Vec<Value> {
    let line =
        |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let lines: Vec<Value> = ran.out.lines().map(line).collect();
    assert!(
        lines.iter().all(|line: &Value| line["type"].is_string()),
        "{ran:#?}"
    );
    lines
}

/// Two calls in a message, the second on what the first left; then one that a rule denies.
pub(crate) fn turns() -> Value {
    json!([
        {"text": "I begin.", "calls": [
            {"id": "w", "tool": "write", "args": {"filePath": "new.txt", "content": "fresh\n"}},
            {"id": "r", "tool": "read", "args": {"filePath": "new.txt"}},
        ]},
        {"calls": [
            {"id": "env", "tool": "read", "args": {"filePath": ".env"}},
            {"id": "bad", "tool": "read", "args": "{"},
            {"id": "gone", "tool": "read", "args": {"filePath": "gone.txt"}},
        ]},
        {"text": "I end."},
    ])
}

pub(crate) const NO_SECRETS: &str =
    r#"{"permission": {"*": "allow", "read": {"*": "allow", "*.env": "deny"}}}"#;

#[test]
fn json_is_one_object_a_line_and_the_last_has_every_refusal() {
    let world = World::new();
    world.rules(NO_SECRETS);
    let lines = lines(&play(&world, &turns(), &["--format", "json"]).ended_with(0));
    let kinds: Vec<&str> = lines
        .iter()
        .map(|line| line["type"].as_str().unwrap())
        .collect();
    let calls = |count| ["call", "result"].repeat(count);
    assert_eq!(
        kinds,
        [vec!["text"], calls(2), calls(3), vec!["text", "end"]].concat()
    );
    let result = |id: &str| {
        let is_it = |line: &&Value| line["type"] == "result" && line["id"] == id;
        lines.iter().find(is_it).unwrap()
    };
    assert_eq!(
        (&result("w")["status"], &result("w")["metadata"]["exists"]),
        (&json!("ok"), &json!(false))
    );
    assert!(
        result("r")["output"].as_str().unwrap().contains("1: fresh"),
        "{}",
        result("r")
    );
    assert_eq!(
        (&result("env")["status"], &result("env")["gate"]),
        (&json!("refused"), &json!(2))
    );
    assert_eq!(
        (&result("bad")["status"], &result("bad")["gate"]),
        (&json!("refused"), &json!(1))
    );
    assert_eq!(
        (&result("gone")["status"], &result("gone")["gate"]),
        (&json!("failed"), &Value::Null)
    );
    let end = lines.last().unwrap();
    assert_eq!(
        (&end["stop"], &end["exit_code"], &end["text"]),
        (&json!("model"), &json!(0), &json!("I end."))
    );
    let refused = end["refused"].as_array().unwrap();
    let short: Vec<Value> = refused
        .iter()
        .map(|it| json!([it["id"], it["tool"], it["gate"]]))
        .collect();
    assert_eq!(
        short,
        [json!(["env", "read", 2]), json!(["bad", "read", 1])]
    );
    assert!(
        refused[0]["why"]
            .as_str()
            .unwrap()
            .contains("`read: *.env = deny`"),
        "{}",
        refused[0]
    );
}

#[test]
fn text_says_what_was_refused_and_by_which_gate() {
    let world = World::new();
    world.rules(NO_SECRETS);
    let ran = play(&world, &turns(), &[]).ended_with(0);
    for words in [
        "I begin.\n> write {\"filePath\":\"new.txt\"",
        "ok: Wrote file successfully.",
        "refused at gate 2 (admit): Denied: `read` for `.env`",
        "refused at gate 1 (decode): ",
        "failed: File not found",
        "I end.\nrefused:\n  env read at gate 2 (admit)\n  bad read at gate 1 (decode)\n",
    ] {
        assert!(ran.out.contains(words), "`{words}` is not in {}", ran.out);
    }
}

#[test]
fn text_prints_nothing_that_a_terminal_would_act_on() {
    let world = World::new();
    let evil = "\u{1b}[2J\u{202e}\r\u{7}x";
    world.put("ws/evil.txt", evil);
    world.rules(r#"{"permission": {"*": "allow", "edit": "deny"}}"#);
    let turns = json!([{"text": evil, "calls": [
        {"id": evil, "tool": evil, "args": {evil: evil}},
        {"tool": "read", "args": evil},
        {"tool": "read", "args": {evil: evil, "filePath": 3}},
        {"tool": "read", "args": {"filePath": evil}},
        {"tool": "read", "args": {"filePath": "evil.txt"}},
        {"tool": "write", "args": {"filePath": evil, "content": evil}},
        {"tool": "bash", "args": {"command": "cat evil.txt", "description": evil}},
        {"tool": "bash", "args": {"command": "true", "workdir": evil}},
    ]}]);
    let ran = play(&world, &turns, &[]);
    check_plain(&ran.said());
}

#[test]
fn an_ask_that_nobody_answers_is_an_exit_code_of_its_own() {
    let world = World::new();
    world.rules(r#"{"permission": {"*": "allow", "edit": "ask"}}"#);
    let before = world.files();
    let lines = lines(&play(&world, &turns(), &["--format", "json"]).ended_with(3));
    let end = lines.last().unwrap();
    assert_eq!(
        (&end["stop"], &end["exit_code"]),
        (&json!("model"), &json!(3))
    );
    assert_eq!(end["refused"][0]["id"], "w");
    assert_eq!(world.files(), before);
}

#[test]
fn a_model_that_goes_in_circles_ends_the_run_with_the_reason() {
    let world = World::new();
    world.rules(r#"{"permission": {"*": "allow", "doom_loop": "ask"}}"#);
    let again = json!({"calls": [{"tool": "bash", "args": {"command": "true"}}]});
    let turns = json!([again, again, again, again]);
    let json = play(&world, &turns, &["--format", "json"]).ended_with(3);
    let lines = lines(&json);
    let end = lines.last().unwrap();
    assert_eq!(
        (&end["stop"], &end["exit_code"]),
        (&json!("loop"), &json!(3))
    );
    assert_eq!(end["refused"][0]["id"], "call_3");
    let why = end["refused"][0]["why"].as_str().unwrap();
    assert!(why.contains("doom_loop"), "{why}");
    let text = play(&world, &turns, &[]).ended_with(3);
    let last = "ended: the model made the same calls over and over\nrefused:\n  call_3 bash at gate 2 (admit)\n";
    assert!(text.out.ends_with(last), "{}", text.out);
}

#[test]
fn an_interrupt_ends_the_command_and_the_run() {
    let world = World::new();
    let turns = json!([
        {"calls": [
            {"tool": "bash", "args": {"command": "setsid sleep 1000.401 & sleep 1000.402; touch made"}},
            {"tool": "bash", "args": {"command": "touch made"}},
        ]},
        {"text": "never said"},
    ]);
    let before = world.files();
    let child = start(&mut world.play(&turns, &["--format", "json"]));
    wait_until("the command runs", || {
        is_running("1000.401") && is_running("1000.402")
    });
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let ran = finish(child).ended_with(130);
    wait_until("the command is gone", || {
        !is_running("1000.401") && !is_running("1000.402")
    });
    let end = lines(&ran).pop().unwrap();
    assert_eq!(
        (&end["stop"], &end["exit_code"]),
        (&json!("cancelled"), &json!(130))
    );
    assert!(!ran.out.contains("never said"), "{ran:#?}");
    assert_eq!(world.files(), before);
}

#[test]
fn a_run_that_is_killed_takes_its_command_with_it() {
    let world = World::new();
    let turns = json!([{"calls": [
        {"tool": "bash", "args": {"command": "setsid sleep 1000.403 & sleep 1000.404; touch made"}},
    ]}]);
    let child = start(&mut world.play(&turns, &[]));
    wait_until("the command runs", || {
        is_running("1000.403") && is_running("1000.404")
    });
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    finish(child);
    wait_until("the command is gone", || {
        !is_running("1000.403") && !is_running("1000.404")
    });
    // How far it got is not known, and the journal says so.
    let open = world.store().open_intents().unwrap();
    assert!(matches!(&open[..], [it] if it.tool == "bash"), "{open:?}");
}

#[test]
fn every_effect_has_its_intent_and_outcome_in_the_journal() {
    let world = World::new();
    world.rules(NO_SECRETS);
    play(&world, &turns(), &[]).ended_with(0);
    let store = world.store();
    let records = store.journal(Filter::All).unwrap();
    let of = |id: &str| {
        records
            .iter()
            .filter(|it| it.tool_call_id == id)
            .map(|it| &it.event)
            .collect::<Vec<_>>()
    };
    for id in ["w", "r"] {
        let (mut intents, mut outcomes) = (Vec::new(), Vec::new());
        for event in of(id) {
            match event {
                StoredEvent::Intent { effect, ruling } => {
                    assert_eq!(ruling.action.to_string(), "allow");
                    intents.push(effect.clone());
                }
                StoredEvent::Outcome { effect, result } => {
                    assert_eq!(result, &Ok(()), "{effect}");
                    assert_eq!(
                        intents.get(outcomes.len()),
                        Some(effect),
                        "the intent comes first"
                    );
                    outcomes.push(effect.clone());
                }
                StoredEvent::Refused { .. } => panic!("{event:?}"),
            }
        }
        assert_eq!(intents, outcomes);
        assert!(!intents.is_empty(), "{id}");
    }
    assert!(matches!(of("env")[..], [StoredEvent::Refused { gate, .. }] if gate == "admit"));
    assert!(store.open_intents().unwrap().is_empty());
    let sessions: std::collections::BTreeSet<&String> =
        records.iter().map(|it| &it.session).collect();
    assert_eq!(sessions.len(), 1);
}

#[test]
fn the_conversation_is_kept_word_for_word() {
    let world = World::new();
    world.rules(NO_SECRETS);
    play(
        &world,
        &turns(),
        &["Do as you are told.", "--agent", "build"],
    )
    .ended_with(0);
    let store = world.store();
    let id = store.journal(Filter::All).unwrap().remove(0).session;
    let session = store.session(&id).unwrap().unwrap();
    assert_eq!(session.agent, "code");
    assert_eq!(session.workspace, world.path("ws").display().to_string());
    let messages: Vec<Value> = store
        .messages(&id)
        .unwrap()
        .iter()
        .map(|it| serde_json::from_str(&it.json).unwrap())
        .collect();
    let roles: Vec<&str> = messages
        .iter()
        .map(|it| it["role"].as_str().unwrap())
        .collect();
    let wanted = "user assistant result result assistant result result result assistant";
    assert_eq!(roles, wanted.split(' ').collect::<Vec<_>>());
    assert_eq!(messages[0]["text"], "Do as you are told.");
    assert_eq!(
        messages[1]["calls"][1]["arguments"]["json"]["filePath"],
        "new.txt"
    );
    let is_error: Vec<&Value> = messages
        .iter()
        .filter(|it| it["role"] == "result")
        .map(|it| &it["is_error"])
        .collect();
    assert_eq!(is_error, [false, false, true, true, true]);
}

#[test]
fn two_runs_at_once_keep_one_journal() {
    let world = World::new();
    world.rules(NO_SECRETS);
    let mut command = world.play(&turns(), &[]);
    for child in [
        start(&mut command),
        start(&mut command),
        start(&mut command),
    ] {
        finish(child).ended_with(0);
    }
    let records = world.store().journal(Filter::All).unwrap();
    let sessions: std::collections::BTreeSet<&String> =
        records.iter().map(|it| &it.session).collect();
    assert_eq!(sessions.len(), 3);
    assert!(world.store().open_intents().unwrap().is_empty());
}

#[test]
fn the_ask_agent_is_offered_nothing_that_writes() {
    let world = World::new();
    let before = world.files();
    let turns = json!([{"calls": [
        {"id": "w", "tool": "write", "args": {"filePath": "new.txt", "content": "x"}},
        {"id": "e", "tool": "edit", "args": {"filePath": "a.txt", "oldString": "one", "newString": "1"}},
        {"id": "redirect", "tool": "bash", "args": {"command": "echo x > new.txt"}},
    ]}]);
    let lines = lines(&play(&world, &turns, &["--agent", "ask", "--format", "json"]).ended_with(0));
    let refused = lines.last().unwrap()["refused"].as_array().unwrap().clone();
    let short: Vec<Value> = refused
        .iter()
        .map(|it| json!([it["id"], it["gate"]]))
        .collect();
    assert_eq!(
        short,
        [json!(["w", 0]), json!(["e", 0]), json!(["redirect", 2])]
    );
    assert!(
        !refused[0]["why"].as_str().unwrap().contains("edit,"),
        "{}",
        refused[0]
    );
    assert_eq!(world.files(), before);
}

#[test]
fn the_plan_agent_writes_a_plan_and_nothing_else() {
    let world = World::new();
    world.put_deep("ws/src/old.md", "old");
    std::os::unix::fs::symlink("src", world.path("ws/.plans")).unwrap();
    let write = |id: &str, file: &str| json!({"id": id, "tool": "write", "args": {"filePath": file, "content": "x"}});
    let turns = json!([{"calls": [
        write("plan", "plans/p.md"),
        write("up", "plans/../src/x.md"),
        write("link", ".plans/x.md"),
        write("code", "plans/p.rs"),
        write("deep", "plans/deep/p.md"),
        {"id": "shell", "tool": "bash", "args": {"command": "pwd > plans/q.md"}},
    ]}]);
    let ran = play(&world, &turns, &["--agent", "plan", "--format", "json"]);
    let lines = lines(&ran);
    let refused = lines.last().unwrap()["refused"].as_array().unwrap();
    let ids: Vec<&str> = refused
        .iter()
        .map(|it| it["id"].as_str().unwrap())
        .collect();
    let want = ["up", "link", "code", "deep", "shell"];
    assert_eq!(ids, want, "{lines:#?}");
    assert_eq!(world.text("ws/plans/p.md"), "x");
    assert!(!world.path("ws/src/x.md").exists() && !world.path("ws/plans/p.rs").exists());
}

#[test]
fn a_command_of_the_plan_agent_has_no_place_to_write_but_its_temporary_folder() {
    let world = World::new();
    // In a file, so that the walls alone stand before it.
    let script = "touch new.txt; rm a.txt; mkdir d; mktemp && cat a.txt";
    world.put("ws/work.sh", script);
    let before = world.files();
    let turns = json!([{"calls": [{"tool": "bash", "args": {"command": "sh work.sh"}}]}]);
    let more = ["--agent", "plan", "--format", "json"];
    // What is allowed broadly was not allowed for an agent that only reads.
    world.rules(r#"{"permission": {"bash": "allow"}}"#);
    play(&world, &turns, &more).ended_with(0);
    assert_eq!(world.files(), before);
    world.rules(r#"{"agent": {"plan": {"permission": {"bash": "allow"}}}}"#);
    let lines = lines(&play(&world, &turns, &more).ended_with(0));
    let output = lines[1]["output"].as_str().unwrap();
    let refusals = ["Permission denied", "Read-only file system"];
    let count = refusals
        .map(|it| output.matches(it).count())
        .iter()
        .sum::<usize>();
    assert_eq!(count, 3, "{output}");
    assert!(output.contains("one\ntwo\nthree"), "{output}");
    assert_eq!(world.files(), before);
    assert_eq!(
        std::fs::read_dir(world.path("tmp")).unwrap().count(),
        0,
        "the temporary folder is left"
    );
}

#[test]
fn the_code_agent_may_write_where_the_plan_agent_may_not() {
    let world = World::new();
    let turns =
        json!([{"calls": [{"tool": "bash", "args": {"command": "touch new.txt && rm a.txt"}}]}]);
    play(&world, &turns, &[]).ended_with(0);
    assert!(world.path("ws/new.txt").exists() && !world.path("ws/a.txt").exists());
}
