//! A rule with its place in a list, and how it stands to another one.
//!
//! Must not: find fault with it.

use super::inclusion::includes;
use crate::pattern::Pattern;
use crate::rule::{Action, Rule};

/// What is asked about directories outside.
const OUTSIDE: &str = "external_directory";

/// The permission that commands are asked under.
pub(super) const COMMAND: &str = "bash";

/// A rule and its place in the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<'r> {
    pub(super) index: usize,
    pub(super) rule: &'r Rule,
    /// Whether its pattern matches every text.
    pub(super) is_everything: bool,
}

impl<'r> Placed<'r> {
    /// The rules of a list with their places.
    pub(super) fn all(rules: &'r [Rule]) -> Vec<Self> {
        let everything = Pattern::wildcard("*");
        let placed = |(index, rule): (usize, &'r Rule)| Self {
            index,
            rule,
            is_everything: includes(&rule.pattern, &everything),
        };
        rules.iter().enumerate().map(placed).collect()
    }

    /// The pattern.
    pub(super) fn pattern(&self) -> &'r Pattern {
        &self.rule.pattern
    }

    /// Whether it is about every permission that another one is about.
    pub(super) fn is_about_all_of(&self, other: &Self) -> bool {
        let name = &other.rule.permission;
        if !name.contains(['*', '?']) {
            return self.rule.is_about(name);
        }
        let names = |it: &Self| Pattern::wildcard(&it.rule.permission);
        self.rule.permission == *name || includes(&names(self), &names(other))
    }

    /// Whether it is asked about everything an earlier one is asked about, and in every spelling.
    pub(super) fn speaks_for(&self, earlier: &Self) -> bool {
        let is_outside = earlier.rule.permission.starts_with(OUTSIDE);
        // Reading or writing there may be spoken of apart, and together.
        let is_about = self.is_about_all_of(earlier) || (is_outside && self.rule.is_about(OUTSIDE));
        // A blanket deny is not heard about directories outside.
        let is_blanket = self.rule.permission == "*"
            && self.pattern().is_catch_all()
            && self.rule.action == Action::Deny;
        let is_unheard = is_blanket && (is_outside || earlier.rule.is_about(OUTSIDE));
        // Other spellings of a command are not held against an ask or a deny that names no program.
        let is_held = |it: &Self| {
            it.rule.action == Action::Allow || it.is_everything || it.pattern().names_a_program()
        };
        let is_passed_over = earlier.rule.is_about(COMMAND) && is_held(earlier) && !is_held(self);
        is_about && !is_unheard && !is_passed_over
    }

    /// Where it stands, for somebody who is told of another rule.
    pub(super) fn seen_from(&self, here: &Self) -> String {
        let (there, here) = (&self.rule.origin, &here.rule.origin);
        match there.line {
            0 => "the same list".to_owned(),
            line if there.source == here.source => format!("line {line}"),
            _ => there.to_string(),
        }
    }
}
