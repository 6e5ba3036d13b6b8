//! Running a command line. Must not tell what it asks: the gate reads the line itself, in `shell`, so a
//! tool cannot misstate what it runs.

use super::{Evidence, Handle, shell};
use crate::{
    g3_confine::{Confinement, FailedLine},
    host::Host,
};
use policy::{SANDBOX_ESCAPE, Subject};
use std::sync::{Arc, OnceLock};

/// Leave is asked to give this text to the shell.
#[derive(Debug)]
pub struct Spawn {
    command: String,
    workdir: Option<Handle>,
    timeout_ms: u64,
    description: Option<String>,
    is_for_looking: OnceLock<bool>,
    escape: Option<Escape>,
}

/// Why a line is to run outside the sandbox.
#[derive(Debug)]
struct Escape {
    /// The model's own words.
    reason: String,
    /// What became of this very line inside.
    failed: Arc<FailedLine>,
}

/// How long a command may take unless it says otherwise, in milliseconds (as the compatible
/// systems).
pub const TIMEOUT_MS_DEFAULT: u64 = 120_000;

impl Spawn {
    /// A line for the shell, in the workspace, with the default timeout.
    pub fn new(command: impl Into<String>) -> Self {
        let command = command.into();
        Self {
            command,
            workdir: None,
            timeout_ms: TIMEOUT_MS_DEFAULT,
            description: None,
            is_for_looking: OnceLock::new(),
            escape: None,
        }
    }

    /// In this directory. What became of the line elsewhere says nothing about it there, so it is to run
    /// inside the sandbox again.
    #[must_use]
    pub fn in_directory(self, workdir: Handle) -> Self {
        Self {
            workdir: Some(workdir),
            escape: None,
            ..self
        }
    }

    /// For at most so many milliseconds.
    #[must_use]
    pub fn for_at_most(self, timeout_ms: u64) -> Self {
        Self { timeout_ms, ..self }
    }

    /// With the model's own words about it, shown labelled as such.
    #[must_use]
    pub fn described_as(self, description: impl Into<String>) -> Self {
        Self {
            description: Some(description.into()),
            ..self
        }
    }

    /// Outside the sandbox, with the model's own words about why. Gate 1 alone says so, of a line that has
    /// failed inside.
    pub(crate) fn outside_sandbox(self, reason: String, failed: Arc<FailedLine>) -> Self {
        let escape = Some(Escape { reason, failed });
        Self { escape, ..self }
    }

    /// The line.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Where it starts; `None`: the workspace.
    pub fn workdir(&self) -> Option<&Handle> {
        self.workdir.as_ref()
    }

    /// How long it may take, in milliseconds.
    pub fn timeout_ms(&self) -> u64 {
        self.timeout_ms
    }

    /// The model's own words.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// Whether it is to run outside the sandbox. Not whether it may: that is asked.
    pub fn is_outside_sandbox(&self) -> bool {
        self.escape.is_some()
    }

    /// What became of the line inside, if it is to run outside.
    pub(crate) fn failed(&self) -> Option<&Arc<FailedLine>> {
        self.escape.as_ref().map(|it| &it.failed)
    }

    /// What holds the line when it runs.
    pub(super) fn confinement(&self, host: &dyn Host) -> Confinement {
        if self.is_outside_sandbox() {
            let why = "it is to run outside".to_owned();
            return Confinement::NotEnforced { why };
        }
        host.confinement()
    }

    pub(super) fn evidence(&self) -> Evidence<'_> {
        let (text, described_as) = (self.command(), self.description());
        match &self.escape {
            None => Evidence::Command { text, described_as },
            Some(Escape { reason, failed }) => Evidence::Escape {
                text,
                described_as,
                timeout_ms: self.timeout_ms,
                reason,
                failed,
            },
        }
    }

    /// Whether the line is proven to look and change nothing: then git and the like need nothing that
    /// the repository would have them run beside.
    pub fn is_for_looking(&self) -> bool {
        self.is_for_looking.get().copied().unwrap_or(false)
    }

    /// What the gate found when it read the line; the first time counts.
    pub(super) fn note_looking(&self, is_so: bool) {
        self.is_for_looking.get_or_init(|| is_so);
    }

    /// Everything the line is known to do, see [`shell`]; before that, that it leaves the sandbox.
    pub(super) fn subjects(&self, host: &dyn Host) -> Vec<Subject> {
        let escape = self.escape.as_ref().map(|_| self.leaving());
        let told = shell::subjects(self, host);
        escape.into_iter().chain(told).collect()
    }

    fn leaving(&self) -> Subject {
        let mut subject = Subject::name(SANDBOX_ESCAPE, self.command().trim());
        let why = "it leaves the sandbox: nothing holds what it reads, changes or reaches";
        subject.ask_because = Some(why.to_owned());
        subject
    }
}
