//! A turn under way: put together from the pieces of a stream, or from a whole answer. Must not
//! repair what the model said: arguments that are not JSON stay text.

use std::collections::HashSet;

use serde_json::Value;

use super::wire::{CallPiece, Chunk, Content, Piece, Tokens};
use crate::{Arguments, Finish, ToolCall, Turn, Usage};

/// More calls than this in one turn are no turn. Far beyond what models do; it keeps the search
/// for the call of a piece short.
const CALLS_MAX: usize = 256;

/// What was said so far.
#[derive(Debug, Default)]
pub(super) struct Draft {
    text: String,
    calls: Vec<CallDraft>,
    finish: Option<Finish>,
    usage: Option<Usage>,
    is_begun: bool,
}

#[derive(Debug)]
struct CallDraft {
    index: u64,
    id: String,
    tool: String,
    arguments: String,
}

/// The turn has more calls than one may have.
#[derive(Debug)]
pub(super) struct TooManyCalls;

impl Draft {
    /// Adds what a chunk holds.
    pub(super) fn add(&mut self, chunk: Chunk) -> Result<(), TooManyCalls> {
        if let Some(tokens) = chunk.usage {
            self.usage = Some(usage(&tokens));
        }
        // One choice was asked for, so there is no other.
        let Some(choice) = chunk.choices.into_iter().flatten().next() else {
            return Ok(());
        };
        self.is_begun = true;
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            self.finish = Some(match reason.as_str() {
                "length" => Finish::Length,
                "content_filter" => Finish::Filtered,
                _ => Finish::Done,
            });
        }
        match choice.delta.or(choice.message) {
            Some(piece) => self.piece(piece),
            None => Ok(()),
        }
    }

    /// Whether the model was heard at all.
    pub(super) fn is_begun(&self) -> bool {
        self.is_begun
    }

    /// Whether the model said why it stopped; a stream that ends before was cut.
    pub(super) fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    fn piece(&mut self, piece: Piece) -> Result<(), TooManyCalls> {
        match piece.content {
            Some(Content::Text(text)) => self.text.push_str(&text),
            Some(Content::Parts(parts)) => self
                .text
                .extend(parts.into_iter().filter_map(|part| part.text)),
            None => {}
        }
        self.text.push_str(&piece.refusal.unwrap_or_default());
        for call in piece.tool_calls.into_iter().flatten() {
            self.call(call)?;
        }
        Ok(())
    }

    fn call(&mut self, piece: CallPiece) -> Result<(), TooManyCalls> {
        let id = piece.id.unwrap_or_default();
        let (tool, arguments) = match piece.function {
            Some(function) => (function.name.unwrap_or_default(), function.arguments),
            None => (String::new(), None),
        };
        let arguments = match arguments {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text,
            Some(other) => other.to_string(),
        };
        // A name under a new id begins another call even where the index says otherwise: some
        // servers number every call 0 or none at all. An id alone does not, since some make up
        // a new one for every piece.
        let begun = match piece.index {
            Some(index) => self.calls.iter().rposition(|call| call.index == index),
            None => self.calls.len().checked_sub(1),
        };
        let begun = begun.and_then(|at| self.calls.get_mut(at)).filter(|call| {
            match (tool.as_str(), id.as_str()) {
                ("", _) => true,
                (_, "") => piece.index.is_some(),
                (_, id) => call.id == id,
            }
        });
        if let Some(call) = begun {
            if call.id.is_empty() {
                call.id = id;
            }
            if call.tool.is_empty() {
                call.tool = tool;
            }
            call.arguments.push_str(&arguments);
            return Ok(());
        }
        if self.calls.len() == CALLS_MAX {
            return Err(TooManyCalls);
        }
        let last = self.calls.last().map_or(0, |call| call.index);
        self.calls.push(CallDraft {
            index: piece.index.unwrap_or(last),
            id,
            tool,
            arguments,
        });
        Ok(())
    }

    /// The turn. Calls are answered by id, so one without gets an id that bears `place`, the turn's
    /// place in the conversation, and one that has the id of another call gets its own.
    pub(super) fn into_turn(mut self, place: usize) -> Turn {
        self.calls.sort_by_key(|call| call.index);
        let mut ids = HashSet::new();
        let calls = (self.calls.into_iter().enumerate())
            .map(|(at, call)| {
                let mut id = call.id;
                if id.is_empty() {
                    id = format!("call_{place}_{at}");
                }
                while !ids.insert(id.clone()) {
                    id.push('_');
                }
                ToolCall {
                    id,
                    tool: call.tool,
                    arguments: arguments(call.arguments),
                }
            })
            .collect();
        Turn {
            text: Some(self.text).filter(|text| !text.is_empty()),
            calls,
            finish: self.finish.unwrap_or_default(),
            usage: self.usage,
        }
    }
}

fn arguments(text: String) -> Arguments {
    match serde_json::from_str(&text) {
        Ok(value) => Arguments::Json(value),
        Err(_) => Arguments::Text(text),
    }
}

fn usage(tokens: &Tokens) -> Usage {
    let details = tokens.input_details.as_ref();
    Usage {
        input_tokens: tokens.input.unwrap_or(0),
        cached_tokens: details.and_then(|it| it.cached_tokens).unwrap_or(0),
        output_tokens: tokens.output.unwrap_or(0),
    }
}
