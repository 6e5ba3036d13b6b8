//! Why a call may not. Every refusal knows the gate that made it.

use crate::words;
use policy::Decision;
use std::fmt;

/// One of the four gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    /// 0: the tool is not on the table.
    Offer,
    /// 1: the arguments do not fit.
    Decode,
    /// 2: the rules or a person said no.
    Admit,
    /// 3: the walls held, or the world changed.
    Confine,
}

impl Gate {
    /// 0 to 3.
    pub fn number(self) -> u8 {
        match self {
            Self::Offer => 0,
            Self::Decode => 1,
            Self::Admit => 2,
            Self::Confine => 3,
        }
    }
}

/// `offer`, `decode`, `admit`, `confine`.
impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Offer => "offer",
            Self::Decode => "decode",
            Self::Admit => "admit",
            Self::Confine => "confine",
        })
    }
}

/// Why a call may not.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// A rule denies it.
    Denied(Box<Decision>),
    /// An approver said no.
    Rejected {
        /// Who.
        who: String,
        /// What to do instead, in their words.
        word: Option<String>,
        /// Why it was asked.
        asked_by: Box<Decision>,
    },
    /// An ask that nobody could answer.
    Unanswered {
        /// Why nobody could be asked.
        why: String,
        /// Why it was asked.
        asked_by: Box<Decision>,
    },
    /// More late asks than one call may make.
    TooManyLateAsks,
    /// What was decided about is no longer what stands there.
    Changed(String),
    /// The walls of the call do not let it.
    Walled(String),
    /// The call was cancelled.
    Cancelled,
}

impl Refusal {
    /// The gate that made it.
    pub fn gate(&self) -> Gate {
        match self {
            Self::Denied(_)
            | Self::Rejected { .. }
            | Self::Unanswered { .. }
            | Self::TooManyLateAsks => Gate::Admit,
            Self::Changed(_) | Self::Walled(_) | Self::Cancelled => Gate::Confine,
        }
    }

    /// The decision it rests on, if it rests on one.
    pub fn decision(&self) -> Option<&Decision> {
        match self {
            Self::Denied(decision)
            | Self::Rejected {
                asked_by: decision, ..
            }
            | Self::Unanswered {
                asked_by: decision, ..
            } => Some(decision),
            Self::TooManyLateAsks | Self::Changed(_) | Self::Walled(_) | Self::Cancelled => None,
        }
    }
}

/// The words for the model.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&words::refusal(self))
    }
}
