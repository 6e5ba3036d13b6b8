//! Decoding and every kind of fault. Must not go through a tool.

use crate::schema::{ArgumentFault, Decoder, RawArguments, invalid_arguments, of};
use crate::{Arguments, Priority, Status, Todo};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::LazyLock;

static DECODER: LazyLock<Decoder> = LazyLock::new(|| Decoder::new(of::<Arguments>()).unwrap());

fn decode(value: &Value) -> Result<Arguments, Vec<ArgumentFault>> {
    DECODER.decode(&RawArguments::Json(value.clone()))
}

fn decode_text(text: &str) -> Result<Arguments, Vec<ArgumentFault>> {
    DECODER.decode(&RawArguments::Text(text.to_owned()))
}

fn told(faults: &[ArgumentFault]) -> String {
    faults
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}

fn faults_of(value: &Value) -> String {
    told(&decode(value).unwrap_err())
}

/// The faults of a value under a schema of its own.
fn faults_under(schema: Value, value: &Value) -> String {
    let raw = RawArguments::Json(value.clone());
    told(
        &Decoder::new(schema)
            .unwrap()
            .decode::<Value>(&raw)
            .unwrap_err(),
    )
}

#[test]
fn arguments_that_fit_are_decoded_from_value_and_text() {
    let value = json!({"filePath": "a", "oldString": "b", "newString": "c", "priority": "low",
        "todos": [{"content": "x", "status": "in_progress"}]});
    let expected = Arguments {
        file_path: "a".into(),
        old_string: "b".into(),
        new_string: "c".into(),
        replace_all: None,
        timeout: None,
        priority: Some(Priority::Low),
        todos: vec![Todo {
            content: "x".into(),
            status: Status::InProgress,
        }],
    };
    assert_eq!(decode(&value).as_ref(), Ok(&expected));
    assert_eq!(decode_text(&value.to_string()).as_ref(), Ok(&expected));
}

#[test]
fn blank_text_means_no_arguments() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Nothing {}
    let decoder = Decoder::new(json!({"type": "object"})).unwrap();
    assert_eq!(
        decoder.decode(&RawArguments::Text(" \n".into())),
        Ok(Nothing {})
    );
    assert_eq!(told(&decode_text("").unwrap_err()).lines().count(), 3);
}

