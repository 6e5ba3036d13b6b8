//! Reading scripts and playing them. Must not depend on the wording of JSON errors of others.

use std::{
    pin::pin,
    task::{Context, Poll, Waker},
};

use serde_json::json;
use tollgate_model::{Arguments, Model, ModelError, Request, ScriptedModel, Turn};

fn next(model: &ScriptedModel) -> Turn {
    let request = Request {
        system: "",
        messages: &[],
        tools: &[],
    };
    let mut future = pin!(model.complete(request));
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(turn) => turn.unwrap(),
        Poll::Pending => Turn::default(),
    }
}

fn faults(text: &str) -> Vec<String> {
    match ScriptedModel::from_json(text) {
        Err(ModelError::Script { faults }) => faults.iter().map(ToString::to_string).collect(),
        Err(other) => vec![other.to_string()],
        Ok(_) => Vec::new(),
    }
}

fn words(text: &str) -> Turn {
    Turn {
        text: Some(text.into()),
        calls: Vec::new(),
        ..Turn::default()
    }
}

#[test]
fn turns_are_said_in_order_and_then_done_for_ever() {
    let model = ScriptedModel::from_json(
        r#"{"turns": [
            {"calls": [{"tool": "read", "args": {"filePath": "a"}}, {"tool": "bash", "args": "ls"}]},
            {"text": "fine"}
        ]}"#,
    )
    .unwrap();
    assert_eq!(model.name(), "scripted");
    let first = next(&model);
    assert_eq!(first.text, None);
    assert_eq!(first.calls.len(), 2);
    assert_eq!(
        first.calls[0].arguments,
        Arguments::Json(json!({"filePath": "a"}))
    );
    assert_eq!(first.calls[1].arguments, Arguments::Text("ls".into()));
    assert_eq!(next(&model), words("fine"));
    assert_eq!(next(&model), words("done"));
    assert_eq!(next(&model), words("done"));
}

#[test]
fn an_empty_script_says_done() {
    let model = ScriptedModel::from_json(r#"{"turns": []}"#).unwrap();
    assert_eq!(next(&model), words("done"));
}

#[test]
fn a_turn_may_have_words_and_calls() {
    let script = r#"{"turns": [{"text": "I look", "calls": [{"tool": "read", "args": {}}]}]}"#;
    let turn = next(&ScriptedModel::from_json(script).unwrap());
    assert_eq!(turn.text.as_deref(), Some("I look"));
    assert_eq!(turn.calls.len(), 1);
}

#[test]
fn missing_ids_are_generated_around_the_given_ones() {
    let model = ScriptedModel::from_json(
        r#"{"turns": [
            {"calls": [{"tool": "a", "args": {}}, {"tool": "b", "args": {}}]},
            {"calls": [{"id": "call_2", "tool": "c", "args": {}}, {"tool": "d", "args": {}}]}
        ]}"#,
    )
    .unwrap();
    let ids: Vec<_> = [next(&model), next(&model)]
        .into_iter()
        .flat_map(|turn| turn.calls)
        .map(|call| call.id)
        .collect();
    assert_eq!(ids, ["call_1", "call_3", "call_2", "call_4"]);
}

#[test]
fn every_fault_is_told_with_its_path() {
    let faults = faults(
        r#"{"turns": [
            {"text": 1},
            {},
            {"calls": [{"tool": "a", "args": {}, "foo": 1}, {"id": "x", "tool": "a", "args": []}]},
            {"calls": [{"id": "x", "args": null}, {"id": "", "tool": 3, "args": {}}, 4]},
            {"calls": []},
            {"text": "t", "calls": {}}
        ], "speed": 2}"#,
    );
    assert_eq!(
        faults,
        [
            "speed: unknown key; known here: `turns`",
            "turns[0].text: must be a string, not a number",
            "turns[1]: needs `text` or `calls`",
            "turns[2].calls[0].foo: unknown key; known here: `id`, `tool`, `args`",
            "turns[2].calls[1].args: must be an object or a string, not a list",
            "turns[3].calls[0].id: `x` is used twice",
            "turns[3].calls[0].tool: is missing",
            "turns[3].calls[0].args: must be an object or a string, not null",
            "turns[3].calls[1].id: must not be empty",
            "turns[3].calls[1].tool: must be a string, not a number",
            "turns[3].calls[2]: must be an object, not a number",
            "turns[4].calls: must not be empty",
            "turns[5].calls: must be a list, not an object",
        ]
    );
}

#[test]
fn a_script_never_carries_an_approvers_answer() {
    let never = "a script speaks for the model only and can never answer an ask";
    for (path, text) in [
        ("answers", r#"{"turns": [], "answers": {"call_1": "once"}}"#),
        (
            "turns[0].reply",
            r#"{"turns": [{"text": "a", "reply": "always"}]}"#,
        ),
        (
            "turns[0].calls[0].Approve",
            r#"{"turns": [{"calls": [{"tool": "a", "args": {}, "Approve": true}]}]}"#,
        ),
    ] {
        assert_eq!(faults(text), [format!("{path}: {never}")]);
    }
    // A tool's own arguments are the tool's business.
    let inside = r#"{"turns": [{"calls": [{"tool": "a", "args": {"answer": 1}}]}]}"#;
    assert!(faults(inside).is_empty());
}

#[test]
fn what_is_no_script_at_all_is_told_apart() {
    assert_eq!(faults("[]"), ["must be an object, not a list"]);
    assert_eq!(faults("{}"), ["turns: is missing"]);
    assert!(faults("{\"turns\": [}")[0].starts_with("not JSON: "));
    assert!(faults("")[0].starts_with("not JSON: "));
    let deep = format!("{{\"turns\": {}", "[".repeat(100_000));
    assert!(faults(&deep)[0].starts_with("not JSON: "));
}

#[test]
fn the_error_lists_one_fault_a_line() {
    let error = ScriptedModel::from_json(r#"{"turns": [{}, 1]}"#).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the script is not valid:\n  turns[0]: needs `text` or `calls`\n  turns[1]: must be an object, not a number"
    );
}
