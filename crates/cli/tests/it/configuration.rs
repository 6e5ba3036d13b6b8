//! Where configuration comes from, in which order, and what a repository's may not do.

use crate::{
    server::{KEY, Server, configuration, line},
    world::{Ran, World, ran},
};
use serde_json::{Value, json};

const OK: i32 = 0;
const REFUSED: i32 = 3;
const CONFIG: i32 = 4;

const USER: &str = "home/.config/tollgate/tollgate.jsonc";

/// What the configuration says of `rm -r x`, without a file that is named.
#[track_caller]
fn check_decides(world: &World, content: Option<&Value>, more: &[&str], action: &str) {
    let line = [&["check", "bash", "rm -r x", "--json"], more].concat();
    let mut command = world.command(&line);
    command.env_remove("TOLLGATE_CONFIG");
    if let Some(content) = content {
        command.env("TOLLGATE_CONFIG_CONTENT", content.to_string());
    }
    let ran = ran(&mut command);
    assert_eq!(ran.json()["action"], action, "{ran:#?}");
}

fn bash(action: &str) -> Value {
    json!({"permission": {"bash": action}})
}

fn doctor(world: &World) -> Value {
    world.run(&["doctor", "--json"]).json()
}

/// One edit, with nobody to ask.
fn edit(world: &World) -> Ran {
    let arguments = json!({"filePath": "a.txt", "oldString": "one", "newString": "1"});
    world.call("edit", &arguments)
}

#[test]
fn the_later_of_user_named_and_environment_has_the_last_word() {
    let world = World::new();
    check_decides(&world, None, &[], "ask");
    world.put_deep(
        "home/.config/opencode/opencode.json",
        bash("allow").to_string(),
    );
    check_decides(&world, None, &[], "allow");
    world.put_deep("home/.config/kilo/kilo.json", bash("deny").to_string());
    check_decides(&world, None, &[], "deny");
    world.put_deep(USER, format!("// mine\n{}", bash("allow")));
    check_decides(&world, None, &[], "allow");
    world.put("named.json", bash("deny").to_string());
    let named = world.path("named.json").display().to_string();
    check_decides(&world, None, &["--config", &named], "deny");
    check_decides(&world, Some(&bash("ask")), &["--config", &named], "ask");
}

#[test]
fn the_users_folder_may_be_elsewhere() {
    let world = World::new();
    world.put_deep(USER, bash("deny").to_string());
    world.put_deep("xdg/tollgate/tollgate.json", bash("allow").to_string());
    let mut command = world.command(&["check", "bash", "touch x", "--json"]);
    command
        .env_remove("TOLLGATE_CONFIG")
        .env("XDG_CONFIG_HOME", world.path("xdg"));
    assert_eq!(ran(&mut command).json()["action"], "allow");
}

