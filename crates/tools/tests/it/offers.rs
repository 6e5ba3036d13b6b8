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
        ("bash", "bash"),
        ("read", "read"),
        ("edit", "edit"),
        ("write", "edit"),
    ];
    assert_eq!(names, expected);
}

#[test]
fn a_tool_can_want_no_more_than_it_declares() {
    let kinds = |name| tool(name).kinds();
    assert_eq!(kinds("bash"), [Kind::Spawn]);
    assert_eq!(kinds("read"), [Kind::ReadFile, Kind::ReadTree]);
    assert_eq!(kinds("edit"), [Kind::ReadFile, Kind::WriteFile]);
    assert_eq!(kinds("write"), [Kind::ReadFile, Kind::WriteFile]);
}

/// Tools of the compatible systems beside ours: a prompt may not speak of what may be closed.
const OTHERS: [&str; 22] = [
    "glob",
    "grep",
    "apply_patch",
    "task",
    "webfetch",
    "websearch",
    "todowrite",
    "question",
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
const PLAIN: [(&str, &str); 4] = [
    ("bash", "read"),
    ("bash", "shell"),
    ("bash", "write"),
    ("edit", "write"),
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
        }
      },
      "required": [
        "command"
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
