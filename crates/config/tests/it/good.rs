//! What is read from a sound file, and what it warns of.
//! Must not test how `policy` decides.

use agent::Preset;
use policy::{Action, Rule};
use tollgate_config::{Config, ToolOutput, parse};

fn read(text: &str) -> Config {
    parse(text, "t.jsonc", Some("/home/u")).unwrap()
}

fn warnings(text: &str) -> Vec<String> {
    read(text)
        .warnings
        .iter()
        .map(ToString::to_string)
        .collect()
}

fn plain(rules: &[Rule]) -> Vec<(&str, &str, Action)> {
    (rules.iter())
        .map(|rule| (rule.permission.as_str(), rule.pattern.text(), rule.action))
        .collect()
}

#[test]
fn rules_keep_the_order_of_the_file_and_their_place() {
    let config = read(
        r#"{
  // the last rule that matches wins
  "permission": {
    "bash": {"rm *": "deny", "*": "ask", "2": "allow"},
    "read": "allow",
    "edit": null,
    "external_directory": {"~/notes/*": "allow"},
  },
}"#,
    );
    assert_eq!(
        plain(&config.rules),
        [
            ("bash", "rm *", Action::Deny),
            ("bash", "*", Action::Ask),
            ("bash", "2", Action::Allow),
            ("read", "*", Action::Allow),
            ("external_directory", "/home/u/notes/*", Action::Allow),
        ]
    );
    let places: Vec<_> = config
        .rules
        .iter()
        .map(|it| it.origin.to_string())
        .collect();
    assert_eq!(places[0], "t.jsonc:4:14");
    assert_eq!(places[3], "t.jsonc:5:5");
    assert_eq!(config.warnings, []);
}

#[test]
fn one_word_is_a_rule_for_everything() {
    let config = read(r#"{"permission": "deny"}"#);
    assert_eq!(plain(&config.rules), [("*", "*", Action::Deny)]);
}

#[test]
fn an_empty_object_says_nothing() {
    let config = read("{}");
    assert!(config.rules.is_empty() && config.warnings.is_empty());
    assert_eq!((config.preset, config.tool_output), (None, None));
}

#[test]
fn preset_and_tool_output_are_read() {
    let config = read(
        r#"{"$schema": "x", "preset": "cautious", "tool_output": {"max_lines": 1, "max_bytes": 51200}}"#,
    );
    assert_eq!(config.preset, Some(Preset::Cautious));
    let limits = ToolOutput {
        max_lines: Some(1),
        max_bytes: Some(51200),
    };
    assert_eq!(config.tool_output, Some(limits));
    assert_eq!(config.warnings, []);
    let half = read(r#"{"tool_output": {"max_lines": 7}}"#)
        .tool_output
        .unwrap();
    assert_eq!((half.max_lines, half.max_bytes), (Some(7), None));
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    assert_eq!(read("\u{feff}{\"permission\": \"ask\"}").rules.len(), 1);
}

#[test]
fn other_systems_names_of_permissions_hold_under_ours() {
    let config = read(r#"{"permission": {"shell": "deny", "subagent": {"x": "ask"}}}"#);
    assert_eq!(
        plain(&config.rules),
        [("bash", "*", Action::Deny), ("task", "x", Action::Ask)]
    );
    assert_eq!(config.warnings, []);
}

#[test]
fn a_key_this_version_does_not_read_is_told() {
    assert_eq!(
        warnings("{\n  \"mcp\": {},\n  \"presset\": 1,\n  \"tool_output\": {\"maxlines\": 1}\n}"),
        [
            "t.jsonc:2:3: the key `mcp` is not read by this version and has no effect",
            "t.jsonc:3:3: the key `presset` is not read by this version and has no effect (did you mean `preset`?)",
            "t.jsonc:4:19: the key `tool_output.maxlines` is not read by this version and has no effect (did you mean `max_lines`?)",
        ]
    );
}

#[test]
fn an_unknown_permission_is_told_with_the_nearest_known_one() {
    assert_eq!(
        warnings(r#"{"permission": {"raed": "deny", "git_log": "ask", "write": "deny"}}"#),
        [
            "t.jsonc:1:17: no permission `raed` is known: this holds only for a tool of that name (did you mean `read`?)",
            "t.jsonc:1:33: no permission `git_log` is known: this holds only for a tool of that name",
            "t.jsonc:1:51: `write` is never asked for: the tool is asked for as `edit` (write `edit`)",
        ]
    );
}

#[test]
fn known_names_and_wildcards_are_not_warned_of() {
    let text = r#"{"permission": {
        "*": "ask", "mcp_*": "ask", "web*": "deny", "read": "allow", "doom_loop": "ask", "todowrite": "allow"
    }}"#;
    assert_eq!(warnings(text), Vec::<String>::new());
    assert_eq!(
        warnings(r#"{"permission": {"raed*": "ask"}}"#),
        [
            "t.jsonc:1:17: no permission `raed*` is known: this holds only for a tool of that name (did you mean `read`?)"
        ]
    );
}
