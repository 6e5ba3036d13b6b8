//! A check and a call give the same answer, over ten thousand random rule lists and calls.

use conform::testkit::{Bench, MemoryHost, nobody};
use policy::{Action, Decision, Origin, Pattern, Rule, RuleLayers};
use schema::RawArguments;
use serde_json::{Value, json};
use tollgate_gate::{
    Problem, call::NotRun, g2_admit::Refusal, g3_confine::Confinement, tool::AnyTool,
};
use tools::builtins;

use crate::world::intents;

const CASES: u32 = 10_000;

/// Numbers that are the same in every run (a 64-bit linear congruential generator, high half).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}

const PERMISSIONS: [&str; 8] = [
    "*",
    "*",
    "read",
    "edit",
    "bash",
    "bash",
    "external_directory",
    "network",
];
const PATTERNS: [&str; 20] = [
    "*", "*", "*", "a.txt", "src/*", "*.rs", ".env", "*.env*", "/w/src/*", "/out/*", "/out/x",
    "rm *", "rm x", "cat *", "cat .env", "echo *", "*>*", "git *", "true", "*|*",
];
const PATHS: [&str; 9] = [
    "a.txt",
    "./a.txt",
    "src/a.rs",
    "/w/src/a.rs",
    "src",
    ".env",
    "/out/x",
    "../out/x",
    "linked",
];
const LINES: [&str; 20] = [
    "true",
    "cat a.txt",
    "cat .env",
    "rm x",
    "/bin/rm x",
    "'rm' x",
    "sudo rm x",
    "true && rm x",
    "echo hi > a.txt",
    "echo hi > /out/x",
    "cat < .env",
    "cat < /out/x",
    "echo $(rm x)",
    "echo $X",
    "git log | head",
    "cd src && echo hi > a.rs",
    "true > /dev/null",
    "cat < /dev/tcp/h/80",
    "git push",
    "rm",
];

fn rules(dice: &mut Dice, most: usize, actions: &[Action], source: &str) -> Vec<Rule> {
    let count = dice.below(most + 1);
    let rule = |at| {
        let text = dice.pick(&PATTERNS);
        let pattern = if dice.below(6) == 0 {
            Pattern::exact(text)
        } else {
            Pattern::wildcard(text)
        };
        let origin = Origin {
            source: source.into(),
            line: at,
            column: 1,
        };
        Rule::new(dice.pick(&PERMISSIONS), pattern, dice.pick(actions), origin)
    };
    (1..=u32::try_from(count).unwrap()).map(rule).collect()
}

fn layers(dice: &mut Dice) -> RuleLayers {
    use Action::{Allow, Ask, Deny};
    let mut base = rules(dice, 8, &[Allow, Allow, Ask, Deny, Deny], "base");
    // Without a broad allow in front most calls end as asks.
    if dice.below(3) > 0 {
        base.insert(
            0,
            Rule::new("*", Pattern::wildcard("*"), Allow, Origin::named("first")),
        );
    }
    RuleLayers {
        base,
        session: rules(dice, 1, &[Allow, Ask, Deny], "session"),
        saved: rules(dice, 1, &[Allow, Ask, Deny], "saved"),
        hard: if dice.below(8) == 0 {
            rules(dice, 2, &[Allow, Ask, Deny], "hard")
        } else {
            vec![]
        },
        project: if dice.below(4) == 0 {
            rules(dice, 2, &[Allow, Ask, Deny], "project")
        } else {
            vec![]
        },
        ..RuleLayers::default()
    }
}

fn call(dice: &mut Dice) -> (&'static str, Value) {
    let path = dice.pick(&PATHS);
    match dice.below(5) {
        0 => ("read", json!({ "filePath": path })),
        1 => (
            "edit",
            json!({"filePath": path, "oldString": "one", "newString": "1"}),
        ),
        2 => ("write", json!({"filePath": path, "content": "new\n"})),
        3 => (
            "bash",
            json!({"command": dice.pick(&LINES), "workdir": path}),
        ),
        _ => ("bash", json!({"command": dice.pick(&LINES)})),
    }
}

