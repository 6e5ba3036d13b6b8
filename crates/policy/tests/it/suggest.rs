//! Which rules are suggested for what a person allowed by hand: data, and one property.

use std::sync::Arc;

use proptest::prelude::*;
use tollgate_policy::{
    Action, Asked, Layer, Origin, Pattern, Rule, RuleBook, RuleLayers, Ruleset, Subject, decide,
    suggest,
};

use Action::{Allow, Ask, Deny};

fn rules(written: &[(&str, &str, Action)]) -> RuleLayers {
    let rule = |&(permission, pattern, action): &(&str, &str, Action)| {
        let pattern = Pattern::read(pattern).unwrap();
        Rule::new(permission, pattern, action, Origin::named("t"))
    };
    RuleLayers {
        base: written.iter().map(rule).collect(),
        ..RuleLayers::default()
    }
}

fn book(layers: RuleLayers) -> Arc<Ruleset> {
    RuleBook::new(layers).current()
}

/// A command with the prefixes that are offered for it.
fn command(text: &str, always: &[&str]) -> Subject {
    let mut subject = Subject::command("bash", text, text, vec![]);
    subject.always = always.iter().map(|&it| it.to_owned()).collect();
    subject
}

fn asked(count: usize, subjects: &[Subject]) -> Asked {
    Asked {
        subjects: subjects.into(),
        count,
    }
}

/// One suggestion a line: the rule, the places it covers, how many yeses.
#[track_caller]
fn check(rules: &Arc<Ruleset>, all: &[Asked], want: &[(&str, &[usize], usize)]) {
    let got = suggest(rules, all);
    let shown: Vec<(String, &[usize], usize)> = got
        .iter()
        .map(|it| (it.rule.in_short(), it.covers.as_slice(), it.approval_count))
        .collect();
    let got: Vec<_> = shown
        .iter()
        .map(|(rule, covers, count)| (rule.as_str(), *covers, *count))
        .collect();
    assert_eq!(got, want);
}

#[test]
fn commands_that_share_an_offered_prefix_get_one_rule_and_others_are_exact() {
    let rules = book(rules(&[("bash", "*", Ask)]));
    let all = [
        asked(3, &[command("npm test a", &["npm test *"])]),
        asked(1, &[command("npm test b", &["npm test *"])]),
        asked(5, &[command("make all", &["make *"])]),
        asked(2, &[command("make all", &["make *"])]),
    ];
    check(
        &rules,
        &all,
        &[
            ("bash: make all = allow", &[2, 3], 7),
            ("bash: npm test * = allow", &[0, 1], 4),
        ],
    );
}

#[test]
fn the_narrowest_shared_prefix_is_taken() {
    let rules = book(rules(&[("bash", "*", Ask)]));
    let offered = ["npm run lint *", "npm run *"];
    let all = [
        asked(1, &[command("npm run lint a", &offered)]),
        asked(1, &[command("npm run lint b", &offered)]),
    ];
    check(
        &rules,
        &all,
        &[("bash: npm run lint * = allow", &[0, 1], 2)],
    );
}

#[test]
fn a_rule_inside_another_is_dropped() {
    let rules = book(rules(&[("bash", "*", Ask)]));
    let all = [
        asked(1, &[command("npm run lint", &["npm run *"])]),
        asked(1, &[command("npm run test", &["npm run *"])]),
        asked(1, &[command("npm run x", &[])]),
    ];
    check(&rules, &all, &[("bash: npm run * = allow", &[0, 1, 2], 3)]);
}

#[test]
fn a_prefix_that_would_cancel_a_narrower_rule_is_not_taken() {
    let all = [
        asked(1, &[command("git commit a", &["git *"])]),
        asked(1, &[command("git status", &["git *"])]),
    ];
    for narrower in [
        ("bash", "git push *", Ask),
        ("bash", "git push *", Deny),
        ("bash", "*--force*", Ask),
        ("*", "arg:command=git push*", Deny),
    ] {
        let rules = book(rules(&[("bash", "*", Ask), narrower]));
        let want: [(&str, &[usize], usize); 2] = [
            ("bash: git commit a = allow", &[0], 1),
            ("bash: git status = allow", &[1], 1),
        ];
        check(&rules, &all, &want);
    }
    let apart = book(rules(&[("bash", "*", Ask), ("bash", "rm *", Deny)]));
    check(&apart, &all, &[("bash: git * = allow", &[0, 1], 2)]);
}

#[test]
fn what_is_denied_opaque_guarded_or_asked_for_each_time_gets_no_rule() {
    let mut layers = rules(&[
        ("*", "*", Ask),
        ("read", "*", Allow),
        ("bash", "rm *", Deny),
        ("db", "arg:sql=DROP *", Ask),
    ]);
    layers.hard = rules(&[("bash", "curl *", Ask)]).base;
    let rules = book(layers);
    let mut opaque = command("sudo x", &["sudo *"]);
    opaque.opaque = Some("why".into());
    let mut no_walls = command("make", &["make *"]);
    no_walls.ask_because = Some("no sandbox".into());
    let mut drop = Subject::name("db", "*");
    drop.arguments = Arc::from([("sql".to_owned(), "DROP x".to_owned())]);
    let path = |permission: &str, path: &str| {
        Subject::path(permission, path, format!("/w/{path}"), vec![])
    };
    let plain = command("make", &["make *"]);
    for stopped in [
        command("rm x", &["rm *"]),
        command("curl x", &["curl *"]),
        opaque,
        no_walls,
        drop,
        path("read", ".env"),
        path("edit", ".git/hooks/x"),
    ] {
        check(&rules, &[asked(9, std::slice::from_ref(&stopped))], &[]);
        // Nor do the other parts of such a call.
        check(&rules, &[asked(9, &[plain.clone(), stopped])], &[]);
    }
    check(&rules, &[asked(9, &[])], &[]);
}

