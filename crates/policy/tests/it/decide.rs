//! Single decisions, each with the rule or default it must rest on.

use std::sync::Arc;

use tollgate_policy as policy;

use policy::{
    Action, Answer, AnsweredBy, Decision, Layer, Origin, Pattern, Rule, RuleBook, RuleLayers,
    StepKind, Subject, decide,
};

use Action::{Allow, Ask, Deny};

type Written<'a> = &'a [(&'a str, &'a str, Action)];

fn rules(written: Written<'_>) -> Vec<Rule> {
    let rule = |(line, (permission, pattern, action)): (u32, &(&str, &str, Action))| {
        let origin = Origin {
            source: "t".into(),
            line,
            column: 1,
        };
        Rule::new(*permission, Pattern::wildcard(pattern), *action, origin)
    };
    (1..).zip(written).map(rule).collect()
}

fn exact(permission: &str, text: &str, action: Action) -> Rule {
    Rule::new(
        permission,
        Pattern::exact(text),
        action,
        Origin::named("reply"),
    )
}

fn one(layers: RuleLayers, subject: Subject) -> Decision {
    decide(
        &RuleBook::new(layers).current(),
        &Arc::from([subject]),
        None,
    )
}

/// Base and saved rules, a command that has one spelling, and what must come out.
fn check_saved(base: Written<'_>, saved: Written<'_>, text: &str, want: Action) {
    let layers = RuleLayers {
        base: rules(base),
        saved: rules(saved),
        ..RuleLayers::default()
    };
    let decision = one(layers, Subject::command("bash", text, text, vec![]));
    assert_eq!(
        decision.action(),
        want,
        "{base:?} {saved:?} {text}\n{}",
        decision.trace()
    );
    let layers = RuleLayers {
        base: rules(base),
        session: rules(saved),
        ..RuleLayers::default()
    };
    let decision = one(layers, Subject::command("bash", text, text, vec![]));
    assert_eq!(
        decision.action(),
        want,
        "as session rules: {base:?} {saved:?} {text}"
    );
}

fn opaque(text: &str) -> Subject {
    let mut subject = Subject::command("bash", text, text, vec![]);
    subject.is_literal = false;
    subject.opaque = Some("dynamic program".into());
    subject
}

#[test]
fn nothing_to_judge_asks_whatever_the_rules() {
    let layers = RuleLayers {
        base: rules(&[("*", "*", Allow)]),
        ..RuleLayers::default()
    };
    let book = RuleBook::new(layers);
    let nothing: Arc<[Subject]> = Arc::new([]);
    let decision = decide(&book.current(), &nothing, None);
    assert_eq!(
        (decision.action(), decision.by(), decision.rule()),
        (Ask, &AnsweredBy::Default, None)
    );
    assert_eq!(decision.trace().steps.len(), 1);
}

#[test]
fn no_match_asks_by_default() {
    let decision = one(RuleLayers::default(), Subject::name("skill", "x"));
    assert_eq!(
        (decision.action(), decision.by()),
        (Ask, &AnsweredBy::Default)
    );
    assert_eq!(decision.trace().steps[0].step, StepKind::Default);
}

#[test]
fn the_strictest_subject_decides_and_is_named() {
    let base = rules(&[
        ("bash", "*", Allow),
        ("bash", "b", Ask),
        ("bash", "c", Deny),
    ]);
    let book = RuleBook::new(RuleLayers {
        base,
        ..RuleLayers::default()
    });
    let command = |text: &str| Subject::command("bash", text, text, vec![]);
    for (texts, want, deciding) in [
        (vec!["a", "d"], Allow, "a"),
        (vec!["a", "b", "d"], Ask, "b"),
        (vec!["c", "b"], Deny, "c"),
        (vec!["a", "b", "c", "c"], Deny, "c"),
    ] {
        let subjects: Arc<[Subject]> = texts.iter().map(|text| command(text)).collect();
        let decision = decide(&book.current(), &subjects, None);
        assert_eq!(
            (decision.action(), decision.subject().canonical.as_str()),
            (want, deciding),
            "{texts:?}"
        );
        assert_eq!(decision.trace().steps.last().unwrap().pattern, deciding);
    }
}

