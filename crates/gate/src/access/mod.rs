//! The closed vocabulary of effects, one kind a file. An access holds everything that acts: no
//! method of `Effects` or `Host` takes a path, a command or bytes beside it.

mod arguments;
mod ask_user;
mod declare;
mod handle;
mod kinds;
mod read_file;
mod read_tree;
mod shell;
mod spawn;
mod write_file;

pub use ask_user::{AskUser, Choice, Inquiry};
pub use declare::Declare;
pub use handle::{Digest, Handle};
pub use kinds::{Access, First, Fourth, Includes, Kind, Kinds, Second, Third};
pub use read_file::ReadFile;
pub use read_tree::{GlobQuery, GrepQuery, Purpose, ReadTree};
pub use spawn::{Spawn, TIMEOUT_MS_DEFAULT};
pub use write_file::{Change, WriteFile};

pub(crate) use arguments::of as arguments_of;
pub(crate) use kinds::{AnyAccess, Place};

use crate::{g3_confine::FailedLine, host::Host};
use handle::Touch;
use policy::{Arguments, Subject};
use std::{fmt, sync::Arc};

impl AnyAccess {
    /// Turns itself into what the rules are asked: the one place that knows permission names. Each
    /// subject carries the arguments of the call, for the rules that speak of them.
    pub(crate) fn subjects(&self, host: &dyn Host, arguments: &Arguments) -> Vec<Subject> {
        let mut subjects = self.asked(host);
        for subject in &mut subjects {
            subject.arguments = Arc::clone(arguments);
        }
        subjects
    }

    fn asked(&self, host: &dyn Host) -> Vec<Subject> {
        match self {
            Self::ReadFile(it) => handle::subjects(Touch::Read, it.handle()),
            Self::ReadTree(it) => it.subjects(),
            Self::WriteFile(it) => handle::subjects(Touch::Write, it.handle()),
            Self::Spawn(it) => it.subjects(host),
            Self::AskUser(_) => vec![Subject::name("question", "*")],
            Self::Declare(it) => vec![it.subject()],
        }
    }

    /// What became inside the sandbox of a line that is to run outside.
    pub(crate) fn failed(&self) -> Option<&Arc<FailedLine>> {
        match self {
            Self::Spawn(it) => it.failed(),
            Self::ReadFile(_)
            | Self::ReadTree(_)
            | Self::WriteFile(_)
            | Self::AskUser(_)
            | Self::Declare(_) => None,
        }
    }

    /// What a person must see before saying yes.
    pub(crate) fn evidence(&self) -> Evidence<'_> {
        match self {
            Self::WriteFile(it) => it
                .change()
                .map_or(Evidence::None, |it| Evidence::Diff(it.diff())),
            Self::Spawn(it) => it.evidence(),
            Self::AskUser(it) => Evidence::Inquiries(it.inquiries()),
            Self::Declare(it) => it.evidence(),
            Self::ReadFile(_) | Self::ReadTree(_) => Evidence::None,
        }
    }
}

/// What an approver is shown beside the question itself. Computed by the gate, but for the words
/// that are marked as the model's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence<'a> {
    /// Nothing beyond the names in the question.
    None,
    /// What a write would change.
    Diff(&'a str),
    /// What would run, or runs and wants to reach a machine.
    Command {
        /// The whole line, as it would be given to the shell.
        text: &'a str,
        /// The model's own words about it. To be labelled as such.
        described_as: Option<&'a str>,
    },
    /// What would run outside the sandbox, this once.
    Escape {
        /// The whole line, as it would be given to the shell.
        text: &'a str,
        /// The model's own words about it. To be labelled as such.
        described_as: Option<&'a str>,
        /// How long it may take there, in milliseconds.
        timeout_ms: u64,
        /// Why it should, in the model's own words. To be labelled as such.
        reason: &'a str,
        /// What became of the same line inside.
        failed: &'a FailedLine,
    },
    /// What would be asked. The model's own words.
    Inquiries(&'a [Inquiry]),
    /// What is done over and over. The model's own words.
    Repeats(&'a str),
}

/// The line the journal keeps.
impl fmt::Display for AnyAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReadFile(it) => write!(f, "read {}", it.handle().path()),
            Self::ReadTree(it) => it.fmt(f),
            Self::WriteFile(it) => it.fmt(f),
            Self::Spawn(it) if it.is_outside_sandbox() => {
                write!(f, "spawn outside the sandbox `{}`", it.command())
            }
            Self::Spawn(it) => write!(f, "spawn `{}`", it.command()),
            Self::AskUser(it) => it.fmt(f),
            Self::Declare(it) => write!(f, "declare {} {}", it.permission(), it.pattern()),
        }
    }
}
