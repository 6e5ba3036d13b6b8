//! `log`: the journal for a person and for a program.

use crate::{
    run::{NO_SECRETS, turns},
    world::{World, check_plain, ran},
};
use serde_json::{Value, json};

fn log(world: &World, more: &[&str]) -> Vec<Value> {
    let line = [&["log", "--json"], more].concat();
    let ran = world.run(&line).ended_with(0);
    let record = |line: &str| -> Value { serde_json::from_str(line).unwrap() };
    let records: Vec<Value> = ran.out.lines().map(record).collect();
    assert!(records.iter().all(Value::is_object), "{ran:#?}");
    records
}

fn different(records: &[Value], key: &str) -> Vec<String> {
    let mut all: Vec<String> = records.iter().map(|it| it[key].to_string()).collect();
    all.sort();
    all.dedup();
    all
}

#[test]
fn every_line_is_an_object_and_can_be_chosen_by_call_and_session() {
    let world = World::new();
    world.rules(NO_SECRETS);
    for _ in 0..2 {
        ran(&mut world.play(&turns(), &[])).ended_with(0);
    }
    let all = log(&world, &[]);
    let sessions = different(&all, "session");
    assert_eq!(sessions.len(), 2);
    let id = sessions[0].trim_matches('"');
    let of_one = log(&world, &["--session", id]);
    assert_eq!(different(&of_one, "session"), sessions[..1]);
    assert_eq!(of_one.len() * 2, all.len());

    let of_call = log(&world, &["--call", "w"]);
    assert_eq!(different(&of_call, "tool_call_id"), [r#""w""#]);
    let of_both = log(&world, &["--call", "w", "--session", id]);
    assert_eq!(of_both.len() * 2, of_call.len());
    let events: Vec<&Value> = of_both.iter().map(|it| &it["event"]).collect();
    assert_eq!(events[0], "intent");
    assert!(events.contains(&&json!("outcome")), "{events:?}");
    assert_eq!(of_both[0]["decision"]["action"], "allow");

    let [refused] = &log(&world, &["--call", "env", "--session", id])[..] else {
        panic!("{all:?}")
    };
    assert_eq!(
        (&refused["event"], &refused["gate"]),
        (&json!("refused"), &json!("admit"))
    );
    assert_eq!(refused["decision"]["action"], "deny");

    // By the number of the call too.
    let number = of_both[0]["call"].to_string();
    let by_number = log(&world, &["--call", &number, "--session", id]);
    assert_eq!(by_number, of_both);
    for none in [["--call", "no"], ["--session", "no"]] {
        assert_eq!(log(&world, &none), Vec::<Value>::new());
    }
}

#[test]
fn the_text_has_a_line_a_record_and_nothing_raw() {
    let world = World::new();
    let evil = "\u{1b}[2J\u{202e}\nx";
    let turns = json!([{"calls": [
        {"id": evil, "tool": "bash", "args": {"command": format!("echo '{evil}'"), "description": evil}},
        {"id": "r", "tool": "read", "args": {"filePath": "a.txt"}},
    ]}]);
    // A person may have to look at such characters first.
    let played = ran(&mut world.play(&turns, &[]));
    assert!(matches!(played.code, Some(0 | 3)), "{played:#?}");
    let out = world.run(&["log"]).ended_with(0).out;
    check_plain(&out);
    assert_eq!(out.lines().count(), log(&world, &[]).len(), "{out}");
    assert!(out.contains(" intends ") && out.contains(" did "), "{out}");
}

#[test]
fn verify_tells_the_head_and_what_was_done_to_the_file_behind_our_back() {
    let world = World::new();
    world.rules(NO_SECRETS);
    ran(&mut world.play(&turns(), &[])).ended_with(0);
    let count = log(&world, &[]).len();
    let whole = world
        .run(&["log", "--verify", "--json"])
        .ended_with(0)
        .json();
    assert_eq!(whole["is_whole"], true, "{whole}");
    assert_eq!(whole["count"], count);
    let head = whole["head"].as_str().unwrap();
    let said = world
        .run(&["log", "--verify", "--head", head])
        .ended_with(0)
        .out;
    assert!(
        said.ends_with(&format!(
            "the digest you gave is one of them\nhead {head}\n"
        )),
        "{said}"
    );
    world
        .run(&["log", "--verify", "--head", "00"])
        .ended_with(1);
    world.run(&["log", "--head", "00"]).ended_with(2);

    let file = world.path("data/tollgate.db");
    let connection = rusqlite::Connection::open(file).unwrap();
    let sql = "UPDATE journal SET effect = 'read b.txt' WHERE id = 2";
    assert_eq!(connection.execute(sql, []).unwrap(), 1);
    drop(connection);
    let said = world.run(&["log", "--verify"]).ended_with(1).out;
    assert!(said.contains("record 2 does not: "), "{said}");
}