#[test]
fn a_saved_allow_lifts_only_the_ask_it_lies_inside() {
    check_saved(
        &[("bash", "*", Ask)],
        &[("bash", "git *", Allow)],
        "git push",
        Allow,
    );
    check_saved(&[], &[("bash", "git *", Allow)], "git push", Allow);
    check_saved(&[], &[("bash", "npm test", Allow)], "npm test > f", Ask);
    check_saved(
        &[("bash", "git push *", Ask)],
        &[("bash", "git push *", Allow)],
        "git push",
        Allow,
    );
    check_saved(
        &[("*", "*", Ask), ("bash", "git push *", Ask)],
        &[("bash", "git *", Allow)],
        "git push x",
        Ask,
    );
    check_saved(
        &[("bash", "git *", Ask)],
        &[("*", "*", Allow)],
        "git push",
        Ask,
    );
}

#[test]
fn a_saved_allow_never_lifts_a_deny_and_a_saved_deny_counts() {
    check_saved(&[("bash", "*", Deny)], &[("bash", "*", Allow)], "ls", Deny);
    check_saved(
        &[("bash", "*", Allow)],
        &[("bash", "rm *", Deny)],
        "rm x",
        Deny,
    );
    check_saved(
        &[("bash", "*", Ask)],
        &[("bash", "rm *", Deny)],
        "rm x",
        Deny,
    );
    check_saved(
        &[],
        &[("bash", "npm *", Deny), ("bash", "npm install *", Allow)],
        "npm install x",
        Allow,
    );
    check_saved(&[("bash", "*", Allow)], &[("bash", "*", Ask)], "ls", Allow);
}

#[test]
fn a_deny_in_either_list_of_replies_outlives_an_allow_in_the_other() {
    for (session, saved) in [(Allow, Deny), (Deny, Allow)] {
        let layers = RuleLayers {
            session: rules(&[("bash", "*", session)]),
            saved: rules(&[("bash", "*", saved)]),
            ..RuleLayers::default()
        };
        assert_eq!(
            one(layers, Subject::command("bash", "ls", "ls", vec![])).action(),
            Deny
        );
    }
}

#[test]
fn a_saved_allow_must_lie_inside_every_ask_that_counts() {
    let base = rules(&[("bash", "*", Ask), ("bash", "git push *", Ask)]);
    let saved = rules(&[("bash", "/usr/bin/git *", Allow)]);
    let subject = Subject::command(
        "bash",
        "/usr/bin/git push",
        "/usr/bin/git push",
        vec!["git push".into()],
    );
    let layers = RuleLayers {
        base,
        saved,
        ..RuleLayers::default()
    };
    assert_eq!(one(layers.clone(), subject.clone()).action(), Ask);
    let exactly = RuleLayers {
        saved: vec![exact("bash", "/usr/bin/git push", Allow)],
        ..layers
    };
    let decision = one(exactly, subject);
    assert_eq!(
        decision.action(),
        Allow,
        "an exact reply covers just what the asks were about"
    );
    assert!(matches!(
        decision.by(),
        AnsweredBy::Rule {
            layer: Layer::Saved,
            ..
        }
    ));
}

#[test]
fn a_denial_by_base_name_holds_in_every_list() {
    let subject = Subject::command("bash", "/bin/rm x", "/bin/rm x", vec!["rm x".into()]);
    let base = rules(&[("bash", "*", Allow)]);
    let deny = rules(&[("bash", "rm *", Deny)]);
    let open = RuleLayers {
        base,
        ..RuleLayers::default()
    };
    assert_eq!(one(open.clone(), subject.clone()).action(), Allow);
    assert_eq!(
        one(
            RuleLayers {
                session: deny.clone(),
                ..open.clone()
            },
            subject.clone()
        )
        .action(),
        Deny
    );
    assert_eq!(
        one(
            RuleLayers {
                saved: deny.clone(),
                ..open.clone()
            },
            subject.clone()
        )
        .action(),
        Deny
    );
    assert_eq!(
        one(RuleLayers { hard: deny, ..open }, subject).action(),
        Deny
    );
}

