//! What is read from a sound file, and what it warns of.
//! Must not test how `policy` decides.

use agent::{Mode, Preset};
use policy::{Action, Rule};
use tollgate_config::{Config, Network, Reference, Timeout, ToolOutput, parse};

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
fn every_form_of_rules_in_one_file_holds_in_its_order() {
    let config = parse(
        r#"{
  "permissions": [
    {"action": "shell", "resource": "rm *", "effect": "deny"},
    {"action": "edit", "resource": "path:~/notes/**", "effect": "allow"},
    {"resource": "arg:sql=SELECT * && arg:db=test", "effect": "allow", "action": "db_query"},
  ],
  "permission": {"bash": "ask", "lsp": null, "edit": {}, "read": {"x": null, "path:src/**": "allow"}},
  "tools": {"webfetch": false, "shell": true},
  "agents": {"a": {"permissions": [{"action": "subagent", "resource": "*", "effect": "deny"}],
    "permission": "ask", "system": "hello", "disabled": false}}
}"#,
        "t.jsonc",
        Some("/home/u"),
    );
    let config = config.unwrap();
    let shown = |rules: &[Rule]| rules.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        shown(&config.rules),
        [
            "webfetch \"*\" deny (t.jsonc:8:13)",
            "bash \"*\" allow (t.jsonc:8:32)",
            "bash \"*\" ask (t.jsonc:7:18)",
            "read \"path:src/**\" allow (t.jsonc:7:78)",
            "bash \"rm *\" deny (t.jsonc:3:5)",
            "edit \"path:/home/u/notes/**\" allow (t.jsonc:4:5)",
            "db_query \"arg:sql=SELECT * && arg:db=test\" allow (t.jsonc:5:5)",
        ]
    );
    let agent = &config.agents[0];
    assert_eq!(
        shown(&agent.settings.rules),
        [
            "* \"*\" ask (t.jsonc:10:19)",
            "task \"*\" deny (t.jsonc:9:36)",
        ]
    );
    assert_eq!(agent.prompt.as_ref().unwrap().plain(), Some("hello"));
    assert_eq!(agent.settings.is_disabled, Some(false));
    assert_eq!(config.warnings.len(), 1, "{:?}", config.warnings);
}

