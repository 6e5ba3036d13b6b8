//! The decision once more: slow, plain, written from the rules alone. Shares no code with the engine
//! but the types it reads, and answers with the action only.

use tollgate_policy as policy;

use policy::{Action, Origin, Pattern, Rule, RuleLayers, Subject, SubjectKind};

pub(crate) fn decide(layers: &RuleLayers, subjects: &[Subject], is_answered: bool) -> Action {
    if subjects.is_empty() {
        return if is_answered {
            Action::Allow
        } else {
            Action::Ask
        };
    }
    let mut result = Action::Allow;
    for subject in subjects {
        result = result.max(decide_one(layers, subject));
    }
    if result == Action::Ask && is_answered {
        Action::Allow
    } else {
        result
    }
}

/// Once as if there were no project, once as if its rules were ordinary ones; the stricter counts.
fn decide_one(layers: &RuleLayers, subject: &Subject) -> Action {
    let mut with_project = layers.clone();
    with_project.base.extend(layers.project.clone());
    let without = decide_ordinary(layers, subject);
    without.max(decide_ordinary(&with_project, subject))
}

fn decide_ordinary(layers: &RuleLayers, subject: &Subject) -> Action {
    let is_opaque = subject.opaque.is_some();

    // The base rules; a blanket deny does not reach directories outside.
    let mut base: Vec<Option<&Rule>> = layers.base.iter().map(Some).collect();
    if subject.permission == "external_directory" {
        for slot in &mut base {
            let rule = slot.unwrap();
            if rule.permission == "*" && is_star(rule) && rule.action == Action::Deny {
                *slot = None;
            }
        }
    }
    let counted = counted_rules(&base, subject, |_| subject.is_literal && !is_opaque);
    let mut action = strictest(&counted).unwrap_or(Action::Ask);
    let found = counted
        .iter()
        .max_by_key(|(index, rule)| (rule.action, *index));
    let found = found.map(|(_, rule)| *rule);
    let mut asks: Vec<&Rule> = counted
        .into_iter()
        .map(|(_, rule)| rule)
        .filter(|rule| rule.action == Action::Ask)
        .collect();

    // What cannot be told is allowed by a star that nothing narrows, and by nothing else.
    if is_opaque && action == Action::Allow {
        let about: Vec<&Rule> = base
            .iter()
            .flatten()
            .copied()
            .filter(|rule| glob(&rule.permission, &subject.permission))
            .collect();
        let is_narrowed = about
            .iter()
            .any(|rule| !is_star(rule) && rule.action != Action::Allow);
        let last = about
            .iter()
            .rfind(|rule| rule_matches(rule, &subject.canonical))
            .unwrap();
        if is_narrowed || !is_star(last) {
            action = Action::Ask;
        }
    }

    // An allow of everything, or of reading whole, is not meant for environment files.
    let guard = Rule::new(
        "read",
        Pattern::wildcard("*.env"),
        Action::Ask,
        Origin::named("env"),
    );
    let is_env = subject.kind == SubjectKind::Path
        && subject.permission == "read"
        && glob("*.env", &subject.canonical);
    let is_broad = |rule: &Rule| is_star(rule) || rule.permission.contains(['*', '?']);
    if action != Action::Deny && is_env && found.is_none_or(is_broad) {
        action = Action::Ask;
        asks.push(&guard);
    }

    // Replies. Each list for itself: a deny counts, an allow lifts what it is no broader than.
    let mut lifted = false;
    let mut denied = false;
    for list in [&layers.session, &layers.saved] {
        let mut heard: Vec<Option<&Rule>> = list.iter().map(Some).collect();
        for slot in &mut heard {
            let rule = slot.unwrap();
            let is_this = rule.pattern.is_exact() && rule.pattern.text() == subject.source;
            let is_other =
                subject.kind == SubjectKind::Command && rule.pattern.is_exact() && !is_this;
            if rule.action == Action::Allow && (is_other || (is_opaque && !is_this)) {
                *slot = None;
            }
        }
        let counted = counted_rules(&heard, subject, |rule| {
            rule.pattern.is_exact() || (subject.is_literal && !is_opaque)
        });
        match strictest(&counted) {
            Some(Action::Deny) => denied = true,
            Some(Action::Allow) => {
                let rule = counted[0].1;
                let is_inside = asks
                    .iter()
                    .all(|ask| rule_matches(ask, rule.pattern.text()));
                lifted |= rule.pattern.is_exact() || is_inside;
            }
            Some(Action::Ask) | None => {}
        }
    }
    if action == Action::Ask && lifted {
        action = Action::Allow;
    }
    if denied {
        action = Action::Deny;
    }

    // Hard rules tighten, and so does the caller.
    let hard: Vec<Option<&Rule>> = layers.hard.iter().map(Some).collect();
    let counted = counted_rules(&hard, subject, |_| false);
    action = action.max(strictest(&counted).unwrap_or(Action::Allow));
    if subject.ask_because.is_some() && action == Action::Allow {
        Action::Ask
    } else {
        action
    }
}

