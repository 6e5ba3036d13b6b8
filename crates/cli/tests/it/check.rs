//! `check` and `tools`: what they say, in which form, with which exit code, and that they leave nothing
//! behind.

use crate::world::{Ran, World, check_plain, note};
use serde_json::{Value, json};

const ALLOW: i32 = 0;
const USAGE: i32 = 2;
const DENY: i32 = 3;
const ASK: i32 = 7;

const RULES: &str = r#"{"permission": {
    "read": {"*": "allow", "*.env": "deny"},
    "edit": {"*": "ask", "sub/*": "allow"},
    "bash": {"*": "ask", "echo *": "allow", "rm *": "deny"},
    "external_directory": "deny",
    "todowrite": "deny"
}}"#;

/// Runs a check that may leave no trace anywhere.
#[track_caller]
fn check_leaves_nothing(line: &[&str]) -> Ran {
    let world = World::new();
    world.rules(RULES);
    let before = world.files();
    let ran = world.run(line);
    assert_eq!(world.files(), before);
    assert!(!world.path("data").exists(), "a state folder was made");
    let left = std::fs::read_dir(world.path("tmp")).unwrap().count();
    assert_eq!(left, 0, "something was left in the temporary folder");
    ran
}

/// In text and as JSON.
#[track_caller]
fn check_says(line: &[&str], code: i32, action: &str, says: &[&str]) -> Value {
    let line = [["check"].as_slice(), line].concat();
    let ran = check_leaves_nothing(&line).ended_with(code);
    assert!(ran.out.starts_with(&format!("{action}: ")), "{ran:#?}");
    for words in says {
        assert!(ran.out.contains(words), "`{words}` is not in {ran:#?}");
    }
    let value = check_leaves_nothing(&[line.as_slice(), &["--json"]].concat())
        .ended_with(code)
        .json();
    assert_eq!(value["action"], action);
    check_form(&value);
    value
}

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

/// The documented keys in their order, and no others.
#[track_caller]
fn check_form(value: &Value) {
    let mut wanted = vec!["action", "gate", "asks", "trace"];
    wanted.extend(value.get("faults").map(|_| "faults"));
    assert_eq!(keys(value), wanted);
    check_action(&value["action"]);
    assert!(
        value["gate"].as_u64().is_some_and(|gate| gate <= 2),
        "{value}"
    );
    for ask in value["asks"].as_array().unwrap() {
        assert_eq!(keys(ask), ["permission", "patterns", "always", "action"]);
        assert!(ask["permission"].is_string());
        for list in ["patterns", "always"] {
            assert!(
                ask[list].as_array().unwrap().iter().all(Value::is_string),
                "{ask}"
            );
        }
        check_action(&ask["action"]);
    }
    for step in value["trace"].as_array().unwrap() {
        let optional = |key| step.get(key).map(|_| key);
        let mut wanted = vec!["step", "permission", "pattern"];
        wanted.extend(optional("rule"));
        wanted.extend(optional("origin"));
        wanted.push("action");
        wanted.extend(optional("note"));
        assert_eq!(keys(step), wanted);
        assert_eq!(step.get("rule").is_some(), step.get("origin").is_some());
        if let Some(origin) = step.get("origin") {
            assert_eq!(keys(origin), ["file", "line", "column"]);
            assert!(
                origin["file"].is_string() && origin["line"].is_u64() && origin["column"].is_u64()
            );
        }
        check_action(&step["action"]);
    }
    for fault in value
        .get("faults")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        assert_eq!(keys(fault), ["path", "message"]);
        assert!(fault["path"].is_string() && fault["message"].is_string());
    }
}

#[track_caller]
fn check_action(value: &Value) {
    assert!(
        ["allow", "ask", "deny"].contains(&value.as_str().unwrap()),
        "{value}"
    );
}

