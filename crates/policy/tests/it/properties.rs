//! What holds for every set of rules and every subject.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use tollgate_policy as policy;

use policy::{
    Action, Answer, AnsweredBy, RuleLayers, Subject, decide, evaluate, wildcard, wildcard_on,
};

use crate::reference;
use crate::world::{LAYERS, denial, layers, project, rule, snapshot, subject, subjects};

fn cases(count: u32) -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(count)
    }
}

fn yes() -> Answer {
    Answer {
        who: "ann".into(),
        at_ms: 7,
    }
}

fn action(layers: &RuleLayers, subjects: &Arc<[Subject]>) -> Action {
    decide(&snapshot(layers), subjects, None).action()
}

proptest! {
    #![proptest_config(cases(8_000))]

    #[test]
    fn the_engine_agrees_with_the_reference(layers in layers(), subjects in subjects(), answered in any::<bool>()) {
        let answer = answered.then(yes);
        let decision = decide(&snapshot(&layers), &subjects, answer.as_ref());
        prop_assert_eq!(decision.action(), reference::decide(&layers, &subjects, answered), "{}", decision.trace());
    }

    #[test]
    fn the_engine_agrees_with_the_reference_on_one_subject(layers in layers(), subject in subject()) {
        let subjects: Arc<[Subject]> = Arc::new([subject]);
        let decision = decide(&snapshot(&layers), &subjects, None);
        prop_assert_eq!(decision.action(), reference::decide(&layers, &subjects, false), "{}", decision.trace());
    }
}

proptest! {
    #![proptest_config(cases(8_000))]

    #[test]
    fn a_path_filter_agrees_with_the_engine(layers in layers(), subject in subject()) {
        let rules = snapshot(&layers);
        let (permission, canonical, absolute) = (subject.permission, subject.canonical, subject.source);
        let path = Subject::path(permission.as_str(), canonical.as_str(), absolute.as_str(), Vec::new());
        let decision = decide(&rules, &Arc::from([path]), None);
        let filter = policy::PathFilter::new(rules, &permission);
        prop_assert_eq!(filter.action(&canonical, &absolute), decision.action(), "{}", decision.trace());
    }
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn appending_a_deny_never_widens(layers in layers(), subjects in subjects(), denial in denial()) {
        let before = action(&layers, &subjects);
        for layer in LAYERS {
            let book = policy::RuleBook::new(layers.clone());
            book.append(layer, vec![denial.clone()]);
            prop_assert!(decide(&book.current(), &subjects, None).action() >= before, "{}", layer);
        }
    }

    #[test]
    fn no_reply_lifts_a_deny(layers in layers(), subjects in subjects()) {
        let unreplied = RuleLayers { session: vec![], saved: vec![], ..layers.clone() };
        if action(&unreplied, &subjects) == Action::Deny {
            prop_assert_eq!(action(&layers, &subjects), Action::Deny);
            prop_assert_eq!(decide(&snapshot(&layers), &subjects, Some(&yes())).action(), Action::Deny);
        }
    }

    #[test]
    fn no_hard_rule_widens(layers in layers(), subjects in subjects(), hard in rule()) {
        let before = action(&RuleLayers { hard: vec![], ..layers.clone() }, &subjects);
        let hardened = RuleLayers { hard: vec![hard], ..layers };
        prop_assert!(action(&hardened, &subjects) >= before);
    }

    #[test]
    fn no_rules_of_a_project_widen(layers in layers(), subjects in subjects(), project in project(), answered in any::<bool>()) {
        let answer = answered.then(yes);
        let without = RuleLayers { project: vec![], ..layers };
        let with = RuleLayers { project, ..without.clone() };
        let before = decide(&snapshot(&without), &subjects, answer.as_ref());
        let after = decide(&snapshot(&with), &subjects, answer.as_ref());
        prop_assert!(after.action() >= before.action(), "{}", after.trace());
        for tool in ["bash", "edit", "external_directory", "x"] {
            prop_assert!(snapshot(&with).disabled(tool) >= snapshot(&without).disabled(tool));
        }
    }

    #[test]
    fn a_project_tightens_no_less_than_the_same_rules_written_by_the_user(
        layers in layers(), subjects in subjects(), project in project(),
    ) {
        let mut as_user = RuleLayers { project: vec![], ..layers.clone() };
        as_user.base.extend(project.clone());
        let as_project = RuleLayers { project, ..layers };
        prop_assert!(action(&as_project, &subjects) >= action(&as_user, &subjects));
    }

    #[test]
    fn one_more_subject_never_widens(layers in layers(), subjects in subjects(), more in subject()) {
        let with_more: Arc<[Subject]> = subjects.iter().cloned().chain([more]).collect();
        let before = if subjects.is_empty() { Action::Allow } else { action(&layers, &subjects) };
        prop_assert!(action(&layers, &with_more) >= before);
    }

    #[test]
    fn another_spelling_never_widens(layers in layers(), subject in subject(), spelling in "[a-c/. ]{0,5}|rm x") {
        let before = action(&layers, &Arc::from([subject.clone()]));
        let mut more = subject;
        more.others.push(spelling);
        prop_assert!(action(&layers, &Arc::from([more])) >= before);
    }

    #[test]
    fn an_answer_turns_asks_into_allows_and_nothing_else(layers in layers(), subjects in subjects()) {
        let rules = snapshot(&layers);
        let before = decide(&rules, &subjects, None);
        let after = decide(&rules, &subjects, Some(&yes()));
        prop_assert_eq!(before.answer(), None);
        prop_assert_eq!(before.rule(), after.rule());
        if before.action() == Action::Ask {
            prop_assert_eq!((after.action(), after.answer()), (Action::Allow, Some(&yes())));
        } else {
            prop_assert_eq!((after.action(), after.by()), (before.action(), before.by()));
        }
    }

    #[test]
    fn the_last_step_of_a_trace_explains_the_decision(
        layers in layers(), subjects in subjects(), answered in any::<bool>(),
    ) {
        let answer = answered.then(yes);
        let decision = decide(&snapshot(&layers), &subjects, answer.as_ref());
        let trace = decision.trace();
        prop_assert_eq!(trace.steps.last().unwrap().action, decision.action());
        prop_assert_eq!(&trace.steps.last().unwrap().permission, &decision.subject().permission);
        if let AnsweredBy::Rule { rule, .. } = decision.by() {
            prop_assert!(trace.steps.iter().any(|step| step.rule.as_ref() == Some(rule)), "{}", trace);
            prop_assert_eq!(Some(rule), decision.rule());
            prop_assert_eq!(rule.action, decision.action());
        }
    }

    #[test]
    fn evaluate_is_the_last_match(layers in layers(), permission in "bash|edit|x", text in "rm x|a|/w/a|\\PC{0,4}") {
        let hit = |rule: &&policy::Rule| rule.is_about(&permission) && rule.pattern.matches(&text);
        let found = evaluate(&layers.base, &permission, &text);
        prop_assert_eq!(found.map(|(_, rule)| rule), layers.base.iter().rfind(hit));
        if let Some((index, rule)) = found {
            prop_assert_eq!(&layers.base[index], rule);
        }
    }

    #[test]
    fn decide_is_total(canonical in ".*", source in ".*", other in ".*", pattern in ".*", permission in ".*") {
        let rule = policy::Rule::new(
            permission.as_str(), policy::Pattern::wildcard(&pattern), Action::Deny, policy::Origin::named(&other),
        );
        let layers = RuleLayers { base: vec![rule], ..RuleLayers::default() };
        for make in [Subject::command, Subject::path] {
            let made = make(permission.as_str(), canonical.as_str(), source.as_str(), vec![other.clone()]);
            let decision = decide(&snapshot(&layers), &Arc::from([made]), None);
            prop_assert!(decision.action() != Action::Allow);
            let shown = decision.trace().to_string();
            prop_assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{:?}", shown);
            prop_assert_eq!(shown.lines().count(), decision.trace().steps.len());
        }
    }

    #[test]
    fn the_wildcard_agrees_with_its_definition(pattern in "([ab é*?]{0,8}|[ab *]{0,5} [*])", text in "[ab é]{0,10}") {
        prop_assert_eq!(wildcard_on(policy::Platform::Unix, &pattern, &text), reference::glob(&pattern, &text));
    }
}