/// The rules that count for a subject: the one that decides, and those of its spellings.
fn counted_rules<'r>(
    rules: &[Option<&'r Rule>],
    subject: &Subject,
    may_lift: impl Fn(&Rule) -> bool,
) -> Vec<(i64, &'r Rule)> {
    let last = |text: &str, is_other_command: bool| -> Option<(i64, &'r Rule)> {
        let mut result = None;
        for (index, rule) in (0..).zip(rules) {
            let Some(rule) = rule else { continue };
            if !glob(&rule.permission, &subject.permission) || !rule_matches(rule, text) {
                continue;
            }
            if is_other_command && rule.action != Action::Allow && !names_a_program(rule) {
                continue;
            }
            result = Some((index, *rule));
        }
        result
    };
    let mut counted = Vec::new();
    let mut place = -1;
    let mut is_allowed = false;
    if let Some((index, rule)) = last(&subject.canonical, false) {
        counted.push((index, rule));
        place = index;
        is_allowed = rule.action == Action::Allow;
    }
    if subject.kind == SubjectKind::Name {
        return counted;
    }
    let source = last(&subject.source, false);
    if let Some((index, rule)) = source
        && !is_allowed
        && rule.action == Action::Allow
        && index > place
        && may_lift(rule)
    {
        counted = vec![(index, rule)];
        place = index;
    }
    let is_command = subject.kind == SubjectKind::Command;
    let mut spellings = vec![source];
    spellings.extend(subject.others.iter().map(|text| last(text, is_command)));
    for (index, rule) in spellings.into_iter().flatten() {
        let is_elsewhere = !is_command && !rule_matches(rule, &subject.canonical);
        if rule.action != Action::Allow && (index > place || is_elsewhere) {
            counted.push((index, rule));
        }
    }
    counted
}

fn strictest(rules: &[(i64, &Rule)]) -> Option<Action> {
    rules.iter().map(|(_, rule)| rule.action).max()
}

fn is_star(rule: &Rule) -> bool {
    !rule.pattern.is_exact() && rule.pattern.text() == "*"
}

fn rule_matches(rule: &Rule, text: &str) -> bool {
    if rule.pattern.is_exact() {
        rule.pattern.text() == text
    } else {
        glob(rule.pattern.text(), text)
    }
}

fn names_a_program(rule: &Rule) -> bool {
    let text = rule.pattern.text();
    if rule.pattern.is_exact() {
        return !text.is_empty();
    }
    let is_wild = |c: char| c == '*' || c == '?';
    let before = text.split(is_wild).next().unwrap();
    let word = text.split_whitespace().next().unwrap_or("");
    let word = word.trim_end_matches(is_wild);
    !word.is_empty() && before.contains(word)
}

/// The wildcard by its definition: one recursive call for each thing a star may swallow.
pub(crate) fn glob(pattern: &str, text: &str) -> bool {
    let letters = |text: &str| text.chars().collect::<Vec<char>>();
    let is_match = |pattern: &str| glob_letters(&letters(pattern), &letters(text));
    is_match(pattern) || pattern.strip_suffix(" *").is_some_and(is_match)
}

fn glob_letters(pattern: &[char], text: &[char]) -> bool {
    match (pattern, text) {
        ([], []) => true,
        (['*', rest @ ..], _) => {
            (0..=text.len()).any(|swallowed| glob_letters(rest, &text[swallowed..]))
        }
        (['?', rest @ ..], [_, text @ ..]) => glob_letters(rest, text),
        ([want, rest @ ..], [got, text @ ..]) => want == got && glob_letters(rest, text),
        ([], [_, ..]) | ([_, ..], []) => false,
    }
}
