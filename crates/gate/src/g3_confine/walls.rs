//! What one call may touch: the profile, minus what the rules do not allow, plus its permits.

use crate::{
    access::{AnyAccess, Purpose},
    call::Tag,
    host::{LeftOut, Place, Resolved},
};
use policy::{Action, PathFilter, Ruleset, Subject, decide};
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
            AnyAccess::ReadTree(it) => match it.purpose() {
                Purpose::List => Some(Self::Read(it.handle().absolute().into())),
                // Leave to look for a pattern is none to read what was looked through.
                Purpose::Glob(_) | Purpose::Grep(_) => None,
            },
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

    /// Where children may write in general: nowhere but in their temporary directory where the rules
    /// close editing whole, for then no path may be changed.
    pub fn child_writes(&self) -> ChildWrites {
        if self.rules.disabled("edit") {
            return ChildWrites::TemporaryOnly;
        }
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
            path.place == Place::Inside && self.child_writes() == ChildWrites::Workspace;
        self.openings
            .contains(&Opening::Write(path.absolute.clone()))
            || (is_within && self.allows("edit", path))
    }

    /// What may be shown of a walk below a directory, or of a file.
    pub fn read_filter(&self, target: &Resolved) -> ReadFilter {
        let about =
            |permission, narrower| PathFilter::new(Arc::clone(&self.rules), permission, narrower);
        let is_outside = target.place == Place::Outside;
        let outside =
            is_outside.then(|| about("external_directory", Some("external_directory.read")));
        let outside = outside.map(|rules| {
            let action = rules.action(&below(&target.absolute), &below(&target.absolute));
            (rules, action)
        });
        ReadFilter {
            read: about("read", None),
            outside,
        }
    }

    fn allows(&self, permission: &str, path: &Resolved) -> bool {
        let subject = Subject::path(permission, &path.real, &path.absolute, path.named.clone());
        decide(&self.rules, &[subject].into(), None).action() == Action::Allow
    }
}

/// What may be shown of one walk: no file that the tool reading single files would have to ask for.
#[derive(Debug)]
pub struct ReadFilter {
    read: PathFilter,
    /// Outside the workspace: the rules about directories there, and what they say to the one
    /// where the walk begins.
    outside: Option<(PathFilter, Action)>,
}

impl ReadFilter {
    /// Whether the rules plainly allow to read a file; if not, it is counted. `real` is relative to
    /// the workspace inside it, else absolute.
    pub fn shows(&self, real: &str, absolute: &str, left_out: &mut LeftOut) -> bool {
        is_allowed(self.read.action(real, absolute), left_out)
    }

    /// Whether a directory on the way may be entered, real and absolute; if not, it is counted. Who
    /// admitted a directory outside the workspace admitted what lies in it, except where the rules
    /// are stricter.
    pub fn enters(&self, absolute: &str, left_out: &mut LeftOut) -> bool {
        let Some((rules, admitted)) = &self.outside else {
            return true;
        };
        let pattern = below(absolute);
        let action = rules.action(&pattern, &pattern);
        action <= *admitted || is_allowed(action, left_out)
    }
}

fn is_allowed(action: Action, left_out: &mut LeftOut) -> bool {
    match action {
        Action::Allow => return true,
        Action::Ask => left_out.asked += 1,
        Action::Deny => left_out.denied += 1,
    }
    false
}

fn below(directory: &str) -> String {
    format!("{}/*", directory.trim_end_matches('/'))
}
