//! What `prepare` may know of the machine before anything is decided.

use crate::{
    access::{AnyAccess, Handle, ReadFile, Spawn},
    call::Tag,
    g3_confine::{Confinement, FailedLines, LineKey},
    host::{Host, ResolveError},
    words,
};
use policy::{Action, Arguments, Ruleset, Subject, decide};
use std::sync::Arc;

/// Why a line may not be asked for outside the sandbox, for the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", words::NOT_FAILED)]
pub struct NotFailed;

/// Resolves paths to opaque handles, whatever the rules; tells little more.
pub struct Scout<'s> {
    host: &'s dyn Host,
    rules: Arc<Ruleset>,
    arguments: Arguments,
    failed_lines: &'s FailedLines,
}

impl std::fmt::Debug for Scout<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scout").finish_non_exhaustive()
    }
}

impl<'s> Scout<'s> {
    pub(crate) fn new(call: Tag<'s>) -> Self {
        Self {
            host: call.live.parts.host,
            rules: call.live.parts.rules.current(),
            arguments: Arc::clone(&call.live.arguments),
            failed_lines: call.live.parts.failed_lines,
        }
    }

    /// Where a path leads. Relative paths start at the workspace.
    ///
    /// # Errors
    /// It cannot be resolved at all. A missing file is no error: that is content.
    pub fn resolve(&self, path: &str) -> Result<Handle, ResolveError> {
        self.host.resolve(path).map(Handle::new)
    }

    /// The line as one that is to run outside the sandbox, with the model's own words about why. A person is
    /// asked about it, whatever the rules allow. Where nothing is held there is nothing to leave, and the line
    /// stays as it was.
    ///
    /// # Errors
    /// This very line has not failed inside, or a person was asked about that already.
    pub fn outside_sandbox(
        &self,
        spawn: Spawn,
        reason: impl Into<String>,
    ) -> Result<Spawn, NotFailed> {
        match self.host.confinement() {
            Confinement::NotEnforced { .. } => return Ok(spawn),
            Confinement::Full | Confinement::Partial { .. } => {}
        }
        let key = LineKey::of(&spawn, self.host);
        let failed = self.failed_lines.find(&key).ok_or(NotFailed)?;
        Ok(spawn.outside_sandbox(reason.into(), failed))
    }

    /// Whether a file exists, where rules plainly allow reading it. Nobody is asked at this stage,
    /// so an ask counts as a deny and tells nothing.
    pub fn exists(&self, handle: &Handle) -> Option<bool> {
        let access = AnyAccess::ReadFile(ReadFile::new(handle.clone()));
        let subjects: Arc<[Subject]> = access.subjects(self.host, &self.arguments).into();
        let is_allowed = decide(&self.rules, &subjects, None).action() == Action::Allow;
        is_allowed.then(|| handle.resolved().found.is_some())
    }
}
