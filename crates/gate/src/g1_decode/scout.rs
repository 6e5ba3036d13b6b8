//! What `prepare` may know of the machine before anything is decided.

use crate::{
    access::{AnyAccess, Handle, ReadFile},
    call::Tag,
    host::{Host, ResolveError},
};
use policy::{Action, Arguments, Ruleset, Subject, decide};
use std::sync::Arc;

/// Resolves paths to opaque handles, whatever the rules; tells little more.
pub struct Scout<'s> {
    host: &'s dyn Host,
    rules: Arc<Ruleset>,
    arguments: Arguments,
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
        }
    }

    /// Where a path leads. Relative paths start at the workspace.
    ///
    /// # Errors
    /// It cannot be resolved at all. A missing file is no error: that is content.
    pub fn resolve(&self, path: &str) -> Result<Handle, ResolveError> {
        self.host.resolve(path).map(Handle::new)
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
