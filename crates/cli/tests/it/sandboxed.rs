//! What a command that the rules allow still cannot do.

use crate::world::{Ran, World, ran, says_no};
use serde_json::json;
use std::{fs, io::ErrorKind, net::TcpListener, os::unix::net::UnixListener};

/// Runs a command line that every rule allows.
fn bash(world: &World, command: &str) -> Ran {
    world
        .call("bash", &json!({ "command": command }))
        .ended_with(0)
}

/// The system itself says no, the secret stays one, and nothing is touched. What the command is lies in a
/// file, so that no word of the line names anything and the walls alone stand before it.
#[track_caller]
fn check_walled(world: &World, command: &str) {
    world.put("ws/work.sh", command);
    let before = world.files();
    let ran = bash(world, "bash work.sh");
    assert!(says_no(&ran.out), "`{command}`: {ran:#?}");
    assert!(!ran.out.contains("secret\n"), "`{command}`: {ran:#?}");
    assert_eq!(world.files(), before, "`{command}`");
}

#[test]
fn the_home_and_what_lies_beside_the_workspace_cannot_be_read() {
    let world = World::new();
    let (home, out) = (world.path("home"), world.path("out"));
    for command in [
        format!("cat {}/key.txt", home.display()),
        "cat ~/key.txt".to_owned(),
        "cat \"$HOME/key.txt\"".to_owned(),
        format!("ls {}", home.display()),
        format!("cat {}/secret.txt", out.display()),
        "cat ../out/secret.txt".to_owned(),
        "ln -s ../out/secret.txt l; cat l; rm l".to_owned(),
        "perl -e 'open(F, \"../out/secret.txt\") or die \"$!\\n\"; print <F>'".to_owned(),
    ] {
        check_walled(&world, &command);
    }
}

#[test]
fn nothing_is_written_beside_the_workspace() {
    let world = World::new();
    for command in [
        "touch ../out/new",
        "cp a.txt ../out/new",
        "rm ../out/secret.txt",
        "mv a.txt ../out/",
        "mkdir ../new",
        "touch /var/tmp/tollgate-new",
        "sh -c 'echo x > ../out/secret.txt'",
        "cd ../out && touch new; cd ~ && touch new",
    ] {
        // In a tree of its own a directory may be made beside, and is gone with it.
        world.put("ws/work.sh", command);
        let before = world.files();
        bash(&world, "bash work.sh");
        assert_eq!(world.files(), before, "`{command}`");
        assert!(!world.path("new").exists(), "`{command}`");
    }
    let ran = bash(&world, "ln ../out/secret.txt here; cat here");
    assert!(
        !ran.out.contains("outside secret") && !world.path("ws/here").exists(),
        "{ran:#?}"
    );
}

#[test]
fn a_command_that_names_a_path_which_the_rules_allow_opens_that_path_alone() {
    let world = World::new();
    world.put("out/other.txt", "one more secret\n");
    world.put(
        "ws/work.sh",
        "cat ../out/other.txt; echo x >> ../out/secret.txt",
    );
    let ran = bash(&world, "cat < ../out/secret.txt; sh work.sh");
    assert!(ran.out.contains("one outside secret\n"), "{ran:#?}");
    assert!(
        says_no(&ran.out) && !ran.out.contains("one more"),
        "{ran:#?}"
    );
    assert_eq!(world.text("out/secret.txt"), "one outside secret\n");
}

#[test]
fn our_own_state_can_be_neither_read_nor_written() {
    let world = World::new();
    bash(&world, "true");
    let data = world.path("data").display().to_string();
    let before = fs::read_dir(world.path("data")).unwrap().count();
    for command in [
        format!("cat {data}/tollgate.db"),
        format!("ls {data}"),
        format!("touch {data}/new"),
        format!("rm -f {data}/tollgate.db"),
        format!("mv {data} {data}2"),
    ] {
        world.put("ws/work.sh", command);
        let ran = bash(&world, "sh work.sh");
        let is_shown = ran.out.contains("tollgate.db\n") || ran.out.contains("SQLite");
        assert!(!is_shown, "{ran:#?}");
        assert!(!world.path("data/new").exists() && world.path("data/tollgate.db").exists());
    }
    for (tool, arguments) in [
        ("read", json!({"filePath": format!("{data}/tollgate.db")})),
        (
            "write",
            json!({"filePath": format!("{data}/new"), "content": "x"}),
        ),
        (
            "bash",
            json!({"command": format!("cat < {data}/tollgate.db")}),
        ),
        ("bash", json!({"command": format!("echo x > {data}/new")})),
    ] {
        let ran = world.call(tool, &arguments);
        let is_refused = ran.said().contains("out of reach") || ran.code == Some(3);
        assert!(is_refused, "{tool} {arguments}: {ran:#?}");
    }
    assert_eq!(fs::read_dir(world.path("data")).unwrap().count(), before);
    assert!(
        !world
            .store()
            .journal(store::Filter::All)
            .unwrap()
            .is_empty()
    );
}

