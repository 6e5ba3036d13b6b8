//! What a front end hears of a session, in order.

use gate::{call::NotRun, output::CallOutput};
use model::ToolCall;

/// One thing that happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// The model said something.
    Text(&'a str),
    /// A call begins.
    CallStarted(&'a ToolCall),
    /// A call ended.
    CallEnded {
        /// The call.
        call: &'a ToolCall,
        /// What came of it.
        result: &'a Result<CallOutput, NotRun>,
    },
    /// A call was not even begun, because an earlier one ended the turn.
    CallSkipped(&'a ToolCall),
}

/// Hears events. Called between steps, so it may take its time.
pub trait Events: Send + Sync {
    /// Something happened.
    fn hear(&self, event: Event<'_>);
}

/// Nobody listens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unheard;

impl Events for Unheard {
    fn hear(&self, _event: Event<'_>) {}
}
