//! Two lists of hard rules as one.
//! Must not test what stands in a list of ours.

use std::sync::Arc;

use policy::{Action, Origin, Pattern, Rule, RuleBook, RuleLayers, Subject, decide};
use proptest::collection::vec;
use proptest::prelude::*;
use tollgate_agent::strictest;

use crate::rule;

const PERMISSIONS: [&str; 8] = [
    "*",
    "edit",
    "read",
    "e*t",
    "bash",
    "bash",
    "external_directory",
    "external_directory.read",
];
const PATTERNS: [&str; 11] = [
    "*",
    "*",
    "*",
    "a",
    "a*",
    "*b",
    "path:plans/*",
    "rm *",
    "/bin/*",
    "*x",
    "/w/*",
];

fn any_rule() -> impl Strategy<Value = Rule> {
    let action = prop_oneof![Just(Action::Allow), Just(Action::Ask), Just(Action::Deny)];
    (
        proptest::sample::select(&PERMISSIONS[..]),
        proptest::sample::select(&PATTERNS[..]),
        action,
    )
        .prop_map(|(permission, pattern, action)| {
            let pattern = Pattern::read(pattern).unwrap();
            Rule::new(permission, pattern, action, Origin::named("random"))
        })
}

fn any_subject() -> impl Strategy<Value = Subject> {
    let file = |permission: &'static str, real: &str, named: &str| {
        let others = vec![named.to_owned(), format!("/w/{named}")];
        Subject::path(permission, real, format!("/w/{real}"), others)
    };
    let mut outside = Subject::name("external_directory", "/bin/x");
    outside.narrower = Some("external_directory.read");
    let all = vec![
        file("edit", "a", "a"),
        file("edit", "ab", "plans/x"),
        file("edit", "plans/x", "ab"),
        file("read", "b", "a"),
        Subject::command("bash", "rm x", "'rm' x", vec![]),
        Subject::command("bash", "/bin/rm x", "/bin/rm x", vec!["rm x".into()]),
        outside,
        Subject::name("else", "*"),
    ];
    proptest::sample::select(all)
}

/// What hard rules leave of an allow.
fn left(hard: &[Rule], subject: &Subject) -> Action {
    let layers = RuleLayers {
        base: vec![rule("*", "*", Action::Allow)],
        hard: hard.to_vec(),
        ..RuleLayers::default()
    };
    let subjects = Arc::from([subject.clone()]);
    decide(&RuleBook::new(layers).current(), &subjects, None).action()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3_000) })]

    #[test]
    fn two_lists_as_one_leave_open_no_more_than_either(
        one in vec(any_rule(), 0..5),
        other in vec(any_rule(), 0..5),
        subject in any_subject(),
    ) {
        let both = left(&strictest(&one, &other), &subject);
        let apart = left(&one, &subject).max(left(&other, &subject));
        prop_assert!(both >= apart, "{both} {apart}");
    }

    #[test]
    fn lists_without_patterns_are_said_exactly(
        one in vec(any_rule(), 0..5),
        other in vec(any_rule(), 0..5),
        subject in any_subject(),
    ) {
        let plain = |list: Vec<Rule>| -> Vec<Rule> {
            let is_plain = |rule: &Rule| {
                rule.pattern.is_catch_all() && ["*", "edit", "read", "bash"].contains(&&*rule.permission)
            };
            list.into_iter().filter(is_plain).collect()
        };
        let (one, other) = (plain(one), plain(other));
        let apart = left(&one, &subject).max(left(&other, &subject));
        prop_assert_eq!(left(&strictest(&one, &other), &subject), apart);
    }
}

#[test]
fn an_allow_in_one_list_opens_nothing_that_the_other_closes() {
    let looks = [
        rule("*", "*", Action::Deny),
        rule("read", "*", Action::Allow),
        rule("bash", "*", Action::Allow),
    ];
    let managed = [
        rule("read", "secret/*", Action::Deny),
        rule("bash", "git push *", Action::Ask),
        rule("edit", "docs/*", Action::Ask),
    ];
    let read = |file: &str| Subject::path("read", file, format!("/w/{file}"), vec![]);
    let edit = |file: &str| Subject::path("edit", file, format!("/w/{file}"), vec![]);
    let bash = |line: &str| Subject::command("bash", line, line, vec![]);
    for both in [strictest(&looks, &managed), strictest(&managed, &looks)] {
        for (subject, want) in [
            (read("a"), Action::Allow),
            (read("secret/a"), Action::Deny),
            (bash("ls"), Action::Allow),
            (bash("git push"), Action::Ask),
            (edit("docs/a"), Action::Deny),
            (edit("a"), Action::Deny),
        ] {
            assert_eq!(left(&both, &subject), want, "{subject:?}");
        }
    }
}

#[test]
fn what_is_managed_holds_in_the_hole_of_an_agent_and_opens_no_other() {
    let plan = tollgate_agent::agent("plan").unwrap().hard;
    let edit = |file: &str| Subject::path("edit", file, format!("/w/{file}"), vec![]);
    for (managed, in_hole, outside) in [
        (rule("edit", "*", Action::Deny), Action::Deny, Action::Deny),
        (rule("edit", "*", Action::Ask), Action::Ask, Action::Deny),
        (rule("*", "*", Action::Ask), Action::Ask, Action::Deny),
        (
            rule("edit", "*", Action::Allow),
            Action::Allow,
            Action::Deny,
        ),
    ] {
        let both = strictest(&plan, std::slice::from_ref(&managed));
        assert_eq!(left(&both, &edit("plans/a.md")), in_hole, "{managed:?}");
        assert_eq!(left(&both, &edit("src/a.rs")), outside, "{managed:?}");
    }
}

#[test]
fn two_lists_that_both_tell_commands_apart_close_them() {
    let one = [rule("bash", "git *", Action::Ask)];
    let other = [rule("bash", "rm *", Action::Deny)];
    let ls = Subject::command("bash", "ls", "ls", vec![]);
    assert_eq!(left(&strictest(&one, &other), &ls), Action::Deny);
    assert_eq!(left(&strictest(&one, &one), &ls), Action::Allow);
}

#[test]
fn a_list_and_nothing_is_that_list() {
    let list = vec![
        rule("edit", "a", Action::Deny),
        rule("edit", "a", Action::Ask),
    ];
    assert_eq!(strictest(&list, &[]), list);
    assert_eq!(strictest(&[], &list), list);
    assert_eq!(strictest(&list, &list), list);
}