#[test]
fn an_opaque_command_is_allowed_by_an_unnarrowed_star_only() {
    for (base, want) in [
        (vec![("bash", "*", Allow)], Allow),
        (vec![("*", "*", Allow)], Allow),
        (vec![("bash", "*", Allow), ("bash", "git *", Allow)], Allow),
        (vec![("bash", "$X *", Allow)], Ask),
        (vec![("bash", "*", Allow), ("bash", "$X *", Allow)], Ask),
        (vec![("bash", "*", Allow), ("bash", "rm *", Ask)], Ask),
        (vec![("bash", "rm *", Deny), ("bash", "*", Allow)], Ask),
        (vec![("bash", "*", Allow), ("b*", "rm *", Deny)], Ask),
        // What is forbidden of files is in its reach.
        (vec![("bash", "*", Allow), ("edit", "x", Deny)], Ask),
        (vec![("bash", "*", Allow), ("read", "x", Deny)], Ask),
        (vec![("bash", "*", Allow), ("edit", "x", Ask)], Allow),
        (vec![("bash", "*", Allow), ("edit", "*", Deny)], Allow),
        (vec![("bash", "*", Allow), ("grep", "x", Deny)], Allow),
        (vec![("bash", "*", Allow), ("bash", "$X *", Deny)], Deny),
        (vec![("bash", "**", Allow)], Ask),
        (vec![], Ask),
    ] {
        let decision = one(
            RuleLayers {
                base: rules(&base),
                ..RuleLayers::default()
            },
            opaque("$X y"),
        );
        assert_eq!(decision.action(), want, "{base:?}\n{}", decision.trace());
    }
}

#[test]
fn an_opaque_command_is_lifted_by_an_exact_reply_only() {
    let base = rules(&[("bash", "*", Allow), ("bash", "rm *", Deny)]);
    for (reply, want) in [
        (exact("bash", "$X y", Allow), Allow),
        (exact("bash", "$X", Allow), Ask),
        (rules(&[("bash", "$X y", Allow)]).remove(0), Ask),
        (rules(&[("bash", "*", Allow)]).remove(0), Ask),
        (exact("bash", "$X y", Deny), Deny),
    ] {
        // A later reply for a pattern does not hide the exact one.
        let session = vec![reply, rules(&[("bash", "$*", Allow)]).remove(0)];
        let layers = RuleLayers {
            base: base.clone(),
            session,
            ..RuleLayers::default()
        };
        let decision = one(layers.clone(), opaque("$X y"));
        assert_eq!(decision.action(), want, "{:?}", layers.session);
    }
    let saved = vec![exact("bash", "rm $Y", Allow)];
    assert_eq!(
        one(
            RuleLayers {
                base,
                saved,
                ..RuleLayers::default()
            },
            opaque("rm $Y")
        )
        .action(),
        Deny
    );
}

#[test]
fn an_exact_reply_to_a_dynamic_command_holds_for_the_same_characters() {
    let mut subject = Subject::command("bash", "echo $X", "echo  $X", vec![]);
    subject.is_literal = false;
    let session = |text: &str| RuleLayers {
        session: vec![exact("bash", text, Allow)],
        ..RuleLayers::default()
    };
    assert_eq!(one(session("echo  $X"), subject.clone()).action(), Allow);
    assert_eq!(one(session("echo   $X"), subject).action(), Ask);
}

#[test]
fn hard_rules_only_tighten() {
    for (base, hard, want) in [
        (Allow, Deny, Deny),
        (Allow, Ask, Ask),
        (Allow, Allow, Allow),
        (Ask, Allow, Ask),
        (Ask, Ask, Ask),
        (Deny, Ask, Deny),
        (Deny, Allow, Deny),
    ] {
        let layers = RuleLayers {
            base: rules(&[("edit", "*", base)]),
            hard: rules(&[("edit", "*", hard)]),
            ..RuleLayers::default()
        };
        let decision = one(layers, Subject::name("edit", "a"));
        assert_eq!(decision.action(), want, "{base} {hard}");
        let is_hard = matches!(
            decision.by(),
            AnsweredBy::Rule {
                layer: Layer::Hard,
                ..
            }
        );
        assert_eq!(is_hard, hard > base, "{base} {hard}");
    }
}

