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

      x `permissions` is a list of rules, not an object
       ,-[t.jsonc:2:18]
     1 | {
     2 |   "permissions": {"edit": "deny"}
       :                  ^^^^^^^^^^^^^^^^
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

      x `preset` cannot be `yolo`
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

      x `tool_output.max_lines` is a whole number from 1, not `0`
       ,-[t.jsonc:2:32]
     1 | {
     2 |   "tool_output": {"max_lines": 0, "max_bytes": 2e3}
       :                                ^
     3 | }
       `----
      help: for example `"max_lines": 2000`

      x `tool_output.max_bytes` is a whole number from 1, not `2e3`
       ,-[t.jsonc:2:48]
     1 | {
     2 |   "tool_output": {"max_lines": 0, "max_bytes": 2e3}
       :                                                ^^^
     3 | }
       `----
      help: for example `"max_bytes": 51200`
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
      help: for example `"tool_output": {"max_lines": 2000, "max_bytes": 51200}`
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

      x `tool_output.max_bytes` is a whole number from 1, not `-1`
       ,-[t.jsonc:2:32]
     1 | {
     2 |   "tool_output": {"max_bytes": -1},
       :                                ^^
     3 |   "permission": {
       `----
      help: for example `"max_bytes": 51200`

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

      x `preset` cannot be `Normal`
       ,-[t.jsonc:7:13]
     6 |   },
     7 |   "preset": "Normal"
       :             ^^^^^^^^
     8 | }
       `----
      help: did you mean `normal`?
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

#[test]
fn an_agent_that_is_a_string() {
    let error = broken(
        r#"{
  "agent": {
    "review": "You review changes."
  }
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x `agent.review` is an object, not a string
       ,-[t.jsonc:3:15]
     2 |   "agent": {
     3 |     "review": "You review changes."
       :               ^^^^^^^^^^^^^^^^^^^^^
     4 |   }
       `----
      help: for example `"agent": {"plan": {"temperature": 0.1}}`
    "#);
}

#[test]
fn an_agent_with_an_unknown_mode() {
    let error = broken(
        r#"{
  "agent": {
    "review": {"mode": "sub-agent"}
  }
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x `agent.review.mode` cannot be `sub-agent`
       ,-[t.jsonc:3:24]
     2 |   "agent": {
     3 |     "review": {"mode": "sub-agent"}
       :                        ^^^^^^^^^^^
     4 |   }
       `----
      help: did you mean `subagent`?
    "#);
}

#[test]
fn an_agents_numbers_out_of_range() {
    let error = broken(
        r#"{
  "agent": {
    "plan": {"temperature": 3, "steps": 0}
  }
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has 2 faults; nothing of it is used until it is mended

      x `agent.plan.temperature` is a number from 0 to 2, not `3`
       ,-[t.jsonc:3:29]
     2 |   "agent": {
     3 |     "plan": {"temperature": 3, "steps": 0}
       :                             ^
     4 |   }
       `----
      help: for example `"temperature": 0.2`

      x `agent.plan.steps` is a whole number from 1, not `0`
       ,-[t.jsonc:3:41]
     2 |   "agent": {
     3 |     "plan": {"temperature": 3, "steps": 0}
       :                                         ^
     4 |   }
       `----
      help: for example `"steps": 40`
    "#);
}

#[test]
fn an_agents_flags_in_quotes() {
    let error = broken(
        r#"{
  "agent": {
    "plan": {"disable": "true", "hidden": 1, "steps": "5"}
  }
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has 3 faults; nothing of it is used until it is mended

      x `agent.plan.disable` is true or false, not a string
       ,-[t.jsonc:3:25]
     2 |   "agent": {
     3 |     "plan": {"disable": "true", "hidden": 1, "steps": "5"}
       :                         ^^^^^^
     4 |   }
       `----
      help: write it without quotes

      x `agent.plan.hidden` is true or false, not a number
       ,-[t.jsonc:3:43]
     2 |   "agent": {
     3 |     "plan": {"disable": "true", "hidden": 1, "steps": "5"}
       :                                           ^
     4 |   }
       `----
      help: for example `"hidden": true`

      x `agent.plan.steps` is a whole number from 1, not a string
       ,-[t.jsonc:3:55]
     2 |   "agent": {
     3 |     "plan": {"disable": "true", "hidden": 1, "steps": "5"}
       :                                                       ^^^
     4 |   }
       `----
      help: write it without quotes
    "#);
}

#[test]
fn an_agents_rules_with_a_mistyped_action() {
    let error = broken(
        r#"{
  "agent": {
    "plan": {
      "permission": {"bash": {"git log *": "alow"}}
    }
  }
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x `alow` is not an action: expected `allow`, `ask` or `deny`
       ,-[t.jsonc:4:44]
     3 |     "plan": {
     4 |       "permission": {"bash": {"git log *": "alow"}}
       :                                            ^^^^^^
     5 |     }
       `----
      help: write `"allow"`, `"ask"` or `"deny"`
    "#);
}

#[test]
fn an_agents_mistyped_permission_key() {
    let error = broken(
        r#"{
  "agent": {
    "review": {"permissions": {"edit": "deny"}, "read_only": true}
  }
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has 2 faults; nothing of it is used until it is mended

      x `agent.review.permissions` is a list of rules, not an object
       ,-[t.jsonc:3:31]
     2 |   "agent": {
     3 |     "review": {"permissions": {"edit": "deny"}, "read_only": true}
       :                               ^^^^^^^^^^^^^^^^
     4 |   }
       `----
      help: did you mean `permission`?

      x unknown key `agent.review.read_only`: the agent would not be read-only
       ,-[t.jsonc:3:49]
     2 |   "agent": {
     3 |     "review": {"permissions": {"edit": "deny"}, "read_only": true}
       :                                                 ^^^^^^^^^^^
     4 |   }
       `----
      help: did you mean `readonly`?
    "#);
}

#[test]
fn an_agent_given_twice() {
    let error = broken(
        r#"{
  "agent": {
    "review": {"permission": {"edit": "deny"}},
    "review": {"permission": {"edit": "allow"}}
  }
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x `review` is written twice
       ,-[t.jsonc:4:5]
     3 |     "review": {"permission": {"edit": "deny"}},
     4 |     "review": {"permission": {"edit": "allow"}}
       :     ^^^^^^^^
     5 |   }
       `----
      help: the first is at 3:5; keep one of them
    "#);
}

#[test]
fn an_agent_without_a_name() {
    let error = broken(r#"{"agent": {" ": {"mode": "all"}}}"#);
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x a name is empty
       ,-[t.jsonc:1:12]
     1 | {"agent": {" ": {"mode": "all"}}}
       :            ^^^
       `----
    "#);
}

#[test]
fn a_list_of_tools() {
    let error = broken(
        r#"{
  "tools": ["read", "grep"]
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x `tools` is an object of true and false, not a list
       ,-[t.jsonc:2:12]
     1 | {
     2 |   "tools": ["read", "grep"]
       :            ^^^^^^^^^^^^^^^^
     3 | }
       `----
      help: for example `"tools": {"webfetch": false}`
    "#);
}

#[test]
fn tools_switched_with_words() {
    let error = broken(
        r#"{
  "tools": {"bash": "deny", "webfetch": "false"}
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has 2 faults; nothing of it is used until it is mended

      x `tools.bash` is true or false, not a string
       ,-[t.jsonc:2:21]
     1 | {
     2 |   "tools": {"bash": "deny", "webfetch": "false"}
       :                     ^^^^^^
     3 | }
       `----
      help: for example `"tools": {"webfetch": false}`

      x `tools.webfetch` is true or false, not a string
       ,-[t.jsonc:2:41]
     1 | {
     2 |   "tools": {"bash": "deny", "webfetch": "false"}
       :                                         ^^^^^^^
     3 | }
       `----
      help: write it without quotes
    "#);
}

#[test]
fn a_model_without_a_provider() {
    let error = broken(
        r#"{
  "model": "gpt-5",
  "agent": {"plan": {"model": "/qwen3"}}
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has 2 faults; nothing of it is used until it is mended

      x `gpt-5` names no model of a provider
       ,-[t.jsonc:2:12]
     1 | {
     2 |   "model": "gpt-5",
       :            ^^^^^^^
     3 |   "agent": {"plan": {"model": "/qwen3"}}
       `----
      help: write `NAME/MODEL`: a name of `provider` and one of its models

      x `/qwen3` names no model of a provider
       ,-[t.jsonc:3:31]
     2 |   "model": "gpt-5",
     3 |   "agent": {"plan": {"model": "/qwen3"}}
       :                               ^^^^^^^^
     4 | }
       `----
      help: write `NAME/MODEL`: a name of `provider` and one of its models
    "#);
}

#[test]
fn a_list_of_providers() {
    let error = broken(
        r#"{
  "provider": [{"name": "local", "baseURL": "http://127.0.0.1:11434/v1"}]
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x `provider` is an object, not a list
       ,-[t.jsonc:2:15]
     1 | {
     2 |   "provider": [{"name": "local", "baseURL": "http://127.0.0.1:11434/v1"}]
       :               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     3 | }
       `----
      help: for example `"provider": {"local": {"options": {"baseURL": "http://127.0.0.1:11434/v1"}}}`
    "#);
}

#[test]
fn a_provider_with_a_slash_in_its_name() {
    let error = broken(
        r#"{
  "provider": {"my/local": {"options": {}}}
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x the provider `my/local` has a slash in its name
       ,-[t.jsonc:2:16]
     1 | {
     2 |   "provider": {"my/local": {"options": {}}}
       :                ^^^^^^^^^^
     3 | }
       `----
      help: a model is chosen as `NAME/MODEL`, and the first slash ends the name
    "#);
}

#[test]
fn a_providers_options_of_the_wrong_kind() {
    let error = broken(
        r#"{
  "provider": {
    "local": {
      "options": {"baseURL": ["http://a"], "apiKey": 123, "timeout": true, "headers": {"x-team": 4}}
    }
  }
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has 4 faults; nothing of it is used until it is mended

      x `provider.local.options.baseURL` is a string, not a list
       ,-[t.jsonc:4:30]
     3 |     "local": {
     4 |       "options": {"baseURL": ["http://a"], "apiKey": 123, "timeout": true, "headers": {"x-team": 4}}
       :                              ^^^^^^^^^^^^
     5 |     }
       `----
      help: for example `"baseURL": "https://api.example.org/v1"`

      x `provider.local.options.apiKey` is a string, not a number
       ,-[t.jsonc:4:54]
     3 |     "local": {
     4 |       "options": {"baseURL": ["http://a"], "apiKey": 123, "timeout": true, "headers": {"x-team": 4}}
       :                                                      ^^^
     5 |     }
       `----
      help: for example `"apiKey": "{env:EXAMPLE_API_KEY}"`

      x `provider.local.options.timeout` is a whole number from 1, or false, not `true`
       ,-[t.jsonc:4:70]
     3 |     "local": {
     4 |       "options": {"baseURL": ["http://a"], "apiKey": 123, "timeout": true, "headers": {"x-team": 4}}
       :                                                                      ^^^^
     5 |     }
       `----
      help: for example `"timeout": 300000`

      x `provider.local.options.headers.x-team` is a string, not a number
       ,-[t.jsonc:4:98]
     3 |     "local": {
     4 |       "options": {"baseURL": ["http://a"], "apiKey": 123, "timeout": true, "headers": {"x-team": 4}}
       :                                                                                                  ^
     5 |     }
       `----
      help: for example `"headers": {"x-team": "{env:TEAM}"}`
    "#);
}

#[test]
fn a_list_of_models() {
    let error = broken(
        r#"{
  "provider": {
    "local": {
      "models": ["qwen3-coder"]
    }
  }
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x `provider.local.models` is an object, not a list
       ,-[t.jsonc:4:17]
     3 |     "local": {
     4 |       "models": ["qwen3-coder"]
       :                 ^^^^^^^^^^^^^^^
     5 |     }
       `----
      help: for example `"models": {"qwen3-coder": {"limit": {"context": 131072, "output": 8192}}}`
    "#);
}

#[test]
fn a_models_limit_in_words() {
    let error = broken(
        r#"{
  "provider": {
    "local": {
      "models": {"qwen3": {"limit": {"context": "128k", "output": 8192.5}}}
    }
  }
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has 2 faults; nothing of it is used until it is mended

      x `provider.local.models.qwen3.limit.context` is a whole number from 1, not a string
       ,-[t.jsonc:4:49]
     3 |     "local": {
     4 |       "models": {"qwen3": {"limit": {"context": "128k", "output": 8192.5}}}
       :                                                 ^^^^^^
     5 |     }
       `----
      help: for example `"context": 131072`

      x `provider.local.models.qwen3.limit.output` is a whole number from 1, not `8192.5`
       ,-[t.jsonc:4:67]
     3 |     "local": {
     4 |       "models": {"qwen3": {"limit": {"context": "128k", "output": 8192.5}}}
       :                                                                   ^^^^^^
     5 |     }
       `----
      help: for example `"output": 8192`
    "#);
}

#[test]
fn a_reference_that_is_not_closed() {
    let error = broken(
        r#"{
  "provider": {
    "local": {"options": {"apiKey": "{env:LOCAL_KEY"}}
  }
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x `{env:` is not closed
       ,-[t.jsonc:3:37]
     2 |   "provider": {
     3 |     "local": {"options": {"apiKey": "{env:LOCAL_KEY"}}
       :                                     ^^^^^^^^^^^^^^^^
     4 |   }
       `----
      help: a reference is `{env:NAME}` or `{file:PATH}`
    "#);
}

#[test]
fn references_that_name_nothing_that_can_be_found() {
    let error = broken(
        r#"{
  "instructions": ["{env:}", "{file:style.md}", "{file:~/style.md}"]
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has 3 faults; nothing of it is used until it is mended

      x `{env:}` names nothing
       ,-[t.jsonc:2:20]
     1 | {
     2 |   "instructions": ["{env:}", "{file:style.md}", "{file:~/style.md}"]
       :                    ^^^^^^^^
     3 | }
       `----
      help: a reference is `{env:NAME}` or `{file:PATH}`

      x `style.md` is relative to no file: write the path out
       ,-[t.jsonc:2:30]
     1 | {
     2 |   "instructions": ["{env:}", "{file:style.md}", "{file:~/style.md}"]
       :                              ^^^^^^^^^^^^^^^^^
     3 | }
       `----
      help: a reference is `{env:NAME}` or `{file:PATH}`

      x the home directory is not known: write the path out
       ,-[t.jsonc:2:49]
     1 | {
     2 |   "instructions": ["{env:}", "{file:style.md}", "{file:~/style.md}"]
       :                                                 ^^^^^^^^^^^^^^^^^^^
     3 | }
       `----
      help: a reference is `{env:NAME}` or `{file:PATH}`
    "#);
}

#[test]
fn a_rule_with_a_reference() {
    let error = broken(
        r#"{
  "permission": {
    "read": {"{env:HOME}/.ssh/*": "deny"}
  }
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x `{env:HOME}/.ssh/*` refers to something, and a rule has to say what it is about
       ,-[t.jsonc:3:14]
     2 |   "permission": {
     3 |     "read": {"{env:HOME}/.ssh/*": "deny"}
       :              ^^^^^^^^^^^^^^^^^^^
     4 |   }
       `----
      help: write it out; the home directory may be written `~`
    "#);
}

#[test]
fn instructions_that_are_no_list_of_strings() {
    let error = broken(
        r#"{
  "instructions": ["a.md", {"file": "b.md"}, null]
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has 2 faults; nothing of it is used until it is mended

      x `instructions[1]` is a string, not an object
       ,-[t.jsonc:2:28]
     1 | {
     2 |   "instructions": ["a.md", {"file": "b.md"}, null]
       :                            ^^^^^^^^^^^^^^^^
     3 | }
       `----
      help: for example `"instructions": ["docs/style.md"]`

      x `instructions[2]` is a string, not null
       ,-[t.jsonc:2:46]
     1 | {
     2 |   "instructions": ["a.md", {"file": "b.md"}, null]
       :                                              ^^^^
     3 | }
       `----
      help: for example `"instructions": ["docs/style.md"]`
    "#);
    let error = broken(r#"{"instructions": "a.md"}"#);
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x `instructions` is a list of strings, not a string
       ,-[t.jsonc:1:18]
     1 | {"instructions": "a.md"}
       :                  ^^^^^^
       `----
      help: for example `"instructions": ["docs/style.md"]`
    "#);
}

#[test]
fn a_sandbox_that_is_switched_with_a_word() {
    let error = broken(
        r#"{
  "sandbox": "off"
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x `sandbox` is an object, not a string
       ,-[t.jsonc:2:14]
     1 | {
     2 |   "sandbox": "off"
       :              ^^^^^
     3 | }
       `----
      help: for example `"sandbox": {"network": "deny"}`
    "#);
}

#[test]
fn a_sandbox_with_wrong_walls() {
    let error = broken(
        r#"{
  "sandbox": {"enabled": "false", "network": "denied", "writable_paths": "~/.cache"}
}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has 3 faults; nothing of it is used until it is mended

      x `sandbox.enabled` is true or false, not a string
       ,-[t.jsonc:2:26]
     1 | {
     2 |   "sandbox": {"enabled": "false", "network": "denied", "writable_paths": "~/.cache"}
       :                          ^^^^^^^
     3 | }
       `----
      help: write it without quotes

      x `sandbox.network` cannot be `denied`
       ,-[t.jsonc:2:46]
     1 | {
     2 |   "sandbox": {"enabled": "false", "network": "denied", "writable_paths": "~/.cache"}
       :                                              ^^^^^^^^
     3 | }
       `----
      help: it is `allow` or `deny`

      x `sandbox.writable_paths` is a list of strings, not a string
       ,-[t.jsonc:2:74]
     1 | {
     2 |   "sandbox": {"enabled": "false", "network": "denied", "writable_paths": "~/.cache"}
       :                                                                          ^^^^^^^^^^
     3 | }
       `----
      help: for example `"writable_paths": ["~/.cache/build"]`
    "#);
}

#[test]
fn a_machine_that_is_named_by_a_wildcard() {
    let error = broken(r#"{"sandbox": {"allowed_hosts": ["a.b", "*.github.com", "{env:X}"]}}"#);
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x `*.github.com` is no exact name of a machine with an optional port, such as
      | `api.example.com:443`
       ,-[t.jsonc:1:39]
     1 | {"sandbox": {"allowed_hosts": ["a.b", "*.github.com", "{env:X}"]}}
       :                                       ^^^^^^^^^^^^^^
       `----
      help: name each machine by itself; rules for `network` take wildcards
    "#);
}

#[test]
fn a_mistyped_sandbox_key() {
    let error = broken(r#"{"sandbx": {"network": "deny"}, "tool": {"bash": false}}"#);
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has 2 faults; nothing of it is used until it is mended

      x unknown key `sandbx`: the walls below it would not stand
       ,-[t.jsonc:1:2]
     1 | {"sandbx": {"network": "deny"}, "tool": {"bash": false}}
       :  ^^^^^^^^
       `----
      help: did you mean `sandbox`?

      x unknown key `tool`: the rules below it would not hold
       ,-[t.jsonc:1:33]
     1 | {"sandbx": {"network": "deny"}, "tool": {"bash": false}}
       :                                 ^^^^^^
       `----
      help: did you mean `tools`?
    "#);
}

#[test]
fn a_text_that_would_move_the_cursor() {
    let error = broken("{\n  \"model\": \"\u{1b}[2Jgpt\u{202e}\" // \u{1b}]0;title\u{7}\n}");
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x `\u{1b}[2Jgpt\u{202e}` names no model of a provider
       ,-[t.jsonc:2:12]
     1 | {
     2 |   "model": "?[2Jgpt�" // ?]0;title?
       :            ^^^^^^^^^^
     3 | }
       `----
      help: write `NAME/MODEL`: a name of `provider` and one of its models
    "#);
    assert!(!error.contains(|c: char| c.is_control() && c != '\n'));
}

#[test]
fn a_fault_beside_a_key_for_a_service() {
    // Also where the text is no JSON.
    let error = broken(r#"{"provider": {"a": {"options": {"apiKey": "sk-\"4711" "timeout": 1}}}}"#);
    assert!(
        error.contains(r#""****"****""#) && !error.contains("4711"),
        "{error}"
    );
    let error = broken(
        r#"{"provider": {"a": {"options": {"apiKey": "sk-4711", "headers": {"Authorization": "Bearer 4711"}, "timeout": 0}}}}"#,
    );
    insta::assert_snapshot!(error, @r#"
    the configuration `t.jsonc` has a fault; nothing of it is used until it is mended

      x `provider.a.options.timeout` is a whole number from 1, or false, not `0`
       ,-[t.jsonc:1:110]
     1 | {"provider": {"a": {"options": {"apiKey": "*******", "headers": {"Authorization": "***********"}, "timeout": 0}}}}
       :                                                                                                              ^
       `----
      help: for example `"timeout": 300000`
    "#);
}

#[test]
fn more_faults_than_anybody_reads() {
    let entries: Vec<_> = (0..57).map(|n| format!("\"t{n}\": 1")).collect();
    let error = broken(&format!(
        "{{\"permission\": {{\n{}\n}}}}",
        entries.join(",\n")
    ));
    assert!(
        error.starts_with("the configuration `t.jsonc` has 57 faults;"),
        "{error}"
    );
    assert!(error.ends_with("\nand 37 more\n"), "{error}");
    assert_eq!(
        error
            .matches("expected an action or an object of patterns")
            .count(),
        20
    );
}
