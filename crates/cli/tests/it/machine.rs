//! `doctor`, `sandbox` and `completions`: what this machine holds, used by hand.

use crate::world::{ALL, Ran, World, check_plain, ran};
use serde_json::{Value, json};
use std::fs;

fn sandbox(world: &World, command: &[&str]) -> Ran {
    world.run(&[&["sandbox", "--"], command].concat())
}

#[test]
fn doctor_says_what_is_held_and_what_was_found() {
    let world = World::new();
    world.put_deep("home/.config/kilo/kilo.jsonc", r#"{"colour": "red"}"#);
    let before = world.files();
    let found = world.run(&["doctor", "--json"]).ended_with(0).json();
    let keys: Vec<&String> = found.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        ["sandbox", "store", "agent", "config", "inert", "warnings"]
    );
    assert!(
        ["full", "partial"].contains(&found["sandbox"]["tier"].as_str().unwrap()),
        "{found}"
    );
    let guarantees = found["sandbox"]["guarantees"].as_array().unwrap();
    assert!(guarantees.iter().any(|it| it["held"] == true), "{found}");
    for guarantee in guarantees {
        let is_explained = guarantee["held"] == true || guarantee["why"] != "";
        assert!(is_explained && guarantee["name"].is_string(), "{guarantee}");
    }
    let store = world.path("data/tollgate.db").display().to_string();
    assert_eq!(
        found["store"],
        json!({"path": store, "ok": true, "problem": null})
    );
    let user = world
        .path("home/.config/kilo/kilo.jsonc")
        .display()
        .to_string();
    let named = world.path("rules.jsonc").display().to_string();
    assert_eq!(found["config"], json!([user, named]));
    let warnings = found["warnings"].as_array().unwrap();
    assert!(
        warnings.len() == 1 && warnings[0].as_str().unwrap().contains("colour"),
        "{found}"
    );

    let text = world.run(&["doctor"]).ended_with(0).out;
    for words in [
        "sandbox    ",
        "  held      commands write only",
        "store      ",
        ": ok\n",
        "agent      code\n",
        "config     ",
        "warning    ",
    ] {
        assert!(text.contains(words), "`{words}` is not in {text}");
    }
    check_plain(&text);
    assert_eq!(world.files(), before);
    assert!(!world.path("data").exists(), "it made a state folder");
}

#[test]
fn doctor_finds_a_store_that_cannot_be_used() {
    let world = World::new();
    world
        .call("read", &json!({"filePath": "a.txt"}))
        .ended_with(0);
    world.run(&["doctor"]).ended_with(0);
    world.put(
        "data/tollgate.db",
        "no store at all, but long enough to be looked at as one".repeat(30),
    );
    let found = world.run(&["doctor", "--json"]).ended_with(1).json();
    assert_eq!(found["store"]["ok"], false);
    assert!(found["store"]["problem"].is_string(), "{found}");
    let text = world.run(&["doctor"]).ended_with(1).out;
    assert!(
        text.contains(found["store"]["problem"].as_str().unwrap()),
        "{text}"
    );
}

#[test]
fn the_sandbox_passes_output_and_exit_codes_on() {
    let world = World::new();
    let ran = sandbox(&world, &["cat", "a.txt"]).ended_with(0);
    assert_eq!(ran.out, "one\ntwo\nthree\n");
    for code in [0, 1, 7, 42, 255] {
        sandbox(&world, &["sh", "-c", &format!("exit {code}")]).ended_with(code);
    }
    let ran = sandbox(&world, &["sh", "-c", "kill -9 $$"]).ended_with(137);
    assert!(ran.err.contains("ended by signal 9"), "{ran:#?}");
    let ran = sandbox(&world, &["sh", "-c", "echo \"$0 $#\"", "--", "a b"]).ended_with(0);
    assert_eq!(ran.out, "-- 1\n", "arguments are no shell text");
    let ran = sandbox(&world, &["no-such-program"]).ended_with(2);
    assert!(
        ran.err.contains("`no-such-program` is not to be found"),
        "{ran:#?}"
    );
    world.run(&["sandbox"]).ended_with(2);
}

