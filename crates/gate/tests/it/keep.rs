//! What a yes for more than once may keep, and that the same call is not asked about again.

use conform::testkit::{
    Action::{self, Allow, Ask, Deny},
    Bench, MemoryHost, always, exactly, no, nobody, yes,
};
use policy::{Layer, Origin, Pattern, Rule, RuleLayers, Subject};
use proptest::{collection::vec, option, prelude::*, sample::select, test_runner::TestRunner};
use schema::RawArguments;
use serde_json::{Value, json};
use std::sync::{
    Mutex,
    atomic::{AtomicU32, Ordering},
};
use tollgate_gate::{
    g2_admit::{Question, Reply, Scope},
    journal::Event,
};
use tools::{Bash, Edit, Read, builtins};

use crate::world::{command, denied_by, file, two, unasked, unsandboxed};

type Case = (RuleLayers, (&'static str, Value), Option<usize>, Scope);
type Written = (&'static str, &'static str, Action);

fn host() -> MemoryHost {
    MemoryHost::with(&[
        ("a.txt", "one\ntwo\n"),
        ("src/a.rs", "fn main() {}\n"),
        ("src/x/b.rs", "fn main() {}\n"),
        (".env", "KEY=1"),
        ("/out/x", "outside\n"),
    ])
}

fn allow(permission: &str, pattern: Pattern) -> Rule {
    Rule::new(permission, pattern, Allow, Origin::named("typed"))
}

fn read_pattern(text: &str) -> Pattern {
    Pattern::read(text).unwrap()
}

/// What the first question of a call offers to keep, each level on a line; or why nothing.
fn offered(bench: &Bench, tool: &str, arguments: Value) -> Vec<String> {
    let seen = Mutex::new(Vec::new());
    let answer = |question: &Question<'_>| {
        let line = |level: &Vec<Rule>| level.iter().map(shown).collect::<Vec<_>>().join(", ");
        let keepable = question.keepable;
        let mut lines: Vec<String> = keepable.levels.iter().map(line).collect();
        lines.extend(keepable.why_not.clone());
        seen.lock().unwrap().extend(lines);
        no()
    };
    let arguments = RawArguments::Json(arguments);
    let _refused = bench.run_on(&bench.host, &builtins(), tool, arguments, answer);
    seen.into_inner().unwrap()
}

fn shown(rule: &Rule) -> String {
    let exactly = if rule.pattern.is_exact() { "=" } else { "" };
    format!("{} {exactly}{}", rule.permission, rule.pattern)
}

#[test]
fn levels_go_from_the_very_words_to_what_is_wider() {
    let all_ask: &[Written] = &[("*", "*", Ask)];
    for (tool, arguments, levels) in [
        (
            "bash",
            command("git commit -m 'fix x'"),
            &["bash =git commit -m 'fix x'", "bash git commit *"][..],
        ),
        (
            "bash",
            command("cat a | jq .x"),
            &["bash =cat a, bash =jq .x", "bash cat *, bash jq *"],
        ),
        ("bash", command("ls; ls"), &["bash =ls", "bash ls *"]),
        // What is inside a wrapper is kept apart, and the wrapper by its very words.
        (
            "bash",
            command("sudo rm x"),
            &["bash =sudo rm x, bash =rm x", "bash rm *, bash =sudo rm x"],
        ),
        (
            "bash",
            command("true; eval \"$X\""),
            &[
                "bash =true, bash =true; eval \"$X\"",
                "bash true *, bash =true; eval \"$X\"",
            ],
        ),
        (
            "read",
            file("src/a.rs"),
            &["read =src/a.rs", "read path:src/*", "read *"],
        ),
        (
            "read",
            file("a.txt"),
            &["read =a.txt", "read path:*", "read *"],
        ),
        (
            "read",
            file("/out/x"),
            &[
                "external_directory.read =/out/*, read =/out/x",
                "read path:/out/*, external_directory.read =/out/*",
            ],
        ),
        (
            "grep",
            json!({"pattern": "a.*b"}),
            &["grep =a.*b", "grep *"],
        ),
    ] {
        let found = offered(&Bench::on(host(), all_ask), tool, arguments);
        assert_eq!(found, levels, "{tool}");
    }
}

#[test]
fn only_things_that_need_leave_get_a_rule() {
    let bench = Bench::on(host(), &[("*", "*", Ask), ("bash", "cat *", Allow)]);
    let found = offered(&bench, "bash", command("cat a | jq .x"));
    assert_eq!(found, ["bash =jq .x", "bash jq *"]);
}

#[test]
fn what_is_kept_of_a_file_speaks_of_it_however_it_is_changed() {
    let bench = Bench::on(host(), &[("*", "*", Allow), ("edit", "*", Ask)]);
    for line in ["rm src/a.rs", "echo x > src/a.rs", "cp a.txt src/a.rs"] {
        let found = offered(&bench, "bash", command(line));
        assert_eq!(
            found,
            ["edit =src/a.rs", "edit path:src/*", "edit *"],
            "{line}"
        );
    }
}

#[test]
fn what_is_broader_than_the_ask_is_not_offered() {
    let rules = [("bash", "*", Ask), ("bash", "git push origin *", Ask)];
    let bench = Bench::on(host(), &rules);
    let found = offered(&bench, "bash", command("git push origin main"));
    assert_eq!(found, ["bash =git push origin main"]);
    let bench = Bench::on(host(), &[("read", "*", Ask), ("read", "src/*.rs", Ask)]);
    let found = offered(&bench, "read", file("src/a.rs"));
    assert_eq!(found, ["read =src/a.rs"]);
}

#[test]
fn what_can_be_kept_of_nothing_is_said_to_hold_once() {
    let hard = |pattern| Rule::new("bash", pattern, Ask, Origin::named("managed"));
    let layers = RuleLayers {
        base: vec![Rule::new(
            "*",
            Pattern::wildcard("*"),
            Ask,
            Origin::named("t"),
        )],
        hard: vec![hard(Pattern::wildcard("git *"))],
        ..RuleLayers::default()
    };
    let managed = Bench::with_layers(host(), layers);
    let asks = Bench::on(host(), &[("*", "*", Ask)]);
    for (bench, line, why) in [
        (&managed, "git push", "bash \"git *\" ask (managed)"),
        (&managed, "ls; git push", "bash \"git *\" ask (managed)"),
        (&asks, "tollgate trust", "it may change what is allowed"),
        (
            &asks,
            "ls; ./tollgate trust",
            "it may change what is allowed",
        ),
        (
            &asks,
            "sudo tollgate trust",
            "it may change what is allowed",
        ),
        (
            &asks,
            "sh -c 'tollgate approvals list'",
            "it may change what is allowed",
        ),
        (
            &Bench::on(unsandboxed(), &[("*", "*", Ask)]),
            "make x",
            "no sandbox holds this command",
        ),
    ] {
        let found = offered(bench, "bash", command(line));
        let [found] = found.as_slice() else {
            panic!("{line}: {found:?}")
        };
        assert!(found.contains(why), "{line}: {found}");
    }
    let found = offered(&asks, "bash", command("tollgate check edit a.txt"));
    assert_eq!(found, ["bash =tollgate check edit a.txt"]);
}

#[test]
fn an_environment_file_is_kept_by_its_name_alone() {
    let found = offered(
        &Bench::on(host(), &[("*", "*", Allow)]),
        "read",
        file(".env"),
    );
    assert_eq!(found, ["read =.env"]);
}

#[test]
fn a_plain_always_keeps_the_prefix_of_a_command_and_the_path_of_a_file() {
    let bench = Bench::on(host(), &[("*", "*", Ask)]);
    let session = |_: &Question<'_>| always(Scope::Session);
    bench.run(Bash, command("cat a.txt"), session).unwrap();
    bench.run(Bash, command("cat src/a.rs"), unasked).unwrap();
    bench.run(Read, file("src/a.rs"), session).unwrap();
    bench
        .run(Read, file("src/x/b.rs"), |_| nobody())
        .unwrap_err();
    let kept = bench.approvals.kept();
    let kept: Vec<&str> = kept
        .iter()
        .flat_map(|it| &it.rules)
        .map(|it| &**it)
        .collect();
    assert_eq!(kept, ["bash cat *", "read src/a.rs"]);
    let rules = bench.rules.current();
    let origin = rules.layers().session[0].origin.to_string();
    assert_eq!(origin, "approved by ann");
}

#[test]
fn an_edited_rule_is_kept_if_it_is_about_what_is_asked_and_answers_it() {
    let bash = |text: &str| allow("bash", read_pattern(text));
    let deny = Rule {
        action: Deny,
        ..bash("git push *")
    };
    let asks = [("bash", "*", Ask), ("bash", "git push *", Ask)];
    for (rules, refused) in [
        (vec![bash("git push *")], None),
        (vec![bash("git push origin *")], None),
        (vec![bash("git push origin main")], None),
        (vec![bash("git *")], Some("it would still be asked")),
        (vec![bash("*")], Some("it would still be asked")),
        (vec![bash("git pull *")], Some("is not what is asked")),
        (
            vec![bash("git push *"), bash("rm *")],
            Some("`bash: rm *` is not what is asked"),
        ),
        (vec![deny], Some("only an allow is kept")),
        (
            vec![allow("*", read_pattern("git push *"))],
            Some("is not what is asked"),
        ),
        (
            vec![allow("b*", read_pattern("git push *"))],
            Some("is not what is asked"),
        ),
        (
            vec![allow("read", read_pattern("git push *"))],
            Some("is not what is asked"),
        ),
        (vec![], Some("it would still be asked")),
    ] {
        let bench = Bench::on(host(), &asks);
        let answer = |question: &Question<'_>| {
            match (question.accepts(&rules), refused) {
                (Ok(()), None) => {}
                (Err(why), Some(part)) if why.contains(part) => {}
                (got, want) => panic!("{rules:?}: {got:?}, not {want:?}"),
            }
            Reply::Always {
                who: "ann".into(),
                scope: Scope::Project,
                rules: Some(rules.clone()),
            }
        };
        // What is refused counts as once.
        bench
            .run(Bash, command("git push origin main"), answer)
            .unwrap();
        let is_kept = bench.rules.current().layers().saved.len() == rules.len();
        assert_eq!(
            is_kept && !bench.approvals.kept().is_empty(),
            refused.is_none(),
            "{rules:?}"
        );
    }
}

