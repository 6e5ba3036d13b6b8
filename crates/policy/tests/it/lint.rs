//! Rules looked over: planted mistakes are found, ordinary configurations stay silent.

#![expect(clippy::disallowed_methods, reason = "the configurations are files")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use tollgate_policy as policy;

use policy::{
    AnsweredBy, FindingKind, Origin, Pattern, Rule, RuleLayers, SubjectKind, decide, includes, lint,
};

use crate::world::{rule, snapshot, subject};

const HOME: Option<&str> = Some("/home/u");

/// The files of a folder of `spec/lint`, with their names.
fn files(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/lint")).join(folder);
    let read = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().unwrap();
        (name, fs::read_to_string(entry.path()).unwrap())
    };
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| read(entry.unwrap()))
        .collect();
    files.sort();
    files
}

fn rules(name: &str, text: &str) -> Vec<Rule> {
    let rules = policy::written::read_rules(text, name, &["permission"], HOME);
    assert!(rules.is_ok(), "{name}: {rules:?}");
    rules.unwrap()
}

/// The findings, one a line, with what they say.
fn told(rules: &[Rule]) -> String {
    let one = |it: policy::Finding| {
        format!(
            "{} {}: {}\n  help: {}\n",
            it.origin, it.kind, it.message, it.help
        )
    };
    lint(rules, HOME).into_iter().map(one).collect()
}

#[test]
fn every_planted_mistake_is_found_and_nothing_else() {
    let files = files("faults");
    assert!(files.len() >= 30, "{}", files.len());
    let mut kinds = BTreeSet::new();
    for (name, text) in files {
        let lines = text
            .lines()
            .map_while(|line| line.strip_prefix("// expect: "));
        let mut expected: Vec<_> = lines.map(str::to_owned).collect();
        expected.sort();
        assert!(!expected.is_empty(), "{name} expects nothing");
        let rules = rules(&name, &text);
        let findings = lint(&rules, HOME);
        kinds.extend(findings.iter().map(|it| it.kind.to_string()));
        let got = findings
            .iter()
            .map(|it| format!("{} at {}", it.kind, it.origin.line));
        let mut got: Vec<_> = got.collect();
        got.sort();
        assert_eq!(got, expected, "{name}\n{}", told(&rules));
    }
    assert_eq!(kinds.len(), 12, "every kind is planted: {kinds:?}");
}

#[test]
fn ordinary_configurations_are_silent() {
    let files = files("clean");
    assert!(files.len() >= 20, "{}", files.len());
    for (name, text) in files {
        let rules = rules(&name, &text);
        assert!(!rules.is_empty(), "{name}");
        assert_eq!(told(&rules), "", "{name}");
    }
}

/// Of each finding its kind, its place, and those of the others.
fn found(text: &str) -> Vec<(FindingKind, usize, Vec<usize>)> {
    let findings = lint(&rules("t", text), HOME).into_iter();
    findings.map(|it| (it.kind, it.index, it.others)).collect()
}

#[test]
fn a_finding_names_the_other_rules_it_is_about() {
    let bash = |patterns: &str| format!("{{\"permission\": {{\"bash\": {{{patterns}}}}}}}");
    assert_eq!(
        found(&bash(
            r#""a *": "deny", "b *": "allow", "*": "ask", "c *": "deny""#
        )),
        [(FindingKind::CatchAllLast, 2, vec![0, 1])]
    );
    assert_eq!(
        found(&bash(
            r#""*": "ask", "a b *": "deny", "a c *": "allow", "a *": "allow""#
        )),
        [(FindingKind::Unreachable, 1, vec![3])]
    );
    assert_eq!(
        found(&bash(
            r#""*": "allow", "a *": "deny", "b *": "ask", "c *": "deny""#
        )),
        [(FindingKind::DenyList, 0, vec![1, 3])]
    );
}

#[test]
fn what_is_said_has_the_place_and_the_remedy() {
    let text = r#"{
  "permission": {
    "bash": {
      "git push --force *": "deny",
      "git push * main": "allow"
    }
  }
}"#;
    assert_eq!(
        told(&rules("t.jsonc", text)),
        "t.jsonc:4:7 evaded-deny: `git push --force *` is denied, but `git push * main` below it (line 5) allows \
         some of that, such as `git push --force main`: the last match wins\n  \
         help: put `git push --force *` below what allows\n"
    );
}

#[test]
fn a_deny_of_everything_is_not_heard_outside_and_hides_nothing_there() {
    let text = r#"{"permission": {"external_directory": {"/opt/*": "allow"}, "*": "deny"}}"#;
    assert_eq!(found(text), []);
    let text = r#"{"permission": {"external_directory": {"/opt/*": "allow"}, "*": "ask"}}"#;
    assert_eq!(found(text), [(FindingKind::CatchAllLast, 1, vec![0])]);
}

#[test]
fn an_ask_that_names_no_program_does_not_hide_a_deny_of_other_spellings() {
    let text =
        r#"{"permission": {"bash": {"*": "ask", "git push *": "deny", "*t push *": "ask"}}}"#;
    assert_eq!(found(text), []);
    let text =
        r#"{"permission": {"bash": {"*": "ask", "git push *": "deny", "*t push *": "allow"}}}"#;
    assert_eq!(found(text), [(FindingKind::Unreachable, 1, vec![2])]);
}

#[test]
fn one_pattern_may_include_another() {
    let pattern = |text| Pattern::read(text).unwrap();
    assert!(includes(&pattern("git *"), &pattern("git push *")));
    assert!(!includes(&pattern("git push *"), &pattern("git *")));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    #[test]
    fn a_rule_that_is_never_reached_never_decides(
        written in proptest::collection::vec(rule(), 2..8),
        subjects in proptest::collection::vec(subject(), 8),
    ) {
        let numbered = written.into_iter().enumerate();
        let rules: Vec<Rule> = numbered
            .map(|(index, rule)| Rule { origin: Origin::named(&index.to_string()), ..rule })
            .collect();
        let mut silent = BTreeSet::new();
        for it in lint(&rules, None) {
            match it.kind {
                FindingKind::Unreachable => silent.extend([it.index]),
                FindingKind::CatchAllLast => silent.extend(it.others),
                _ => {}
            }
        }
        let snapshot = snapshot(&RuleLayers { base: rules, ..RuleLayers::default() });
        for subject in subjects {
            // Only commands are asked about as commands.
            let is_odd = (subject.kind == SubjectKind::Command) != (subject.permission == "bash");
            // What may not be touched at all hears no catch-all, and what a command touches no ask of
            // everything, so one hides nothing there.
            if is_odd || subject.is_possible || subject.is_beside {
                continue;
            }
            let shown = format!("{subject:?}");
            let decision = decide(&snapshot, &std::sync::Arc::from([subject]), None);
            if let AnsweredBy::Rule { rule, .. } = decision.by()
                && let Ok(index) = rule.origin.source.parse::<usize>()
            {
                prop_assert!(!silent.contains(&index), "{shown}: {}", decision.trace());
            }
        }
    }
}
