//! What a subject carries beside its spellings: the narrower name of its permission, the arguments of
//! its call, and that a change of a protected path is one whatever makes it.

use conform::testkit::{Bench, MemoryHost, nobody, yes};
use policy::Action::{self, Allow, Ask, Deny};
use schema::RawArguments;
use serde_json::{Value, json};
use tollgate_gate::{
    check::Checked,
    g2_admit::{Question, Reply},
};
use tools::builtins;

use crate::world::{command, denied_by, file, session, unanswered_by, unasked};

fn outside() -> MemoryHost {
    MemoryHost::with(&[("a.txt", "one\n"), ("/out/x", "one\n")])
}

fn check(bench: &Bench, tool: &str, arguments: Value) -> Checked {
    let raw = RawArguments::Json(arguments);
    bench.check(&builtins(), tool, raw).unwrap()
}

/// The narrower names of the directories outside that a call touches.
fn touched(tool: &str, arguments: Value) -> Vec<&'static str> {
    let checked = check(&Bench::free(outside()), tool, arguments);
    let subjects = checked.decisions.iter().flat_map(|it| it.subjects().iter());
    let narrower = subjects.filter_map(|it| it.narrower);
    narrower
        .filter(|it| it.starts_with("external_directory."))
        .collect()
}

#[test]
fn a_directory_outside_is_read_or_written() {
    const READ: &str = "external_directory.read";
    const WRITE: &str = "external_directory.write";
    let grep = json!({"pattern": "one", "path": "/out"});
    for (tool, arguments, want) in [
        ("read", file("/out/x"), vec![READ]),
        ("glob", grep.clone(), vec![READ]),
        ("grep", grep, vec![READ]),
        (
            "write",
            json!({"filePath": "/out/y", "content": "1"}),
            vec![READ, WRITE],
        ),
        ("bash", command("cat < /out/x"), vec![READ]),
        ("bash", command("echo 1 > /out/x"), vec![WRITE]),
        (
            "bash",
            json!({"command": "true", "workdir": "/out"}),
            vec![READ, WRITE],
        ),
        ("bash", command("cat /out/x"), vec![READ]),
        ("bash", command("cat ../out/x a.txt"), vec![READ]),
        ("bash", command("cp a.txt /out"), vec![WRITE]),
        ("bash", command("tool --into=/out"), vec![READ, WRITE]),
        ("bash", command("cat /out/none /dev/null"), vec![READ]),
        // A word that may be anything, and names nothing that is there.
        ("bash", command("tool /out/none /dev/null"), vec![]),
        ("bash", command("true"), vec![]),
        ("read", file("a.txt"), vec![]),
    ] {
        assert_eq!(touched(tool, arguments.clone()), want, "{tool} {arguments}");
    }
}

#[test]
fn both_names_of_a_directory_outside_are_one_ask() {
    let bench = Bench::on(
        outside(),
        &[("*", "*", Allow), ("external_directory", "*", Ask)],
    );
    let checked = check(
        &bench,
        "bash",
        json!({"command": "true", "workdir": "/out"}),
    );
    let outside: Vec<_> = checked
        .asks
        .iter()
        .filter(|ask| ask.permission == "external_directory")
        .map(|ask| ask.patterns.as_slice())
        .collect();
    assert_eq!(outside, [["/out/*"]]);
}

#[test]
fn reading_outside_may_be_allowed_apart_from_writing() {
    let rules = [
        ("*", "*", Allow),
        ("external_directory", "*", Deny),
        ("external_directory.read", "/out/*", Allow),
    ];
    let bench = Bench::on(outside(), &rules);
    let action = |tool: &str, arguments: Value| check(&bench, tool, arguments).action;
    assert_eq!(action("read", file("/out/x")), Allow);
    assert_eq!(action("bash", command("cat < /out/x")), Allow);
    assert_eq!(action("bash", command("echo 1 > /out/x")), Deny);
    let write = json!({"filePath": "/out/x", "content": "1"});
    assert_eq!(action("write", write), Deny);
}

#[test]
fn a_rule_may_be_about_an_argument_of_any_tool() {
    let host = || MemoryHost::with(&[("a.txt", "one\ntwo\n")]);
    let run = |rules: &[(&str, &str, Action)], arguments: Value| {
        let base = rules.iter().map(|(permission, pattern, action)| {
            let pattern = policy::Pattern::read(pattern).unwrap();
            let origin = policy::Origin::named("user");
            policy::Rule::new(*permission, pattern, *action, origin)
        });
        let layers = policy::RuleLayers {
            base: base.collect(),
            ..policy::RuleLayers::default()
        };
        let bench = Bench::with_layers(host(), layers);
        let raw = RawArguments::Json(arguments);
        bench.run_on(&bench.host, &builtins(), "read", raw, unasked)
    };
    let rules = [("*", "*", Allow), ("read", "arg:limit=1000*", Deny)];
    let mut arguments = file("a.txt");
    assert!(run(&rules, arguments.clone()).is_ok());
    arguments["limit"] = json!(10_000);
    assert_eq!(
        denied_by(run(&rules, arguments)),
        "user: read arg:limit=1000*"
    );
}

#[test]
fn a_change_of_a_protected_path_asks_each_time_whatever_makes_it() {
    let content = json!({"filePath": ".claude/settings.json", "content": "{}"});
    let calls = [
        ("write", content, ".claude/settings.json"),
        (
            "bash",
            command("echo '{}' > .kilo/kilo.json"),
            ".kilo/kilo.json",
        ),
        (
            "bash",
            command("true >> sub/.git/hooks/x"),
            "sub/.git/hooks/x",
        ),
        (
            "bash",
            command("true > /out/.config/kilo/kilo.json"),
            "/out/.config/kilo/*",
        ),
    ];
    for (tool, arguments, path) in calls {
        let bench = Bench::free(outside());
        let checked = check(&bench, tool, arguments.clone());
        assert_eq!(checked.action, Ask, "{arguments}");
        let asked = checked
            .decisions
            .iter()
            .find(|it| it.action() == Ask)
            .unwrap();
        assert_eq!(asked.subject().canonical, path);
        assert_eq!(asked.once_only(), Some("a protected path"));
        let asks = checked.asks.iter().filter(|it| it.decision.action() == Ask);
        assert!(asks.clone().count() > 0 && asks.flat_map(|it| &it.always).count() == 0);

        let raw = RawArguments::Json(arguments.clone());
        let run =
            |bench: &Bench| bench.run_on(&bench.host, &builtins(), tool, raw.clone(), |_| nobody());
        let why = unanswered_by(run(&bench));
        assert!(why.starts_with("hardening: protected paths: "), "{why}");
        let raw = RawArguments::Json(arguments);
        let answered = bench.run_on(&bench.host, &builtins(), tool, raw, |_| yes());
        assert!(answered.is_ok(), "{answered:?}");
    }
}

#[test]
fn an_always_to_a_protected_path_is_a_yes_once() {
    let bench = Bench::free(outside());
    let put = |content: &str, reply: fn(&Question<'_>) -> Reply| {
        let arguments = json!({"filePath": "AGENTS.md", "content": content});
        let raw = RawArguments::Json(arguments);
        bench.run_on(&bench.host, &builtins(), "write", raw, reply)
    };
    assert!(put("one", session).is_ok());
    let why = unanswered_by(put("two", |_| nobody()));
    assert!(why.contains("AGENTS.md"), "{why}");
    assert_eq!(bench.host.text("AGENTS.md").as_deref(), Some("one"));
}