#[test]
fn a_permission_is_judged_by_the_last_rule_that_matches() {
    let outside = "/etc/hostname";
    for (permission, pattern, code, action, says) in [
        ("read", "a.txt", ALLOW, "allow", "`read: * = allow`"),
        ("read", "sub/.env", DENY, "deny", "`read: *.env = deny`"),
        ("edit", "a.txt", ASK, "ask", "`edit: * = ask`"),
        ("edit", "sub/../a.txt", ASK, "ask", "`a.txt` (edit)"),
        ("edit", "sub/b.txt", ALLOW, "allow", "`edit: sub/* = allow`"),
        (
            "read",
            outside,
            DENY,
            "deny",
            "`external_directory: * = deny`",
        ),
        ("bash", "echo a", ALLOW, "allow", "`bash: echo * = allow`"),
        ("bash", "ls", ASK, "ask", "`bash: * = ask`"),
        (
            "bash",
            "echo a; /bin/rm b",
            DENY,
            "deny",
            "`bash: rm * = deny`",
        ),
        (
            "bash",
            "echo $(date)",
            ASK,
            "ask",
            "ask: `date` (bash.readonly)",
        ),
        ("bash", "echo 'open", ASK, "ask", "cannot be told"),
        ("bash", "echo $(rm b)", DENY, "deny", "`bash: rm * = deny`"),
        ("todowrite", "*", DENY, "deny", "`todowrite: * = deny`"),
        ("doom_loop", "bash", ASK, "ask", "presets/normal.jsonc"),
        (
            "no_such_permission",
            "x",
            ASK,
            "ask",
            "presets/normal.jsonc",
        ),
    ] {
        check_says(&[permission, pattern], code, action, &[says]);
    }
}

#[test]
fn a_call_is_judged_as_it_would_be_run() {
    let table: [(&str, Value, i32, &str, &[&str]); 7] = [
        (
            "read",
            json!({"filePath": "a.txt"}),
            ALLOW,
            "allow",
            &["allow: `a.txt` (read)"],
        ),
        (
            "read",
            json!({"filePath": ".env"}),
            DENY,
            "deny",
            &["deny: `.env` (read)"],
        ),
        (
            "edit",
            json!({"filePath": "a.txt", "oldString": "one", "newString": "1"}),
            ASK,
            "ask",
            &["allow: `a.txt` (read)", "ask: `a.txt` (edit)"],
        ),
        (
            "write",
            json!({"filePath": "../out/new.txt", "content": "x"}),
            DENY,
            "deny",
            &["deny: writing outside the workspace, in `", "/out/*"],
        ),
        (
            "bash",
            json!({"command": "echo a"}),
            ALLOW,
            "allow",
            &["allow: `echo a` (bash.readonly)"],
        ),
        (
            "bash",
            json!({"command": "echo a > sub/b.txt"}),
            ALLOW,
            "allow",
            &[
                "allow: `sub/b.txt` (edit.overwrite)",
                "allow: `echo a > sub/b.txt` (bash.told)",
            ],
        ),
        (
            "bash",
            json!({"command": "echo a > .env"}),
            ASK,
            "ask",
            &["ask: `.env` (edit.new)"],
        ),
    ];
    for (tool, arguments, code, action, says) in table {
        let value = check_says(
            &["--tool", tool, &arguments.to_string()],
            code,
            action,
            says,
        );
        assert_eq!(value["gate"], 2);
        assert!(value.get("faults").is_none());
    }
}

#[test]
fn the_json_names_what_is_asked_and_where_the_rule_stands() {
    let value = check_says(&["edit", "a.txt"], ASK, "ask", &[]);
    assert_eq!(
        value["asks"],
        json!([{"permission": "edit", "patterns": ["a.txt"], "always": ["a.txt"], "action": "ask"}])
    );
    let step = &value["trace"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&step["rule"], &step["origin"]["line"]),
        (&json!("edit: * = ask"), &json!(3))
    );
    assert!(
        step["origin"]["file"]
            .as_str()
            .unwrap()
            .ends_with("rules.jsonc")
    );
}

#[test]
fn a_tool_that_a_rule_closes_is_denied_at_gate_0_by_that_rule() {
    let line = ["--tool", "edit", "{}", "--agent", "ask"];
    let says = [
        "deny: a tool that needs `edit` is not offered at all",
        "A rule that nothing lifts closes it whole",
    ];
    let value = check_says(&line, DENY, "deny", &says);
    assert_eq!((&value["gate"], value.get("faults")), (&json!(0), None));
    let step = &value["trace"][0];
    assert!(step["rule"].as_str().unwrap().ends_with(": * = deny"));
    assert_eq!(step["action"], "deny");
}

