//! Tollgate's own configuration and keys: out of every tool's reach, whatever the rules say.

use crate::{
    server::{KEY, configuration},
    world::{World, ran},
};
use serde_json::json;
use std::{fs, os::unix::fs::symlink, path::Path};

const FOLDER: &str = "home/.config/tollgate";

/// Neither tools nor commands get at what is in this file, by any name, and it stays as it is.
#[track_caller]
fn check_out_of_reach(world: &World, path: &Path) {
    let before = fs::read_to_string(path).unwrap();
    let shown = path.display().to_string();
    let folder = path.parent().unwrap().display().to_string();
    let _left = fs::remove_file(world.path("ws/link"));
    symlink(path, world.path("ws/link")).unwrap();
    for agent in ["code", "plan"] {
        for (tool, arguments) in [
            ("read", json!({"filePath": shown})),
            ("read", json!({"filePath": "link"})),
            (
                "read",
                json!({"filePath": format!("{folder}/./{}", path.file_name().unwrap().display())}),
            ),
            ("grep", json!({"pattern": "hunter2", "path": folder})),
            ("grep", json!({"pattern": "hunter2", "path": "."})),
            (
                "edit",
                json!({"filePath": shown, "oldString": "hunter2", "newString": "x"}),
            ),
            (
                "edit",
                json!({"filePath": "link", "oldString": "hunter2", "newString": "x"}),
            ),
            ("write", json!({"filePath": shown, "content": "{}"})),
            ("bash", json!({"command": format!("cat {shown}")})),
            ("bash", json!({"command": format!("cat < {shown}")})),
            ("bash", json!({"command": "cat link"})),
            ("bash", json!({"command": format!("echo {{}} > {shown}")})),
        ] {
            let line = [
                "call",
                tool,
                &arguments.to_string(),
                "--on-ask",
                "deny",
                "--agent",
                agent,
            ];
            let mut command = world.command(&line);
            command.env_remove("TOLLGATE_CONFIG");
            let ran = ran(&mut command);
            let is_about = format!("{agent} {tool} {arguments}: {ran:#?}");
            assert!(!ran.said().contains("hunter2"), "{is_about}");
            assert_ne!(ran.code, Some(70), "{is_about}");
            if matches!(tool, "read" | "edit" | "write") {
                assert_eq!(ran.code, Some(3), "{is_about}");
            }
        }
    }
    assert_eq!(fs::read_to_string(path).unwrap(), before);
}

/// A user's configuration that holds a key and allows everything.
fn config() -> String {
    let mut config = configuration("http://127.0.0.1:9/v1", &json!(KEY));
    config["permission"] = json!({
        "*": "allow", "read": {"*": "allow"}, "edit": {"*": "allow"}, "external_directory": {"*": "allow"},
        "bash": {"*": "allow", "cat *": "allow", "echo *": "allow"},
    });
    config.to_string()
}

#[test]
fn the_users_configuration_is_neither_read_nor_written() {
    let world = World::new();
    world.put_deep(&format!("{FOLDER}/tollgate.json"), config());
    check_out_of_reach(&world, &world.path(FOLDER).join("tollgate.json"));
}

#[test]
fn so_are_the_files_of_other_systems_that_are_read_as_ours() {
    let world = World::new();
    world.put_deep("home/.config/opencode/opencode.json", config());
    check_out_of_reach(&world, &world.path("home/.config/opencode/opencode.json"));
}

#[test]
fn a_link_on_the_way_to_it_does_not_open_it() {
    let world = World::new();
    world.put_deep("dots/tollgate/tollgate.json", config());
    symlink(world.path("dots"), world.path("home/.config")).unwrap();
    check_out_of_reach(&world, &world.path("dots/tollgate/tollgate.json"));
    check_out_of_reach(
        &world,
        &world.path("home").join(".config/tollgate/tollgate.json"),
    );

    let world = World::new();
    world.put_deep("dots/mine.json", config());
    fs::create_dir_all(world.path(FOLDER)).unwrap();
    symlink(
        world.path("dots/mine.json"),
        world.path("home").join(".config/tollgate/tollgate.json"),
    )
    .unwrap();
    check_out_of_reach(&world, &world.path("dots/mine.json"));
}

#[test]
fn a_file_with_a_key_is_out_of_reach_wherever_it_is() {
    let world = World::new();
    world.put("out/key.txt", format!("{KEY}\n"));
    let reference = format!("{{file:{}}}", world.path("out/key.txt").display());
    world.put_deep(
        &format!("{FOLDER}/tollgate.json"),
        config().replace(KEY, &reference),
    );
    check_out_of_reach(&world, &world.path("out/key.txt"));
}

#[test]
fn a_named_file_in_the_workspace_is_not_for_tools() {
    let world = World::new();
    world.put("ws/mine.json", config());
    for (tool, arguments) in [
        ("read", json!({"filePath": "mine.json"})),
        (
            "edit",
            json!({"filePath": "mine.json", "oldString": "allow", "newString": "deny", "replaceAll": true}),
        ),
        (
            "write",
            json!({"filePath": "./sub/../mine.json", "content": "{}"}),
        ),
    ] {
        for named in [
            "mine.json",
            &world.path("ws/mine.json").display().to_string(),
        ] {
            let line = [
                "call",
                tool,
                &arguments.to_string(),
                "--on-ask",
                "deny",
                "--config",
                named,
            ];
            let ran = world.run(&line).ended_with(3);
            assert!(!ran.said().contains("hunter2"), "{ran:#?}");
        }
    }
    assert_eq!(world.text("ws/mine.json"), config());
}

#[test]
fn a_new_file_beside_it_cannot_be_made() {
    let world = World::new();
    for folder in ["home/.config", FOLDER] {
        fs::create_dir_all(world.path(folder)).unwrap();
        let path = world.path(FOLDER).join("kilo.json").display().to_string();
        world
            .call("write", &json!({"filePath": path, "content": "{}"}))
            .ended_with(3);
        assert!(!world.path(FOLDER).join("kilo.json").exists());
    }
}

#[test]
fn a_variable_that_holds_a_key_is_not_inherited() {
    // Neither the name nor the value gives it away.
    let world = World::new();
    world.rules(&configuration("http://127.0.0.1:9/v1", &json!("{env:PLAIN_WORD}")).to_string());
    let line = ["call", "bash", r#"{"command": "env"}"#, "--on-ask", "deny"];
    let ran = ran(world
        .command(&line)
        .env("PLAIN_WORD", "tulip")
        .env("OTHER_WORD", "stays"))
    .ended_with(0);
    assert!(ran.out.contains("OTHER_WORD=stays"), "{ran:#?}");
    assert!(
        !ran.out.contains("PLAIN_WORD") && !ran.out.contains("tulip"),
        "{ran:#?}"
    );
}