#[test]
fn a_list_of_rules_that_is_wrong_anywhere_is_not_used() {
    for (wrong, about) in [
        (
            r#"{"action": "edit", "resource": "a", "effect": "dney"}"#,
            "`dney` is not an action",
        ),
        (r#"{"action": "edit", "resource": "a"}"#, "`effect`"),
        (
            r#"{"action": "edit", "resource": 1, "effect": "deny"}"#,
            "`resource`",
        ),
        (
            r#"{"action": "edit", "resource": "a", "effect": "deny", "efect": "allow"}"#,
            "`efect`",
        ),
        (
            r#"{"action": "edit", "action": "bash", "resource": "a", "effect": "deny"}"#,
            "twice",
        ),
        (
            r#"{"action": "edit", "resource": "{env:X}/*", "effect": "deny"}"#,
            "refers",
        ),
        (
            r#"{"action": "edit", "resource": "~/x", "effect": "deny"}"#,
            "home directory",
        ),
        (
            r#"{"action": "edit", "resource": "arg:x", "effect": "deny"}"#,
            "condition",
        ),
        (r#""edit""#, "an object"),
    ] {
        let text = format!(r#"{{"permissions": [{wrong}]}}"#);
        let error = parse(&text, "t.jsonc", None).unwrap_err();
        assert!(
            tollgate_config::render(&error).contains(about),
            "{wrong}: {}",
            tollgate_config::render(&error)
        );
    }
}

#[test]
fn whether_edits_of_configuration_ask_is_read() {
    let said = |text| read(text).require_approval_for_config_edits;
    assert_eq!(
        said(r#"{"require_approval_for_config_edits": false}"#),
        Some(false)
    );
    assert_eq!(said("{}"), None);
}

#[test]
fn the_agents_that_one_may_start_are_read_with_their_place() {
    let said = |text| read(text).agents.remove(0).settings.delegate;
    let some =
        said("{\"agent\": {\"x\":\n  {\"delegate\": [\"explore\", \"review-*\"]}}}").unwrap();
    assert_eq!(some.to, ["explore", "review-*"]);
    assert_eq!((some.origin.line, some.origin.column), (2, 16));
    assert_eq!(
        said(r#"{"agent": {"x": {"delegate": []}}}"#).unwrap().to,
        [""; 0]
    );
    assert_eq!(said(r#"{"agent": {"x": {}}}"#), None);
    for wrong in [r#""explore""#, "[1]", r#"["{env:WHO}"]"#] {
        let text = format!(r#"{{"agent": {{"x": {{"delegate": {wrong}}}}}}}"#);
        assert!(parse(&text, "t.jsonc", None).is_err(), "{wrong}");
    }
}

#[test]
fn a_key_nobody_knows_is_told_with_the_nearest_known_one() {
    assert_eq!(
        warnings(
            "{\n  \"presset\": 1,\n  \"agens\": {}, \"providers\": {},\n  \"tool_output\": {\"maxlines\": 1},\n  \"agent\": {\"plan\": {\"promt\": \"x\"}}, \"strange\": 1\n}"
        ),
        [
            "t.jsonc:2:3: the key `presset` is not known and has no effect (did you mean `preset`?)",
            "t.jsonc:3:3: the key `agens` is not known and has no effect (did you mean `agent`?)",
            "t.jsonc:3:16: the key `providers` is not known and has no effect (did you mean `provider`?)",
            "t.jsonc:4:19: the key `tool_output.maxlines` is not known and has no effect (did you mean `max_lines`?)",
            "t.jsonc:5:22: the key `agent.plan.promt` is not known and has no effect (did you mean `prompt`?)",
            "t.jsonc:5:38: the key `strange` is not known and has no effect",
        ]
    );
}

#[test]
fn keys_of_the_compatible_systems_are_listed_and_not_warned_of() {
    let config = read(
        "{\n  \"mcp\": {\"x\": {\"command\": [\"npx\", \"y\"]}}, \"theme\": 1,\n  \"agent\": {\"plan\": {\"color\": \"#ff0000\"}},\n  \"provider\": {\"a\": {\"npm\": \"x\", \"models\": {\"m\": {\"cost\": 1}}}}\n}",
    );
    assert_eq!(config.warnings, []);
    let unused: Vec<_> = (config.unused.iter())
        .map(|it| format!("{}:{} {}", it.file, it.line, it.key))
        .collect();
    assert_eq!(
        unused,
        [
            "t.jsonc:2 mcp",
            "t.jsonc:2 theme",
            "t.jsonc:3 agent.plan.color",
            "t.jsonc:4 provider.a.npm",
            "t.jsonc:4 provider.a.models.m.cost",
        ]
    );
}

/// Looks references up in a world that holds `KEY` and every file.
fn look_up(reference: &Reference) -> Option<String> {
    match reference {
        Reference::Env(name) => (name == "KEY").then(|| "4711".to_owned()),
        Reference::File(path) => Some(format!("text of {}\n", path.display())),
    }
}

#[test]
fn agents_are_read_with_their_own_rules() {
    let config = read(
        r#"{
  "agent": {
    "plan": {"temperature": 0.5, "steps": 7, "permission": {"shell": {"git log *": "allow"}}},
    "review": {
      "description": "reviews", "mode": "subagent", "hidden": true, "readonly": true, "disable": false,
      "prompt": "Look at {file:/p.md}.", "model": "local/qwen", "maxSteps": 9,
      "tools": {"write": false, "webfetch": true},
      "permission": {"edit": "ask"}
    }
  }
}"#,
    );
    assert_eq!((&config.warnings, &config.unused), (&vec![], &vec![]));
    let agents = config.agent_settings(&look_up).unwrap();
    let [plan, review] = agents.as_slice() else {
        panic!("{agents:?}")
    };
    assert_eq!(
        (plan.name.as_str(), plan.temperature, plan.steps),
        ("plan", Some(0.5), Some(7))
    );
    assert_eq!(plain(&plan.rules), [("bash", "git log *", Action::Allow)]);
    assert_eq!(plan.rules[0].origin.to_string(), "t.jsonc:3:71");
    assert_eq!(
        (plan.mode, plan.is_readonly, &plan.prompt),
        (None, None, &None)
    );
    assert_eq!((review.mode, review.steps), (Some(Mode::Subagent), Some(9)));
    assert_eq!(
        (review.is_hidden, review.is_readonly, review.is_disabled),
        (Some(true), Some(true), Some(false))
    );
    assert_eq!(review.prompt.as_deref(), Some("Look at text of /p.md."));
    assert_eq!(review.model.as_deref(), Some("local/qwen"));
    assert_eq!(
        plain(&review.rules),
        [
            ("edit", "*", Action::Deny),
            ("webfetch", "*", Action::Allow),
            ("edit", "*", Action::Ask),
        ]
    );
}

#[test]
fn the_older_mode_is_an_agent_for_a_person() {
    let config = read(
        r#"{"agent": {"x": {"temperature": 1}}, "mode": {"x": {"prompt": "p", "temperature": 0}, "plan": {}}}"#,
    );
    let agents = config.agent_settings(&look_up).unwrap();
    let seen: Vec<_> = agents
        .iter()
        .map(|it| (it.name.as_str(), it.mode, it.temperature))
        .collect();
    assert_eq!(
        seen,
        [
            ("x", Some(Mode::Primary), Some(0.0)),
            ("plan", Some(Mode::Primary), None),
            ("x", None, Some(1.0)),
        ]
    );
}

#[test]
fn tools_are_rules_in_front_of_the_others() {
    let config = read(
        r#"{"permission": {"bash": {"ls *": "allow"}}, "tools": {"bash": false, "patch": true, "multiedit": false, "mcp_*": false}}"#,
    );
    assert_eq!(
        plain(&config.rules),
        [
            ("bash", "*", Action::Deny),
            ("edit", "*", Action::Allow),
            ("edit", "*", Action::Deny),
            ("mcp_*", "*", Action::Deny),
            ("bash", "ls *", Action::Allow),
        ]
    );
    assert_eq!(config.rules[0].origin.to_string(), "t.jsonc:1:55");
    assert_eq!(config.warnings, []);
}

#[test]
fn providers_and_models_are_read_and_secrets_do_not_show() {
    let config = read(
        r#"{
  "model": "local/qwen/3",
  "default_agent": "plan",
  "provider": {
    "local": {
      "options": {
        "baseURL": "http://127.0.0.1:11434/v1", "apiKey": "{env:KEY}", "timeout": false,
        "headers": {"x-team": "a {env:KEY}"}
      },
      "models": {"qwen/3": {"id": "qwen:3b", "limit": {"context": 9, "output": 4}}, "other": {}}
    },
    "bare": {"options": {"timeout": 5000}}
  }
}"#,
    );
    assert_eq!(config.model.as_ref().unwrap().plain(), Some("local/qwen/3"));
    assert_eq!(config.default_agent.as_ref().unwrap().plain(), Some("plan"));
    let [local, bare] = config.providers.as_slice() else {
        panic!("{:?}", config.providers)
    };
    let base_url = local.base_url.as_ref().unwrap();
    assert_eq!(base_url.plain(), Some("http://127.0.0.1:11434/v1"));
    let key = local.api_key.as_ref().unwrap().text();
    assert_eq!(key.plain(), None);
    assert_eq!(key.resolve(&look_up).as_deref(), Ok("4711"));
    assert_eq!(key.origin().to_string(), "t.jsonc:7:59");
    let [(name, value)] = local.headers.as_slice() else {
        panic!("{local:?}")
    };
    assert_eq!(
        (name.as_str(), value.text().resolve(&look_up).as_deref()),
        ("x-team", Ok("a 4711"))
    );
    assert_eq!(
        (local.timeout, bare.timeout),
        (Some(Timeout::Never), Some(Timeout::Ms(5000)))
    );
    let model = &local.models[0];
    assert_eq!(
        (model.name.as_str(), model.id.as_ref().unwrap().plain()),
        ("qwen/3", Some("qwen:3b"))
    );
    assert_eq!(
        (model.context_tokens_max, model.output_tokens_max),
        (Some(9), Some(4))
    );
    let shown = format!(
        "{:?}",
        read(r#"{"provider": {"a": {"options": {"apiKey": "sk-1", "headers": {"x": "sk-2"}}}}}"#)
    );
    assert!(!shown.contains("sk-"), "{shown}");
}

#[test]
fn a_reference_that_stands_for_nothing_names_its_place() {
    let config = read("{\n\"agent\": {\"plan\": {\"prompt\": \"{env:NONE}\"}}\n}");
    let error = config.agent_settings(&look_up).unwrap_err();
    assert_eq!(
        error.to_string(),
        "t.jsonc:2:30: {env:NONE} stands for nothing: the variable is not set"
    );
}

#[test]
fn the_sandbox_and_instructions_are_read() {
    let config = read(
        r#"{
  "sandbox": {"enabled": true, "network": "allow", "writable_paths": ["~/.cache"], "allowed_hosts": ["a.example", "{env:HOST}"]},
  "instructions": ["a.md", "{file:/b.md}"]
}"#,
    );
    let sandbox = &config.sandbox;
    assert_eq!(
        (sandbox.is_enabled, sandbox.network),
        (Some(true), Some(Network::Allow))
    );
    let plain = |texts: &[tollgate_config::Text]| -> Vec<Option<String>> {
        texts
            .iter()
            .map(|text| text.plain().map(str::to_owned))
            .collect()
    };
    assert_eq!(
        plain(sandbox.writable_paths.as_ref().unwrap()),
        [Some("~/.cache".to_owned())]
    );
    let hosts = plain(sandbox.allowed_hosts.as_ref().unwrap());
    assert_eq!(hosts, [Some("a.example".to_owned()), None]);
    assert_eq!(plain(&config.instructions), [Some("a.md".to_owned()), None]);
    assert_eq!(read("{}").sandbox, tollgate_config::Sandbox::default());
}

#[test]
fn a_sandbox_that_is_switched_off_is_told_to_stand() {
    let told = warnings(r#"{"sandbox": {"enabled": false}}"#);
    assert_eq!(told.len(), 1);
    assert!(
        told[0].starts_with("t.jsonc:1:14: `sandbox.enabled: false` has no effect: "),
        "{told:?}"
    );
    assert!(warnings(r#"{"sandbox": {"enabled": true}}"#).is_empty());
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