fn host(dice: &mut Dice) -> MemoryHost {
    let files = [
        ("a.txt", "one\n"),
        ("src/a.rs", "one\n"),
        (".env", "one\n"),
        ("/out/x", "one\n"),
        ("linked", "one\n"),
    ];
    let confinement = if dice.below(10) == 0 {
        Confinement::NotEnforced {
            why: "none in this test".into(),
        }
    } else {
        Confinement::Full
    };
    let host = MemoryHost::confined(&files, confinement);
    host.link("linked");
    host
}

/// What decided, in a form that can be compared: rule, origin, subject, action.
fn told(decision: &Decision) -> String {
    format!(
        "{:?} {} {:?}",
        decision.rule(),
        decision.action(),
        decision.subject()
    )
}

#[derive(Debug, Default)]
struct Seen {
    allowed: u32,
    asked: u32,
    denied: u32,
    closed: u32,
}

fn first(decisions: &[Decision], action: Action) -> Option<String> {
    decisions.iter().find(|it| it.action() == action).map(told)
}

fn compare(dice: &mut Dice, tools: &[AnyTool], seen: &mut Seen) {
    let bench = Bench::with_layers(host(dice), layers(dice));
    let (tool, arguments) = call(dice);
    let case = || format!("{tool} {arguments} under {:?}", bench.rules.current());
    let raw = || RawArguments::Json(arguments.clone());
    let checked = bench.check(tools, tool, raw());
    assert!(
        bench.journal.records().is_empty(),
        "a check leaves no trace: {}",
        case()
    );
    let ran = bench.run_on(&bench.host, tools, tool, raw(), |_| nobody());

    let checked = match (checked, &ran) {
        (Ok(checked), _) => checked,
        (Err(NotRun::UnknownTool { .. }), Err(NotRun::UnknownTool { .. })) => {
            seen.closed += 1;
            return;
        }
        (checked, _) => panic!("{}: {checked:?} and {ran:?}", case()),
    };
    let had: Vec<String> = intents(&bench.journal.records()).iter().map(told).collect();
    match (checked.action, ran) {
        // A tool may still fail at its work (`src` is a directory); no gate may have said no.
        (Action::Allow, Ok(_) | Err(NotRun::Stopped(Problem::Failed(_)))) => {
            seen.allowed += 1;
            let expected: Vec<String> = checked.decisions.iter().map(told).collect();
            let both = had.len().min(expected.len());
            assert!(
                both > 0 && had[..both] == expected[..both],
                "{}: {had:?} {expected:?}",
                case()
            );
            let path = &arguments["filePath"];
            assert!(both == expected.len() || path == "src", "{}", case());
        }
        (Action::Deny, Err(NotRun::Stopped(Problem::Refused(Refusal::Denied(by))))) => {
            seen.denied += 1;
            assert_eq!(
                Some(told(&by)),
                first(&checked.decisions, Action::Deny),
                "{}",
                case()
            );
            assert_eq!(had, [""; 0], "{}", case());
        }
        (
            Action::Ask,
            Err(NotRun::Stopped(Problem::Refused(Refusal::Unanswered { asked_by, .. }))),
        ) => {
            seen.asked += 1;
            assert_eq!(
                Some(told(&asked_by)),
                first(&checked.decisions, Action::Ask),
                "{}",
                case()
            );
        }
        // The write of a directory is never asked about: there is nothing to show.
        (Action::Ask, Err(NotRun::Stopped(Problem::Failed(_))))
            if arguments["filePath"] == "src" =>
        {
            seen.asked += 1;
            assert_eq!(
                Some(&told(&checked.decisions[0])),
                had.first(),
                "{}",
                case()
            );
        }
        (action, ran) => panic!("{}: checked as {action}, ran as {ran:?}", case()),
    }
}

#[test]
fn a_check_answers_as_the_call_would_with_nobody_there() {
    let (mut dice, mut seen) = (Dice(1), Seen::default());
    let tools = builtins();
    for _ in 0..CASES {
        compare(&mut dice, &tools, &mut seen);
    }
    println!("{seen:?} of {CASES}");
    for count in [seen.allowed, seen.asked, seen.denied] {
        assert!(count >= CASES / 10, "{seen:?}");
    }
    assert!(seen.closed > 0, "{seen:?}");
}
