//! How a decision was reached, in steps a person can read.
//!
//! Must not: decide. The steps are written down by the same walk that decides.

use std::fmt;

use crate::rule::{Action, Rule};
use crate::subject::Subject;

/// What a step looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepKind {
    /// The last base rule that matches the canonical text.
    Rule,
    /// No base rule matches it.
    Default,
    /// The source text.
    Source,
    /// Another spelling.
    Other,
    /// The command that changes the file.
    By,
    /// It cannot be told what would run.
    Opaque,
    /// A broad allow is not meant for what a hardening guards.
    Guard,
    /// The rules of the project: what they would have, and whether it counts.
    Project,
    /// A rule of the session.
    Session,
    /// A saved rule.
    Saved,
    /// A hard rule.
    Hard,
    /// An allow is not enough here.
    AskBecause,
    /// Somebody said yes.
    Answer,
}

impl fmt::Display for StepKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Rule => "rule",
            Self::Default => "default",
            Self::Source => "source",
            Self::Other => "other",
            Self::By => "by",
            Self::Opaque => "opaque",
            Self::Guard => "guard",
            Self::Project => "project",
            Self::Session => "session",
            Self::Saved => "saved",
            Self::Hard => "hard",
            Self::AskBecause => "ask_because",
            Self::Answer => "answer",
        })
    }
}

/// One step towards a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What was looked at.
    pub step: StepKind,
    /// The permission asked for.
    pub permission: String,
    /// The text that was judged.
    pub pattern: String,
    /// The rule that was found, if the step is about one.
    pub rule: Option<Rule>,
    /// How things stand for this subject after the step.
    pub action: Action,
    /// What the step did, in a few words.
    pub note: String,
}

impl fmt::Display for Step {
    /// One line for a person; characters that could deceive a terminal are escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            step,
            permission,
            pattern,
            rule,
            action,
            note,
        } = self;
        write!(
            f,
            "{action:<5} {step:<11} {} {pattern:?}",
            permission.escape_debug()
        )?;
        if let Some(rule) = rule {
            write!(f, " by {rule}")?;
        }
        if note.is_empty() {
            return Ok(());
        }
        write!(f, ": {}", note.escape_debug())
    }
}

/// The steps of a decision: those of the deciding subject last, so the last step has its action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// In order.
    pub steps: Vec<Step>,
}

impl fmt::Display for Trace {
    /// One line a step.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps.iter().try_for_each(|step| writeln!(f, "{step}"))
    }
}

/// Where a walk writes its steps down, if anywhere.
#[derive(Debug, Default)]
pub(crate) struct Trail(Option<Vec<Step>>);

impl Trail {
    /// Keeps nothing, and costs nothing.
    pub(crate) fn silent() -> Self {
        Self(None)
    }

    /// Keeps every step.
    pub(crate) fn recording() -> Self {
        Self(Some(Vec::new()))
    }

    pub(crate) fn step(
        &mut self,
        step: StepKind,
        subject: &Subject,
        text: &str,
        rule: Option<&Rule>,
        action: Action,
        note: &str,
    ) {
        let Some(steps) = &mut self.0 else { return };
        steps.push(Step {
            step,
            permission: subject.permission.clone(),
            pattern: text.to_owned(),
            rule: rule.cloned(),
            action,
            note: note.to_owned(),
        });
    }

    /// One that keeps its steps if this one does.
    pub(crate) fn fresh(&self) -> Self {
        Self(self.0.as_ref().map(|_| Vec::new()))
    }

    /// Adds the steps of another.
    pub(crate) fn append(&mut self, other: Self) {
        if let (Some(steps), Some(more)) = (&mut self.0, other.0) {
            steps.extend(more);
        }
    }

    pub(crate) fn into_trace(self) -> Trace {
        Trace {
            steps: self.0.unwrap_or_default(),
        }
    }
}