#[test]
fn a_pattern_is_no_answer_to_what_cannot_be_told() {
    let bench = Bench::on(host(), &[("bash", "*", Ask)]);
    let answer = |question: &Question<'_>| {
        let rules = [allow("bash", Pattern::wildcard("sudo *"))];
        question.accepts(&rules).unwrap_err();
        yes()
    };
    bench.run(Bash, command("sudo rm x"), answer).unwrap();
}

#[test]
fn an_answer_to_opaque_words_is_none_to_a_line_that_holds_them() {
    let bench = Bench::on(host(), &[("bash", "*", Ask)]);
    let keep = |question: &Question<'_>| exactly(question, Scope::Session);
    bench.run(Bash, command("eval \"$X\""), keep).unwrap();
    bench.run(Bash, command("eval \"$X\""), unasked).unwrap();
    for line in ["X='rm -r d'; eval \"$X\"", "true && eval \"$X\""] {
        bench.run(Bash, command(line), |_| no()).unwrap_err();
    }
}

#[test]
fn an_answer_to_a_here_document_is_none_to_another() {
    let bench = Bench::on(host(), &[("bash", "*", Ask)]);
    let keep = |question: &Question<'_>| exactly(question, Scope::Session);
    bench
        .run(Bash, command("mytool <<'E'\nselect 1\nE"), keep)
        .unwrap();
    let same = command("mytool <<'E'\nselect 1\nE");
    bench.run(Bash, same, unasked).unwrap();
    for line in ["mytool <<'E'\ndrop table x\nE", "mytool <<'E'\nE", "mytool"] {
        bench.run(Bash, command(line), |_| no()).unwrap_err();
    }
}

