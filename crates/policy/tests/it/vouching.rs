//! A file that a command changes, where a rule of one's own allows the command.

use std::sync::Arc;
use tollgate_policy as policy;

use policy::{Action, Origin, Pattern, Rule, RuleBook, RuleLayers, Subject, decide};

use Action::{Allow, Ask, Deny};

fn rule(permission: &str, pattern: &str, action: Action, source: &str) -> Rule {
    let pattern = Pattern::wildcard(pattern);
    Rule::new(permission, pattern, action, Origin::named(source))
}

/// What these say to `mv a b`, of the file alone.
fn of_file(permission: &str, base: Vec<Rule>, project: Vec<Rule>) -> Action {
    let command = Subject::command("bash", "mv a b", "mv a b", vec![]);
    let mut file = Subject::path(permission, "b", "/w/b", vec![]);
    file.is_beside = true;
    file.by = Some(Arc::new(command));
    let layers = RuleLayers {
        base,
        project,
        ..RuleLayers::default()
    };
    let decision = decide(&RuleBook::new(layers).current(), &Arc::from([file]), None);
    decision.action()
}

const BUILT_IN: &str = "built-in presets/normal.jsonc";
const OWN: &str = "tollgate.jsonc";

#[test]
fn a_built_in_ask_of_any_change_yields_to_a_rule_of_ones_own_for_the_command() {
    let asks = |source| rule("edit", "*", Ask, source);
    let allows = |source| rule("bash", "mv *", Allow, source);
    for (permission, base, want) in [
        ("edit", vec![asks(BUILT_IN), allows(OWN)], Allow),
        ("edit", vec![asks(BUILT_IN), allows(BUILT_IN)], Ask),
        ("edit", vec![asks(OWN), allows(OWN)], Ask),
        (
            "edit",
            vec![rule("edit", "b", Ask, BUILT_IN), allows(OWN)],
            Ask,
        ),
        (
            "edit",
            vec![rule("edit", "*", Deny, BUILT_IN), allows(OWN)],
            Deny,
        ),
        (
            "edit",
            vec![asks(BUILT_IN), allows(OWN), rule("bash", "mv *", Ask, OWN)],
            Ask,
        ),
        (
            "read",
            vec![rule("read", "*", Ask, BUILT_IN), allows(OWN)],
            Ask,
        ),
    ] {
        let shown = format!("{permission} {base:?}");
        assert_eq!(of_file(permission, base, vec![]), want, "{shown}");
    }
}

#[test]
fn a_rule_for_a_program_says_nothing_of_its_redirects() {
    let command = Subject::command("bash", "cat a", "cat a > b", vec![]);
    let mut file = Subject::path("edit", "b", "/w/b", vec![]);
    file.by = Some(Arc::new(command));
    for (pattern, want) in [("cat *", Ask), ("*", Allow)] {
        let base = vec![
            rule("edit", "*", Ask, BUILT_IN),
            rule("bash", pattern, Allow, OWN),
        ];
        let layers = RuleLayers {
            base,
            ..RuleLayers::default()
        };
        let subjects = Arc::from([file.clone()]);
        let decision = decide(&RuleBook::new(layers).current(), &subjects, None);
        assert_eq!(decision.action(), want, "{pattern}");
    }
}

#[test]
fn the_project_can_still_ask_about_the_file() {
    let base = vec![
        rule("edit", "*", Ask, BUILT_IN),
        rule("bash", "*", Allow, OWN),
    ];
    let project = vec![rule("edit", "*", Ask, "project")];
    assert_eq!(of_file("edit", base, project), Ask);
}

#[test]
fn a_protected_file_is_asked_about_all_the_same() {
    let command = Subject::command("bash", "mv a .git/hooks/x", "mv a .git/hooks/x", vec![]);
    let mut file = Subject::path("edit", ".git/hooks/x", "/w/.git/hooks/x", vec![]);
    file.by = Some(Arc::new(command));
    let base = vec![
        rule("edit", "*", Ask, BUILT_IN),
        rule("bash", "*", Allow, OWN),
    ];
    let layers = RuleLayers {
        base,
        ..RuleLayers::default()
    };
    let decision = decide(&RuleBook::new(layers).current(), &Arc::from([file]), None);
    assert_eq!(decision.action(), Ask);
    assert!(decision.once_only().is_some());
}
