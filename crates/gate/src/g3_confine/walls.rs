//! What one call may touch: the profile, minus what the rules do not allow, plus its permits.

use crate::{
    access::{AnyAccess, Handle, Purpose},
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
    /// Allowing a path opens it, whether a tool's own effect wants it or a word of a command names it.
    /// Allowing the command itself opens nothing.
    pub(crate) fn of(access: &AnyAccess, subjects: &[Subject], rules: &Arc<Ruleset>) -> Vec<Self> {
        match access {
            AnyAccess::ReadFile(it) => vec![Self::Read(it.handle().absolute().into())],
            AnyAccess::ReadTree(it) => match it.purpose() {
                Purpose::List => vec![Self::Read(it.handle().absolute().into())],
                // Leave to look for a pattern is none to read what was looked through.
                Purpose::Glob(_) | Purpose::Grep(_) => Vec::new(),
            },
            AnyAccess::WriteFile(it) => vec![Self::Write(it.handle().absolute().into())],
            AnyAccess::Spawn(it) => {
                let workdir = it.workdir().filter(|it| it.is_outside());
                let both = |it: &Handle| {
                    [Self::Read, Self::Write].map(|opening| opening(it.absolute().into()))
                };
                let named = subjects.iter().filter(|it| is_admitted(it, rules));
                let openings = named.flat_map(Self::of_word);
                workdir.into_iter().flat_map(both).chain(openings).collect()
            }
            AnyAccess::AskUser(_) | AnyAccess::Declare(_) => Vec::new(),
        }
    }

    /// What a word of a command names: a file, or the files that a pattern stands for.
    fn of_word(subject: &Subject) -> Vec<Self> {
        let opening = match subject.permission.as_str() {
            "read" => Self::Read,
            "edit" => Self::Write,
            _ => return Vec::new(),
        };
        if subject.is_literal {
            return vec![opening(subject.source.clone())];
        }
        let names = subject.others.iter().filter(|name| name.starts_with('/'));
        names.cloned().map(opening).collect()
    }
}

