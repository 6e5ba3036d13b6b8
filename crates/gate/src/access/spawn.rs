//! Running a command line. Must not tell what it asks: the gate reads the line itself, in `shell`, so a
//! tool cannot misstate what it runs.

use super::{Handle, shell};
use crate::host::Host;
use policy::Subject;
use std::sync::OnceLock;

/// Leave is asked to give this text to the shell.
#[derive(Debug)]
pub struct Spawn {
    command: String,
    workdir: Option<Handle>,
    timeout_ms: u64,
    description: Option<String>,
    is_for_looking: OnceLock<bool>,
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
        }
    }

    /// In this directory.
    #[must_use]
    pub fn in_directory(self, workdir: Handle) -> Self {
        Self {
            workdir: Some(workdir),
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

    /// Whether the line is proven to look and change nothing: then git and the like need nothing that
    /// the repository would have them run beside.
    pub fn is_for_looking(&self) -> bool {
        self.is_for_looking.get().copied().unwrap_or(false)
    }

    /// What the gate found when it read the line; the first time counts.
    pub(super) fn note_looking(&self, is_so: bool) {
        self.is_for_looking.get_or_init(|| is_so);
    }

    /// Everything the line is known to do, see [`shell`].
    pub(super) fn subjects(&self, host: &dyn Host) -> Vec<Subject> {
        shell::subjects(self, host)
    }
}
