//! What a model is told of each tool, word for word where the wire matters.

use gate::{access::Kind, tool::AnyTool};
use tollgate_tools::builtins;

fn tool(name: &str) -> AnyTool {
    builtins()
        .into_iter()
        .find(|tool| tool.name() == name)
        .unwrap()
}

fn schema(name: &str) -> String {
    serde_json::to_string_pretty(&tool(name).schema()).unwrap()
}

#[test]
fn tools_are_offered_in_a_fixed_order_under_their_permissions() {
    let tools = builtins();
    let names: Vec<_> = tools
        .iter()
        .map(|tool| (tool.name(), tool.permission()))
        .collect();
    let expected = [
        ("question", "question"),
        ("bash", "bash"),
        ("read", "read"),
        ("glob", "glob"),
        ("grep", "grep"),
        ("edit", "edit"),
        ("write", "edit"),
        ("todowrite", "todowrite"),
    ];
    assert_eq!(names, expected);
}

#[test]
fn a_tool_can_want_no_more_than_it_declares() {
    let kinds = |name| tool(name).kinds();
    assert_eq!(kinds("bash"), [Kind::Spawn]);
    assert_eq!(kinds("read"), [Kind::ReadFile, Kind::ReadTree]);
    assert_eq!(kinds("glob"), [Kind::ReadTree]);
    assert_eq!(kinds("grep"), [Kind::ReadTree]);
    assert_eq!(kinds("question"), [Kind::AskUser]);
    assert_eq!(kinds("todowrite"), [Kind::Declare]);
    assert_eq!(kinds("edit"), [Kind::ReadFile, Kind::WriteFile]);
    assert_eq!(kinds("write"), [Kind::ReadFile, Kind::WriteFile]);
}

/// Tools of the compatible systems beside ours: a prompt may not speak of what may be closed.
const OTHERS: [&str; 18] = [
    "apply_patch",
    "task",
    "webfetch",
    "websearch",
    "skill",
    "plan_exit",
    "suggest",
    "repo_clone",
    "repo_overview",
    "lsp",
    "recall",
    "shell",
    "background_process",
    "codebase_search",
    "semantic_search",
    "multiedit",
    "ls",
    "patch",
];

/// Names of tools that a prompt holds as the plain words they also are, by tool.
const PLAIN: [(&str, &str); 5] = [
    ("bash", "read"),
    ("bash", "shell"),
    ("bash", "write"),
    ("edit", "write"),
    ("todowrite", "task"),
];

#[test]
fn no_prompt_names_another_tool() {
    let tools = builtins();
    let names = tools.iter().map(AnyTool::name).chain(OTHERS);
    for name in names.collect::<Vec<_>>() {
        for tool in tools.iter().filter(|tool| tool.name() != name) {
            let text = format!("{} {}", tool.describe(), tool.schema());
            assert!(
                !text.contains(&format!("`{name}`")),
                "{} names {name}",
                tool.name()
            );
            assert!(
                !text.contains(&format!("{name} tool")),
                "{} names {name}",
                tool.name()
            );
            let is_word = |word: &str| word.eq_ignore_ascii_case(name);
            let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
            let is_plain = PLAIN.contains(&(tool.name(), name));
            assert!(
                is_plain || !words.any(is_word),
                "{} says {name}",
                tool.name()
            );
        }
    }
}

#[test]
fn every_prompt_begins_with_a_sentence_and_is_short() {
    for tool in builtins() {
        let text = tool.describe();
        let first = text.lines().next().unwrap();
        assert!(first.ends_with('.') && first.len() > 30, "{first}");
        assert!(
            text.len() < 2_000,
            "{} bytes of {}",
            text.len(),
            tool.name()
        );
    }
}

#[test]
fn the_schema_of_bash_is_that_of_the_wire() {
    insta::assert_snapshot!(schema("bash"), @r#"
    {
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "command": {
          "type": "string",
          "description": "The command line"
        },
        "timeout": {
          "type": "integer",
          "minimum": 1,
          "description": "How long it may take, in milliseconds (120000 if not given)",
          "maximum": 86400000
        },
        "workdir": {
          "type": "string",
          "description": "The directory to run it in (the workspace if not given)"
        },
        "description": {
          "type": "string",
          "description": "What it does, in five to ten words"
        },
        "outside_sandbox": {
          "type": "string",
          "description": "Why this very command, which has just failed inside the sandbox, has to run outside of it once",
          "minLength": 1,
          "maxLength": 500
        }
      },
      "required": [
        "command"
      ]
    }
    "#);
}

#[test]
fn the_schema_of_glob_is_that_of_the_wire() {
    insta::assert_snapshot!(schema("glob"), @r#"
    {
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "pattern": {
          "type": "string",
          "description": "The pattern that paths have to fit"
        },
        "path": {
          "type": "string",
          "description": "The directory to look in (the workspace if not given)"
        }
      },
      "required": [
        "pattern"
      ]
    }
    "#);
}