#[test]
fn no_reply_lifts_a_hard_ask() {
    let layers = RuleLayers {
        base: rules(&[("edit", "*", Ask)]),
        saved: rules(&[("edit", "*", Allow)]),
        hard: rules(&[("edit", "*", Ask)]),
        ..RuleLayers::default()
    };
    let decision = one(layers, Subject::name("edit", "a"));
    assert_eq!(decision.action(), Ask);
    assert!(matches!(
        decision.by(),
        AnsweredBy::Rule {
            layer: Layer::Hard,
            ..
        }
    ));
}

#[test]
fn a_blanket_deny_in_the_hard_list_reaches_outside_directories() {
    let base = rules(&[("external_directory", "*", Allow), ("*", "*", Deny)]);
    let outside = || Subject::path("external_directory", "/etc/*", "/etc/*", vec![]);
    let layers = RuleLayers {
        base,
        ..RuleLayers::default()
    };
    assert_eq!(one(layers.clone(), outside()).action(), Allow);
    assert_eq!(
        one(
            RuleLayers {
                hard: rules(&[("*", "*", Deny)]),
                ..layers
            },
            outside()
        )
        .action(),
        Deny
    );
}

#[test]
fn a_reason_to_ask_holds_against_rules_and_replies() {
    let mut subject = Subject::command("bash", "ls", "ls", vec![]);
    subject.ask_because = Some("no sandbox".into());
    let layers = RuleLayers {
        base: rules(&[("bash", "*", Allow)]),
        session: vec![exact("bash", "ls", Allow)],
        ..RuleLayers::default()
    };
    let decision = one(layers, subject.clone());
    assert_eq!(
        (decision.action(), decision.by()),
        (Ask, &AnsweredBy::Default)
    );
    assert_eq!(decision.trace().steps.last().unwrap().note, "no sandbox");
    let denied = RuleLayers {
        base: rules(&[("bash", "*", Deny)]),
        ..RuleLayers::default()
    };
    assert_eq!(one(denied, subject).action(), Deny);
}

#[test]
fn a_decision_keeps_the_rules_it_was_made_under() {
    let book = RuleBook::new(RuleLayers {
        base: rules(&[("edit", "*", Ask)]),
        ..RuleLayers::default()
    });
    let subjects: Arc<[Subject]> = Arc::new([Subject::name("edit", "a")]);
    let yes = Answer {
        who: "ann".into(),
        at_ms: 7,
    };
    let before = decide(&book.current(), &subjects, Some(&yes));
    book.append(Layer::Base, rules(&[("edit", "a", Deny)]));
    let after = decide(&book.current(), &subjects, Some(&yes));
    assert_eq!(
        (before.action(), before.generation(), before.answer()),
        (Allow, 1, Some(&yes))
    );
    assert_eq!(
        (after.action(), after.generation(), after.answer()),
        (Deny, 2, None)
    );
    assert_eq!(
        before.rule().unwrap().pattern.text(),
        "*",
        "the rule that asked"
    );
    assert_eq!(before.trace().steps.len(), 2);
}

#[test]
fn a_trace_reads_like_this() {
    let base = rules(&[("bash", "*", Allow), ("bash", "rm *", Ask)]);
    let layers = RuleLayers {
        base,
        session: rules(&[("bash", "*", Allow)]),
        ..RuleLayers::default()
    };
    let rules = RuleBook::new(layers).current();
    let subject = Subject::command("bash", "/bin/rm x", "/bin/rm \u{1b}x", vec!["rm x".into()]);
    let decision = decide(
        &rules,
        &Arc::from([subject]),
        Some(&Answer {
            who: "ann".into(),
            at_ms: 7,
        }),
    );
    assert_eq!(
        decision.trace().to_string(),
        "\
allow rule        bash \"/bin/rm x\" by bash \"*\" allow (t:1:1)
ask   other       bash \"rm x\" by bash \"rm *\" ask (t:2:1): another spelling counts
ask   session     bash \"/bin/rm x\" by bash \"*\" allow (t:1:1): broader than the ask it would lift
allow answer      bash \"/bin/rm x\" by bash \"rm *\" ask (t:2:1): ann said yes at 7 ms
"
    );
}

