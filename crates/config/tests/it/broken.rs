//! Broken files, and the words a person gets for each.
//! Must not test wording without a place: every snapshot shows where the fault is.

use tollgate_config::{parse, render};

/// The error of a text as it is shown without colours.
fn broken(text: &str) -> String {
    render(&parse(text, "t.jsonc", None).unwrap_err())
}

#[test]
fn an_unknown_action() {
    let error = broken(
        r#"{
  "permission": {
    "edit": "alow"
  }
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x `alow` is not an action: expected `allow`, `ask` or `deny`
       ,-[t.jsonc:3:13]
     2 |   "permission": {
     3 |     "edit": "alow"
       :             ^^^^^^
     4 |   }
       `----
      help: write `"allow"`, `"ask"` or `"deny"`
    "#);
}

#[test]
fn single_quotes() {
    let error = broken(
        r"{
  'permission': 'ask'
}",
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x single-quoted strings are not allowed
       ,-[t.jsonc:2:3]
     1 | {
     2 |   'permission': 'ask'
       :   ^
     3 | }
       `----
      help: this is JSON: names and words stand in double quotes; comments and trailing commas are
            allowed
    "#);
}

#[test]
fn a_missing_comma() {
    let error = broken(
        r#"{
  "permission": {
    "read": "allow"
    "edit": "ask"
  }
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x expected comma
       ,-[t.jsonc:3:20]
     2 |   "permission": {
     3 |     "read": "allow"
       :                    ^
     4 |     "edit": "ask"
       `----
      help: put a comma between the entries
    "#);
}

#[test]
fn a_name_without_quotes() {
    let error = broken(
        r#"{
  permission: {"edit": "ask"}
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x expected string for object property
       ,-[t.jsonc:2:3]
     1 | {
     2 |   permission: {"edit": "ask"}
       :   ^^^^^^^^^^
     3 | }
       `----
      help: this is JSON: names and words stand in double quotes; comments and trailing commas are
            allowed
    "#);
}

#[test]
fn a_word_without_quotes() {
    let error = broken(
        r#"{
  "permission": {"edit": ask}
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x unexpected token
       ,-[t.jsonc:2:26]
     1 | {
     2 |   "permission": {"edit": ask}
       :                          ^^^
     3 | }
       `----
      help: this is JSON: names and words stand in double quotes; comments and trailing commas are
            allowed
    "#);
}

#[test]
fn an_object_that_is_not_closed() {
    let error = broken(
        r#"{
  "permission": {
    "edit": "ask"
"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x unterminated object
       ,-[t.jsonc:2:17]
     1 | {
     2 |   "permission": {
       :                 ^
     3 |     "edit": "ask"
       `----
      help: this is JSON: names and words stand in double quotes; comments and trailing commas are
            allowed
    "#);
}

#[test]
fn two_objects_in_one_file() {
    let error = broken(
        r#"{"permission": {"edit": "ask"}}
{"permission": {"edit": "allow"}}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x text cannot contain more than one JSON value
       ,-[t.jsonc:2:1]
     1 | {"permission": {"edit": "ask"}}
     2 | {"permission": {"edit": "allow"}}
       : ^
       `----
      help: this is JSON: names and words stand in double quotes; comments and trailing commas are
            allowed
    "#);
}

#[test]
fn a_list_of_rules() {
    let error = broken(
        r#"{
  "permission": [{"action": "edit", "resource": "*", "effect": "ask"}]
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x expected an action or an object of permissions, found a list
       ,-[t.jsonc:2:17]
     1 | {
     2 |   "permission": [{"action": "edit", "resource": "*", "effect": "ask"}]
       :                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     3 | }
       `----
      help: write for example `{ "edit": "ask" }`
    "#);
}

#[test]
fn a_boolean_for_an_action() {
    let error = broken(
        r#"{
  "permission": {"bash": {"rm *": false}}
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x expected an action for `rm *`, found true or false
       ,-[t.jsonc:2:35]
     1 | {
     2 |   "permission": {"bash": {"rm *": false}}
       :                                   ^^^^^
     3 | }
       `----
      help: write `"allow"`, `"ask"` or `"deny"`
    "#);
}

#[test]
fn a_pattern_given_twice() {
    let error = broken(
        r#"{
  "permission": {
    "bash": {
      "git push *": "deny",
      "git push *": "allow"
    }
  }
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x `git push *` is written twice
       ,-[t.jsonc:5:7]
     4 |       "git push *": "deny",
     5 |       "git push *": "allow"
       :       ^^^^^^^^^^^^
     6 |     }
       `----
      help: keep one of them; the last match wins, so the order matters
    "#);
}

#[test]
fn a_key_given_twice() {
    let error = broken(
        r#"{
  "permission": {"edit": "deny"},
  "permission": {"edit": "allow"},
  "mcp": 1,
  "mcp": 2
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has 2 faults; nothing of it is used until it is mended

      x `permission` is written twice
       ,-[t.jsonc:3:3]
     2 |   "permission": {"edit": "deny"},
     3 |   "permission": {"edit": "allow"},
       :   ^^^^^^^^^^^^
     4 |   "mcp": 1,
       `----
      help: the first is at 2:3; keep one of them

      x `mcp` is written twice
       ,-[t.jsonc:5:3]
     4 |   "mcp": 1,
     5 |   "mcp": 2
       :   ^^^^^
     6 | }
       `----
      help: the first is at 4:3; keep one of them
    "#);
}

#[test]
fn a_mistyped_permission_key() {
    let error = broken(
        r#"{
  "permissions": {"edit": "deny"}
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x unknown key `permissions`: the rules below it would not hold
       ,-[t.jsonc:2:3]
     1 | {
     2 |   "permissions": {"edit": "deny"}
       :   ^^^^^^^^^^^^^
     3 | }
       `----
      help: did you mean `permission`?
    "#);
}

#[test]
fn a_root_that_is_a_list() {
    let error = broken(r#"[{"permission": "ask"}]"#);
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x a configuration is an object, not a list
       ,-[t.jsonc:1:1]
     1 | [{"permission": "ask"}]
       : ^^^^^^^^^^^^^^^^^^^^^^^
       `----
      help: for example {"permission": {"edit": "ask"}}
    "#);
}

#[test]
fn a_file_that_says_nothing() {
    let error = broken("// soon\n");
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x the file says nothing
       ,-[t.jsonc:1:1]
     1 | // soon
       : ^
       `----
      help: for example {"permission": {"edit": "ask"}}
    "#);
}

#[test]
fn a_file_without_a_byte() {
    let error = broken("");
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x the file says nothing
       ,-[t.jsonc:1:1]
       `----
      help: for example {"permission": {"edit": "ask"}}
    "#);
}

#[test]
fn an_unknown_preset() {
    let error = broken(
        r#"{
  "preset": "yolo"
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x no preset is called `yolo`
       ,-[t.jsonc:2:13]
     1 | {
     2 |   "preset": "yolo"
       :             ^^^^^^
     3 | }
       `----
      help: it is `cautious`, `normal` or `unattended`
    "#);
}

#[test]
fn limits_that_are_not_positive_whole_numbers() {
    let error = broken(
        r#"{
  "tool_output": {"max_lines": 0, "max_bytes": 2e3}
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has 2 faults; nothing of it is used until it is mended

      x `max_lines` is a whole number from 1
       ,-[t.jsonc:2:32]
     1 | {
     2 |   "tool_output": {"max_lines": 0, "max_bytes": 2e3}
       :                                ^
     3 | }
       `----

      x `max_bytes` is a whole number from 1
       ,-[t.jsonc:2:48]
     1 | {
     2 |   "tool_output": {"max_lines": 0, "max_bytes": 2e3}
       :                                                ^^^
     3 | }
       `----
    "#);
}

#[test]
fn limits_of_the_wrong_kind() {
    let error = broken(r#"{"preset": 1, "tool_output": 200}"#);
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has 2 faults; nothing of it is used until it is mended

      x `preset` is a word, not a number
       ,-[t.jsonc:1:12]
     1 | {"preset": 1, "tool_output": 200}
       :            ^
       `----
      help: it is `cautious`, `normal` or `unattended`

      x `tool_output` is an object, not a number
       ,-[t.jsonc:1:30]
     1 | {"preset": 1, "tool_output": 200}
       :                              ^^^
       `----
      help: for example {"max_lines": 2000, "max_bytes": 51200}
    "#);
}

#[test]
fn every_fault_at_once_in_file_order() {
    let error = broken(
        r#"{
  "tool_output": {"max_bytes": -1},
  "permission": {
    "edit": "never",
    "bash": {"*": 1, "ls *": ["allow"]}
  },
  "preset": "Normal"
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has 5 faults; nothing of it is used until it is mended

      x `max_bytes` is a whole number from 1
       ,-[t.jsonc:2:32]
     1 | {
     2 |   "tool_output": {"max_bytes": -1},
       :                                ^^
     3 |   "permission": {
       `----

      x `never` is not an action: expected `allow`, `ask` or `deny`
       ,-[t.jsonc:4:13]
     3 |   "permission": {
     4 |     "edit": "never",
       :             ^^^^^^^
     5 |     "bash": {"*": 1, "ls *": ["allow"]}
       `----
      help: write `"allow"`, `"ask"` or `"deny"`

      x expected an action for `*`, found a number
       ,-[t.jsonc:5:19]
     4 |     "edit": "never",
     5 |     "bash": {"*": 1, "ls *": ["allow"]}
       :                   ^
     6 |   },
       `----
      help: write `"allow"`, `"ask"` or `"deny"`

      x expected an action for `ls *`, found a list
       ,-[t.jsonc:5:30]
     4 |     "edit": "never",
     5 |     "bash": {"*": 1, "ls *": ["allow"]}
       :                              ^^^^^^^^^
     6 |   },
       `----
      help: write `"allow"`, `"ask"` or `"deny"`

      x no preset is called `Normal`
       ,-[t.jsonc:7:13]
     6 |   },
     7 |   "preset": "Normal"
       :             ^^^^^^^^
     8 | }
       `----
      help: it is `cautious`, `normal` or `unattended`
    "#);
}

#[test]
fn a_place_behind_wide_characters() {
    let error = broken(r#"{"permission": {"read": {"größe/日本/*": "allow", "🦀 *": "yes"}}}"#);
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x `yes` is not an action: expected `allow`, `ask` or `deny`
       ,-[t.jsonc:1:65]
     1 | {"permission": {"read": {"größe/日本/*": "allow", "🦀 *": "yes"}}}
       :                                                           ^^^^^
       `----
      help: write `"allow"`, `"ask"` or `"deny"`
    "#);
}

#[test]
fn nesting_without_end() {
    let error = broken(&format!("{{\"permission\": {}", "[".repeat(600)));
    assert!(error.contains("maximum nesting depth exceeded"), "{error}");
    assert!(error.contains("[t.jsonc:1:"), "{error}");
}

#[test]
fn a_home_that_is_not_known() {
    let error = broken(r#"{"permission": {"read": {"~/notes/*": "allow"}}}"#);
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x `~/notes/*` needs the home directory, which is not known or has `*` or `?` in its name
       ,-[t.jsonc:1:26]
     1 | {"permission": {"read": {"~/notes/*": "allow"}}}
       :                          ^^^^^^^^^^^
       `----
      help: write the directory out
    "#);
}
