//! The schema for editors and the manual, both from the table of keys.
//! Must not say anything about a key that the table does not.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::check::expected;
use crate::known::PERMISSIONS;
use crate::table::{KEYS, Key, Kind, UNUSED, below};

/// The JSON Schema of a configuration file, for editors.
pub fn schema() -> Value {
    let action = json!({"$ref": "#/definitions/action"});
    let patterns = json!({"$ref": "#/definitions/patterns"});
    let known: Map<_, _> = (PERMISSIONS.iter())
        .map(|name| ((*name).to_owned(), patterns.clone()))
        .collect();
    let mut schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Tollgate configuration",
        "definitions": {
            "action": {"enum": ["allow", "ask", "deny"]},
            "patterns": {
                "anyOf": [
                    action,
                    {"type": "null"},
                    {
                        "type": "object",
                        "additionalProperties": {"anyOf": [action, {"type": "null"}]},
                    },
                ],
            },
            "rule": {
                "type": "object",
                "properties": {
                    "action": {"type": "string"},
                    "resource": {"type": "string"},
                    "effect": action,
                },
                "required": ["action", "resource", "effect"],
                "additionalProperties": false,
            },
            "permission": {
                "anyOf": [
                    action,
                    {"type": "object", "properties": known, "additionalProperties": patterns},
                ],
            },
        },
    });
    for (name, value) in object_below("") {
        schema[name] = value;
    }
    schema
}

/// The schema of an object whose keys stand below a path.
fn object_below(path: &str) -> Map<String, Value> {
    let properties: Map<String, Value> = below(path)
        .map(|(name, key)| (name.to_owned(), schema_of(key)))
        .collect();
    let mut object = Map::new();
    object.insert("type".to_owned(), Value::from("object"));
    object.insert("properties".to_owned(), Value::Object(properties));
    object
}

fn schema_of(key: &Key) -> Value {
    let mut schema = match key.kind {
        Kind::Text | Kind::ModelName => json!({"type": "string"}),
        Kind::Word(words) => json!({"enum": words}),
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Count => json!({"type": "integer", "minimum": 1}),
        Kind::CountOrNever => {
            json!({"anyOf": [{"type": "integer", "minimum": 1}, {"const": false}]})
        }
        Kind::Temperature => json!({"type": "number", "minimum": 0, "maximum": 2}),
        Kind::Texts => json!({"type": "array", "items": {"type": "string"}}),
        Kind::NamedTexts => {
            json!({"type": "object", "additionalProperties": {"type": "string"}})
        }
        Kind::Switches => {
            json!({"type": "object", "additionalProperties": {"type": "boolean"}})
        }
        // A reference with anything beside it loses that in this draft of JSON Schema.
        Kind::Permission => json!({"allOf": [{"$ref": "#/definitions/permission"}]}),
        Kind::PermissionList => json!({"type": "array", "items": {"$ref": "#/definitions/rule"}}),
        Kind::Object => Value::Object(object_below(key.path)),
        Kind::Named => named(key.path),
        Kind::As(path) => named(path),
    };
    if let Value::Object(schema) = &mut schema {
        schema.insert("description".to_owned(), Value::from(key.about));
        if let Ok(example) = serde_json::from_str::<Value>(key.example) {
            schema.insert("examples".to_owned(), Value::from(vec![example]));
        }
        if let Ok(default) = serde_json::from_str::<Value>(key.default) {
            schema.insert("default".to_owned(), default);
        }
    }
    schema
}

fn named(path: &str) -> Value {
    json!({"type": "object", "additionalProperties": object_below(&format!("{path}.*"))})
}

/// The manual's chapter on configuration, in Markdown.
pub fn reference() -> String {
    let mut text = include_str!("../data/manual.md").to_owned();
    text.push_str("## Keys\n`NAME` is a name that you give.\n\n");
    text.push_str("| key | holds | without it | |\n|---|---|---|---|\n");
    for key in &KEYS {
        let holds = match key.kind {
            Kind::Word(words) => code(words),
            kind => expected(kind).to_owned(),
        };
        let path = key.path.replace('*', "NAME");
        let Key { default, about, .. } = key;
        // Writing to a string cannot fail.
        _ = writeln!(text, "| `{path}` | {holds} | {default} | {about} |");
    }
    text.push_str("\n### Examples\n");
    for key in &KEYS {
        if !key.path.contains('.') && key.path != "$schema" {
            _ = writeln!(text, "- `\"{}\": {}`", key.path, key.example);
        }
    }
    text.push_str("\n## Permissions\nThese are asked for by tools and gates; a tool that is not built in asks for its own name.\n\n");
    text.push_str(&code(&PERMISSIONS));
    text.push_str("\n\n## Known and without effect\nKeys of opencode and Kilo Code that Tollgate knows and passes over. Any other key is warned of.\n\n");
    for (path, names) in UNUSED {
        let place = match path {
            "" => "at the root".to_owned(),
            path => format!("in `{}`", path.replace('*', "NAME")),
        };
        _ = writeln!(text, "- {place}: {}", code(names));
    }
    text
}

/// Words as code, with commas between.
fn code(words: &[&str]) -> String {
    let words: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    words.join(", ")
}