#[test]
fn an_exact_reply_is_for_the_very_characters_it_was_given_to() {
    let layers = RuleLayers {
        session: vec![exact("bash", "rm x y", Allow)],
        ..RuleLayers::default()
    };
    let book = RuleBook::new(layers);
    let action = |source: &str, canonical: &str| {
        let subject = Subject::command("bash", canonical, source, Vec::new());
        decide(&book.current(), &Arc::from([subject]), None).action()
    };
    assert_eq!(action("rm x y", "rm x y"), Action::Allow);
    // Another file, whatever form the canonical text has.
    assert_eq!(action("rm 'x y'", "rm x y"), Action::Ask);
    assert_eq!(action("rm  x y", "rm x y"), Action::Ask);
}

/// Base and project rules, a path, and what must come out with the last step of the trace.
fn check_project(base: Written<'_>, project: Written<'_>, want: Action, last: &str) {
    let layers = RuleLayers {
        base: rules(base),
        project: rules(project),
        ..RuleLayers::default()
    };
    let decision = one(layers, Subject::name("edit", "a"));
    assert_eq!(decision.action(), want, "{base:?} {project:?}");
    let trace = decision.trace().to_string();
    assert_eq!(trace.lines().last(), Some(last), "{base:?} {project:?}");
}

#[test]
fn a_project_tightens_and_the_trace_says_so() {
    check_project(
        &[("edit", "*", Allow)],
        &[("edit", "a", Deny)],
        Deny,
        "deny  project     edit \"a\" by edit \"a\" deny (t:1:1): stricter than without the project: allow",
    );
    check_project(
        &[("edit", "*", Allow)],
        &[("*", "*", Ask)],
        Ask,
        "ask   project     edit \"a\" by * \"*\" ask (t:1:1): stricter than without the project: allow",
    );
}

#[test]
fn a_project_never_loosens_and_the_trace_says_so() {
    check_project(
        &[("edit", "*", Deny)],
        &[("edit", "*", Allow)],
        Deny,
        "deny  project     edit \"a\" by edit \"*\" allow (t:1:1): a project only tightens: it would say allow",
    );
    check_project(
        &[],
        &[("edit", "*", Allow)],
        Ask,
        "ask   project     edit \"a\" by edit \"*\" allow (t:1:1): a project only tightens: it would say allow",
    );
}

#[test]
fn a_project_that_changes_nothing_leaves_no_step() {
    check_project(
        &[("edit", "*", Ask)],
        &[("edit", "a", Ask), ("bash", "*", Deny)],
        Ask,
        "ask   rule        edit \"a\" by edit \"*\" ask (t:1:1)",
    );
}

#[test]
fn a_decision_of_the_project_names_its_rule_and_layer() {
    let layers = RuleLayers {
        base: rules(&[("edit", "*", Allow), ("edit", "b", Allow)]),
        project: rules(&[("bash", "*", Deny), ("edit", "a", Ask)]),
        ..RuleLayers::default()
    };
    let decision = one(layers, Subject::name("edit", "a"));
    assert_eq!(decision.rule().unwrap().pattern.text(), "a");
    let AnsweredBy::Rule { rule, layer } = decision.by() else {
        panic!("{:?}", decision.by())
    };
    assert_eq!((*layer, Some(rule)), (Layer::Project, decision.rule()));
}

#[test]
fn a_persons_reply_lifts_the_ask_of_a_project_and_not_its_deny() {
    for (project, want) in [(Ask, Allow), (Deny, Deny)] {
        let layers = RuleLayers {
            base: rules(&[("edit", "*", Allow)]),
            project: rules(&[("edit", "*", project)]),
            saved: rules(&[("edit", "a", Allow)]),
            ..RuleLayers::default()
        };
        assert_eq!(one(layers, Subject::name("edit", "a")).action(), want);
    }
}

#[test]
fn a_project_that_hides_a_lifting_rule_leaves_the_rule_it_lifted() {
    let layers = RuleLayers {
        base: rules(&[("bash", "rm *", Deny), ("bash", "'rm' *", Allow)]),
        project: rules(&[("bash", "'rm' x", Ask)]),
        ..RuleLayers::default()
    };
    let decision = one(layers, Subject::command("bash", "rm x", "'rm' x", vec![]));
    assert_eq!(decision.action(), Deny);
    assert_eq!(decision.rule().unwrap().pattern.text(), "rm *");
}

