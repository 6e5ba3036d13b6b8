//! The lines of `run --format json` against their schema in docs/.

use crate::{
    run::{NO_SECRETS, lines, turns},
    terminal::Terminal,
    world::{World, ran},
};
use jsonschema::Validator;
use serde_json::{Value, json};

const SCHEMA: &str = include_str!("../../../../docs/events.schema.json");

fn validator() -> Validator {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

#[track_caller]
fn check_valid(lines: &[Value]) {
    let validator = validator();
    for line in lines {
        let errors: Vec<String> = validator
            .iter_errors(line)
            .map(|it| it.to_string())
            .collect();
        assert!(errors.is_empty(), "{line}: {errors:?}");
    }
    let ends: Vec<bool> = lines.iter().map(|line| line["type"] == "end").collect();
    assert_eq!(
        ends.iter().position(|it| *it),
        Some(lines.len() - 1),
        "one end, and it is the last"
    );
}

#[test]
fn every_line_fits_the_schema() {
    let world = World::new();
    world.rules(NO_SECRETS);
    let played = lines(&ran(&mut world.play(&turns(), &["--format", "json"])).ended_with(0));
    check_valid(&played);

    world
        .rules(r#"{"permission": {"*": "allow", "edit": "ask"}, "tool_output": {"max_lines": 2}}"#);
    let more = json!([
        {"calls": [
            {"tool": "edit", "args": {"filePath": "a.txt", "oldString": "one", "newString": "1"}},
            {"tool": "nothing", "args": "no json"},
            {"tool": "bash", "args": {"command": "seq 100; exit 3"}},
            {"tool": "grep", "args": {"pattern": "one"}},
            {"tool": "glob", "args": {"pattern": "*"}},
            {"tool": "todowrite", "args": {"todos": []}},
        ]},
    ]);
    let played = lines(&ran(&mut world.play(&more, &["--format", "json"])).ended_with(3));
    check_valid(&played);
    let is_kept = |line: &&Value| line["output_path"].is_string();
    assert!(played.iter().any(|line| is_kept(&line)), "{played:?}");
}

#[test]
fn so_do_a_rejection_and_what_it_skips() {
    let world = World::new();
    world.rules(r#"{"permission": {"*": "allow", "edit": "ask"}}"#);
    let edit = json!({"filePath": "a.txt", "oldString": "one", "newString": "1"});
    let calls =
        json!([{"tool": "edit", "args": edit}, {"tool": "read", "args": {"filePath": "a.txt"}}]);
    let script = world.script(&json!([{"calls": calls}]));
    let mut terminal = Terminal::start(&world, &["run", "--script", &script, "--format", "json"]);
    terminal.wait_for(crate::terminal::PROMPT);
    terminal.answer("r\n", r#""type":"end""#);
    let seen = terminal.ends_with(3);
    let is_event = |line: &&str| line.starts_with("{\"type\"");
    let events: Vec<Value> = seen
        .lines()
        .filter(is_event)
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    check_valid(&events);
    let statuses: Vec<&Value> = events
        .iter()
        .filter(|it| it["type"] == "result")
        .map(|it| &it["status"])
        .collect();
    assert_eq!(statuses, ["refused", "skipped"]);
    assert_eq!(events.last().unwrap()["stop"], "rejected");
}

#[test]
fn the_schema_takes_nothing_else() {
    let validator = validator();
    let end = json!({"type": "end", "stop": "model", "text": "", "exit_code": 0, "refused": []});
    assert!(validator.is_valid(&end));
    let changed = |key: &str, value: Value| {
        let mut end = end.clone();
        end[key] = value;
        end
    };
    for wrong in [
        json!({}),
        json!({"type": "other"}),
        json!({"type": "text"}),
        json!({"type": "text", "text": "a", "more": 1}),
        json!({"type": "call", "id": "a", "tool": "b"}),
        json!({"type": "result", "id": "a", "tool": "b", "status": "ok"}),
        json!({"type": "result", "id": "a", "tool": "b", "status": "refused", "gate": null, "output": ""}),
        json!({"type": "result", "id": "a", "tool": "b", "status": "failed", "gate": 2, "output": ""}),
        json!({"type": "result", "id": "a", "tool": "b", "status": "skipped", "output": ""}),
        changed("stop", json!("tired")),
        changed("exit_code", json!(8)),
        changed("refused", json!([{"id": "a"}])),
        changed(
            "refused",
            json!([{"id": "a", "tool": "b", "gate": 4, "why": ""}]),
        ),
    ] {
        assert!(!validator.is_valid(&wrong), "{wrong}");
    }
}
