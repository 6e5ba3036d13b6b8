//! What a conversation is made of, in the one form that is also stored.
//! Must not drop or repair what a model said: raw text stays raw.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One entry of a conversation. Written as an object whose `role` names the variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case", deny_unknown_fields)]
pub enum Message {
    /// What a person said.
    User {
        /// Their words.
        text: String,
    },
    /// What the model said and which tools it wants to call.
    Assistant {
        /// Its words, if any.
        text: Option<String>,
        /// The calls, in the order they were made.
        calls: Vec<ToolCall>,
    },
    /// What one call came to.
    Result {
        /// The id of the call this answers.
        call_id: String,
        /// The tool that was called.
        tool: String,
        /// The text given back to the model.
        output: String,
        /// Whether the call failed or was refused.
        is_error: bool,
    },
}

impl From<Turn> for Message {
    fn from(turn: Turn) -> Self {
        Self::Assistant {
            text: turn.text,
            calls: turn.calls,
        }
    }
}

/// A model's wish to call one tool. It is only a wish: gate 1 decides whether it is a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// The model's own name for this call, by which its result is answered.
    pub id: String,
    /// The tool, as the model spelled it.
    pub tool: String,
    /// The arguments, as the model gave them.
    pub arguments: Arguments,
}

/// Arguments as they came from the model. Written as `{"json": ...}` or `{"text": "..."}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arguments {
    /// Arguments that came as JSON.
    Json(Value),
    /// The raw text, which need not be JSON.
    Text(String),
}

/// What a model answers with. Without calls, its turn of the conversation is over.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// Its words, if any.
    pub text: Option<String>,
    /// The tools it wants to call, in order.
    pub calls: Vec<ToolCall>,
    /// What made it stop.
    #[serde(default)]
    pub finish: Finish,
    /// What the turn cost, where the provider tells.
    #[serde(default)]
    pub usage: Option<Usage>,
}

/// What made a model stop. A turn that was cut short may hold calls with half of their arguments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// It had said what it wanted to say.
    #[default]
    Done,
    /// It ran into the limit of its output or context.
    Length,
    /// The provider withheld the rest.
    Filtered,
}

/// Tokens, as the provider counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Tokens of the request, those of `cached_tokens` included.
    pub input_tokens: u64,
    /// Tokens of the request that the provider had read before.
    pub cached_tokens: u64,
    /// Tokens of the answer.
    pub output_tokens: u64,
}