#[test]
fn an_opaque_command_is_asked_where_the_project_narrows_what_it_may_do() {
    let layers = |project: Written<'_>| RuleLayers {
        base: rules(&[("*", "*", Allow)]),
        project: rules(project),
        ..RuleLayers::default()
    };
    for (project, want) in [
        (("grep", "x", Deny), Allow),
        (("edit", "x", Deny), Ask),
        (("bash", "rm *", Deny), Ask),
    ] {
        let decision = one(layers(&[project]), opaque("$X"));
        assert_eq!(decision.action(), want, "{project:?}");
    }
}

#[test]
fn a_broad_allow_of_reading_asks_for_environment_files() {
    let action = |written: Written<'_>, saved: Vec<Rule>, path: &str| {
        let layers = RuleLayers {
            base: rules(written),
            saved,
            ..RuleLayers::default()
        };
        let absolute = format!("/w/{path}");
        let subject = Subject::path("read", path, &*absolute, Vec::new());
        decide(
            &RuleBook::new(layers).current(),
            &Arc::from([subject]),
            None,
        )
        .action()
    };
    let saved = |pattern: &str| {
        let pattern = Pattern::wildcard(pattern);
        vec![Rule::new("read", pattern, Allow, Origin::named("saved"))]
    };
    let broad: Written<'_> = &[("read", "*", Allow)];
    for path in [".env", "a/.ENV", "x/.env.local", ".envrc", ".env-prod"] {
        assert_eq!(action(broad, vec![], path), Ask, "{path}");
        assert_eq!(action(&[("*", "*", Allow)], vec![], path), Ask, "{path}");
        assert_eq!(action(&[("*", path, Allow)], vec![], path), Ask, "{path}");
        assert_eq!(
            action(&[("read", path, Allow)], vec![], path),
            Allow,
            "{path}"
        );
        assert_eq!(action(broad, saved("*"), path), Ask, "{path}");
        let reply = Rule::new("read", Pattern::exact(path), Allow, Origin::named("saved"));
        assert_eq!(action(broad, vec![reply], path), Allow, "{path}");
        assert_eq!(action(&[("read", "*", Deny)], vec![], path), Deny, "{path}");
    }
    assert_eq!(action(broad, vec![], ".env.example"), Allow);
    assert_eq!(action(broad, vec![], "src/environment.rs"), Allow);
}

/// Rules about a tool's arguments behind these others, a call with one argument, and what must come out.
fn check_argument(base: Written<'_>, conditions: &[(&str, Action)], sql: &str, want: Action) {
    let reply = exact("db", "*", Allow);
    for session in [vec![], vec![reply]] {
        let mut layers = RuleLayers {
            base: rules(base),
            session,
            ..RuleLayers::default()
        };
        for (condition, action) in conditions {
            let pattern = Pattern::read(condition).unwrap();
            let rule = Rule::new("db", pattern, *action, Origin::named("t"));
            layers.base.push(rule);
        }
        let mut subject = Subject::name("db", "*");
        subject.arguments = Arc::from([("sql".to_owned(), sql.to_owned())]);
        let decision = one(layers, subject);
        let trace = decision.trace();
        assert_eq!(decision.action(), want, "{conditions:?} {sql}\n{trace}");
        assert_eq!(decision.once_only().is_some(), want == Ask, "{trace}");
    }
}

#[test]
fn a_rule_about_arguments_decides_like_any_other_and_its_ask_is_never_lifted() {
    let open: Written<'_> = &[("db", "*", Allow)];
    let shut: Written<'_> = &[("db", "*", Deny)];
    check_argument(open, &[("arg:sql=DROP *", Deny)], "DROP x", Deny);
    check_argument(open, &[("arg:sql=DROP *", Deny)], "SELECT 1", Allow);
    check_argument(open, &[("arg:sql=DROP *", Ask)], "DROP x", Ask);
    check_argument(shut, &[("arg:sql=SELECT *", Allow)], "SELECT 1", Allow);
    check_argument(shut, &[("arg:sql=SELECT *", Allow)], "DROP x", Deny);
    let later = [("arg:sql=*", Ask), ("arg:sql=SELECT *", Allow)];
    check_argument(open, &later, "SELECT 1", Allow);
    check_argument(open, &later, "DROP x", Ask);
}

