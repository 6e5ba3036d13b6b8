//! One permission's rules made ready for very many paths.
//!
//! Must not: answer otherwise than `decide` does. Only a plain allow is found here; whatever is not
//! one goes to `decide` itself.

use std::sync::Arc;

use crate::decision::decide;
use crate::harden::env;
use crate::pattern::Pattern;
use crate::rule::{Action, Rule};
use crate::ruleset::{Layer, Ruleset};
use crate::subject::Subject;
use crate::wildcard::Platform;

/// Answers for one path after another what [`decide`] answers for a [`Subject::path`] without other
/// spellings. A plain allow costs no allocation.
#[derive(Debug)]
pub struct PathFilter {
    permission: String,
    rules: Arc<Ruleset>,
    /// The base rules about the permission, last one first.
    base: Vec<Ready>,
    /// Rules of the other layers that could make an allow of the base stricter.
    stricter: Vec<Ready>,
}

/// A rule whose pattern has been looked at once.
#[derive(Debug)]
struct Ready {
    shape: Shape,
    action: Action,
}

/// A pattern, by what has to be compared.
#[derive(Debug)]
enum Shape {
    /// `*`
    All,
    /// `text*`
    Start(String),
    /// `*text`
    End(String),
    /// `*text*`
    Inside(String),
    /// Any other.
    Other(Pattern),
}

impl PathFilter {
    /// Makes the rules about `permission` ready.
    pub fn new(rules: Arc<Ruleset>, permission: &str) -> Self {
        let ready = |rule: &Rule| Ready {
            shape: Shape::of(&rule.pattern),
            action: rule.action,
        };
        let about = |layer| {
            let list = rules.layers().of(layer).iter().rev();
            list.filter(|rule| rule.is_about(permission))
        };
        let base = about(Layer::Base).map(ready).collect();
        let stricter = [Layer::Project, Layer::Session, Layer::Saved, Layer::Hard]
            .into_iter()
            .flat_map(about)
            .filter(|rule| rule.action != Action::Allow)
            .map(ready)
            .collect();
        Self {
            permission: permission.to_owned(),
            base,
            stricter,
            rules,
        }
    }

    /// What the rules say to a path, given in its two real spellings: relative to the workspace where
    /// it lies inside (else absolute), and absolute.
    pub fn action(&self, canonical: &str, absolute: &str) -> Action {
        if self.is_plainly_allowed(canonical, absolute) {
            return Action::Allow;
        }
        let subject = Subject::path(&self.permission, canonical, absolute, Vec::new());
        decide(&self.rules, &[subject].into(), None).action()
    }

    /// Whether no rule that says anything else is in the way of an allow: then `decide` finds no
    /// other answer, whatever spelling and layer it looks at.
    fn is_plainly_allowed(&self, canonical: &str, absolute: &str) -> bool {
        let last = |text| self.base.iter().find(|rule| rule.shape.matches(text));
        let allows = |rule: &Ready| rule.action == Action::Allow;
        env::guard_of(canonical).is_none()
            && last(canonical).is_some_and(allows)
            && (canonical == absolute || last(absolute).is_none_or(allows))
            && !self
                .stricter
                .iter()
                .any(|rule| rule.shape.matches(canonical) || rule.shape.matches(absolute))
    }
}

impl Shape {
    fn of(pattern: &Pattern) -> Self {
        let text = pattern.text();
        // A final ` *` may be missing from the text, and on Windows characters have more than one
        // spelling.
        let is_simple =
            !pattern.is_exact() && !text.ends_with(" *") && Platform::HERE == Platform::Unix;
        let is_plain = |text: &str| !text.contains(['*', '?']);
        if !is_simple {
            return Self::Other(pattern.clone());
        }
        if pattern.is_catch_all() {
            return Self::All;
        }
        match (text.strip_prefix('*'), text.strip_suffix('*')) {
            (Some(rest), Some(_)) => match rest.strip_suffix('*') {
                Some(inner) if is_plain(inner) => Self::Inside(inner.to_owned()),
                _ => Self::Other(pattern.clone()),
            },
            (Some(rest), None) if is_plain(rest) => Self::End(rest.to_owned()),
            (None, Some(rest)) if is_plain(rest) => Self::Start(rest.to_owned()),
            _ => Self::Other(pattern.clone()),
        }
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Self::All => true,
            Self::Start(start) => text.starts_with(start.as_str()),
            Self::End(end) => text.ends_with(end.as_str()),
            Self::Inside(inner) => text.contains(inner.as_str()),
            Self::Other(pattern) => pattern.matches(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Origin;
    use crate::ruleset::{RuleBook, RuleLayers};

    #[test]
    fn every_shape_matches_what_its_pattern_matches() {
        let texts = [
            "",
            "a",
            "a ",
            "ab",
            "a b",
            ".env",
            "x/.env",
            ".env.local",
            "x/.envrc",
            "src/a.rs",
            "*",
            "é.env",
        ];
        for pattern in [
            "*", "**", "***", "", "a", "a*", "a *", "* *", "*a", "*.env", "*.env.*", "*.env *",
            "src/*", "src/*.rs", "*s*c*", "?*", "*?", "*?*", " *",
        ] {
            let pattern = Pattern::wildcard(pattern);
            let shape = Shape::of(&pattern);
            for text in texts {
                assert_eq!(
                    shape.matches(text),
                    pattern.matches(text),
                    "{pattern} {text:?}"
                );
            }
        }
        let exact = Shape::of(&Pattern::exact("*"));
        assert!(exact.matches("*") && !exact.matches("a"));
    }

    #[test]
    fn the_patterns_of_presets_need_no_slow_comparison() {
        for pattern in ["*", "*.env", "*.env.*", "src/*"] {
            let shape = Shape::of(&Pattern::wildcard(pattern));
            assert!(!matches!(shape, Shape::Other(_)), "{pattern}: {shape:?}");
        }
    }

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
        let filter = PathFilter::new(book.current(), "read");
        for (path, want) in [
            ("a", Action::Allow),
            ("b/.env", Action::Ask),
            ("out/a", Action::Deny),
        ] {
            assert_eq!(filter.action(path, &format!("/w/{path}")), want, "{path}");
        }
        let other = PathFilter::new(book.current(), "edit");
        assert_eq!(other.action("a", "/w/a"), Action::Ask);
    }
}
