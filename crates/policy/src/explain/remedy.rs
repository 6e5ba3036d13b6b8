//! The narrowest rules that would have allowed something, tried out before they are named.
//!
//! Must not: widen. A text is offered as it stands, with `?` for what would match more.

use std::sync::Arc;

use crate::decision::decide;
use crate::lint::includes;
use crate::pattern::Pattern;
use crate::rule::{Action, Origin, Rule};
use crate::ruleset::{RuleBook, Ruleset};
use crate::subject::Subject;

/// A rule for exactly each thing that these rules do not allow, if that is enough to allow them all.
pub(crate) fn allowing(rules: &Arc<Ruleset>, subjects: &Arc<[Subject]>) -> Option<Vec<Rule>> {
    let is_stopped = |subject: &&Subject| {
        let alone = Arc::from([(*subject).clone()]);
        decide(rules, &alone, None).action() != Action::Allow
    };
    let mut wanted: Vec<Rule> = Vec::new();
    for rule in subjects.iter().filter(is_stopped).map(exactly) {
        if !wanted.contains(&rule) {
            wanted.push(rule);
        }
    }
    let is_safe = |rule: &Rule| !rule.pattern.is_catch_all() || cancels_nothing(rules, rule);
    if !wanted.iter().all(is_safe) {
        return None;
    }
    let with = with_rules(rules, &wanted);
    (decide(&with, subjects, None).action() == Action::Allow).then_some(wanted)
}

/// The same rules with these behind those of the user.
pub(crate) fn with_rules(rules: &Ruleset, more: &[Rule]) -> Arc<Ruleset> {
    let mut layers = rules.layers().clone();
    layers.base.extend_from_slice(more);
    RuleBook::on(rules.platform(), layers).current()
}

/// The same rules without those of the project.
pub(crate) fn without_project(rules: &Ruleset) -> Arc<Ruleset> {
    let mut layers = rules.layers().clone();
    layers.project.clear();
    RuleBook::on(rules.platform(), layers).current()
}

/// Whether no rule that asks or denies is cancelled by an allow behind it: each either covers it whole,
/// and then it is what is to be lifted, or is about other things.
pub(crate) fn cancels_nothing(rules: &Ruleset, allow: &Rule) -> bool {
    let layers = rules.layers();
    let mut strict = layers.base.iter().chain(&layers.project);
    strict.all(|rule| {
        rule.action == Action::Allow
            || !rule.is_about(&allow.permission)
            || includes(&rule.pattern, &allow.pattern)
            || are_apart(&rule.pattern, &allow.pattern)
    })
}

/// Whether it is sure that no text matches both, by how they begin.
fn are_apart(one: &Pattern, other: &Pattern) -> bool {
    let (one, other) = (beginning(one), beginning(other));
    !one.starts_with(other) && !other.starts_with(one)
}

/// What everything that matches begins with.
fn beginning(pattern: &Pattern) -> &str {
    if pattern.is_about_arguments() {
        return "";
    }
    let text = pattern.text();
    let text = text
        .strip_prefix("path:")
        .filter(|_| pattern.is_path())
        .unwrap_or(text);
    let text = text.strip_suffix(" *").unwrap_or(text);
    text.split(['*', '?']).next().unwrap_or_default()
}

/// A rule that allows this thing and next to nothing else.
pub(crate) fn exactly(subject: &Subject) -> Rule {
    Rule::new(
        subject.kept_under(),
        Pattern::wildcard(&written(subject)),
        Action::Allow,
        Origin::named("suggested"),
    )
}

/// A text as a pattern in a configuration that matches little else: files have no way to write a `*`
/// that means itself.
fn written(subject: &Subject) -> String {
    // What is asked about a directory is a pattern itself.
    let is_directory = subject.permission == "external_directory";
    let whole = subject.as_asked();
    if whole == "*" {
        return whole.to_owned();
    }
    let text = whole.strip_suffix("/*").filter(|_| is_directory);
    let end = if text.is_some() { "/*" } else { "" };
    let text = text.unwrap_or(whole).replace('*', "?");
    let has_meaning = ["~", "$HOME", "path:", "arg:"]
        .iter()
        .any(|start| text.starts_with(start));
    let mut rest = text.chars();
    if has_meaning {
        rest.next();
        return format!("?{}{end}", rest.as_str());
    }
    format!("{text}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_apart_only_if_they_begin_apart() {
        for (one, other, want) in [
            ("git push *", "git pull *", true),
            ("git push *", "rm x", true),
            ("git *", "git push *", false),
            ("git *", "git", false),
            ("*--force*", "git *", false),
            ("path:src/*", "docs/*", true),
            ("arg:a=b", "git *", false),
        ] {
            let [one, other] = [one, other].map(|text| Pattern::read(text).unwrap());
            assert_eq!(are_apart(&one, &other), want, "{one} {other}");
            assert_eq!(are_apart(&other, &one), want, "{other} {one}");
        }
    }
}