/// Whether a file of a command that may run was allowed or answered for itself: one that only may be
/// touched was let pass where no rule names it, and that is no leave.
fn is_admitted(subject: &Subject, rules: &Arc<Ruleset>) -> bool {
    let action = |subject: Subject| decide(rules, &[subject].into(), None).action();
    let plain = Subject {
        is_possible: false,
        is_beside: false,
        ..subject.clone()
    };
    action(subject.clone()) == Action::Ask || action(plain) == Action::Allow
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

    /// Whether a child may ask for machines at all: the rules do not close the network whole.
    pub fn may_reach(&self) -> bool {
        !self.rules.disabled("network")
    }

    /// What the rules say to the paths that a child may touch. `held` is handed back if it is of the same
    /// rules, so that a host which keeps answers knows whether they still hold.
    pub fn child_rules(&self, held: Option<&Arc<ChildRules>>) -> Arc<ChildRules> {
        match held {
            Some(held) if Arc::ptr_eq(&held.rules, &self.rules) => Arc::clone(held),
            Some(_) | None => Arc::new(ChildRules::of(&self.rules)),
        }
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

/// What the rules say to a child about a path. Only what is given is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Leave {
    /// It is allowed.
    Given,
    /// It would be asked.
    Asked,
    /// It is denied.
    Denied,
}

impl Leave {
    fn of(action: Action) -> Self {
        match action {
            Action::Allow => Self::Given,
            Action::Ask => Self::Asked,
            Action::Deny => Self::Denied,
        }
    }
}

/// What the rules say to whatever a child may touch without naming it, made ready for very many paths:
/// each is given relative to the workspace inside it, else absolute, and absolute. An ask is no leave.
#[derive(Debug)]
pub struct ChildRules {
    rules: Arc<Ruleset>,
    read: PathFilter,
    change: PathFilter,
    make: PathFilter,
    enter: PathFilter,
    enter_to_write: PathFilter,
    opened: [Vec<String>; 2],
}

impl ChildRules {
    /// Makes these rules ready.
    pub fn of(rules: &Arc<Ruleset>) -> Self {
        let about = |permission, narrower| PathFilter::new(Arc::clone(rules), permission, narrower);
        let mut made = Self {
            read: about("read", None),
            change: about("edit", Some("edit.command")),
            make: about("edit", Some("edit.new")),
            enter: about("external_directory", Some("external_directory.read")),
            enter_to_write: about("external_directory", Some("external_directory.write")),
            opened: [Vec::new(), Vec::new()],
            rules: Arc::clone(rules),
        };
        let named = named_outside(rules);
        let is_given = |leave: Leave| leave == Leave::Given;
        let read = named.iter().filter(|it| is_given(made.enter(it)));
        let written = named.iter().filter(|it| is_given(made.enter_to_write(it)));
        made.opened = [read.cloned().collect(), written.cloned().collect()];
        made
    }

    /// Directories outside the workspace that a rule opens by name to reading, absolute.
    pub fn read_outside(&self) -> &[String] {
        let [read, _] = &self.opened;
        read
    }

    /// The same to changing what lies in them.
    pub fn written_outside(&self) -> &[String] {
        let [_, written] = &self.opened;
        written
    }

    /// To reading it.
    pub fn read(&self, real: &str, absolute: &str) -> Leave {
        Leave::of(self.read.action(real, absolute))
    }

    /// To changing, renaming or removing what stands there.
    pub fn change(&self, real: &str, absolute: &str) -> Leave {
        Leave::of(self.change.action(real, absolute))
    }

    /// To reading it where no hardening has a say: in a directory whose content is fetched or made by tools.
    pub fn read_by_rules(&self, real: &str, absolute: &str) -> Leave {
        Leave::of(self.read.action_by_rules(real, absolute))
    }

    /// To changing it where no hardening has a say.
    pub fn change_by_rules(&self, real: &str, absolute: &str) -> Leave {
        Leave::of(self.change.action_by_rules(real, absolute))
    }

    /// To making it where no hardening has a say.
    pub fn make_by_rules(&self, real: &str, absolute: &str) -> Leave {
        Leave::of(self.make.action_by_rules(real, absolute))
    }

    /// To making it where nothing stands.
    pub fn make(&self, real: &str, absolute: &str) -> Leave {
        Leave::of(self.make.action(real, absolute))
    }

    /// Whether others run or obey what stands there, so that a link by this name makes them obey what it leads to.
    pub fn is_obeyed(&self, real: &str, absolute: &str) -> bool {
        self.change.is_guarded(real, absolute)
    }

    /// To reading what lies in a directory outside the workspace.
    pub fn enter(&self, absolute: &str) -> Leave {
        let pattern = below(absolute);
        Leave::of(self.enter.action(&pattern, &pattern))
    }

    /// To changing what lies in a directory outside the workspace.
    pub fn enter_to_write(&self, absolute: &str) -> Leave {
        let pattern = below(absolute);
        Leave::of(self.enter_to_write.action(&pattern, &pattern))
    }
}

/// The directories that rules which allow something outside the workspace name as a whole (`/d/*`).
fn named_outside(rules: &Ruleset) -> Vec<String> {
    let names = [
        "external_directory",
        "external_directory.read",
        "external_directory.write",
    ];
    let layers = rules.layers();
    let all = [&layers.base, &layers.session, &layers.saved];
    let allowed = all.into_iter().flatten().filter(|rule| {
        rule.action == Action::Allow && names.iter().any(|name| rule.is_about(name))
    });
    let directories = allowed.filter_map(|rule| {
        let directory = rule.pattern.text().strip_suffix("/*")?;
        let is_plain = directory.starts_with('/') && !directory.contains(['*', '?']);
        is_plain.then(|| directory.to_owned())
    });
    let mut directories: Vec<String> = directories.collect();
    directories.sort();
    directories.dedup();
    directories
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
