//! Rules that would have allowed what a person allowed by hand.
//!
//! Must not: lift a deny or what is asked for each time, cancel a narrower rule, or make a pattern up: a
//! rule is as wide as one of the forms that were offered with the question, or exact.

use std::sync::Arc;

use crate::decision::{Decision, decide};
use crate::explain::{allowing, cancels_nothing, exactly, with_rules};
use crate::pattern::Pattern;
use crate::rule::{Action, Rule};
use crate::ruleset::Ruleset;
use crate::subject::Subject;
use crate::trace::StepKind;

/// From so many different things on they share a rule.
const SHARED_MIN: usize = 2;

/// What a person said yes to, by hand.
#[derive(Clone, Debug)]
pub struct Asked {
    /// What was asked about in one question.
    pub subjects: Arc<[Subject]>,
    /// How often.
    pub count: usize,
}

/// A rule to write behind all others, and what it would have spared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The rule.
    pub rule: Rule,
    /// What it would have helped to allow, by place in the list that was given.
    pub covers: Vec<usize>,
    /// How many yeses that is.
    pub approval_count: usize,
}

/// A thing that these rules ask about, and the rules that would allow it: the exact one last.
struct Thing {
    subject: Subject,
    candidates: Vec<Rule>,
}

/// The fewest rules under which none of this would be asked again by these rules, the most useful first.
///
/// A question with a part that no narrow rule may allow (it is denied, cannot be told, is asked for each
/// time, or a hardening asks) is left out whole: rules for its other parts would not spare it.
pub fn suggest(rules: &Arc<Ruleset>, asked: &[Asked]) -> Vec<Suggestion> {
    let spared: Vec<(usize, &Asked)> = asked
        .iter()
        .enumerate()
        .filter(|(_, it)| may_be_spared(rules, &it.subjects))
        .collect();
    let things = things(rules, spared.iter().map(|(_, it)| *it));
    let chosen = fewest(
        things.iter().map(|thing| choose(thing, &things)).collect(),
        &things,
    );
    let with = with_rules(rules, &chosen);
    let covers = |rule: &Rule, it: &Asked| {
        let is_helped = |subject: &Subject| is_pending(rules, subject) && speaks_of(rule, subject);
        it.subjects.iter().any(is_helped)
            && decide(&with, &it.subjects, None).action() == Action::Allow
    };
    let suggestion = |rule: &Rule| {
        let covered = spared.iter().filter(|(_, it)| covers(rule, it));
        let (covers, counts): (Vec<usize>, Vec<usize>) =
            covered.map(|(index, it)| (*index, it.count)).unzip();
        Suggestion {
            rule: rule.clone(),
            covers,
            approval_count: counts.iter().sum(),
        }
    };
    let mut all: Vec<Suggestion> = chosen.iter().map(suggestion).collect();
    all.retain(|it| !it.covers.is_empty());
    all.sort_by_key(|it| std::cmp::Reverse(it.approval_count));
    all
}

/// Whether narrow rules may stand in for a person here.
fn may_be_spared(rules: &Arc<Ruleset>, subjects: &Arc<[Subject]>) -> bool {
    let decision = decide(rules, subjects, None);
    let is_plain = |subject: &Subject| subject.opaque.is_none() && subject.ask_because.is_none();
    decision.action() == Action::Ask
        && decision.once_only().is_none()
        && subjects.iter().all(is_plain)
        && !is_guarded(&decision)
        && allowing(rules, subjects).is_some()
}

fn is_guarded(decision: &Decision) -> bool {
    let steps = decision.trace().steps;
    steps.iter().any(|step| step.step == StepKind::Guard)
}

fn is_pending(rules: &Arc<Ruleset>, subject: &Subject) -> bool {
    let alone = Arc::from([subject.clone()]);
    decide(rules, &alone, None).action() != Action::Allow
}

/// Each thing that is asked about once, with the forms that were offered for it and that cancel no other
/// rule.
fn things<'a>(rules: &Arc<Ruleset>, asked: impl Iterator<Item = &'a Asked>) -> Vec<Thing> {
    let mut things: Vec<Thing> = Vec::new();
    for subject in asked.flat_map(|it| it.subjects.iter()) {
        let is_same = |it: &Thing| {
            (
                &it.subject.permission,
                it.subject.narrower,
                it.subject.as_asked(),
            ) == (&subject.permission, subject.narrower, subject.as_asked())
        };
        if things.iter().any(is_same) || !is_pending(rules, subject) {
            continue;
        }
        let exact = exactly(subject);
        let offered = subject.always.iter().map(|text| Rule {
            pattern: Pattern::read(text).unwrap_or_else(|_| Pattern::exact(text)),
            ..exact.clone()
        });
        let offered = offered.filter(|rule| {
            rule.pattern.text().contains('*')
                && rule.pattern.text().chars().any(char::is_alphanumeric)
                && speaks_of(rule, subject)
                && cancels_nothing(rules, rule)
        });
        let candidates = offered.chain([exact.clone()]).collect();
        let subject = subject.clone();
        things.push(Thing {
            subject,
            candidates,
        });
    }
    things
}

/// The narrowest form that others share, else the exact one.
fn choose(thing: &Thing, things: &[Thing]) -> Rule {
    let is_shared = |rule: &&Rule| {
        let sharing = things.iter().filter(|it| it.candidates.contains(rule));
        sharing.count() >= SHARED_MIN
    };
    let shared = thing.candidates.iter().find(is_shared);
    let exact = || thing.candidates.last();
    shared
        .or_else(exact)
        .cloned()
        .unwrap_or_else(|| exactly(&thing.subject))
}

/// Drops rules whose things are all allowed by another that stays.
fn fewest(mut rules: Vec<Rule>, things: &[Thing]) -> Vec<Rule> {
    let mut kept: Vec<Rule> = Vec::new();
    let count = |rule: &Rule| {
        things
            .iter()
            .filter(|it| speaks_of(rule, &it.subject))
            .count()
    };
    rules.sort_by_key(|rule| std::cmp::Reverse(count(rule)));
    for rule in rules {
        let is_known = |thing: &&Thing| speaks_of(&rule, &thing.subject);
        let is_allowed = |thing: &Thing| kept.iter().any(|it| speaks_of(it, &thing.subject));
        if !things.iter().filter(is_known).all(is_allowed) {
            kept.push(rule);
        }
    }
    kept
}

fn speaks_of(rule: &Rule, subject: &Subject) -> bool {
    rule.is_about_subject(subject) && rule.pattern.fits(subject.as_asked(), subject)
}
