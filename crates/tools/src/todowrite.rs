//! Takes the model's list of tasks and gives it back. Nothing is kept here: the call itself, in the
//! session, is the list.

use gate::{
    Problem,
    access::Declare,
    g1_decode::{ArgumentFault, Asks, Scout, Want},
    g2_admit::Grants,
    g3_confine::CallContext,
    output::ToolOutput,
    tool::Tool,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The tool `todowrite`.
#[derive(Debug)]
pub struct TodoWrite;

/// What the model writes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// The whole list, which replaces the one before
    todos: Vec<Todo>,
}

// COMPAT: other keys, such as an `id`, are passed over.
/// One task.
#[derive(Debug, Deserialize, JsonSchema, Serialize)]
pub(crate) struct Todo {
    /// What has to be done
    content: String,
    /// How far it is
    status: Status,
    /// How much it matters
    priority: Priority,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
    Cancelled,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Priority {
    High,
    Medium,
    Low,
}

/// The list, and leave to have one.
#[derive(Debug)]
pub struct Plan {
    todos: Vec<Todo>,
    declare: Want<Declare>,
}

impl Tool for TodoWrite {
    type Kinds = (Declare,);
    type Arguments = Arguments;
    type Plan = Plan;

    fn name(&self) -> &'static str {
        "todowrite"
    }
    fn permission(&self) -> &'static str {
        "todowrite"
    }
    fn describe(&self) -> &'static str {
        include_str!("todowrite.md")
    }

    fn prepare(
        &self,
        arguments: Arguments,
        _: &Scout<'_>,
        asks: &mut Asks<'_, Self::Kinds>,
    ) -> Result<Plan, ArgumentFault> {
        let todos = arguments.todos;
        if let Some(at) = todos.iter().position(|todo| todo.content.trim().is_empty()) {
            return Err(ArgumentFault::at(
                format!("todos[{at}].content"),
                "may not be empty",
            ));
        }
        let declare = asks.want(Declare::new("todowrite", "*"));
        Ok(Plan { todos, declare })
    }

    async fn run<'call>(
        &self,
        plan: Plan,
        mut grants: Grants<'call, Self::Kinds>,
        cx: CallContext<'call>,
    ) -> Result<ToolOutput, Problem> {
        let Plan { todos, declare } = plan;
        cx.effects.declare(grants.take(&declare)?).await?;
        let is_open = |todo: &&Todo| todo.status != Status::Completed;
        let output = serde_json::to_string_pretty(&todos);
        Ok(ToolOutput {
            title: format!("{} todos", todos.iter().filter(is_open).count()),
            output: output.map_err(|error| Problem::failed(error.to_string()))?,
            metadata: json!({ "todos": todos }),
            ..ToolOutput::default()
        })
    }
}