#[test]
fn everything_lifts_what_a_star_asks_and_no_narrower_ask_or_deny() {
    for (scope, layer) in [
        (Scope::Session, Layer::Session),
        (Scope::Project, Layer::Saved),
        (Scope::Global, Layer::Saved),
    ] {
        let rules = [
            ("*", "*", Ask),
            ("bash", "git push *", Ask),
            ("bash", "rm *", Deny),
        ];
        let bench = Bench::on(host(), &rules);
        let everything = |_: &Question<'_>| Reply::Everything {
            who: "ann".into(),
            scope,
        };
        bench
            .run(Bash, command("git push x"), everything)
            .expect("the call itself is answered once");
        assert_eq!(bench.rules.current().layers().of(layer).len(), 1);
        assert_eq!(bench.approvals.kept()[0].rules, ["* *"]);
        bench.run(Bash, command("ls"), unasked).unwrap();
        bench.run(Edit, two(), unasked).unwrap();
        bench
            .run(Bash, command("git push x"), |_| no())
            .unwrap_err();
        bench.run(Read, file(".env"), |_| no()).unwrap_err();
        let denied = denied_by(bench.run(Bash, command("rm x"), unasked));
        assert_eq!(denied, "user:3:1: bash rm *");
    }
}

#[test]
fn everything_that_cannot_be_kept_is_a_fault_and_nothing_runs() {
    let bench = Bench::on(host(), &[("*", "*", Ask)]);
    bench.approvals.fill_up();
    let everything = |_: &Question<'_>| Reply::Everything {
        who: "ann".into(),
        scope: Scope::Global,
    };
    bench
        .run(Bash, command("ls"), everything)
        .expect_err("it could not be kept");
    assert!(bench.host.ran().is_empty());
    let is_intent = |it: &_| matches!(it, Event::Intent { .. });
    assert!(
        !bench
            .journal
            .records()
            .iter()
            .any(|it| is_intent(&it.event))
    );
}

