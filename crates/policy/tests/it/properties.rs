//! What holds for every set of rules and every subject.

use std::sync::Arc;

use proptest::prelude::*;
use tollgate_policy as policy;

use policy::{
    Action, Answer, AnsweredBy, Layer, Origin, Pattern, Rule, RuleBook, RuleLayers, StepKind,
    Subject, SubjectKind, decide, evaluate, wildcard, wildcard_on,
};

use crate::glob::glob;
use crate::reference::Reference;
use crate::world::{LAYERS, denial, layers, platform, project, rule, snapshot, subject, subjects};

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

/// What a person has kept of a yes to this subject: its very words.
fn exactly(subject: &Subject) -> Rule {
    let words = match subject.kind {
        SubjectKind::Command => &subject.source,
        SubjectKind::Path | SubjectKind::Name => &subject.canonical,
    };
    let pattern = Pattern::exact(words);
    Rule::new(
        &subject.permission,
        pattern,
        Action::Allow,
        Origin::named("kept"),
    )
}

/// The same layers as if people had given no answer but yes and no.
fn answered(mut layers: RuleLayers) -> RuleLayers {
    layers.session.retain(|rule| rule.action != Action::Ask);
    layers.saved.retain(|rule| rule.action != Action::Ask);
    layers
}

proptest! {
    #![proptest_config(cases(4_000))]

    #[test]
    fn the_engine_agrees_with_the_reference_on_several_subjects(
        platform in platform(), layers in layers(), subjects in subjects(), answered in any::<bool>(),
    ) {
        let answer = answered.then(yes);
        let rules = RuleBook::on(platform, layers.clone()).current();
        let decision = decide(&rules, &subjects, answer.as_ref());
        let reference = Reference { platform, layers: &layers };
        prop_assert_eq!(decision.action(), reference.decide(&subjects, answered), "{}", decision.trace());
    }

    #[test]
    fn a_path_filter_agrees_with_the_engine(platform in platform(), layers in layers(), subject in subject()) {
        let rules = RuleBook::on(platform, layers).current();
        let (permission, canonical, absolute) = (subject.permission, subject.canonical, subject.source);
        let mut path = Subject::path(permission.as_str(), canonical.as_str(), absolute.as_str(), Vec::new());
        path.narrower = subject.narrower;
        let decision = decide(&rules, &Arc::from([path]), None);
        let filter = policy::PathFilter::new(rules, &permission, subject.narrower);
        prop_assert_eq!(filter.action(&canonical, &absolute), decision.action(), "{}", decision.trace());
    }
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn appending_a_deny_never_widens(layers in layers(), subjects in subjects(), denial in denial()) {
        let before = action(&layers, &subjects);
        for layer in LAYERS {
            let book = RuleBook::new(layers.clone());
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
    fn no_reply_lifts_what_hard_rules_say(layers in layers(), subjects in subjects(), hard in rule()) {
        let open = Rule::new("*", Pattern::wildcard("*"), Action::Allow, Origin::named("open"));
        let unhardened = RuleLayers { base: vec![open], ..RuleLayers::default() };
        let hardened = RuleLayers { hard: vec![hard.clone()], ..unhardened.clone() };
        let says = action(&hardened, &subjects);
        if says > action(&unhardened, &subjects) {
            let all = RuleLayers { hard: vec![hard], ..layers };
            prop_assert!(action(&all, &subjects) >= says);
        }
    }

    #[test]
    fn no_hard_rule_widens(layers in layers(), subjects in subjects(), hard in rule()) {
        let before = action(&RuleLayers { hard: vec![], ..layers.clone() }, &subjects);
        let hardened = RuleLayers { hard: vec![hard], ..layers };
        prop_assert!(action(&hardened, &subjects) >= before);
    }

    #[test]
    fn a_child_never_may_what_the_hard_rules_of_its_parent_deny(
        parent in layers(), child in layers(), subjects in subjects(),
    ) {
        let open = Rule::new("*", Pattern::wildcard("*"), Action::Allow, Origin::named("open"));
        let hard = |hard: &[Rule]| RuleLayers {
            base: vec![open.clone()], hard: hard.to_vec(), ..RuleLayers::default()
        };
        let of_parent = action(&hard(&parent.hard), &subjects);
        let mut inherited = child;
        inherited.hard.extend(parent.hard);
        if of_parent == Action::Deny {
            prop_assert_eq!(action(&inherited, &subjects), Action::Deny);
        }
    }

    #[test]
    fn what_was_approved_is_allowed_next_time_or_it_is_said_why_not(layers in layers(), subjects in subjects()) {
        let layers = answered(layers);
        let asked = decide(&snapshot(&layers), &subjects, None);
        if asked.action() != Action::Ask {
            return Ok(());
        }
        let mut kept = layers;
        kept.session.extend(subjects.iter().map(exactly));
        let after = decide(&snapshot(&kept), &subjects, None);
        if after.action() == Action::Allow {
            return Ok(());
        }
        prop_assert_eq!(after.action(), Action::Ask);
        let is_hard = matches!(after.by(), AnsweredBy::Rule { layer: Layer::Hard, .. });
        let last = after.trace().steps.pop().unwrap();
        let is_told = is_hard
            || after.once_only().is_some()
            || last.step == StepKind::AskBecause
            || subjects.is_empty();
        prop_assert!(is_told, "{}", after.trace());
        if last.step == StepKind::AskBecause {
            prop_assert_eq!(Some(&last.note), after.subject().ask_because.as_ref());
        }
    }

    #[test]
    fn a_prefix_that_was_approved_suffices_or_it_is_said_why_not(layers in layers(), subject in subject()) {
        let layers = answered(layers);
        let subjects = Arc::from([subject.clone()]);
        let asked = decide(&snapshot(&layers), &subjects, None);
        if asked.action() != Action::Ask {
            return Ok(());
        }
        let word = subject.canonical.split(' ').next().unwrap();
        let pattern = Pattern::wildcard(&format!("{word} *"));
        let prefix = Rule::new(&subject.permission, pattern, Action::Allow, Origin::named("kept"));
        if !prefix.pattern.matches(&subject.canonical) {
            return Ok(());
        }
        let kept = RuleLayers { session: vec![prefix], saved: vec![], ..layers };
        let after = decide(&snapshot(&kept), &subjects, None);
        if after.action() == Action::Allow {
            return Ok(());
        }
        let trace = after.trace();
        let reasons = ["broader than the ask it would lift", "a yes to this holds once"];
        let is_told = |step: &policy::Step| {
            let is_stated = matches!(step.step, StepKind::AskBecause | StepKind::Hard);
            is_stated || reasons.contains(&step.note.as_str())
        };
        prop_assert!(subject.opaque.is_some() || trace.steps.iter().any(is_told), "{}", trace);
    }

    #[test]
    fn no_rules_of_a_project_widen(layers in layers(), subjects in subjects(), project in project(), answered in any::<bool>()) {
        let answer = answered.then(yes);
        let without = RuleLayers { project: vec![], ..layers };
        let with = RuleLayers { project, ..without.clone() };
        let before = decide(&snapshot(&without), &subjects, answer.as_ref());
        let after = decide(&snapshot(&with), &subjects, answer.as_ref());
        prop_assert!(after.action() >= before.action(), "{}", after.trace());
        for tool in ["bash", "edit", "external_directory", "db", "x"] {
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
    fn the_wildcard_agrees_with_its_definition(
        platform in platform(), pattern in "([ab é*?]{0,8}|[aAb/\\\\ *]{0,5} [*])", text in "[aAb éÉ/\\\\]{0,10}",
    ) {
        prop_assert_eq!(wildcard_on(platform, &pattern, &text), glob(platform, &pattern, &text));
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
