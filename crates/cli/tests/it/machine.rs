//! `doctor`, `sandbox` and `completions`: what this machine holds, used by hand.

use crate::world::{ALL, BIN, Ran, World, check_plain, ran, says_no};
use serde_json::{Value, json};
use std::{fs, io::Write as _, net::TcpListener, path::Path, process::Stdio, thread};

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
        let is_explained = guarantee["held"] == true || guarantee["why"].is_string();
        assert!(is_explained && guarantee["name"].is_string(), "{guarantee}");
        assert!(guarantee["gaps"].is_array(), "{guarantee}");
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
        "  held      files outside   commands write only",
        "\n                            but a hard link inside",
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
        "touch /var/lib/tollgate-new",
    ] {
        let ran = sandbox(&world, &["sh", "-c", &format!("{command} 2>&1")]);
        assert_ne!(ran.code, Some(0), "`{command}`: {ran:#?}");
        let said = format!("{}{}", ran.out, ran.err);
        assert!(says_no(&said), "`{command}`: {ran:#?}");
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

/// Whether this machine has the tier in which single paths and machines can be opened.
pub(crate) fn is_full(world: &World) -> bool {
    let found = world.run(&["doctor", "--json"]).json();
    found["sandbox"]["tier"] == "full"
}

#[test]
fn the_sandbox_opens_what_a_person_names_and_nothing_beside_it() {
    let world = World::new();
    world.put_deep("out/read/r.txt", "may be read\n");
    world.put_deep("out/write/w.txt", "may be changed\n");
    let line = "cat ../out/read/r.txt && echo x > ../out/write/new; \
                echo x > ../out/read/new; cat ../out/secret.txt; true";
    let (read, write) = (world.path("out/read"), world.path("out/write"));
    let mut command = vec!["sandbox".into(), "--ro".into(), read.into_os_string()];
    command.extend(["--rw".into(), write.into_os_string()]);
    command.extend(["--", "sh", "-c", line].map(Into::into));
    let ran = world.run(&command).ended_with(0);
    assert!(ran.out.starts_with("may be read\n"), "{ran:#?}");
    assert!(!ran.out.contains("secret\n"), "{ran:#?}");
    assert_eq!(world.text("out/write/new"), "x\n");
    assert!(!world.path("out/read/new").exists());
}

#[test]
fn what_is_ours_is_opened_for_nobody() {
    let world = World::new();
    world.call("read", &json!({"filePath": "a.txt"}));
    world.put_deep("home/.config/tollgate/tollgate.json", "{}");
    let root = world.path(".").display().to_string();
    for path in ["data", "data/output", "home", "home/.config/tollgate", "."] {
        for way in ["--ro", "--rw"] {
            let path = format!("{root}/{path}");
            let ran = world
                .run(&["sandbox", way, &path, "--", "true"])
                .ended_with(2);
            assert!(ran.err.contains("Tollgate's own"), "{way} {path}: {ran:#?}");
        }
    }
    let missing = world.run(&["sandbox", "--rw", "../nothing", "--", "true"]);
    assert!(missing.ended_with(2).err.contains("cannot be opened"));
}

#[test]
fn a_bundle_opens_its_caches_and_no_login() {
    let world = World::new();
    world.put_deep("home/.cargo/credentials.toml", "token secret\n");
    let line = "touch ~/.cargo/registry/x && touch ~/.cargo/git/x; cat ~/.cargo/credentials.toml; \
                touch ~/.cargo/x; true";
    let command = ["sandbox", "--bundle", "cargo", "--", "sh", "-c", line];
    let ran = world.run(&command);
    if !is_full(&world) {
        assert!(ran.ended_with(5).err.contains("network closed as a whole"));
        return;
    }
    let ran = ran.ended_with(0);
    assert!(
        world.path("home/.cargo/registry/x").exists() && world.path("home/.cargo/git/x").exists()
    );
    assert!(
        !ran.out.contains("token") && !world.path("home/.cargo/x").exists(),
        "{ran:#?}"
    );

    let ran = world
        .run(&["sandbox", "--bundle", "nothing", "--", "true"])
        .ended_with(2);
    for name in ["cargo", "git", "go", "maven", "npm", "python", "ssh"] {
        assert!(ran.err.contains(&format!("\n  {name} ")), "{ran:#?}");
    }
}

#[test]
fn a_machine_that_is_named_is_reached_by_the_proxy_and_no_other() {
    let world = World::new();
    if !is_full(&world) {
        let ran = world.run(&["sandbox", "--allow-host", "localhost:1", "--", "true"]);
        assert!(ran.ended_with(5).err.contains("network closed as a whole"));
        return;
    }
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = server.accept().unwrap();
        std::io::Write::write_all(&mut stream, b"hello from outside\n").unwrap();
    });
    // CONNECT by hand: head, empty line, then what the machine says.
    let dial = |port: u16| {
        format!(
            "exec 3<>/dev/tcp/127.0.0.1/3128 && printf 'CONNECT localhost:{port} HTTP/1.1\\r\\nHost: localhost:{port}\\r\\n\\r\\n' >&3 && cat <&3"
        )
    };
    let host = format!("localhost:{port}");
    let line = format!("({}); ({})", dial(1), dial(port));
    let ran = world
        .run(&["sandbox", "--allow-host", &host, "--", "bash", "-c", &line])
        .ended_with(0);
    assert!(ran.out.contains("hello from outside"), "{ran:#?}");
    assert!(ran.out.contains("403"), "{ran:#?}");
    assert!(
        ran.err
            .contains("`--allow-host localhost:1` would allow it"),
        "{ran:#?}"
    );
    answering.join().unwrap();
    for wrong in ["*.test", "10.0.0.1", "http://a.test", "a.test:0"] {
        let ran = world.run(&["sandbox", "--allow-host", wrong, "--", "true"]);
        assert!(ran.ended_with(2).err.contains("no exact name"), "{wrong}");
    }
}