const PERMISSIONS: [&str; 6] = ["*", "read", "edit", "bash", "bash", "external_directory"];
const PATTERNS: [&str; 16] = [
    "*",
    "*",
    "a.txt",
    "src/*",
    "*.rs",
    "path:src/**",
    "*.env*",
    "/out/*",
    "git *",
    "git push *",
    "git push origin *",
    "cat *",
    "rm *",
    "eval *",
    "*|*",
    "arg:command=git *",
];
const LINES: [&str; 14] = [
    "git push origin main",
    "git push",
    "cat a.txt | git push origin x",
    "cat a* > a.txt",
    "echo x >> /out/x",
    "rm  -f 'a b'",
    "eval \"$X\"",
    "X=1 eval \"$X\" && cat a",
    "sudo git push",
    "(git push origin x; cat .env)",
    "$CMD x",
    "cat $X",
    "'arg:command=git' x",
    "tollgate trust",
];
const PATHS: [&str; 5] = ["a.txt", "src/a.rs", ".env", "/out/x", "src"];

fn rules(actions: &'static [Action]) -> impl Strategy<Value = Vec<Rule>> {
    let rule = (
        select(&PERMISSIONS[..]),
        select(&PATTERNS[..]),
        select(actions),
    );
    let rule = rule.prop_map(|(permission, pattern, action)| {
        let pattern = Pattern::read(pattern).unwrap();
        Rule::new(permission, pattern, action, Origin::named("random"))
    });
    vec(rule, 0..5)
}

fn layers() -> impl Strategy<Value = RuleLayers> {
    let any = || rules(&[Allow, Ask, Ask, Deny]);
    let layers = (
        any(),
        any(),
        rules(&[Allow]),
        rules(&[Allow]),
        rules(&[Ask]),
    );
    layers.prop_map(|(base, project, session, saved, hard)| RuleLayers {
        base,
        project,
        session,
        saved,
        hard: hard.into_iter().take(1).collect(),
        ..RuleLayers::default()
    })
}

fn a_call() -> impl Strategy<Value = (&'static str, Value)> {
    let line = || select(&LINES[..]).prop_map(|line| ("bash", command(line)));
    let path = || select(&PATHS[..]);
    prop_oneof![
        3 => line(),
        1 => path().prop_map(|it| ("read", file(it))),
        1 => path().prop_map(|it| ("write", json!({"filePath": it, "content": "new"}))),
        1 => Just(("grep", json!({"pattern": "o.*e", "path": "/out"}))),
    ]
}

#[test]
fn after_an_always_the_same_call_is_not_asked_again_unless_it_was_said_why() {
    const CASES: u32 = 1_000;
    let tools = builtins();
    let (kept_count, once_count) = (AtomicU32::new(0), AtomicU32::new(0));
    let check = |(layers, (tool, arguments), level, scope): Case| {
        let bench = Bench::with_layers(host(), layers);
        let kept: Mutex<Vec<Vec<Subject>>> = Mutex::default();
        let keep = |question: &Question<'_>| {
            let keepable = question.keepable;
            assert_eq!(keepable.levels.is_empty(), keepable.why_not.is_some());
            for level in &keepable.levels {
                assert_eq!(question.accepts(level), Ok(()));
            }
            if keepable.why_not.is_none() {
                kept_count.fetch_add(1, Ordering::Relaxed);
                kept.lock().unwrap().push(question.subjects.to_vec());
            } else {
                once_count.fetch_add(1, Ordering::Relaxed);
            }
            let rules = level.map(|it| {
                let last = keepable.levels.len().saturating_sub(1);
                keepable
                    .levels
                    .get(it.min(last))
                    .cloned()
                    .unwrap_or_default()
            });
            Reply::Always {
                who: "ann".into(),
                scope,
                rules,
            }
        };
        let run = |answer: &(dyn Fn(&Question<'_>) -> Reply + Send + Sync)| {
            let arguments = RawArguments::Json(arguments.clone());
            bench.run_on(&bench.host, &tools, tool, arguments, answer)
        };
        let _first = run(&keep);
        let again = |question: &Question<'_>| {
            let kept = kept.lock().unwrap();
            assert!(
                !kept.iter().any(|it| it == question.subjects),
                "{question:?}"
            );
            yes()
        };
        let _second = run(&again);
        Ok(())
    };
    let scope = select(&[Scope::Session, Scope::Project, Scope::Global][..]);
    let cases = (layers(), a_call(), option::of(0_usize..4), scope);
    let config = ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    TestRunner::new(config).run(&cases, check).unwrap();
    // Else it would say little.
    assert!(kept_count.into_inner() > CASES / 4);
    assert!(once_count.into_inner() > CASES / 20);
}
