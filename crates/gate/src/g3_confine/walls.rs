//! What one call may touch: the profile, minus what the rules do not allow, plus its permits.

use crate::{
    access::AnyAccess,
    call::Tag,
    host::{Place, Resolved},
};
use policy::{Action, Ruleset, Subject, decide};
use std::sync::Arc;

/// What a host enforces on children. Callers should break when a tier is added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// All walls.
    Full,
    /// Walls with known gaps.
    Partial {
        /// What this tier cannot hold, a line each.
        gaps: Vec<String>,
    },
    /// None; every command asks.
    NotEnforced {
        /// Why there is no sandbox.
        why: String,
    },
}

/// Where children of an agent may write, before rules and permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChildWrites {
    /// The workspace and a private temporary directory.
    Workspace,
    /// The temporary directory alone: a readonly agent.
    TemporaryOnly,
}

/// Where children may go in general.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Where they may write.
    pub child_writes: ChildWrites,
}

/// A path for which this call holds, or held, a permit. Absolute and real.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opening {
    /// It may be read.
    Read(String),
    /// It may be written.
    Write(String),
}

impl Opening {
    /// Allowing a path opens it. Allowing a command opens nothing.
    pub(crate) fn of(access: &AnyAccess) -> Option<Self> {
        match access {
            AnyAccess::ReadFile(it) => Some(Self::Read(it.handle().absolute().into())),
            AnyAccess::ReadTree(it) => Some(Self::Read(it.handle().absolute().into())),
            AnyAccess::WriteFile(it) => Some(Self::Write(it.handle().absolute().into())),
            AnyAccess::Spawn(_) | AnyAccess::AskUser(_) | AnyAccess::Declare(_) => None,
        }
    }
}

/// The walls of one order. Fixed when it is made; a later rule does not reach a running child.
#[derive(Clone, Debug)]
pub struct Walls {
    profile: Profile,
    rules: Arc<Ruleset>,
    openings: Vec<Opening>,
}

impl Walls {
    pub(super) fn of(call: Tag<'_>) -> Self {
        let parts = call.live.parts;
        let openings = call.live.openings();
        Self {
            profile: *parts.profile,
            rules: parts.rules.current(),
            openings,
        }
    }

    /// Where children may write in general.
    pub fn child_writes(&self) -> ChildWrites {
        self.profile.child_writes
    }

    /// The paths opened by permits of this call.
    pub fn openings(&self) -> &[Opening] {
        &self.openings
    }

    /// Whether a child may read this path, for hosts that hold walls path by path.
    pub fn may_read(&self, path: &Resolved) -> bool {
        self.openings
            .contains(&Opening::Read(path.absolute.clone()))
            || (path.place == Place::Inside && self.allows("read", path))
    }

    /// Whether a child may write this path, for hosts that hold walls path by path.
    pub fn may_write(&self, path: &Resolved) -> bool {
        let is_within =
            path.place == Place::Inside && self.profile.child_writes == ChildWrites::Workspace;
        self.openings
            .contains(&Opening::Write(path.absolute.clone()))
            || (is_within && self.allows("edit", path))
    }

    fn allows(&self, permission: &str, path: &Resolved) -> bool {
        let subject = Subject::path(permission, &path.real, &path.absolute, path.named.clone());
        decide(&self.rules, &[subject].into(), None).action() == Action::Allow
    }
}
