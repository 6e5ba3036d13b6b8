//! The stored form of messages. Must not be changed without a migration of the store.

use serde_json::{from_str, json, to_value};
use tollgate_model::{Arguments, Message, ToolCall, Turn};

fn conversation() -> Vec<Message> {
    vec![
        Message::User { text: "hi".into() },
        Message::from(Turn {
            text: None,
            calls: vec![
                ToolCall {
                    id: "call_1".into(),
                    tool: "read".into(),
                    arguments: Arguments::Json(json!({"z": 1, "a": [null]})),
                },
                ToolCall {
                    id: "call_2".into(),
                    tool: "bash".into(),
                    arguments: Arguments::Text("{not json".into()),
                },
            ],
            ..Turn::default()
        }),
        Message::Result {
            call_id: "call_1".into(),
            tool: "read".into(),
            output: "refused".into(),
            is_error: true,
        },
    ]
}

#[test]
fn the_stored_form_is_this_one() {
    let stored = to_value(conversation()).unwrap();
    assert_eq!(
        stored,
        json!([
            {"role": "user", "text": "hi"},
            {"role": "assistant", "text": null, "calls": [
                {"id": "call_1", "tool": "read", "arguments": {"json": {"z": 1, "a": [null]}}},
                {"id": "call_2", "tool": "bash", "arguments": {"text": "{not json"}},
            ]},
            {"role": "result", "call_id": "call_1", "tool": "read", "output": "refused", "is_error": true},
        ])
    );
}

#[test]
fn messages_survive_being_stored() {
    let text = serde_json::to_string(&conversation()).unwrap();
    assert_eq!(from_str::<Vec<Message>>(&text).unwrap(), conversation());
    assert!(
        text.contains(r#"{"z":1,"a":[null]}"#),
        "key order is kept: {text}"
    );
}

#[test]
fn a_message_with_a_strange_key_or_role_is_not_read() {
    for text in [
        r#"{"role": "user", "text": "x", "trusted": true}"#,
        r#"{"role": "approver", "text": "yes"}"#,
        r#"{"role": "result", "call_id": "a", "tool": "b", "output": "c"}"#,
    ] {
        assert!(from_str::<Message>(text).is_err(), "{text}");
    }
}
