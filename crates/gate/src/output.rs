//! What a call gives back, and the one place where it is cut to size for the model.

use crate::call::Tag;
use serde_json::Value;
use text::truncate::{self, Keep};

/// How much of an output the model gets.
pub use text::truncate::Limits;

/// What a tool returns.
#[derive(Clone, Debug, Default)]
pub struct ToolOutput {
    /// A line for people.
    pub title: String,
    /// The text for the model.
    pub output: String,
    /// For front ends; free in shape, one object.
    pub metadata: Value,
    /// Where the tool says the whole output is, if it cut the text itself. Believed only if the
    /// text is within the limits.
    pub kept_at: Option<String>,
}

/// What a call gives back.
#[derive(Clone, Debug, PartialEq)]
pub struct CallOutput {
    /// A line for people.
    pub title: String,
    /// The text for the model, within the limits.
    pub output: String,
    /// For front ends.
    pub metadata: Value,
    /// Where the whole output is, if it was cut.
    pub kept_at: Option<String>,
}

/// Cuts what a tool returned. The rest is kept in a file of the session.
pub(crate) async fn truncate(call: Tag<'_>, made: ToolOutput) -> CallOutput {
    let ToolOutput {
        title,
        output,
        metadata,
        kept_at,
    } = made;
    let (output, kept_at) = if truncate::fits(&output, call.live.parts.limits) {
        (output, kept_at)
    } else {
        cut(call, &output, "The tool call succeeded").await
    };
    CallOutput {
        title,
        output,
        metadata,
        kept_at,
    }
}

/// The same for words that are not a result: a failure can quote as much as a success.
pub(crate) async fn truncate_failure(call: Tag<'_>, words: String) -> String {
    if truncate::fits(&words, call.live.parts.limits) {
        return words;
    }
    cut(call, &words, "The tool call failed").await.0
}

async fn cut(call: Tag<'_>, whole: &str, what: &str) -> (String, Option<String>) {
    let parts = call.live.parts;
    let kept = truncate::truncate(whole, parts.limits, Keep::Head);
    let (hint, kept_at) = match parts.host.keep_output(call.live.ids.call, whole).await {
        Ok(path) => {
            let hint = format!(
                "{what} but its output was truncated. The full output is at {path}\n\
                 Search it with Grep, or Read the part you need with offset and limit."
            );
            (hint, Some(path))
        }
        // The text is lost, not the call; the model must know which of the two.
        Err(error) => (
            format!("{what} but its output was truncated, and the rest is lost: {error}"),
            None,
        ),
    };
    (truncate::assemble(&kept, Keep::Head, &hint), kept_at)
}