#[test]
fn an_allow_of_arguments_is_too_narrow_for_what_cannot_be_told() {
    let mut subject = opaque("$X y");
    subject.arguments = Arc::from([("command".to_owned(), "$X y".to_owned())]);
    let rule = |pattern: &str, action| {
        let pattern = Pattern::read(pattern).unwrap();
        Rule::new("bash", pattern, action, Origin::named("t"))
    };
    for (base, want) in [
        (vec![rule("*", Allow)], Allow),
        (vec![rule("arg:command=$X *", Allow)], Ask),
        (vec![rule("*", Allow), rule("arg:command=*", Allow)], Ask),
        (vec![rule("arg:command=rm *", Deny), rule("*", Allow)], Ask),
    ] {
        let layers = RuleLayers {
            base,
            ..RuleLayers::default()
        };
        assert_eq!(
            one(layers.clone(), subject.clone()).action(),
            want,
            "{layers:?}"
        );
    }
}

#[test]
fn an_answer_that_is_too_broad_hides_none_that_was_given_to_just_this() {
    let base = rules(&[("bash", "*", Ask), ("bash", "git push *", Ask)]);
    let narrow = exact("bash", "git  push x", Allow);
    let broad = || rules(&[("bash", "git *", Allow)]).remove(0);
    let revoked = || rules(&[("bash", "git push *", Deny)]).remove(0);
    for (session, want) in [
        (vec![broad()], Ask),
        (vec![narrow.clone(), broad()], Allow),
        (vec![broad(), narrow.clone()], Allow),
        (vec![narrow.clone(), revoked()], Deny),
        (vec![narrow.clone(), revoked(), broad()], Ask),
    ] {
        let layers = RuleLayers {
            base: base.clone(),
            session,
            ..RuleLayers::default()
        };
        let subject = Subject::command("bash", "git push x", "git  push x", vec![]);
        let decision = one(layers, subject);
        assert_eq!(decision.action(), want, "{}", decision.trace());
    }
}

#[test]
fn an_answer_of_another_form_lifts_what_it_is_seen_to_lie_inside() {
    for (ask, answer, want) in [
        ("*", "path:src/*", Allow),
        ("src/*", "path:src/*", Allow),
        ("path:src/**", "src/a*", Allow),
        ("path:src/*", "src/*", Ask),
        ("src/?", "src/*", Ask),
    ] {
        let rule = |pattern: &str, action| {
            let pattern = Pattern::read(pattern).unwrap();
            Rule::new("edit", pattern, action, Origin::named("t"))
        };
        let layers = RuleLayers {
            base: vec![rule("*", Allow), rule(ask, Ask)],
            session: vec![rule(answer, Allow)],
            ..RuleLayers::default()
        };
        let decision = one(layers, Subject::path("edit", "src/a", "/w/src/a", vec![]));
        let trace = decision.trace();
        assert_eq!(decision.action(), want, "{ask} {answer}\n{trace}");
    }
}

#[test]
fn case_and_slashes_count_as_they_do_on_the_platform_of_the_rules() {
    use policy::Platform::{Mac, Unix, Windows};
    for (platform, wants) in [
        (Unix, [Allow, Allow]),
        (Mac, [Deny, Allow]),
        (Windows, [Deny, Deny]),
    ] {
        let layers = RuleLayers {
            base: rules(&[("*", "*", Allow), ("EDIT", "SRC/*", Deny)]),
            ..RuleLayers::default()
        };
        let rules = RuleBook::on(platform, layers).current();
        for (path, want) in ["src/a", "src\\a"].into_iter().zip(wants) {
            let subject = Subject::path("edit", path, path, vec![]);
            let decision = decide(&rules, &Arc::from([subject]), None);
            assert_eq!(decision.action(), want, "{platform:?} {path}");
        }
        assert_eq!(rules.with(Layer::Hard, vec![]).platform(), platform);
    }
}
