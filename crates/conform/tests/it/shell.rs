//! The lists of shell lines, judged: how often an ordinary line asks, and that a grave one always does.

use agent::{Preset, Tier};
use gate::g3_confine::Confinement;
use policy::{
    Action, Decision, Origin, Pattern, Rule, RuleBook, RuleLayers, decide, written::read_rules,
};
use std::{collections::BTreeMap, fs};
use tollgate_conform::shelled::{action, asked_in};

/// The files of every line's workspace.
const FILES: [(&str, &str); 12] = [
    (".env", "KEY=1"),
    (".env.local", "KEY=2"),
    ("sub/x.txt", "x"),
    ("src/main.rs", "fn main() {}"),
    ("src/lib.rs", ""),
    ("src/index.ts", ""),
    ("src/app.ts", ""),
    ("tests/a.rs", ""),
    ("docs/a.md", ""),
    ("README.md", ""),
    ("Cargo.toml", ""),
    ("package.json", "{}"),
];

fn rows(name: &str) -> Vec<Vec<String>> {
    let path = format!("{}/../../spec/shell/{name}", env!("CARGO_MANIFEST_DIR"));
    tollgate_conform::rows(&fs::read_to_string(path).unwrap()).unwrap()
}

/// What the agent `code` starts from.
fn code(tier: Tier) -> RuleLayers {
    let agent = agent::agent("code").unwrap();
    agent::layers(&agent, Preset::Normal, tier, Vec::new(), Some("/home/u"))
}

/// What the agent `code` comes to, behind the walls of that tier.
fn by_code(tier: Tier, line: &str) -> Decision {
    let confinement = match tier {
        Tier::Full => Confinement::Full,
        Tier::Partial => Confinement::Partial { gaps: Vec::new() },
        Tier::None => Confinement::NotEnforced {
            why: "none is here".to_owned(),
        },
    };
    let subjects = asked_in(confinement, line, &FILES).unwrap();
    decide(&RuleBook::new(code(tier)).current(), &subjects.into(), None)
}

/// These rules over an allow of everything else.
fn over(rules: &str) -> RuleLayers {
    let text = format!("{{\"permission\": {rules}}}");
    let base = read_rules(&text, "t", &["permission"], None).unwrap();
    RuleLayers {
        base,
        ..RuleLayers::default()
    }
}

fn check_share(tier: Tier, most_of_a_hundred: usize) {
    let lines = rows("benign.tsv");
    let mut asked: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in &lines {
        let decision = by_code(tier, &row[1]);
        if decision.action() != Action::Allow {
            let subject = decision.subject();
            let why = subject.opaque.as_ref().or(subject.ask_because.as_ref());
            let why = format!(
                "{} {} {}: {why:?}",
                decision.action(),
                subject.permission,
                subject.as_asked()
            );
            asked
                .entry(row[0].clone())
                .or_default()
                .push(format!("{:?} ({why})", row[1]));
        }
    }
    let count: usize = asked.values().map(Vec::len).sum();
    assert!(
        count * 100 <= lines.len() * most_of_a_hundred,
        "{tier}: {count} of {} ask: {asked:#?}",
        lines.len()
    );
}

#[test]
fn of_ordinary_lines_few_ask_where_the_walls_are_full() {
    check_share(Tier::Full, 2);
}

#[test]
fn of_ordinary_lines_some_ask_where_the_walls_are_partial() {
    check_share(Tier::Partial, 15);
}

#[test]
fn of_ordinary_lines_less_than_half_ask_without_walls() {
    check_share(Tier::None, 40);
}

#[test]
fn every_line_that_cannot_be_undone_is_asked_or_denied_in_every_tier() {
    let mut through = Vec::new();
    for tier in Tier::ALL {
        for row in rows("irreversible.tsv") {
            if by_code(tier, &row[1]).action() == Action::Allow {
                through.push(format!("{tier}: {:?}", row[1]));
            }
        }
    }
    assert_eq!(through, [""; 0]);
}

#[test]
fn a_forbidden_thing_is_denied_where_it_is_known_and_asked_where_it_is_not() {
    let of = |rule: &str| match rule {
        "push" => over(r#"{"*": "allow", "bash": {"*": "allow", "git push *": "deny"}}"#),
        "rm" => over(r#"{"*": "allow", "bash": {"*": "allow", "rm *": "deny"}}"#),
        _ => over(r#"{"*": "allow", "read": {"*": "allow", "*.env": "deny"}}"#),
    };
    let mut wrong = Vec::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows("evade.tsv") {
        *counts.entry(format!("{} {}", row[0], row[1])).or_default() += 1;
        let got = action(&row[2], &FILES, of(&row[0])).unwrap();
        let is_right = match row[1].as_str() {
            "denied" => got == Action::Deny,
            _ => got != Action::Allow,
        };
        if !is_right {
            wrong.push(format!("{} {}: {got}: {:?}", row[0], row[1], row[2]));
        }
    }
    assert!(counts.values().all(|count| *count >= 40), "{counts:?}");
    assert!(wrong.is_empty(), "{} wrong: {wrong:#?}", wrong.len());
}

#[test]
fn a_rule_names_its_class_of_commands() {
    let rule = |permission: &str, action| {
        Rule::new(
            permission,
            Pattern::wildcard("*"),
            action,
            Origin::named("t"),
        )
    };
    let layers = || RuleLayers {
        base: vec![
            rule("*", Action::Allow),
            rule("bash", Action::Ask),
            rule("bash.readonly", Action::Allow),
            rule("bash.publish", Action::Deny),
        ],
        ..RuleLayers::default()
    };
    for (line, want) in [
        ("ls -la src", Action::Allow),
        ("rg 'a|b' src", Action::Allow),
        ("git log --oneline | head -5", Action::Allow),
        ("git log --output=x", Action::Ask),
        ("make", Action::Ask),
        ("git push", Action::Deny),
    ] {
        assert_eq!(action(line, &FILES, layers()).unwrap(), want, "{line}");
    }
}