#[test]
fn the_schema_of_grep_is_that_of_the_wire() {
    insta::assert_snapshot!(schema("grep"), @r#"
    {
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "pattern": {
          "type": "string",
          "description": "The regular expression that lines have to fit"
        },
        "path": {
          "type": "string",
          "description": "The directory or file to look in (the workspace if not given)"
        },
        "include": {
          "type": "string",
          "description": "Look only in files whose path fits this, such as \"*.{ts,tsx}\""
        },
        "context": {
          "type": "integer",
          "minimum": 0,
          "description": "How many lines to show before and after each one that fits (0 if not given)",
          "maximum": 1000
        },
        "limit": {
          "type": "integer",
          "minimum": 1,
          "description": "How many lines that fit at most (100 if not given)",
          "maximum": 10000
        },
        "literal": {
          "type": "boolean",
          "description": "Take the pattern as plain text"
        },
        "ignoreCase": {
          "type": "boolean",
          "description": "Take upper and lower case as the same"
        }
      },
      "required": [
        "pattern"
      ]
    }
    "#);
}

#[test]
fn the_schema_of_todowrite_is_that_of_the_wire() {
    insta::assert_snapshot!(schema("todowrite"), @r#"
    {
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "todos": {
          "type": "array",
          "items": {
            "description": "One task.",
            "type": "object",
            "properties": {
              "content": {
                "description": "What has to be done",
                "type": "string"
              },
              "status": {
                "description": "How far it is",
                "type": "string",
                "enum": [
                  "pending",
                  "in_progress",
                  "completed",
                  "cancelled"
                ]
              },
              "priority": {
                "description": "How much it matters",
                "type": "string",
                "enum": [
                  "high",
                  "medium",
                  "low"
                ]
              }
            },
            "required": [
              "content",
              "status",
              "priority"
            ]
          },
          "description": "The whole list, which replaces the one before"
        }
      },
      "required": [
        "todos"
      ]
    }
    "#);
}

#[test]
fn the_schema_of_question_is_that_of_the_wire() {
    insta::assert_snapshot!(schema("question"), @r#"
    {
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "questions": {
          "type": "array",
          "items": {
            "description": "One question.",
            "type": "object",
            "properties": {
              "question": {
                "description": "The whole question",
                "type": "string"
              },
              "header": {
                "description": "A short name for it (30 characters at most)",
                "type": "string"
              },
              "options": {
                "description": "What can be chosen",
                "type": "array",
                "items": {
                  "description": "One answer that is offered.",
                  "type": "object",
                  "properties": {
                    "label": {
                      "description": "The answer, in one to five words",
                      "type": "string"
                    },
                    "description": {
                      "description": "What it means",
                      "type": "string"
                    }
                  },
                  "required": [
                    "label",
                    "description"
                  ]
                }
              },
              "multiple": {
                "description": "Whether more than one can be chosen (false if not given)",
                "type": "boolean"
              },
              "custom": {
                "description": "Whether the person may answer in other words (true if not given)",
                "type": "boolean"
              }
            },
            "additionalProperties": false,
            "required": [
              "question",
              "header",
              "options"
            ]
          },
          "description": "The questions, put together",
          "minItems": 1
        }
      },
      "required": [
        "questions"
      ]
    }
    "#);
}

#[test]
fn the_schema_of_read_is_that_of_the_wire() {
    insta::assert_snapshot!(schema("read"), @r#"
    {
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "filePath": {
          "type": "string",
          "description": "The file or directory: absolute, or relative to the workspace"
        },
        "offset": {
          "type": "integer",
          "minimum": 0,
          "description": "The line to start at, from 1"
        },
        "limit": {
          "type": "integer",
          "minimum": 1,
          "description": "How many lines at most (2000 if not given)"
        }
      },
      "required": [
        "filePath"
      ]
    }
    "#);
}

#[test]
fn the_schema_of_edit_is_that_of_the_wire() {
    insta::assert_snapshot!(schema("edit"), @r#"
    {
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "filePath": {
          "type": "string",
          "description": "The file: absolute, or relative to the workspace"
        },
        "oldString": {
          "type": "string",
          "description": "The exact text to replace; empty only to create a file"
        },
        "newString": {
          "type": "string",
          "description": "The text to put there; must differ"
        },
        "replaceAll": {
          "type": "boolean",
          "description": "Replace every occurrence instead of demanding a single one"
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
fn the_schema_of_write_is_that_of_the_wire() {
    insta::assert_snapshot!(schema("write"), @r#"
    {
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "content": {
          "type": "string",
          "description": "The whole content of the file"
        },
        "filePath": {
          "type": "string",
          "description": "The file: absolute, or relative to the workspace"
        }
      },
      "required": [
        "content",
        "filePath"
      ]
    }
    "#);
}
