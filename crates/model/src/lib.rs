//! Language models behind one trait, and the scripted one that needs no key and no network.
//!
//! Must not run a tool, decide a permission or keep a conversation: a model
//! answers one request, and what it answers is only a proposal.

mod message;
#[cfg(feature = "openai")]
pub mod openai;
mod script;

use std::{fmt, pin::Pin};

use serde_json::Value;

pub use message::{Arguments, Finish, Message, ToolCall, Turn, Usage};
pub use script::ScriptedModel;

/// A boxed future that may move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Something that, given a conversation and the tools on offer, says what comes next.
pub trait Model: Send + Sync {
    /// The name shown to people and written to logs.
    fn name(&self) -> &str;

    /// Asks for the next turn of the conversation.
    ///
    /// # Errors
    /// [`ModelError::Unreachable`] where no answer could be had.
    fn complete<'a>(&'a self, request: Request<'a>) -> BoxFuture<'a, Result<Turn, ModelError>>;
}

/// What a model is asked with.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The system prompt.
    pub system: &'a str,
    /// The conversation so far, oldest first.
    pub messages: &'a [Message],
    /// The tools gate 0 left open; a model must not be told of any other.
    pub tools: &'a [ToolOffer],
}

/// One tool as the model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOffer {
    /// The wire name.
    pub name: String,
    /// What the tool does, in words for the model.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub schema: Value,
}

/// Why a model gave no turn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// No answer could be had: the network, the key or the other side failed.
    #[error("model `{name}` cannot be reached: {reason}")]
    Unreachable {
        /// The model's name.
        name: String,
        /// Where and what went wrong, how often it was tried, and what to do; one line without
        /// keys, fit for a terminal.
        reason: String,
    },
    /// The settings of a provider cannot be used. Nothing was sent.
    #[error("model `{name}` cannot be used: {reason}")]
    Settings {
        /// The model's name.
        name: String,
        /// What is wrong with which setting; one line without keys.
        reason: String,
    },
    /// The script is not one. Every fault found is listed.
    #[error("the script is not valid:{}", lines(faults))]
    Script {
        /// The faults in the order of the text; never empty.
        faults: Vec<ScriptFault>,
    },
}

/// One fault of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptFault {
    /// Where it is, such as `turns[2].calls[0].foo`; empty for the whole text.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for ScriptFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            return f.write_str(&self.message);
        }
        write!(f, "{}: {}", self.path, self.message)
    }
}

fn lines(faults: &[ScriptFault]) -> String {
    let mut text = String::new();
    for fault in faults {
        text.push_str("\n  ");
        text.push_str(&fault.to_string());
    }
    text
}
