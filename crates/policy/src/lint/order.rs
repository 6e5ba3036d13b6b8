//! Rules that never decide, because of those below them: the last match wins.
//!
//! Must not: mind how a pattern is spelled.

use std::collections::BTreeMap;

use super::inclusion::{OUTSIDE_MAX, Search, includes, is_covered, search};
use super::placed::Placed;
use super::{Finding, FindingKind};
use crate::rule::Action;

/// How many rules a message names.
const NAMED_MAX: usize = 3;

/// The findings, and for each rule whether it may decide.
pub(super) fn findings(rules: &[Placed<'_>]) -> (Vec<Finding>, Vec<bool>) {
    let mut found = Vec::new();
    let mut is_reached = Vec::new();
    let mut cancelled: BTreeMap<usize, Vec<Placed<'_>>> = BTreeMap::new();
    for rule in rules {
        let later = rules.get(rule.index + 1..).unwrap_or_default();
        let catch_all = later
            .iter()
            .find(|it| it.is_everything && it.speaks_for(rule));
        let covers = match catch_all {
            Some(_) => None,
            None => covering(rule, later),
        };
        is_reached.push(catch_all.is_none() && covers.is_none());
        if let Some(catch_all) = catch_all {
            cancelled.entry(catch_all.index).or_default().push(*rule);
        }
        // Where all say the same, people have merely written more than they need.
        let is_other = |it: &Placed<'_>| it.rule.action != rule.rule.action;
        found.extend(
            covers
                .filter(|it| it.iter().any(is_other))
                .map(|it| unreachable(rule, &it)),
        );
    }
    for (index, others) in cancelled {
        let is_felt = |it: &&Placed<'_>| {
            others
                .iter()
                .any(|other| other.rule.action != it.rule.action)
        };
        found.extend(
            rules
                .get(index)
                .filter(is_felt)
                .map(|it| catch_all_last(it, &others)),
        );
    }
    (found, is_reached)
}

/// The later rules that together match everything this one matches, if they do; one where one is enough.
fn covering<'r>(rule: &Placed<'r>, later: &[Placed<'r>]) -> Option<Vec<Placed<'r>>> {
    let speaking: Vec<_> = later
        .iter()
        .filter(|it| it.speaks_for(rule))
        .copied()
        .collect();
    let pattern = rule.pattern();
    // Most rules are told apart by one text that they alone match.
    let text = pattern.text().replace('*', "\u{10fffd}");
    if pattern.matches(&text) && !speaking.iter().any(|it| it.pattern().matches(&text)) {
        return None;
    }
    if let Some(one) = speaking.iter().find(|it| includes(it.pattern(), pattern)) {
        return Some(vec![*one]);
    }
    let overlaps = |it: &Placed<'r>| search(&[pattern, it.pattern()], &[]) != Search::Nothing;
    let several = speaking.into_iter().filter(overlaps).take(OUTSIDE_MAX);
    let several: Vec<_> = several.collect();
    let patterns: Vec<_> = several.iter().map(Placed::pattern).collect();
    is_covered(pattern, &patterns).then_some(several)
}

fn unreachable(rule: &Placed<'_>, covers: &[Placed<'_>]) -> Finding {
    let pattern = rule.pattern();
    let is_let_through =
        rule.rule.action == Action::Deny && covers.iter().any(|it| it.rule.action == Action::Allow);
    let so = if is_let_through {
        ", so what it denies is allowed"
    } else {
        ""
    };
    let matches = if covers.len() == 1 {
        "matches"
    } else {
        "match"
    };
    let names = named(covers, rule, " and ");
    Finding {
        others: covers.iter().map(|it| it.index).collect(),
        ..Finding::of(
            FindingKind::Unreachable,
            rule,
            format!(
                "`{pattern}` never decides: {names} below it {matches} all that it matches, and the last match wins{so}"
            ),
            format!("put `{pattern}` below, or take it away"),
        )
    }
}

fn catch_all_last(rule: &Placed<'_>, others: &[Placed<'_>]) -> Finding {
    let is_among_its_own = |it: &Placed<'_>| it.rule.permission == rule.rule.permission;
    let entry = if others.iter().all(is_among_its_own) {
        rule.pattern().text()
    } else {
        &rule.rule.permission
    };
    let stands = match others.len() {
        1 => "a narrower rule, which never decides".to_owned(),
        count => format!("{count} narrower rules, which never decide"),
    };
    let names = named(others, rule, ", ");
    Finding {
        others: others.iter().map(|it| it.index).collect(),
        ..Finding::of(
            FindingKind::CatchAllLast,
            rule,
            format!(
                "`{entry}` matches everything and stands below {stands}: {names}; the last match wins"
            ),
            format!("put `\"{entry}\": \"{}\"` above", rule.rule.action),
        )
    }
}

/// Names rules with their places: a permission whole by its name, else by the pattern.
fn named(rules: &[Placed<'_>], seen_from: &Placed<'_>, between: &str) -> String {
    let one = |it: &Placed<'_>| {
        let name = if it.pattern().is_catch_all() {
            &it.rule.permission
        } else {
            it.pattern().text()
        };
        format!("`{name}` ({})", it.seen_from(seen_from))
    };
    let mut names: Vec<_> = rules.iter().take(NAMED_MAX).map(one).collect();
    if rules.len() > NAMED_MAX {
        names.push("more".to_owned());
    }
    names.join(between)
}