#[test]
fn all_faults_are_told_at_once() {
    let value = json!({
        "file_path": "a", "oldString": 3, "replaceAll": "yes", "timeout": 0, "priority": "urgent",
        "bogus": null,
        "todos": [
            {"content": "", "status": "pending"},
            {"content": "123456789", "status": "done", "id": 1},
            "todo",
        ],
    });
    insta::assert_snapshot!(faults_of(&value), @r#"
    filePath: is missing and is required
    newString: is missing and is required
    oldString: expected string, got number 3
    replaceAll: expected boolean, got string "yes"
    timeout: must be at least 1, got 0
    priority: expected "high" or "low", got string "urgent"
    todos[0].content: must have at least 1 character, got 0
    todos[1].content: must have at most 8 characters, got 9
    todos[1].status: expected one of "pending", "in_progress" or "completed", got string "done"
    todos[1].id: is not a known name, the known ones are content and status
    todos[2]: expected object, got string "todo"
    file_path: is not a known name, did you mean `filePath`?
    bogus: is not a known name, the known ones are filePath, oldString, newString, replaceAll, timeout, priority and todos
    "#);
}

#[test]
fn a_null_for_an_optional_is_a_fault() {
    let value = json!({"filePath": "a", "oldString": "b", "newString": "c", "timeout": null});
    insta::assert_snapshot!(faults_of(&value), @"timeout: expected integer, got null");
}

#[test]
fn what_is_no_object_is_a_fault_of_the_whole() {
    let rows = [
        json!(null),
        json!(true),
        json!(12),
        json!("{\"filePath\": \"a\"}"),
        json!([1, 2]),
    ];
    let told: Vec<String> = rows.iter().map(faults_of).collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    input: expected a JSON object, got null
    input: expected a JSON object, got boolean true
    input: expected a JSON object, got number 12
    input: expected a JSON object, got string "{"filePath": "a"}"
    input: expected a JSON object, got array of 2 items
    "#);
}

#[test]
fn text_that_is_not_json_is_quoted_around_the_error() {
    let long = format!(
        "{{\"filePath\": \"{}\" \"oldString\": 1}}",
        "x".repeat(5_000)
    );
    let rows = [
        "{\"filePath\": \"a\"",
        "{filePath: 1}",
        "{\"a\": \"line\nbreak\"}",
        "<invoke>\u{1b}[2J",
        "{}}",
        "{\"\u{e9}\": \u{e9}}",
        &long,
    ];
    let told: Vec<String> = rows
        .iter()
        .map(|text| told(&decode_text(text).unwrap_err()))
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    input: is not valid JSON: EOF while parsing an object at line 1 column 16, near `{"filePath": "a"`
    input: is not valid JSON: key must be a string at line 1 column 2, near `{filePath: 1}`
    input: is not valid JSON: control character (\u0000-\u001F) found while parsing a string at line 2 column 0, near `break"}`
    input: is not valid JSON: expected value at line 1 column 1, near `<invoke>\u{1b}[2J`
    input: is not valid JSON: trailing characters at line 1 column 3, near `{}}`
    input: is not valid JSON: expected value at line 1 column 8, near `{"é": é}`
    input: is not valid JSON: expected `,` or `}` at line 1 column 5017, near `...xxxxxxxxxxxxxxxxxxxxxxxxxxxxx" "oldString": 1}`
    "#);
}

#[test]
fn deep_text_is_a_fault_and_no_crash() {
    let deep = "[".repeat(100_000);
    assert!(told(&decode_text(&deep).unwrap_err()).contains("recursion limit exceeded"));
}

#[test]
fn allowed_values_are_listed_also_inside_any_of() {
    let schema = json!({"type": "object", "properties": {
        "mode": {"anyOf": [{"enum": ["literal", "glob"]}, {"const": "all"}, {"type": "null"}]},
        "many": {"enum": (0..40).collect::<Vec<_>>()},
        "kinds": {"type": ["string", "integer", "null"]},
    }});
    let value = json!({"mode": "regex", "many": 99, "kinds": []});
    insta::assert_snapshot!(faults_under(schema, &value), @r#"
    mode: expected one of "literal", "glob", "all" or null, got string "regex"
    many: expected one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29 or 10 more, got number 99
    kinds: expected one of null, integer or string, got array of 0 items
    "#);
}

#[test]
fn the_form_that_comes_closest_tells_its_faults() {
    let target = json!({"anyOf": [
        {"type": "string"},
        {"type": "object", "required": ["path"], "properties": {
            "path": {"type": "string"}, "line": {"type": "integer", "minimum": 1},
        }, "additionalProperties": false},
    ]});
    let schema = json!({"type": "object", "properties": {"target": target, "other": target}});
    let value = json!({"target": {"pth": "x", "line": 0}, "other": 5});
    insta::assert_snapshot!(faults_under(schema, &value), @r"
    target.line: must be at least 1, got 0
    target.pth: is not a known name, did you mean `path`?
    target.path: is missing and is required
    other: expected string or object, got number 5
    ");
}

#[test]
fn bounds_and_shapes_are_told_with_what_was_got() {
    let schema = json!({"type": "object", "properties": {
        "a": {"exclusiveMinimum": 0}, "b": {"exclusiveMaximum": 1.5}, "c": {"multipleOf": 5},
        "d": {"maximum": 10}, "e": {"minItems": 1}, "f": {"maxItems": 2}, "g": {"minLength": 1},
        "h": {"pattern": "^[a-z]+$"}, "i": {"uniqueItems": true}, "j": {"const": "x"},
        "k": {"not": {"type": "string"}}, "l": false, "m": {"oneOf": [{"type": "number"}, {"minimum": 3}]},
        "n": {"maxProperties": 1}, "o": {"contains": {"const": 1}},
    }, "propertyNames": {"maxLength": 3}});
    let value = json!({
        "a": 0, "b": 2, "c": 7, "d": 11, "e": [], "f": [1, 2, 3], "g": "", "h": "A1", "i": [1, 1],
        "j": "y", "k": "s", "l": 1, "m": 5, "n": {"x": 1, "y": 2}, "o": [2], "long name": 1,
    });
    insta::assert_snapshot!(faults_under(schema, &value), @r#"
    a: must be greater than 0, got 0
    b: must be less than 1.5, got 2
    c: must be a multiple of 5, got 7
    d: must be at most 10, got 11
    e: must have at least 1 item, got 0
    f: must have at most 2 items, got 3
    g: must have at least 1 character, got 0
    h: must match the pattern `^[a-z]+$`, got "A1"
    i: must not hold the same item twice
    j: expected "x", got string "y"
    k: does not satisfy the schema's `not`
    l: is not allowed
    m: does not satisfy the schema's `oneOf`
    n: does not satisfy the schema's `maxProperties`
    o: does not satisfy the schema's `contains`
    input: the name "long name" must have at most 3 characters, got 9
    "#);
}

#[test]
fn an_argument_called_input_is_told_from_the_whole() {
    let schema = json!({"type": "object", "properties": {
        "input": {"type": "object", "properties": {"0": {"items": {"type": "string"}}}},
    }});
    insta::assert_snapshot!(faults_under(schema, &json!({"input": {"0": ["a", 1]}})), @"input.0[1]: expected string, got number 1");
}

#[test]
fn names_behind_a_reference_are_still_guessed() {
    let schema = json!({"type": "object", "properties": {"item": {"$ref": "#/$defs/item"}},
        "$defs": {"item": {"properties": {"status": {}}, "additionalProperties": false}}});
    insta::assert_snapshot!(faults_under(schema, &json!({"item": {"staus": 1}})), @"item.staus: is not a known name, did you mean `status`?");
}

#[test]
fn the_type_is_the_second_line_of_defence() {
    #[derive(Debug, Deserialize)]
    struct Narrow {
        #[expect(dead_code, reason = "decoding it fails")]
        ports: Vec<u8>,
    }
    let decoder = Decoder::new(json!({"type": "object"})).unwrap();
    let raw = RawArguments::Json(json!({"ports": [1, 300]}));
    insta::assert_snapshot!(told(&decoder.decode::<Narrow>(&raw).unwrap_err()), @"ports[1]: invalid value: integer `300`, expected u8");
    let raw = RawArguments::Json(json!({}));
    insta::assert_snapshot!(told(&decoder.decode::<Narrow>(&raw).unwrap_err()), @"input: missing field `ports`");
}

#[test]
fn a_schema_that_is_none_or_refers_elsewhere_is_refused() {
    let rows = [
        json!({"type": "strin"}),
        json!({"$ref": "https://example.com/schema.json"}),
        json!({"$ref": "#/$defs/none"}),
    ];
    for schema in rows {
        assert!(Decoder::new(schema.clone()).is_err(), "{schema}");
    }
}

#[test]
fn a_huge_value_or_name_is_not_echoed() {
    let huge = "\u{1b}".repeat(1_000_000);
    let value = json!({huge.as_str(): 1, "filePath": {"a": huge}, "oldString": [huge], "timeout": huge,
        "todos": {"content": huge}});
    assert!(faults_of(&value).len() < 2_000);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    let key = prop_oneof![
        Just("filePath".to_owned()),
        Just("todos".to_owned()),
        Just("status".to_owned()),
        Just("timeout".to_owned()),
        any::<String>(),
    ];
    leaf.prop_recursive(3, 24, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_arguments() -> impl Strategy<Value = Arguments> {
    let status = prop_oneof![Just("pending"), Just("in_progress"), Just("completed")];
    let todo = ("[a-z]{1,8}", status).prop_map(|(content, status)| Todo {
        content,
        status: serde_json::from_value(status.into()).unwrap(),
    });
    let texts = (any::<String>(), any::<String>(), any::<String>());
    let rest = (
        any::<bool>(),
        1..=600u32,
        any::<bool>(),
        proptest::collection::vec(todo, 0..4),
    );
    (texts, rest).prop_map(
        |((file_path, old_string, new_string), (all, timeout, high, todos))| Arguments {
            file_path,
            old_string,
            new_string,
            replace_all: Some(all),
            timeout: Some(timeout),
            priority: high.then_some(Priority::High),
            todos,
        },
    )
}

proptest! {
    #[test]
    fn what_fits_comes_back_as_it_was(arguments in any_arguments()) {
        let value = serde_json::to_value(&arguments).unwrap();
        let from_text = decode_text(&value.to_string());
        prop_assert_eq!(from_text.as_ref(), Ok(&arguments));
        prop_assert_eq!(decode(&value), Ok(arguments));
    }

    #[test]
    fn words_are_bounded_and_free_of_control_characters(value in any_json(), text in any::<String>()) {
        for result in [decode(&value), decode_text(&text)] {
            let Err(faults) = result else { continue };
            prop_assert!(!faults.is_empty());
            let words = invalid_arguments(&text, &faults);
            prop_assert!(words.chars().count() < 4_500);
            prop_assert!(!words.chars().any(|c| c.is_control() && c != '\n'));
            prop_assert!(words.lines().count() <= faults.len().min(20) + 3);
        }
    }

    #[test]
    fn no_open_field_escapes_its_line(path in any::<String>(), message in any::<String>()) {
        let words = invalid_arguments("edit", &[ArgumentFault::at(path, message)]);
        prop_assert_eq!(words.lines().count(), 3);
        prop_assert!(!words.chars().any(|c| c.is_control() && c != '\n'));
    }
}
