//! How an ask is put, and how it may be answered.

use crate::{
    BoxFuture,
    access::{AskUser, Evidence},
    call::CallId,
    g3_confine::Order,
};
use policy::{Decision, Subject};

/// Answers asks: a person, an editor, a policy, a deadline.
pub trait Approver: Send + Sync {
    /// Whether the call may do what the question names. Must end: with no one there, at once.
    fn ask<'a>(&'a self, question: Question<'a>) -> BoxFuture<'a, Reply>;

    /// Puts the model's own question to a person and brings the answer; `None`: nobody is there.
    fn put<'a>(&'a self, _question: &'a Order<AskUser>) -> BoxFuture<'a, Option<String>> {
        Box::pin(async { None })
    }
}

/// What an approver is shown.
#[derive(Debug)]
pub struct Question<'a> {
    /// Which call.
    pub call: CallId,
    /// The call's id in the model's message.
    pub tool_call_id: &'a str,
    /// Of which tool.
    pub tool: &'a str,
    /// All that the access does; a yes is for all of it.
    pub subjects: &'a [Subject],
    /// What it would change or run.
    pub evidence: Evidence<'a>,
    /// Why it is asked.
    pub because: &'a Decision,
    /// Whether [`Reply::Session`] will be kept. If not, it counts as once.
    pub is_session_offered: bool,
}

/// What an approver says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Yes, this once.
    Once {
        /// Who said so.
        who: String,
    },
    /// Yes, and the same exact thing again in this session.
    Session {
        /// Who said so.
        who: String,
    },
    /// No.
    Reject {
        /// Who said so.
        who: String,
        /// What the model should do instead.
        word: Option<String>,
    },
    /// There is no one to ask: a denial, at once.
    Nobody {
        /// Why nobody could be asked.
        why: String,
    },
}