#[test]
fn the_sandbox_hides_and_protects_what_the_rules_close() {
    let world = World::new();
    if !is_full(&world) {
        return;
    }
    world.rules("{}");
    world.put("ws/.env", "KEY=secret\n");
    fs::create_dir(world.path("ws/.git")).unwrap();
    let before = world.files();
    let ran = sandbox(&world, &["cat", ".env"]);
    assert!(ran.out.is_empty(), "{ran:#?}");
    let line = "mkdir -p .git/hooks && echo x > .git/hooks/pre-commit";
    let ran = sandbox(&world, &["sh", "-c", line]);
    assert_ne!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(world.files(), before);
}

#[test]
fn the_sandbox_passes_all_three_streams_through() {
    let world = World::new();
    let mut command = world.command(&["sandbox", "--", "sh", "-c", "cat; echo e >&2; exit 3"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"from outside\n")
        .unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(3));
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "from outside\n");
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "e\n");
}

#[test]
fn a_program_that_knows_no_proxy_gets_out_by_proxy_connect() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let greeter = thread::spawn(move || {
        let (mut stream, _) = server.accept().unwrap();
        stream.write_all(b"hello from outside\n").unwrap();
    });
    let world = World::new();
    let machine = format!("localhost:{port}");
    let connect = [BIN, "proxy-connect", "localhost", &port.to_string()];
    let binary = Path::new(BIN).parent().unwrap().display().to_string();
    let opened = ["sandbox", "--ro", &binary, "--allow-host", &machine, "--"];
    let ran = world.run(&[&opened[..], &connect].concat()).ended_with(0);
    assert_eq!(ran.out, "hello from outside\n");
    greeter.join().unwrap();

    let closed = [
        "sandbox",
        "--ro",
        &binary,
        "--allow-host",
        "example.com",
        "--",
    ];
    let ran = world.run(&[&closed[..], &connect].concat()).ended_with(1);
    assert!(ran.err.contains("localhost"), "{ran:#?}");
    let ran = world.run(&[&["sandbox", "--ro", &binary, "--"], &connect[..]].concat());
    assert!(
        ran.err
            .contains("the proxy at 127.0.0.1:3128 cannot be reached"),
        "{ran:#?}"
    );
}