#[test]
fn what_is_allowed_already_needs_no_rule() {
    let rules = book(rules(&[("bash", "*", Ask), ("bash", "cd *", Allow)]));
    let all = [
        asked(
            1,
            &[command("cd web", &["cd *"]), command("make", &["make *"])],
        ),
        asked(1, &[command("cd web", &["cd *"])]),
    ];
    check(&rules, &all, &[("bash: make = allow", &[0], 1)]);
}

#[test]
fn a_tool_without_names_is_allowed_whole_unless_a_rule_looks_at_its_arguments() {
    let call = || Subject::name("github_list", "*");
    let open = book(rules(&[("*", "*", Ask)]));
    check(
        &open,
        &[asked(2, &[call()])],
        &[("github_list: * = allow", &[0], 2)],
    );
    let held = [("*", "*", Ask), ("github_*", "arg:repo=secret", Deny)];
    check(&book(rules(&held)), &[asked(2, &[call()])], &[]);
}

#[test]
fn text_that_has_a_meaning_in_rules_is_not_widened() {
    let rules = book(rules(&[("bash", "*", Ask)]));
    for (text, want) in [
        ("ls *", "bash: ls ? = allow"),
        ("~/bin/x", "bash: ?/bin/x = allow"),
        ("path:x", "bash: ?ath:x = allow"),
        ("arg:x=y", "bash: ?rg:x=y = allow"),
    ] {
        check(
            &rules,
            &[asked(1, &[command(text, &[])])],
            &[(want, &[0], 1)],
        );
    }
}

fn written(patterns: &'static [&'static str]) -> impl Strategy<Value = Vec<Rule>> {
    let rule = (
        prop::sample::select(vec!["bash", "*", "b*"]),
        prop::sample::select(patterns),
        prop::sample::select(vec![Allow, Ask, Deny]),
    );
    let rule = rule.prop_map(|(permission, pattern, action)| {
        let pattern = Pattern::read(pattern).unwrap();
        Rule::new(permission, pattern, action, Origin::named("t"))
    });
    prop::collection::vec(rule, 0..3)
}

fn call() -> impl Strategy<Value = Asked> {
    let text = prop::sample::select(vec!["a b", "a c", "a b x", "b x", "b y", "a"]);
    let subject = text.prop_map(|text| {
        let offered = ["a b *", "a *", "b *", "*"].into_iter();
        let offered = offered.filter(|it| text.starts_with(it.trim_end_matches([' ', '*'])));
        command(text, &offered.collect::<Vec<_>>())
    });
    (prop::collection::vec(subject, 1..3), 1_usize..4).prop_map(|(subjects, count)| Asked {
        subjects: subjects.into(),
        count,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn suggestions_allow_what_they_cover_and_lift_no_deny_and_no_narrower_ask(
        base in written(&["a *", "a b *", "a z", "*z", "path:a/**", "arg:x=*", "? *"]),
        project in written(&["a z *", "b *"]), hard in written(&["a b x", "*y"]),
        all in prop::collection::vec(call(), 0..6), text in "a( z|)|a b( z|)|b( z|)|c",
    ) {
        let mut layers = rules(&[("bash", "*", Ask)]);
        layers.base.extend(base);
        (layers.project, layers.hard) = (project, hard);
        let before = book(layers.clone());
        let got = suggest(&before, &all);
        let more = RuleBook::new(layers);
        more.append(Layer::Base, got.iter().map(|it| it.rule.clone()).collect());
        let after = more.current();
        for it in &got {
            prop_assert!(!it.covers.is_empty());
            prop_assert!(!it.rule.pattern.is_catch_all());
            for &index in &it.covers {
                prop_assert_eq!(decide(&before, &all[index].subjects, None).action(), Ask);
                prop_assert_eq!(decide(&after, &all[index].subjects, None).action(), Allow);
            }
        }
        // Other commands than those approved: what was denied stays denied, and an ask is lifted only
        // where the rule that asks covers the whole suggestion.
        let other: Arc<[Subject]> = Arc::from([command(&text, &[])]);
        let was = decide(&before, &other, None);
        let is = decide(&after, &other, None);
        let is_approved = all.iter().flat_map(|it| it.subjects.iter()).any(|it| it.canonical == text);
        if is.action() < was.action() && !is_approved {
            prop_assert_eq!(was.action(), Ask);
            let asks = was.rule().is_none_or(|rule| {
                got.iter().any(|it| tollgate_policy::includes(&rule.pattern, &it.rule.pattern))
            });
            prop_assert!(asks, "{text} {:?}", was.rule());
        }
    }
}