#[test]
fn a_narrower_deny_behind_the_rule_that_closes_a_tool_does_not_hide_it() {
    let world = World::new();
    world.rules(r#"{"permission": {"edit": {"*": "deny", "x": "deny"}}}"#);
    let ran = world
        .run(&["check", "--tool", "edit", "{}"])
        .ended_with(DENY);
    assert!(ran.out.contains("`edit: * = deny`"), "{ran:#?}");
}

#[test]
fn a_tool_that_there_is_not_is_denied_at_gate_0() {
    let value = check_says(
        &["--tool", "reed", "{}"],
        DENY,
        "deny",
        &["Did you mean `read`?"],
    );
    assert_eq!(value["gate"], 0);
    let fault = &value["faults"][0];
    assert_eq!(fault["path"], "tool");
    assert!(
        fault["message"]
            .as_str()
            .unwrap()
            .contains("Did you mean `read`?"),
        "{fault}"
    );
}

#[test]
fn a_check_leaves_a_state_folder_that_there_is_as_it_is() {
    let world = World::new();
    world
        .call("read", &json!({"filePath": "a.txt"}))
        .ended_with(0);
    let all = || {
        let mut found = std::collections::BTreeMap::new();
        note(&world.path("data"), &mut found);
        found
    };
    let before = all();
    world.run(&["check", "read", "a.txt"]).ended_with(ALLOW);
    world.run(&["tools"]).ended_with(0);
    assert_eq!(all(), before);
    // It is known all the same: what is ours is out of reach.
    let path = world.path("data/tollgate.db").display().to_string();
    let ran = world.run(&["check", "read", &path]).ended_with(USAGE);
    assert!(ran.out.contains("out of reach"), "{ran:#?}");
}

#[test]
fn arguments_that_do_not_fit_are_faults_at_gate_1() {
    let arguments = r#"{"filePat": 3}"#;
    let ran = check_leaves_nothing(&["check", "--tool", "read", arguments]).ended_with(USAGE);
    assert!(ran.out.contains("filePat: is not a known name"), "{ran:#?}");
    let value = check_leaves_nothing(&["check", "--tool", "read", arguments, "--json"]);
    let value = value.ended_with(USAGE).json();
    check_form(&value);
    let paths: Vec<&Value> = value["faults"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["path"])
        .collect();
    assert_eq!(
        (&value["gate"], paths),
        (&json!(1), vec![&json!("filePat"), &json!("filePath")])
    );
}

#[test]
fn an_agent_and_a_preset_change_the_answer() {
    for (line, code, action) in [
        (
            ["bash", "echo a", "--agent", "plan"].as_slice(),
            ALLOW,
            "allow",
        ),
        (&["edit", "sub/b.txt", "--agent", "plan"], DENY, "deny"),
        (&["edit", "sub/b.txt", "--agent", "build"], ALLOW, "allow"),
        (
            &["doom_loop", "bash", "--preset", "unattended"],
            DENY,
            "deny",
        ),
        (&["doom_loop", "bash", "--preset", "cautious"], ASK, "ask"),
    ] {
        check_says(line, code, action, &[]);
    }
}

#[test]
fn a_configuration_that_is_named_beats_the_one_of_the_environment() {
    let world = World::new();
    world.put("ws/other.jsonc", r#"{"permission": {"read": "deny"}}"#);
    world.run(&["check", "read", "a.txt"]).ended_with(ALLOW);
    world
        .run(&["check", "read", "a.txt", "--config", "other.jsonc"])
        .ended_with(DENY);
}

#[test]
fn a_check_prints_nothing_that_a_terminal_would_act_on() {
    let evil = "\u{1b}[31m\u{202e}\r\u{7}x";
    for line in [
        ["read", evil].as_slice(),
        &["bash", evil],
        &[evil, evil],
        &["--tool", evil, "{}"],
    ] {
        let ran = check_leaves_nothing(&[["check"].as_slice(), line].concat());
        check_plain(&ran.said());
        assert!(ran.out.contains(r"\u{1b}[31m"), "{ran:#?}");
    }
    let arguments = format!("\"{evil}");
    let ran = check_leaves_nothing(&["check", "--tool", "read", &arguments]).ended_with(USAGE);
    check_plain(&ran.said());
}

#[test]
fn tools_are_listed_as_they_are_offered() {
    let names = |line: &[&str]| -> Vec<String> {
        let ran = check_leaves_nothing(&[line, &["--json"]].concat()).ended_with(0);
        let list = ran.json();
        for tool in list.as_array().unwrap() {
            assert_eq!(
                keys(tool),
                ["name", "permission", "description", "parameters"]
            );
            assert_eq!(tool["parameters"]["type"], "object");
        }
        let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
        list.as_array().unwrap().iter().map(name).collect()
    };
    let reading = ["question", "bash", "read", "glob", "grep"];
    // The rules of this file close `todowrite` for everybody.
    assert_eq!(
        names(&["tools"]),
        [&reading[..], &["edit", "write"]].concat()
    );
    assert_eq!(names(&["tools", "--agent", "ask"]), reading);
    let ran = check_leaves_nothing(&["tools", "--agent", "ask"]).ended_with(0);
    assert!(
        ran.out.contains("(3 closed by the rules of agent ask)"),
        "{ran:#?}"
    );
    assert!(!ran.out.contains("edit"), "{ran:#?}");
}
