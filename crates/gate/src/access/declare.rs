//! A permission that has no effect of its own, by a name known only at run time.

use super::Evidence;
use crate::g2_admit::DOOM_LOOP;
use policy::Subject;

/// Leave is asked under this name.
#[derive(Debug)]
pub struct Declare {
    subject: Subject,
    why: Why,
}

/// Why it is asked, beyond its name.
#[derive(Debug)]
enum Why {
    /// A tool says so.
    Named,
    /// A call repeats what was done before.
    Repeats(String),
    /// A running command wants to reach a machine.
    Reaches(String),
}

impl Declare {
    /// The permission name and what exactly is asked under it.
    pub fn new(permission: impl Into<String>, pattern: impl Into<String>) -> Self {
        Self {
            subject: Subject::name(permission, pattern),
            why: Why::Named,
        }
    }

    /// Leave to repeat what was done before, by a call of this tool.
    pub(crate) fn repeat(tool: &str, repeats: &str) -> Self {
        Self {
            why: Why::Repeats(repeats.to_owned()),
            ..Self::new(DOOM_LOOP, tool)
        }
    }

    /// Leave for a command that runs to reach a machine.
    pub(crate) fn reach(subject: Subject, command: &str) -> Self {
        Self {
            subject,
            why: Why::Reaches(command.to_owned()),
        }
    }

    pub(super) fn evidence(&self) -> Evidence<'_> {
        match &self.why {
            Why::Named => Evidence::None,
            Why::Repeats(calls) => Evidence::Repeats(calls),
            Why::Reaches(text) => Evidence::Command {
                text,
                described_as: None,
            },
        }
    }

    /// The permission name.
    pub fn permission(&self) -> &str {
        &self.subject.permission
    }

    /// What is asked under it.
    pub fn pattern(&self) -> &str {
        &self.subject.canonical
    }

    pub(super) fn subject(&self) -> Subject {
        self.subject.clone()
    }
}
