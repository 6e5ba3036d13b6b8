//! One permission's rules made ready for very many paths.
//!
//! Must not: answer otherwise than `decide` does. Only a plain allow is found here; whatever is not
//! one goes to `decide` itself.

use std::sync::Arc;

use crate::decision::{action_by_rules, decide};
use crate::harden;
use crate::index::{List, Shelf};
use crate::rule::{Action, Rule};
use crate::ruleset::{Layer, Ruleset};
use crate::subject::Subject;

/// Answers for one path after another what [`decide`] answers for a [`Subject::path`] without other
/// spellings. A plain allow costs no allocation.
#[derive(Debug)]
pub struct PathFilter {
    permission: String,
    narrower: Option<&'static str>,
    rules: Arc<Ruleset>,
    base: Shelf,
    /// The base rules with those of the project.
    tightened: Option<Shelf>,
    /// What could make an allow of these stricter.
    stricter: [(Layer, Shelf); 3],
}

impl PathFilter {
    /// One for a permission, and a narrower name for it if it has one: see [`Subject::narrower`].
    pub fn new(rules: Arc<Ruleset>, permission: &str, narrower: Option<&'static str>) -> Self {
        let all = |list: List<'_>| list.shelf(permission, narrower, |_| true);
        let stricter = |layer| {
            let is_stricter = |rule: &Rule| rule.action != Action::Allow;
            let list = rules.list(layer);
            (layer, list.shelf(permission, narrower, is_stricter))
        };
        Self {
            permission: permission.to_owned(),
            narrower,
            base: all(rules.list(Layer::Base)),
            tightened: rules.tightened().map(all),
            stricter: [Layer::Session, Layer::Saved, Layer::Hard].map(stricter),
            rules,
        }
    }

    /// What the rules say to a path, given in its two real spellings: relative to the workspace where
    /// it lies inside (else absolute), and absolute.
    pub fn action(&self, canonical: &str, absolute: &str) -> Action {
        if self.is_plainly_allowed(canonical, absolute) {
            return Action::Allow;
        }
        let mut subject = Subject::path(&self.permission, canonical, absolute, Vec::new());
        subject.narrower = self.narrower;
        decide(&self.rules, &[subject].into(), None).action()
    }

    /// The same where no hardening has a say: a rule that names the path, or asks about all, still does.
    pub fn action_by_rules(&self, canonical: &str, absolute: &str) -> Action {
        let mut subject = Subject::path(&self.permission, canonical, absolute, Vec::new());
        subject.narrower = self.narrower;
        action_by_rules(&self.rules, &subject)
    }

    /// Whether something of more weight than rules may speak of a path: it decides what others run or obey.
    pub fn is_guarded(&self, canonical: &str, absolute: &str) -> bool {
        harden::may_guard(&self.permission, canonical, absolute)
    }

    /// Whether no rule that says anything else is in the way of an allow: then `decide` finds no
    /// other answer, whatever spelling and layer it looks at.
    fn is_plainly_allowed(&self, canonical: &str, absolute: &str) -> bool {
        let platform = self.rules.platform();
        let last = |list: List<'_>, shelf: &Shelf, text: &str| {
            let matches = |rule: &Rule| rule.pattern.matches_on(platform, text);
            list.last_on([shelf], text, matches)
                .map(|(_, rule)| rule.action)
        };
        let allows = |list: List<'_>, shelf: &Shelf| {
            last(list, shelf, canonical) == Some(Action::Allow)
                && (canonical == absolute
                    || last(list, shelf, absolute).is_none_or(|it| it == Action::Allow))
        };
        let tightens = |(layer, shelf): &(Layer, Shelf)| {
            let list = self.rules.list(*layer);
            [canonical, absolute]
                .iter()
                .any(|text| last(list, shelf, text).is_some())
        };
        let tightened = self.rules.tightened().zip(self.tightened.as_ref());
        allows(self.rules.list(Layer::Base), &self.base)
            && tightened.is_none_or(|(list, shelf)| allows(list, shelf))
            && !self.stricter.iter().any(tightens)
            && !harden::may_guard(&self.permission, canonical, absolute)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Pattern;
    use crate::rule::Origin;
    use crate::ruleset::{RuleBook, RuleLayers};

    #[test]
    fn what_is_not_allowed_is_asked_or_denied() {
        let rule = |pattern, action| {
            Rule::new(
                "read",
                Pattern::wildcard(pattern),
                action,
                Origin::named("t"),
            )
        };
        let base = vec![
            rule("*", Action::Allow),
            rule("*.env", Action::Ask),
            rule("/w/out/*", Action::Deny),
        ];
        let book = RuleBook::new(RuleLayers {
            base,
            ..RuleLayers::default()
        });
        let filter = PathFilter::new(book.current(), "read", None);
        for (path, want) in [
            ("a", Action::Allow),
            ("b/.env", Action::Ask),
            ("out/a", Action::Deny),
        ] {
            assert_eq!(filter.action(path, &format!("/w/{path}")), want, "{path}");
        }
        let other = PathFilter::new(book.current(), "edit", None);
        assert_eq!(other.action("a", "/w/a"), Action::Ask);
    }

    #[test]
    fn where_no_hardening_has_a_say_the_rules_still_do() {
        let rule = |pattern, action| {
            Rule::new(
                "edit",
                Pattern::wildcard(pattern),
                action,
                Origin::named("t"),
            )
        };
        let base = vec![
            rule("*", Action::Allow),
            rule("*/CLAUDE.md", Action::Ask),
            rule("*.envrc", Action::Deny),
        ];
        let book = RuleBook::new(RuleLayers {
            base,
            ..RuleLayers::default()
        });
        let filter = PathFilter::new(book.current(), "edit", None);
        for (path, guarded, by_rules) in [
            ("a", Action::Allow, Action::Allow),
            ("x/AGENTS.md", Action::Ask, Action::Allow),
            ("x/.vscode/a.json", Action::Ask, Action::Allow),
            ("x/CLAUDE.md", Action::Ask, Action::Ask),
            ("x/.envrc", Action::Deny, Action::Deny),
        ] {
            let absolute = format!("/w/{path}");
            assert_eq!(filter.action(path, &absolute), guarded, "{path}");
            assert_eq!(filter.action_by_rules(path, &absolute), by_rules, "{path}");
        }
    }
}
