//! Schemas, faults and their words. Must not know a real tool: the types here stand for all.
#![expect(clippy::unwrap_used, reason = "a test may stop where it stands")]

use tollgate_schema as schema;

mod decode;
mod derive;
mod nearest;
mod words;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arguments with one field of each kind.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    /// Where the file is.
    file_path: String,
    old_string: String,
    new_string: String,
    replace_all: Option<bool>,
    /// How long to wait.
    #[schemars(range(min = 1, max = 600))]
    timeout: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    priority: Option<Priority>,
    #[serde(default)]
    todos: Vec<Todo>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Todo {
    #[schemars(length(min = 1, max = 8))]
    content: String,
    /// How far it is.
    status: Status,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Priority {
    /// Soon.
    High,
    /// Later.
    Low,
}
