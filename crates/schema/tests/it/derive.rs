//! The derived schema as it goes on the wire. Must not restate how it is derived.

use crate::Arguments;
use crate::schema::{Decoder, of};
use schemars::JsonSchema;
use serde_json::Value;

#[test]
fn a_schema_is_inline_and_plain() {
    let text = serde_json::to_string_pretty(&of::<Arguments>()).unwrap();
    insta::assert_snapshot!(text, @r#"
    {
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "filePath": {
          "type": "string",
          "description": "Where the file is."
        },
        "oldString": {
          "type": "string"
        },
        "newString": {
          "type": "string"
        },
        "replaceAll": {
          "type": "boolean"
        },
        "timeout": {
          "type": "integer",
          "minimum": 1,
          "description": "How long to wait.",
          "maximum": 600
        },
        "priority": {
          "type": "string",
          "enum": [
            "high",
            "low"
          ]
        },
        "todos": {
          "type": "array",
          "items": {
            "type": "object",
            "properties": {
              "content": {
                "type": "string",
                "minLength": 1,
                "maxLength": 8
              },
              "status": {
                "description": "How far it is.",
                "type": "string",
                "enum": [
                  "pending",
                  "in_progress",
                  "completed"
                ]
              }
            },
            "additionalProperties": false,
            "required": [
              "content",
              "status"
            ]
          },
          "default": []
        }
      },
      "required": [
        "filePath",
        "oldString",
        "newString"
      ]
    }
    "#);
}

#[test]
fn a_property_named_like_a_keyword_stays() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is wanted")]
    struct Page {
        title: String,
        format: Option<u64>,
        default: Option<String>,
    }
    insta::assert_snapshot!(of::<Page>().to_string(), @r#"{"type":"object","properties":{"title":{"type":"string"},"format":{"type":"integer","minimum":0},"default":{"type":"string"}},"required":["title"]}"#);
}

#[test]
fn only_the_null_of_an_optional_property_goes() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is wanted")]
    struct Nullable {
        items: Vec<Option<String>>,
        #[schemars(default)]
        number: Option<f64>,
    }
    insta::assert_snapshot!(of::<Nullable>().to_string(), @r#"{"type":"object","properties":{"items":{"type":"array","items":{"type":["string","null"]}},"number":{"type":"number"}},"required":["items"]}"#);
}

#[test]
fn no_arguments_are_an_empty_object() {
    #[derive(JsonSchema)]
    #[schemars(deny_unknown_fields)]
    struct Nothing {}
    let schema = of::<Nothing>();
    insta::assert_snapshot!(schema.to_string(), @r#"{"type":"object","additionalProperties":false,"properties":{}}"#);
    assert!(Decoder::new(schema).is_ok());
}

#[test]
fn a_type_that_recurs_keeps_its_definitions_and_compiles() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is wanted")]
    struct Tree {
        children: Vec<Tree>,
    }
    let schema = of::<Tree>();
    assert!(schema.to_string().contains("$ref"));
    assert!(Decoder::new(schema).is_ok());
}

#[test]
fn nothing_of_schemars_own_is_left_anywhere() {
    fn keys(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(members) => members.iter().for_each(|(key, value)| {
                found.push(key.clone());
                keys(value, found);
            }),
            Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    keys(&of::<Arguments>(), &mut found);
    for gone in [
        "$schema",
        "title",
        "format",
        "definitions",
        "oneOf",
        "anyOf",
        "const",
    ] {
        assert!(!found.iter().any(|key| key == gone), "{gone}");
    }
}
