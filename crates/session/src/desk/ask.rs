//! One ask as it waits: all that a person is to see of it. Must not borrow from the call, which goes on
//! elsewhere.

use gate::{
    access::{Evidence, Inquiry},
    g2_admit::{Keepable, Question},
    g3_confine::FailedLine,
};
use policy::{Decision, Subject};
use std::sync::Arc;

/// An ask that waits, or has waited.
#[derive(Clone, Debug)]
pub struct Ask {
    /// `per_`, then what no other ask has and what ascends, also from one process to the next.
    pub id: String,
    /// The session that asks.
    pub session: String,
    /// The tool.
    pub tool: String,
    /// The call's id in the model's message.
    pub tool_call_id: String,
    /// All that the access does; a yes is for all of it.
    pub subjects: Arc<[Subject]>,
    /// What it would change or run.
    pub shown: Shown,
    /// What an always may keep.
    pub keepable: Keepable,
    /// Why it is asked.
    pub because: Decision,
    /// Whether only a person may say yes to it, having seen it: by [`Desk::reply_in_person`].
    ///
    /// [`Desk::reply_in_person`]: super::Desk::reply_in_person
    pub needs_person: bool,
}

/// An [`Evidence`] that outlives its call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Nothing beyond the names of the subjects.
    Nothing,
    /// What a write would change.
    Diff(String),
    /// What would run.
    Command {
        /// The whole line.
        text: String,
        /// The model's own words about it. To be labelled as such.
        described_as: Option<String>,
    },
    /// What would run outside the sandbox, this once.
    Escape {
        /// The whole line.
        text: String,
        /// The model's own words about it. To be labelled as such.
        described_as: Option<String>,
        /// How long it may take there, in milliseconds.
        timeout_ms: u64,
        /// Why it should, in the model's own words. To be labelled as such.
        reason: String,
        /// What became of the same line inside.
        failed: FailedLine,
    },
    /// What would be asked. The model's own words.
    Inquiries(Vec<Inquiry>),
    /// What is done over and over. The model's own words.
    Repeats(String),
}

impl Ask {
    pub(super) fn of(id: String, session: &str, question: &Question<'_>) -> Self {
        Self {
            id,
            session: session.to_owned(),
            tool: question.tool.to_owned(),
            tool_call_id: question.tool_call_id.to_owned(),
            subjects: question.subjects.into(),
            shown: Shown::of(question.evidence),
            keepable: question.keepable.clone(),
            because: question.because.clone(),
            needs_person: question.needs_person(),
        }
    }

    /// Whether a person who sees the one sees the other: the same things by the same tool, with the same
    /// evidence. A write of other bytes is another ask, and so is whatever needs a person.
    pub(super) fn is_same(&self, question: &Question<'_>) -> bool {
        !question.needs_person()
            && self.tool == question.tool
            && *self.subjects == *question.subjects
            && self.shown == Shown::of(question.evidence)
    }
}

impl Shown {
    fn of(evidence: Evidence<'_>) -> Self {
        match evidence {
            Evidence::None => Self::Nothing,
            Evidence::Diff(diff) => Self::Diff(diff.to_owned()),
            Evidence::Command { text, described_as } => Self::Command {
                text: text.to_owned(),
                described_as: described_as.map(str::to_owned),
            },
            Evidence::Escape {
                text,
                described_as,
                timeout_ms,
                reason,
                failed,
            } => Self::Escape {
                text: text.to_owned(),
                described_as: described_as.map(str::to_owned),
                timeout_ms,
                reason: reason.to_owned(),
                failed: failed.clone(),
            },
            Evidence::Inquiries(inquiries) => Self::Inquiries(inquiries.to_vec()),
            Evidence::Repeats(calls) => Self::Repeats(calls.to_owned()),
        }
    }
}
