//! The only thing a host acts on: a spent permit and the walls of its call. Only gate 3 makes one.

use super::{Reach, Walls};
use crate::{
    access::{Access, ReadFile, ReadTree, Spawn, WriteFile},
    call::CallId,
    host::Resolved,
};

/// Owned and `'static`, so it moves into blocking work; carries its call, which the host checks.
#[derive(Debug)]
pub struct Order<A: Access> {
    access: A,
    walls: Walls,
    call: CallId,
    reach: Reach,
}

impl<A: Access> Order<A> {
    pub(super) fn make(access: A, walls: Walls, call: CallId) -> Self {
        Self {
            access,
            walls,
            call,
            reach: Reach::closed(),
        }
    }

    /// What to do.
    pub fn access(&self) -> &A {
        &self.access
    }

    /// Within which walls.
    pub fn walls(&self) -> &Walls {
        &self.walls
    }

    /// For which call. The host refuses an order of one that is not open.
    pub fn call(&self) -> CallId {
        self.call
    }
}

/// The file that was decided about. Not on `Handle`: a tool must not learn what exists.
macro_rules! target {
    ($($kind:ty),*) => {$(
        impl Order<$kind> {
            /// What was decided about, as the host resolved it then.
            pub fn target(&self) -> &Resolved {
                self.access.handle().resolved()
            }
        }
    )*};
}
target!(ReadFile, ReadTree, WriteFile);

impl Order<Spawn> {
    pub(super) fn watched(self, reach: Reach) -> Self {
        Self { reach, ..self }
    }

    /// Where to ask what the command may reach while it runs.
    pub fn reach(&self) -> &Reach {
        &self.reach
    }

    /// Whether the command runs outside of all walls. A permit for it is minted only where that was asked and
    /// answered in this call, and its access cannot be changed.
    pub fn is_outside_sandbox(&self) -> bool {
        self.access.is_outside_sandbox()
    }

    /// Where the command starts, as the host resolved it; `None`: the workspace.
    pub fn workdir(&self) -> Option<&Resolved> {
        self.access.workdir().map(crate::access::Handle::resolved)
    }
}
