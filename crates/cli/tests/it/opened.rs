//! What the key `sandbox` opens to the commands of a session: folders, bundles, machines, hooks of git. And what
//! it does not open.

use crate::{
    machine::is_full,
    world::{Ran, World, ran},
};
use serde_json::{Value, json};
use std::{fs, os::unix::fs::PermissionsExt as _, os::unix::net::UnixListener};

/// Sets the configuration: these rules, and this key `sandbox`.
fn configure(world: &World, permission: &Value, sandbox: &Value) {
    world.rules(&json!({ "permission": permission, "sandbox": sandbox }).to_string());
}

/// A command of a session that the rules allow, in a file, so that no word of the line names anything.
fn bash(world: &World, script: &str) -> Ran {
    world.put("ws/work.sh", script);
    world.call("bash", &json!({"command": "bash work.sh"}))
}

fn all() -> Value {
    json!({"*": "allow"})
}

/// By the preset folders outside ask, and so do machines.
fn asking() -> Value {
    json!({
        "bash": "allow", "read": {"*": "allow", "*.env": "deny"}, "edit": {"*": "allow", "*.lock": "deny"},
    })
}

#[test]
fn a_folder_that_is_named_can_be_written_as_far_as_the_rules_close_nothing_in_it() {
    let world = World::new();
    world.put_deep("out/cache/old.txt", "old\n");
    world.put_deep("out/cache/sub/.env", "KEY=secret\n");
    world.put_deep("out/cache/pinned.lock", "1\n");
    let cache = world.path("out/cache");
    configure(&world, &asking(), &json!({ "writable_paths": [cache] }));
    let script = "cd ../out/cache && cat old.txt && echo new > sub/new.txt; cat sub/.env; echo 2 > pinned.lock; \
                  echo x > ../secret.txt; cat ../secret.txt; true";
    let ran = bash(&world, script).ended_with(0);
    assert!(ran.out.contains("old\n"), "{ran:#?}");
    assert!(!ran.out.contains("outside secret"), "{ran:#?}");
    assert_eq!(world.text("out/cache/sub/new.txt"), "new\n");
    assert_eq!(world.text("out/secret.txt"), "one outside secret\n");
    if is_full(&world) {
        assert!(!ran.out.contains("KEY=secret"), "{ran:#?}");
        assert_eq!(world.text("out/cache/pinned.lock"), "1\n");
    }
    // The walls alone are open: what a tool does there itself, and what a command names, is asked.
    let file = world.path("out/cache/by-tool.txt");
    let write = json!({"filePath": file, "content": "x"});
    world.call("write", &write).ended_with(3);
    let named = format!("touch {}", file.display());
    world
        .call("bash", &json!({ "command": named }))
        .ended_with(3);
    assert!(!file.exists());
}

#[test]
fn a_command_that_may_write_nowhere_only_reads_in_a_folder_that_is_named() {
    let world = World::new();
    world.put_deep("out/cache/old.txt", "old\n");
    configure(
        &world,
        &json!({"*": "allow", "edit": "deny"}),
        &json!({ "writable_paths": [world.path("out/cache")] }),
    );
    let script = "cat ../out/cache/old.txt; touch ../out/cache/new";
    let ran = bash(&world, script);
    assert!(ran.out.contains("old\n"), "{ran:#?}");
    assert!(!world.path("out/cache/new").exists(), "{ran:#?}");
}