#[test]
fn the_sandbox_holds_what_it_holds_for_tools() {
    let world = World::new();
    let before = world.files();
    for command in [
        "echo x > ../out/new",
        "echo x > ../out/secret.txt",
        "rm ../out/secret.txt",
        "cat ../out/secret.txt",
        "cat ~/key.txt",
        "touch /var/tmp/tollgate-new",
    ] {
        let ran = sandbox(&world, &["sh", "-c", &format!("{command} 2>&1")]);
        assert_ne!(ran.code, Some(0), "`{command}`: {ran:#?}");
        assert!(
            ran.out.contains("ermission denied"),
            "`{command}`: {ran:#?}"
        );
        assert!(!ran.out.contains("secret\n"), "`{command}`: {ran:#?}");
    }
    assert_eq!(world.files(), before);
    sandbox(
        &world,
        &["sh", "-c", "echo x > new && echo y > \"$TMPDIR/y\""],
    )
    .ended_with(0);
    assert_eq!(world.text("ws/new"), "x\n");
    assert_eq!(
        fs::read_dir(world.path("tmp")).unwrap().count(),
        0,
        "the temporary folder is left"
    );
}

#[test]
fn where_editing_is_closed_whole_the_sandbox_has_no_place_to_write_in_the_workspace() {
    for (rules, agent) in [
        (ALL, "plan"),
        (r#"{"permission": {"*": "allow", "edit": "deny"}}"#, "code"),
    ] {
        let world = World::new();
        world.rules(rules);
        let before = world.files();
        let line = [
            "sandbox",
            "--agent",
            agent,
            "--",
            "sh",
            "-c",
            "touch \"$TMPDIR/y\" && cat a.txt",
        ];
        world.run(&line).ended_with(0);
        let line = ["sandbox", "--agent", agent, "--", "touch", "new"];
        world.run(&line).ended_with(1);
        assert_eq!(world.files(), before);
    }
}

#[test]
fn the_sandbox_has_no_network() {
    let world = World::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    listener.set_nonblocking(true).unwrap();
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
    // The same line gets through outside, so it is the walls that stop it.
    let outside = ran(&mut world.wrapped(&["bash", "-c"], &[&connect]));
    outside.ended_with(0);
    assert!(listener.accept().is_ok());
    let inside = sandbox(&world, &["bash", "-c", &connect]);
    assert_ne!(inside.code, Some(0), "{inside:#?}");
    assert!(listener.accept().is_err(), "{inside:#?}");
}

#[test]
fn the_sandbox_starts_nothing_in_a_faulty_configuration() {
    let world = World::new();
    world.rules("{");
    sandbox(&world, &["touch", "made"]).ended_with(4);
    assert!(!world.path("ws/made").exists());
}

#[test]
fn each_shell_gets_its_completions() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish"] {
        let ran = world.run(&["completions", shell]).ended_with(0);
        for word in ["doctor", "approvals", "--on-ask", "on-ask"]
            .iter()
            .filter(|it| shell != "fish" || !it.starts_with("--"))
        {
            assert!(ran.out.contains(word), "{shell}: {word}");
        }
        assert!(ran.err.is_empty(), "{ran:#?}");
    }
    // The shell that there is reads its own.
    let text = world.run(&["completions", "bash"]).out;
    world.put("completions.bash", text);
    let file = world.path("completions.bash").display().to_string();
    ran(&mut world.wrapped(&["bash", "-n"], &[&file])).ended_with(0);
    world.run(&["completions", "dos"]).ended_with(2);
}

#[test]
fn what_is_made_for_programs_is_json_and_nothing_else() {
    let world = World::new();
    for line in [
        ["doctor", "--json"].as_slice(),
        &["agents", "--json"],
        &["tools", "--json"],
        &["sessions", "list", "--json"],
        &["approvals", "list", "--json"],
    ] {
        let value: Value = world.run(line).ended_with(0).json();
        assert!(value.is_array() || value.is_object(), "{line:?}");
    }
}