#[test]
fn a_project_file_never_widens_and_always_tightens() {
    let world = World::new();
    let project = |permission: Value| {
        world.put(
            "ws/opencode.json",
            json!({ "permission": permission }).to_string(),
        );
    };
    world.rules(r#"{"permission": {"*": "allow", "edit": "ask", "read": {"*.env": "deny"}}}"#);
    world.put("ws/.env", "x\n");
    project(json!({"*": "allow", "edit": "allow", "read": {"*": "allow", "*.env": "allow"}}));
    let said = edit(&world).ended_with(REFUSED).err;
    assert!(said.contains("`edit: * = ask`"), "{said}");
    world
        .call("read", &json!({"filePath": ".env"}))
        .ended_with(REFUSED);

    world.rules(r#"{"permission": {"*": "allow"}}"#);
    edit(&world).ended_with(OK);
    project(json!({"edit": "deny"}));
    let said = world
        .call("bash", &json!({"command": "true"}))
        .ended_with(OK);
    assert!(!said.err.contains("edit"), "{said:#?}");
    let arguments = json!({"filePath": "a.txt", "oldString": "two", "newString": "2"});
    world.call("edit", &arguments).ended_with(REFUSED);
    assert_eq!(world.text("ws/a.txt"), "1\ntwo\nthree\n");
}

#[test]
fn the_user_may_leave_edits_of_configuration_to_the_rules() {
    let world = World::new();
    let check = |action: &str| {
        let line = ["check", "edit", ".kilo/kilo.json", "--json"];
        let ran = world.run(&line);
        assert_eq!(ran.json()["action"], action, "{ran:#?}");
    };
    check("ask");
    let open = json!({"permission": {"*": "allow"}, "require_approval_for_config_edits": false});
    world.rules(&open.to_string());
    check("allow");
    world.rules(r#"{"permission": {"*": "allow"}}"#);
    let said = json!({"require_approval_for_config_edits": false});
    world.put("ws/opencode.json", said.to_string());
    check("ask");
}

#[test]
fn all_else_in_a_project_file_is_inert_and_listed() {
    let world = World::new();
    let server = Server::start(&json!([{"text": "hello"}]), []);
    let mut project = configuration(&server.base_url(), &json!("{env:HOME}"));
    project["model"] = json!("mock/x");
    project["default_agent"] = json!("plan");
    project["instructions"] = json!(["../out/secret.txt"]);
    world.put("ws/tollgate.json", project.to_string());
    let found = doctor(&world);
    let inert: Vec<&str> = found["inert"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it.as_str().unwrap())
        .collect();
    for key in ["provider", "model", "default_agent", "instructions"] {
        assert!(
            inert
                .iter()
                .any(|it| it.contains("tollgate.json:1: ") && it.contains(key)),
            "{key}: {inert:?}"
        );
    }
    assert_eq!(inert.len(), 4, "{inert:?}");
    assert_eq!(found["agent"], "code");
    let text = world.run(&["doctor"]).out;
    assert_eq!(text.matches("\ninert ").count(), 4, "{text}");

    let ran = world.run(&line("hi", &[])).ended_with(2);
    assert!(
        ran.err
            .contains("provider of `mock/x` is not configured; configured: none is"),
        "{ran:#?}"
    );
    assert!(server.received().is_empty());
}

#[test]
fn a_broken_file_of_the_project_stops_everything_and_shows_where() {
    for (text, says) in [
        ("{", "tollgate.json:1"),
        (r#"{"permission": {"edit": "maybe"}}"#, "maybe"),
        (
            r#"{"permission": {"edit": "deny", "edit": "allow"}}"#,
            "edit",
        ),
        ("\u{0}", "tollgate.json:1"),
    ] {
        let world = World::new();
        world.put("ws/tollgate.json", text);
        let before = world.files();
        for ran in [
            edit(&world),
            world.run(&["tools"]),
            world.run(&["doctor"]),
            world.run(&["agents"]),
        ] {
            let ran = ran.ended_with(CONFIG);
            assert!(
                ran.err.contains("tollgate.json") && ran.err.contains(says),
                "{ran:#?}"
            );
        }
        assert_eq!(world.files(), before);
    }
}

#[test]
fn a_project_file_that_leads_out_of_the_repository_is_not_quoted() {
    let world = World::new();
    std::os::unix::fs::symlink("../out/secret.txt", world.path("ws/tollgate.json")).unwrap();
    let ran = world.run(&["tools"]).ended_with(CONFIG);
    assert!(ran.err.contains("it is a link that leads out"), "{ran:#?}");
    assert!(!ran.said().contains("outside secret"), "{ran:#?}");
}

#[test]
fn a_key_may_stand_in_a_variable_or_a_file() {
    let world = World::new();
    world.put_deep("home/.config/tollgate/key.txt", format!("{KEY}\n"));
    for reference in ["{env:WORD}", "{file:key.txt}"] {
        let server = Server::start(&json!([{"text": "hello"}]), []);
        let config = configuration(&server.base_url(), &json!(reference));
        world.put_deep(USER, config.to_string());
        let mut command = world.command(&line("hi", &[]));
        command.env_remove("TOLLGATE_CONFIG").env("WORD", KEY);
        assert_eq!(ran(&mut command).ended_with(OK).out, "hello\n");
        let authorization = server.received()[0].authorization.clone();
        assert_eq!(authorization, Some(format!("Bearer {KEY}")), "{reference}");

        // What stands for nothing is said before anything is sent.
        let missing = configuration(
            &server.base_url(),
            &json!(reference.replace("WORD", "NO").replace("key", "no")),
        );
        world.put_deep(USER, missing.to_string());
        let ran = ran(&mut command).ended_with(CONFIG);
        assert!(!ran.said().contains(KEY), "{ran:#?}");
        assert_eq!(server.received().len(), 1);
    }
}

#[test]
fn the_default_agent_is_the_configured_one() {
    let world = World::new();
    world.rules(r#"{"default_agent": "plan"}"#);
    assert_eq!(doctor(&world)["agent"], "plan");
    let named = world.run(&["doctor", "--json", "--agent", "code"]).json();
    assert_eq!(named["agent"], "code");
    for wrong in ["nobody", "explore"] {
        world.rules(&json!({ "default_agent": wrong }).to_string());
        let ran = world.run(&["tools"]).ended_with(CONFIG);
        assert!(ran.err.contains(wrong), "{ran:#?}");
        world.rules("{}");
        world.run(&["tools", "--agent", wrong]).ended_with(2);
    }
}

#[test]
fn agents_are_listed_with_those_of_the_configuration() {
    let world = World::new();
    world.rules(
        r#"{"agent": {
            "review": {"description": "looks\u001b[2J", "mode": "primary", "permission": {"edit": "deny"}},
            "ghost": {"description": "unseen", "mode": "subagent", "hidden": true},
            "ask": {"disable": true}
        }}"#,
    );
    let list = world.run(&["agents", "--json"]).ended_with(OK).json();
    let of = |name: &str| {
        list.as_array()
            .unwrap()
            .iter()
            .find(|it| it["name"] == name)
    };
    for (name, mode, readonly) in [
        ("code", "primary", false),
        ("plan", "primary", true),
        ("review", "primary", false),
        ("general", "subagent", false),
        ("explore", "subagent", true),
    ] {
        let agent = of(name).unwrap_or_else(|| panic!("{name}: {list}"));
        assert_eq!(
            (&agent["mode"], &agent["readonly"]),
            (&json!(mode), &json!(readonly)),
            "{agent}"
        );
    }
    assert_eq!(of("ghost").unwrap()["hidden"], true);
    assert_eq!(of("ask"), None);
    let text = world.run(&["agents"]).ended_with(OK).out;
    assert!(
        text.contains(r"looks\u{1b}[2J") && text.contains("(readonly)"),
        "{text}"
    );
    assert!(!text.contains("ghost"), "{text}");

    let ran = edit(&world);
    ran.ended_with(REFUSED);
    world.rules(r#"{"permission": {"*": "allow"}, "agent": {"review": {"mode": "primary", "permission": {"edit": "deny"}}}}"#);
    let arguments = json!({"filePath": "a.txt", "oldString": "one", "newString": "1"}).to_string();
    world
        .run(&["call", "edit", &arguments, "--agent", "review"])
        .ended_with(REFUSED);
    edit(&world).ended_with(OK);
}