#[test]
fn a_wildcard_of_ten_thousand_stars_finishes() {
    let text = "a".repeat(10_000);
    assert!(!wildcard(
        &"*a".repeat(10_000).replace("aa", "b"),
        &"b".repeat(10_000)
    ));
    assert!(wildcard(&"*a".repeat(10_000), &text));
    assert!(!wildcard(&format!("{}b", "*a".repeat(10_000)), &text));
    assert!(wildcard(&"*".repeat(10_000), &text));
}

/// The comparison is worth something only if the rules that decide are not mostly catch-alls.
#[test]
fn a_third_of_the_random_cases_is_decided_by_a_narrow_rule() {
    let mut runner = TestRunner::deterministic();
    let cases = (layers(), subject());
    let case_count = 4_000;
    let mut narrow_count = 0;
    let mut counts = [0; 3];
    for _ in 0..case_count {
        let (layers, subject) = cases.new_tree(&mut runner).unwrap().current();
        let decision = decide(&snapshot(&layers), &Arc::from([subject]), None);
        let is_narrow = decision
            .rule()
            .is_some_and(|rule| !["*", "**"].contains(&rule.pattern.text()));
        narrow_count += usize::from(is_narrow);
        counts[decision.action() as usize] += 1;
    }
    assert!(
        narrow_count * 10 >= case_count * 3,
        "{narrow_count} of {case_count}"
    );
    assert!(
        counts.iter().all(|count| count * 20 >= case_count),
        "allow, ask, deny: {counts:?}"
    );
}
