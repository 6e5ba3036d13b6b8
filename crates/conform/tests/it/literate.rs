//! The chapters of the manual, each case of them put to the engine, and pages that must fail.

use std::fs;
use std::path::Path;

use gate::{call::RawCall, tool::AnyTool};
use tollgate_conform::literate::{Failure, InForce, Page};
use tollgate_conform::testkit::{Action, Bench, MemoryHost};

fn chapters() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/permissions");
    let mut chapters: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read_to_string(entry.path()).unwrap())
        })
        .collect();
    chapters.sort();
    chapters
}

#[test]
fn every_case_of_the_manual_is_decided_as_it_says() {
    let mut passed = 0;
    let mut failed = String::new();
    for (name, text) in chapters() {
        let page = Page::read(&text, &name).unwrap();
        assert!(page.is_complete(), "{name}: a case without rules above it");
        let report = page.run(None);
        passed += report.passed;
        for failure in report.failed {
            failed.push_str(&failure.for_person(&name));
        }
    }
    assert_eq!(failed, "", "{failed}");
    assert!(passed >= 390, "only {passed} cases");
}

/// A page with one block of rules and one of decisions.
fn page(rules: &str, decisions: &str) -> Page {
    let text = format!("# T\n\n```rules\n{rules}\n```\n\n```decisions\n{decisions}\n```\n");
    Page::read(&text, "page.md").unwrap()
}

fn faults(text: &str) -> Vec<String> {
    let faults = Page::read(text, "page.md").unwrap_err();
    faults.iter().map(ToString::to_string).collect()
}

/// The lines of the cases that fail.
fn failing(text: &str) -> Vec<u32> {
    let report = Page::read(text, "page.md").unwrap().run(None);
    report.failed.iter().map(|it| it.case.line).collect()
}

#[test]
fn a_wrong_case_is_shown_with_its_place_and_with_the_place_of_the_rule_that_decides() {
    let page = page(
        "{\n  \"bash\": \"ask\"\n}",
        "ask  bash  ls\ndeny  bash  git push  # why",
    );
    let report = page.run(None);
    assert_eq!((report.passed, report.failed.len()), (1, 1));
    let shown = report.failed[0].for_person("page.md");
    let mut lines = shown.lines();
    assert_eq!(
        lines.next(),
        Some("page.md:11: bash git push: expected deny, got ask")
    );
    assert_eq!(lines.next(), Some("    ask: `git push` (bash.publish)"));
    assert_eq!(
        lines.next(),
        Some("      A rule asks: `bash: * = ask` (page.md:5:3)")
    );
}

#[test]
fn each_action_and_each_kind_of_case_can_fail() {
    let page = page(
        r#"{"read": "allow", "bash": {"a": "allow"}, "x": {"arg:a=1": "deny"}, "external_directory": "deny"}"#,
        "deny read a\nallow bash a > b\nallow edit a\nallow x {\"a\": 1}\nask external_directory.read /etc/*\nallow read /etc/a\nask y z",
    );
    let report = page.run(None);
    let got: Vec<_> = report.failed.iter().map(Failure::got).collect();
    assert_eq!(got, ["allow", "ask", "ask", "deny", "deny", "deny"]);
    assert_eq!(report.passed, 1);
}

#[test]
fn a_block_of_rules_begins_anew_and_the_others_stand_beside_it() {
    let block = |info: &str, text: &str| format!("```{info}\n{text}\n```\n");
    let ask = block("rules", "\"ask\"");
    let saved = block("rules saved", r#"{"bash": {"ls": "allow"}}"#);
    let none = block("rules saved", "{}");
    let hard = block("rules hard", r#"{"bash": {"ls": "deny"}}"#);
    let says = |action: &str| block("decisions", &format!("{action} bash ls"));
    let text = [
        &*ask,
        &says("ask"),
        &saved,
        &says("allow"),
        &none,
        &says("ask"),
        &saved,
        &hard,
        &says("deny"),
        &ask,
        &says("ask"),
    ];
    assert_eq!(failing(&text.concat()), [0; 0]);
    let text = [&*ask, &saved, &ask, &says("allow")];
    assert_eq!(failing(&text.concat()), [11]);
}

#[test]
fn a_block_of_another_kind_and_what_looks_like_a_fence_within_one_are_no_blocks() {
    let text = "````text\n```rules\n\"nonsense\"\n```\n````\n```rules\n\"deny\"\n```\n```decisions\n# a line for people\n\ndeny bash ls\n```\n";
    assert_eq!(failing(text), [0; 0]);
    assert_eq!(Page::read(text, "page.md").unwrap().cases().len(), 1);
}

#[test]
fn a_case_without_rules_above_it_is_put_to_those_in_force_or_fails() {
    let text =
        "```decisions\nask bash ls\n```\n```rules\n\"ask\"\n```\n```decisions\nask bash ls\n```\n";
    let page = Page::read(text, "page.md").unwrap();
    assert!(!page.is_complete());
    let report = page.run(None);
    assert_eq!((report.passed, report.failed.len()), (1, 1));
    assert_eq!(report.failed[0].got(), "no answer: no rules stand above it");

    let bench = Bench::free(MemoryHost::with(&[]));
    let check = |tools: &[AnyTool], call: RawCall| {
        let checked = bench.check(tools, &call.tool, call.arguments);
        checked.map_err(|why| why.to_string())
    };
    let in_force = |action| InForce {
        rules: Bench::on(MemoryHost::with(&[]), &[("bash", "*", action)])
            .rules
            .current(),
        home: None,
        check: &check,
    };
    assert_eq!(page.run(Some(&in_force(Action::Ask))).passed, 2);
    assert_eq!(page.run(Some(&in_force(Action::Allow))).passed, 1);
}

#[test]
fn what_is_no_page_is_said_with_its_line() {
    let decisions = |line: &str| format!("```rules\n\"ask\"\n```\n```decisions\n{line}\n```\n");
    for line in ["perhaps bash ls", "allow bash", "allow", "Allow bash ls"] {
        let faults = faults(&decisions(line));
        assert!(
            faults[0].starts_with("line 5: expected `ACTION"),
            "{faults:?}"
        );
    }
    for (text, want) in [
        ("a\n```rules\n\"ask\"\n", "line 2: this block does not end"),
        (
            "```rules sometimes\n\"ask\"\n```\n",
            "line 1: expected nothing behind `rules`",
        ),
        (
            "```rules agent\n\"ask\"\n```\n",
            "line 1: expected nothing behind `rules`",
        ),
        (
            "```rules agent nobody\n{}\n```\n",
            "line 1: there is no agent `nobody`",
        ),
        (
            "```rules\n{\"permission\": {\"bash\": \"ask\"}}\n```\n",
            "line 1: write what stands behind",
        ),
        ("```rules\n{\n\"bash\": \"maybe\"\n}\n```\n", "line 3: "),
        ("```rules\n{\n```\n", "line "),
        ("```rules\n```\n", "line "),
        (
            "```decisions now\n```\n",
            "line 1: nothing stands behind `decisions`",
        ),
    ] {
        let faults = faults(text);
        assert!(faults[0].starts_with(want), "{text}: {faults:?}");
    }
}

#[test]
fn a_call_that_does_not_fit_its_tool_fails() {
    let page = page("\"allow\"", "allow read {\"path\": \"a\"}");
    let report = page.run(None);
    assert!(report.failed[0].got().starts_with("no answer: "));
}