#[test]
fn the_rules_are_out_of_reach_of_what_they_rule() {
    let world = World::new();
    let before = world.text("rules.jsonc");
    for command in ["cat ../rules.jsonc", "cp a.txt ../rules.jsonc"] {
        let ran = world.call("bash", &json!({ "command": command }));
        assert!(ran.ended_with(3).err.contains("rules.jsonc = deny`"));
        // Where no word of the line names them, the walls hold. In a tree of its own the file may be made,
        // and is not the one outside.
        world.put("ws/work.sh", command);
        bash(&world, "sh work.sh");
        assert_eq!(world.text("rules.jsonc"), before);
    }
    assert_eq!(world.text("rules.jsonc"), before);
}

#[test]
fn secrets_of_the_environment_stay_behind() {
    let world = World::new();
    // In a file, so that the walls alone stand before it.
    world.put("ws/peek.sh", "env; cat /proc/$PPID/environ");
    let line = [
        "call",
        "bash",
        r#"{"command": "sh peek.sh"}"#,
        "--on-ask",
        "deny",
    ];
    let mut command = world.command(&line);
    for name in [
        "LAB_SECRET",
        "MY_API_KEY",
        "GITHUB_TOKEN",
        "AWS_PROFILE",
        "DB_PASSWORD",
        "LD_PRELOADED",
    ] {
        command.env(name, "hunter2");
    }
    command
        .env("PLAIN_WORD", "stays")
        .env("SSH_AUTH_SOCK", "/hunter2")
        .env("ODD", "ghp_hunter2");
    let ran = ran(&mut command).ended_with(0);
    assert!(
        !ran.out.contains("hunter2") && !ran.out.contains("TOLLGATE"),
        "{ran:#?}"
    );
    assert!(ran.out.contains("PLAIN_WORD=stays"), "{ran:#?}");
}

#[test]
fn the_network_is_closed() {
    let world = World::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let dial = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached");
    check_walled(&world, &dial);
    let accepted = listener.accept().map_err(|error| error.kind());
    assert!(
        matches!(accepted, Err(ErrorKind::WouldBlock)),
        "{accepted:?}"
    );
}

#[test]
fn unix_sockets_outside_are_closed() {
    let world = World::new();
    let listener = UnixListener::bind(world.path("out/door")).unwrap();
    listener.set_nonblocking(true).unwrap();
    let dial = "use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0) or die \"$!\\n\"; \
                connect(S, sockaddr_un(\"../out/door\")) or die \"$!\\n\"; print \"reached\\n\"";
    world.put("ws/dial.pl", dial);
    let ran = bash(&world, "perl dial.pl");
    assert!(
        says_no(&ran.out) && !ran.out.contains("reached"),
        "{ran:#?}"
    );
    let accepted = listener.accept().map_err(|error| error.kind());
    assert!(
        matches!(accepted, Err(ErrorKind::WouldBlock)),
        "{accepted:?}"
    );
}

#[test]
fn ordinary_work_goes_on_inside() {
    let world = World::new();
    // Out of reach inside, so git is told whose commit it is.
    world.put(
        "home/.gitconfig",
        "[user]\n\tname = nobody\n\temail = n@example.invalid\n",
    );
    let commit = "git init -q . && git add -A && git commit -q -m first && \
        git log --format='%an %s' && git status --short";
    let ran = bash(&world, commit);
    assert!(ran.out.contains("nobody first"), "{ran:#?}");
    assert!(world.path("ws/.git/HEAD").exists());
    let script = "f=$(mktemp) && echo kept > $f && cat $f && echo \"${f%/*}\"";
    world.put("ws/work.sh", script);
    let ran = bash(&world, "sh work.sh");
    assert!(
        ran.out.contains("kept\n") && ran.out.contains("/tollgate-"),
        "{ran:#?}"
    );
    let ran = bash(
        &world,
        "cat a.txt | sort | (read first; echo \"first is $first\") 2>/dev/null",
    );
    assert!(ran.out.contains("first is one"), "{ran:#?}");
}

#[test]
fn a_control_command_does_not_work_from_inside() {
    let world = World::new();
    // The binary may be read there, so that only the walls keep it from working.
    fs::copy(crate::world::BIN, world.path("ws/tollgate")).unwrap();
    let arguments = r#"{"filePath": "a.txt", "content": "x"}"#;
    let data = world.path("data").display().to_string();
    let inner = format!(
        "TOLLGATE_DATA_DIR={data} ./tollgate call write '{arguments}' --on-ask deny; echo ended $?"
    );
    let before = world.text("ws/a.txt");
    let count = || world.store().journal(store::Filter::All).unwrap().len();
    bash(&world, "true");
    let recorded = count();
    bash(&world, "true");
    let of_one = count() - recorded;
    let ran = bash(&world, &inner);
    // Where the state folder is not to be seen, it works on one of its own, in a tree that is gone with it.
    let is_refused = ["ended 3", "ended 4", "ended 70"];
    assert!(is_refused.iter().any(|it| ran.out.contains(it)), "{ran:#?}");
    assert_eq!(world.text("ws/a.txt"), before);
    assert_eq!(
        count(),
        recorded + 2 * of_one,
        "its own call is not in our journal"
    );
}
