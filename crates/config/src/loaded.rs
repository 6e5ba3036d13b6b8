//! What came of looking for configuration, each part for the layer it belongs to. Must not look for anything.

use policy::Rule;

use crate::{Config, Item, Standing};

/// All that was found.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    /// What the user says, in files, in one that was named and in the environment; whoever administers the
    /// machine, as far as that is no ask and no denial; and what of the repository is trusted.
    pub config: Config,
    /// Rules that only tighten, for [`policy::Layer::Project`]: those of the repository that nobody trusts,
    /// and the paths that a file says are to be left alone.
    pub project: Vec<Rule>,
    /// The rules of whoever administers the machine, in order. What they come to by themselves, the last
    /// match counting, is the least strict that anything may come to: an allow among them takes back what
    /// stands above it, and no more. Their allows also stand below all others in `config`.
    pub managed: Vec<Rule>,
    /// What the repository's files say beyond rules that tighten, and whether it holds.
    pub items: Vec<Item>,
    /// What was read, the lowest first.
    pub found: Vec<Found>,
}

/// A configuration that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The file, or the variable.
    pub name: String,
    /// Whose it is.
    pub level: Level,
}

/// Whose configuration it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// A file of the user's.
    User,
    /// A file that was named.
    Explicit,
    /// A variable of the environment.
    Content,
    /// A file of the repository: only what tightens counts, and what is trusted.
    Project,
    /// A file of whoever administers the machine.
    Managed,
}

impl Loaded {
    /// What stands in the repository's files and has no effect. Rules that nobody trusted yet are not
    /// among it, for they tighten.
    pub fn inert(&self) -> impl Iterator<Item = &Item> {
        let tightens = |item: &Item| item.is_rules() && item.standing == Standing::Untrusted;
        let is_inert = move |item: &&Item| !item.is_trusted() && !tightens(item);
        self.items.iter().filter(is_inert)
    }
}
