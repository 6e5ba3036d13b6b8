//! Looks rules over: what in one list cannot work as it was meant.
//!
//! Must not: decide a call, or change a rule. A list that is clean may still allow too much.

mod command;
mod deny;
mod inclusion;
mod order;
mod placed;
mod spelled;

use std::fmt;

use crate::rule::{Origin, Rule};
use placed::Placed;

pub use inclusion::includes;

/// What is wrong with a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    /// A pattern that matches everything stands below narrower ones.
    CatchAllLast,
    /// Later rules match everything it matches.
    Unreachable,
    /// A later allow lets through some of what a deny forbids.
    EvadedDeny,
    /// A deny behind a deny of everything: it forbids nothing more, and the tool is offered again.
    OfferedInVain,
    /// A few commands are denied and all others allowed.
    DenyList,
    /// A command without arguments, and nothing is said of the same command with some.
    BareCommand,
    /// A `*` close to the name of a program reaches programs of longer names.
    LongerName,
    /// `**` between slashes, `[a-z]`, `{a,b}` or `!`, as in patterns of a shell.
    Glob,
    /// A regular expression.
    Regex,
    /// A home directory that is not written as it will be compared.
    Home,
    /// A path, where the rules are asked about what is looked for.
    SearchedText,
    /// A path by segments, where no path is asked about.
    NoPath,
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::CatchAllLast => "catch-all-last",
            Self::Unreachable => "unreachable",
            Self::EvadedDeny => "evaded-deny",
            Self::OfferedInVain => "offered-in-vain",
            Self::DenyList => "deny-list",
            Self::BareCommand => "bare-command",
            Self::LongerName => "longer-name",
            Self::Glob => "glob",
            Self::Regex => "regex",
            Self::Home => "home",
            Self::SearchedText => "searched-text",
            Self::NoPath => "no-path",
        })
    }
}

/// Something in a list of rules that cannot work as it was meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What kind of mistake it is.
    pub kind: FindingKind,
    /// The place of the rule in the list.
    pub index: usize,
    /// Where the rule was written.
    pub origin: Origin,
    /// The places of the other rules it is about, in order.
    pub others: Vec<usize>,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

/// Looks over the rules of one list, such as those of one file: a later list is there to overrule an
/// earlier one. `home` is what `~` was replaced by in patterns. The findings come in the order of the
/// rules.
pub fn lint(rules: &[Rule], home: Option<&str>) -> Vec<Finding> {
    let placed = Placed::all(rules);
    let (mut findings, is_reached) = order::findings(&placed);
    let reached = placed
        .iter()
        .zip(is_reached)
        .filter(|(_, is_reached)| *is_reached);
    findings.extend(reached.filter_map(|(rule, _)| deny::evaded(&placed, rule)));
    findings.extend(deny::offered_in_vain(&placed));
    findings.extend(deny::deny_list(rules, &placed));
    findings.extend(command::findings(rules, &placed));
    findings.extend(spelled::findings(&placed, home));
    findings.sort_by_key(|it| (it.index, it.kind));
    findings
}

impl Finding {
    fn of(kind: FindingKind, rule: &Placed<'_>, message: String, help: String) -> Self {
        Self {
            kind,
            index: rule.index,
            origin: rule.rule.origin.clone(),
            others: Vec::new(),
            message,
            help,
        }
    }
}
