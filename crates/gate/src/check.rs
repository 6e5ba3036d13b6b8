//! What the gates would say to a call: the library function behind `check --tool`. Uses the same
//! ledger and the same decision function as a real call; must not ask, read or run anything.

use crate::{
    call::Tag,
    g1_decode::Decoded,
    g2_admit::{self, Keepable},
};
use policy::{Action, Decision, Rule, Subject, decide};
use std::sync::Arc;

/// The answer to a check.
#[derive(Clone, Debug)]
pub struct Checked {
    /// What would happen: the strictest over all accesses.
    pub action: Action,
    /// One decision for each access of the call, in order, exactly as gate 2 would make them.
    pub decisions: Vec<Decision>,
    /// The asks in the compatible shape: one for each permission of each access.
    pub asks: Vec<CheckedAsk>,
}

/// One permission that a call needs.
#[derive(Clone, Debug)]
pub struct CheckedAsk {
    /// The permission name.
    pub permission: String,
    /// What is asked under it; commands in source spelling, as rules of the compatible systems expect.
    pub patterns: Vec<String>,
    /// What a plain always would keep; empty: nothing is asked, or nothing is safe.
    pub always: Vec<String>,
    /// What the rules say to this part.
    pub decision: Decision,
}

impl Checked {
    pub(crate) fn of(call: Tag<'_>, decoded: Decoded) -> Self {
        let surveyed = g2_admit::survey(call, decoded);
        let rules = call.live.parts.rules.current();
        let ask = |keepable: &Keepable, subjects: Vec<Subject>| {
            let permission = subjects
                .first()
                .map(|it| it.permission.clone())
                .unwrap_or_default();
            let patterns = each_once(subjects.iter().map(|it| it.as_asked().to_owned()));
            let is_about = |rule: &&Rule| subjects.iter().any(|it| rule.is_about_subject(it));
            let kept = keepable.usual().unwrap_or_default().iter();
            let kept = kept.filter(is_about);
            let always = each_once(kept.map(|rule| rule.pattern.text().to_owned()));
            let decision = decide(&rules, &subjects.into(), None);
            CheckedAsk {
                permission,
                patterns,
                always,
                decision,
            }
        };
        let asks = surveyed.iter().flat_map(|(subjects, _)| {
            let keepable = Keepable::of(&rules, subjects);
            let ask = move |subjects| ask(&keepable, subjects);
            split(subjects).into_iter().map(ask)
        });
        let asks = asks.collect();
        let decisions: Vec<Decision> = surveyed.into_iter().map(|(_, decision)| decision).collect();
        let action = decisions
            .iter()
            .map(Decision::action)
            .max()
            .unwrap_or(Action::Allow);
        Self {
            action,
            decisions,
            asks,
        }
    }
}

fn each_once(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for text in texts {
        if !seen.contains(&text) {
            seen.push(text);
        }
    }
    seen
}

/// The subjects of one access, by permission, in order of first appearance.
fn split(subjects: &Arc<[Subject]>) -> Vec<Vec<Subject>> {
    let mut groups: Vec<Vec<Subject>> = Vec::new();
    for subject in subjects.iter() {
        let same = |group: &&mut Vec<Subject>| {
            group
                .first()
                .is_some_and(|it| it.permission == subject.permission)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(subject.clone()),
            None => groups.push(vec![subject.clone()]),
        }
    }
    groups
}