#[test]
fn what_is_ours_the_home_and_what_lies_around_is_named_in_vain() {
    let world = World::new();
    world.call("read", &json!({"filePath": "a.txt"}));
    world.put_deep("home/.config/tollgate/tollgate.json", "{}");
    let root = world.path("");
    let path = |path: &str| root.join(path).display().to_string();
    std::os::unix::fs::symlink(world.path("data"), world.path("out/link")).unwrap();
    for (folder, says) in [
        (path("data"), "Tollgate's own"),
        (path("data/output"), "Tollgate's own"),
        (path("out/link"), "Tollgate's own"),
        (path("home/.config/tollgate"), "Tollgate's own"),
        (path("home/.config"), "Tollgate's own"),
        ("~".to_owned(), "Tollgate's own"),
        ("/".to_owned(), "Tollgate's own"),
        (path(""), "Tollgate's own"),
        (path("tmp"), "temporary folders of other sessions"),
        ("cache".to_owned(), "no absolute path"),
    ] {
        configure(&world, &all(), &json!({ "writable_paths": [folder] }));
        for ran in [bash(&world, "true"), world.run(&["sandbox", "--", "true"])] {
            let ran = ran.ended_with(4);
            let is_placed = ran.err.contains("rules.jsonc:1:");
            assert!(is_placed && ran.err.contains(says), "{folder}: {ran:#?}");
        }
    }
    // Where what is ours lies elsewhere, the home and the workspace are still no cache.
    let elsewhere = tempfile::tempdir().unwrap();
    for (folder, says) in [
        ("~".to_owned(), "it is the home"),
        (path("."), "it is the home, or lies around it"),
    ] {
        configure(&world, &all(), &json!({ "writable_paths": [folder] }));
        let line = ["call", "bash", r#"{"command": "true"}"#];
        let mut command = world.command(&line);
        command
            .env("TOLLGATE_DATA_DIR", elsewhere.path().join("data"))
            .env("XDG_CONFIG_HOME", elsewhere.path());
        let ran = ran(&mut command).ended_with(4);
        assert!(ran.err.contains(says), "{folder}: {ran:#?}");
    }
}

#[test]
fn a_folder_that_is_not_there_is_told_and_one_in_the_workspace_opens_nothing_more() {
    let world = World::new();
    fs::create_dir(world.path("ws/.vscode")).unwrap();
    let inside = world.path("ws/.vscode");
    let missing = world.path("out/missing");
    configure(
        &world,
        &json!({"bash": "allow"}),
        &json!({ "writable_paths": [inside, missing] }),
    );
    let ran = bash(&world, "touch .vscode/made; true").ended_with(0);
    assert!(
        ran.err
            .contains("out/missing` of `sandbox.writable_paths` is not there"),
        "{ran:#?}"
    );
    if is_full(&world) {
        assert!(!world.path("ws/.vscode/made").exists(), "{ran:#?}");
    }
}

#[test]
fn what_is_opened_while_a_session_lasts_opens_no_folder_and_no_bundle_to_it() {
    let world = World::new();
    world.put_deep("out/cache/old.txt", "old\n");
    let cache = world.path("out/cache");
    let script = "touch ../out/cache/made ~/.cargo/registry/made; \
                  test -e ../out/cache/made || echo no folder; test -e ~/.cargo/registry/made || echo no bundle";
    world.put("ws/work.sh", script);
    let turns = json!([{"calls": [{"tool": "bash", "args": {"command": "bash work.sh"}}]}]);
    let play = |more: &[&str]| {
        let line = [&["--format", "json"], more].concat();
        ran(&mut world.play(&turns, &line)).ended_with(0).out
    };
    configure(&world, &all(), &json!({}));
    play(&["Begin."]);
    let open = json!({ "writable_paths": [cache], "bundles": ["cargo"] });
    configure(&world, &all(), &open);
    let said = play(&["--continue", "Go on."]);
    assert!(
        said.contains("no folder") && said.contains("no bundle"),
        "{said}"
    );
    assert!(!world.path("out/cache/made").exists());
    let said = play(&["Begin anew."]);
    assert!(
        !said.contains("no folder") && !said.contains("no bundle"),
        "{said}"
    );
    assert!(world.path("home/.cargo/registry/made").exists());
    fs::remove_file(world.path("out/cache/made")).unwrap();
    configure(&world, &all(), &json!({ "bundles": ["cargo"] }));
    let said = play(&["--continue", "Go on."]);
    assert!(said.contains("no folder"), "a tighter word holds: {said}");
}

#[test]
fn a_repository_opens_no_bundle_and_no_hooks_even_where_it_is_trusted() {
    let world = World::new();
    world.put(
        "ws/tollgate.json",
        r#"{"sandbox": {"bundles": ["cargo"], "git_hooks": true}}"#,
    );
    let found = world.run(&["doctor", "--json"]).json();
    assert_eq!(found["inert"].as_array().unwrap().len(), 1, "{found}");
    bash(&world, "true").ended_with(0);
    assert!(!world.path("home/.cargo").exists());
}

#[test]
fn a_bundle_opens_caches_machines_and_agents_to_commands_of_a_session() {
    let world = World::new();
    configure(
        &world,
        &asking(),
        &json!({"bundles": ["cargo", "pip", "ssh-agent"]}),
    );
    let asked = |machine: &str| {
        let ran = world.run(&["check", "network", machine, "--json"]);
        ran.json()["action"].clone()
    };
    for (machine, want) in [
        ("static.crates.io:443", "allow"),
        ("pypi.org:443", "allow"),
        ("pypi.org:80", "ask"),
        ("registry.npmjs.org:443", "ask"),
    ] {
        assert_eq!(asked(machine), want, "{machine}");
    }
    assert!(!world.path("home/.cargo").exists(), "a check makes nothing");
    world.put_deep("home/.cargo/credentials.toml", "token secret\n");
    let script = "touch ~/.cargo/registry/x ~/.cache/uv/x; cat ~/.cargo/credentials.toml; touch ~/.cargo/x; true";
    let ran = bash(&world, script).ended_with(0);
    assert!(world.path("home/.cargo/registry/x").exists(), "{ran:#?}");
    assert!(world.path("home/.cache/uv/x").exists(), "{ran:#?}");
    assert!(!ran.out.contains("token") && !world.path("home/.cargo/x").exists());

    configure(
        &world,
        &asking(),
        &json!({"network": "deny", "bundles": ["pip"]}),
    );
    assert_eq!(asked("pypi.org:443"), "allow");
    assert_eq!(asked("static.crates.io:443"), "deny");

    configure(&world, &all(), &json!({"bundles": ["docker"]}));
    for ran in [bash(&world, "true"), world.run(&["check", "edit", "x"])] {
        let ran = ran.ended_with(4);
        assert!(ran.err.contains("rules.jsonc:1:"), "{ran:#?}");
        assert!(
            ran.err
                .contains("there is no bundle `docker`; there are\n  cargo ")
        );
    }
}

#[test]
fn an_agent_that_signs_is_reached_and_no_service_that_acts_for_the_user() {
    let world = World::new();
    if !is_full(&world) {
        return;
    }
    let services = ["bus", "docker.sock", "podman/podman.sock", "agent.sock"];
    fs::create_dir_all(world.path("run/podman")).unwrap();
    let _listening = services.map(|it| UnixListener::bind(world.path("run").join(it)).unwrap());
    let dial = "use Socket; for my $path (@ARGV) { socket(S, AF_UNIX, SOCK_STREAM, 0) or die; \
                print connect(S, sockaddr_un($path)) ? \"reached\" : \"closed\", \" $path\\n\"; close(S) }";
    world.put("ws/dial.pl", dial);
    let paths = services.map(|it| world.path("run").join(it).display().to_string());
    let all_bundles = json!(["cargo", "git", "go", "maven", "npm", "python", "ssh"]);
    configure(&world, &all(), &json!({ "bundles": all_bundles }));
    world.put(
        "ws/work.sh",
        format!("perl dial.pl {}; echo $SSH_AUTH_SOCK", paths.join(" ")),
    );
    let session = [
        "call",
        "bash",
        r#"{"command": "bash work.sh"}"#,
        "--on-ask",
        "deny",
    ];
    for line in [&session[..], &["sandbox", "--", "bash", "work.sh"]] {
        let mut command = world.command(line);
        command
            .env("XDG_RUNTIME_DIR", world.path("run"))
            .env("DOCKER_HOST", format!("unix://{}", paths[1]))
            .env(
                "DBUS_SESSION_BUS_ADDRESS",
                format!("unix:path={}", paths[0]),
            )
            .env("SSH_AUTH_SOCK", &paths[3]);
        let ran = ran(&mut command).ended_with(0);
        for (path, word) in paths.iter().zip(["closed", "closed", "closed", "reached"]) {
            assert!(ran.out.contains(&format!("{word} {path}\n")), "{ran:#?}");
        }
        assert!(ran.out.contains(&format!("\n{}\n", paths[3])), "{ran:#?}");
    }
}

#[test]
fn a_command_of_ones_own_has_what_the_configuration_opens() {
    let world = World::new();
    if is_full(&world) {
        let line = ["sandbox", "--", "sh", "-c", "echo ${https_proxy-none}"];
        let rules = |permission: &Value| {
            configure(&world, permission, &json!({"allowed_hosts": ["a.example"]}));
            world.run(&line).ended_with(0).out
        };
        assert!(rules(&json!({})).contains("127.0.0.1:3128"));
        assert_eq!(rules(&json!({"network": "deny"})), "none\n");
    }
    world.put_deep("out/cache/old.txt", "old\n");
    let open = json!({ "writable_paths": [world.path("out/cache")], "bundles": ["go"] });
    configure(&world, &all(), &open);
    let line = "touch ../out/cache/made ~/go/pkg/made";
    world
        .run(&["sandbox", "--", "sh", "-c", line])
        .ended_with(0);
    assert!(world.path("out/cache/made").exists() && world.path("home/go/pkg/made").exists());
}

/// A repository with a hook that leaves a trace and tries to leave one outside.
fn hooked(world: &World) {
    let line = "git init -q . && git add a.txt";
    ran(&mut world.wrapped(&["bash", "-c"], &[line])).ended_with(0);
    let hook = "#!/bin/sh\necho ran > hooked\necho ran > ../out/hooked\nexit 0\n";
    world.put_deep("ws/.git/hooks/pre-commit", hook);
    let path = world.path("ws/.git/hooks/pre-commit");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

const COMMIT: &str = "git -c user.name=n -c user.email=n@example.invalid commit -q -m first";

#[test]
fn hooks_of_a_repository_run_where_the_user_wants_them_and_stay_inside() {
    for (sandbox, is_run) in [
        (json!({}), false),
        (json!({"git_hooks": false}), false),
        (json!({"git_hooks": true}), true),
    ] {
        let world = World::new();
        hooked(&world);
        configure(&world, &all(), &sandbox);
        let ran = bash(&world, COMMIT).ended_with(0);
        assert_eq!(
            world.path("ws/hooked").exists(),
            is_run,
            "{sandbox}: {ran:#?}"
        );
        assert!(!world.path("out/hooked").exists(), "{ran:#?}");
    }
}

#[test]
fn a_command_cannot_make_the_hook_that_its_own_git_runs() {
    let world = World::new();
    if !is_full(&world) {
        return;
    }
    hooked(&world);
    fs::remove_file(world.path("ws/.git/hooks/pre-commit")).unwrap();
    // Rules of the presets, which protect what git executes.
    configure(
        &world,
        &json!({"bash": "allow"}),
        &json!({"git_hooks": true}),
    );
    let make = "printf '#!/bin/sh\\necho ran > hooked\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit";
    let ran = bash(&world, &format!("{make}; {COMMIT}"));
    assert!(!world.path("ws/hooked").exists(), "{ran:#?}");
    assert!(!world.path("ws/.git/hooks/pre-commit").exists(), "{ran:#?}");
}

#[test]
fn a_call_whose_command_wanted_a_machine_that_nobody_was_there_to_give_ends_as_a_run_does() {
    let world = World::new();
    if !is_full(&world) {
        return;
    }
    let dial = "exec 3<>/dev/tcp/127.0.0.1/3128 && printf 'CONNECT h.example:443 HTTP/1.1\\r\\n\
                Host: h.example:443\\r\\n\\r\\n' >&3 && cat <&3; true";
    configure(&world, &asking(), &json!({}));
    let ran = bash(&world, dial).ended_with(3);
    assert!(
        ran.err.contains("an ask of the command went unanswered"),
        "{ran:#?}"
    );
    assert!(ran.out.contains("h.example:443"), "{ran:#?}");
    let denied = json!({"*": "allow", "network": {"*": "ask", "h.example:443": "deny"}});
    configure(&world, &denied, &json!({}));
    bash(&world, dial).ended_with(0);
}
