//! Leave to do one thing, once, during one call. Only gate 2 makes one.

use crate::{access::Access, call::Tag};
use policy::Decision;

/// The token. Not cloned, not stored, spent once, in its own call.
#[must_use = "a permit that is not spent asked the user for nothing"]
#[derive(Debug)]
pub struct Permit<'call, A: Access> {
    access: A,
    decision: Decision,
    call: Tag<'call>,
}

impl<'call, A: Access> Permit<'call, A> {
    pub(super) fn mint(access: A, decision: Decision, call: Tag<'call>) -> Self {
        Self {
            access,
            decision,
            call,
        }
    }

    /// What may be done.
    pub fn access(&self) -> &A {
        &self.access
    }

    /// Who allowed it, and under which generation of the rules.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// For gate 3 alone: what is spent here must become an `Order` or nothing.
    pub(crate) fn spend(self) -> (A, Decision, Tag<'call>) {
        (self.access, self.decision, self.call)
    }
}
