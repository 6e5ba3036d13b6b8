//! Walls by rule, path by path: what commands can read and change that no word of theirs tells.

use crate::world::{Stop, World};
use conform::testkit::Action::{self, Allow, Ask, Deny};
use gate::{
    g3_confine::Confinement,
    host::{Ended, Exit, Host as _},
};
use std::{fs, os::unix::fs::symlink};
use tollgate_host::LocalHost;

type Rules<'a> = &'a [(&'a str, &'a str, Action)];

/// A world and its host, which must hold all walls: a machine that does not cannot say whether they hold.
fn walled(rules: Rules<'_>) -> (World, LocalHost) {
    let world = World::under(rules);
    let host = world.host();
    assert_eq!(host.confinement(), Confinement::Full);
    (world, host)
}

/// The same in a world whose paths the rules name.
fn walled_in(world: World, rules: Rules<'_>) -> (World, LocalHost) {
    let world = world.under_rules(rules);
    let host = world.host();
    assert_eq!(host.confinement(), Confinement::Full);
    (world, host)
}

fn text(ended: &Ended) -> String {
    String::from_utf8_lossy(&ended.tail).into_owned()
}

/// Runs a script, of which no word tells what it does.
fn run(world: &World, host: &LocalHost, script: &str) -> Ended {
    world.put("ws/script.sh", script);
    world.run(host, "bash script.sh").unwrap()
}

#[track_caller]
fn says(world: &World, host: &LocalHost, command: &str, want: &str) {
    let ended = world.run(host, command).unwrap();
    assert_eq!(
        (ended.exit, text(&ended).as_str()),
        (Exit::Code(0), want),
        "{command}"
    );
}

/// Runs a script that must not show what is secret.
#[track_caller]
fn hides(world: &World, host: &LocalHost, script: &str) {
    let said = text(&run(world, host, script));
    assert!(!said.contains("hunter2"), "{script}: {said}");
}

#[track_caller]
fn fails(world: &World, host: &LocalHost, command: &str) -> String {
    let ended = run(world, host, command);
    let said = text(&ended);
    assert!(matches!(ended.exit, Exit::Code(1..)), "{command}: {said}");
    assert!(!said.contains("hunter2"), "{command}: {said}");
    said
}

#[test]
fn a_secret_that_no_word_names_cannot_be_read() {
    let (world, host) = walled(&[]);
    world.put("ws/.env", "hunter2");
    world.put("ws/sub/key.pem", "hunter2");
    for command in [
        "cat .env",
        "python3 -c 'print(open(\".e\" + \"nv\").read())'",
        "cat sub/*",
        "cd sub; cat key*",
        "grep -r hunter .",
        "cp -r sub copy; cat copy/*",
        "ln -s .env link; cat link",
        "ln .env hard && cat hard",
        "mv .env free && cat free",
        "tar c . | tar xO",
    ] {
        hides(&world, &host, command);
    }
    says(&world, &host, "cat src/a.txt", "old");
}

#[test]
fn a_secret_that_a_word_names_is_open_to_that_call_alone() {
    let (world, host) = walled(&[]);
    world.put("ws/.env", "hunter2");
    world.put("ws/sub/.env", "othe");
    says(&world, &host, "cat .env", "hunter2");
    hides(&world, &host, "cat .env");
    world.put("ws/script.sh", "cat sub/.env");
    let ended = world.run(&host, "cat .env; bash script.sh").unwrap();
    assert!(text(&ended).starts_with("hunter2"), "{ended:?}");
    assert!(!text(&ended).contains("othe"), "{ended:?}");
}

#[test]
fn a_path_outside_is_open_to_the_call_that_names_it() {
    let (world, host) = walled(&[]);
    world.put("outside/dir/.env", "hunter2");
    says(&world, &host, "cat ../outside/dir/a.txt", "secret");
    let beside = |named: &str, script: &str| {
        world.put("ws/script.sh", script);
        let line = format!("{named} > \"$TMPDIR/named\"; bash script.sh");
        let ended = world.run(&host, &line).unwrap();
        (ended.exit, text(&ended))
    };
    let file = "cat ../outside/dir/a.txt";
    for script in [
        "cat ../outside/secret",
        "ls ../outside/dir/.env",
        "echo x > ../outside/dir/a.txt",
    ] {
        assert!(
            matches!(beside(file, script).0, Exit::Code(1..)),
            "{script}"
        );
    }
    // A directory is open with what lies in it, but for what the rules do not allow there.
    let directory = "ls ../outside/dir";
    let read = (Exit::Code(0), "secret".to_owned());
    assert_eq!(beside(directory, "cat ../outside/dir/a.txt"), read);
    for script in ["cat ../outside/secret", "echo x > ../outside/dir/new"] {
        assert!(
            matches!(beside(directory, script).0, Exit::Code(1..)),
            "{script}"
        );
    }
    assert!(
        !beside(directory, "cat ../outside/dir/.env")
            .1
            .contains("hunter2")
    );
    assert_eq!(world.text("outside/dir/a.txt"), "secret");
}

#[test]
fn a_directory_outside_that_a_rule_names_is_open_to_every_command() {
    let world = World::new();
    let named = format!("{}/*", world.path("outside/dir").display());
    let rules = [
        ("external_directory", "*", Ask),
        ("external_directory.read", named.as_str(), Allow),
    ];
    let (world, host) = walled_in(world, &rules);
    world.put("outside/dir/.env", "hunter2");
    let ended = run(
        &world,
        &host,
        "cat ../outside/dir/a.txt && echo x > ../outside/dir/new",
    );
    assert!(
        text(&ended).starts_with("secret") && ended.exit != Exit::Code(0),
        "{ended:?}"
    );
    hides(&world, &host, "cat ../outside/dir/.env");
    fails(&world, &host, "cat ../outside/secret");
}

#[test]
fn what_may_not_be_changed_is_not_changed_by_words_that_tell_nothing() {
    let (world, host) = walled(&[("edit", "src/*", Deny), ("edit", "asked", Ask)]);
    for name in ["asked", "AGENTS.md", "sub/CLAUDE.md", ".vscode/tasks.json"] {
        world.put(&format!("ws/{name}"), "old");
    }
    for command in [
        r#"T=src/a.txt; echo x > "$T""#,
        r#"T=src; rm -r "$T""#,
        r#"T=src; mv "$T" gone"#,
        r#"T=src/new; touch "$T""#,
        r#"T=asked; echo x >> "$T""#,
        r#"T=AGENTS.md; rm "$T""#,
        r#"T=AGENTS.md; mv "$T" x"#,
        r#"T=sub/CLAUDE.md; mv free "$T""#,
        r#"T=sub; mv "$T" othe"#,
        r#"T=.vscode/settings.json; echo x > "$T""#,
        r#"python3 -c 'open("asked"[:5], "w")'"#,
    ] {
        world.put("ws/free", "x");
        fails(&world, &host, command);
    }
    for name in [
        "src/a.txt",
        "asked",
        "AGENTS.md",
        "sub/CLAUDE.md",
        ".vscode/tasks.json",
    ] {
        assert_eq!(world.text(&format!("ws/{name}")), "old", "{name}");
    }
    says(&world, &host, "echo new > sub/free; cat sub/free", "new\n");
}

#[test]
fn names_that_tools_obey_cannot_be_made_while_a_command_runs() {
    let (world, host) = walled(&[]);
    for command in [
        r#"T=.vscode; mkdir "$T" && echo x > "$T/tasks.json""#,
        r#"T=.vscode; echo x > "$T/tasks.json""#,
        r#"T=AGENTS.md; echo x > "$T""#,
        r#"T=.mcp.json; echo x > free && mv -T free "$T""#,
        r#"T=.envrc; ln -s src/a.txt "$T""#,
    ] {
        let said = fails(&world, &host, command);
        for name in [".vscode", "AGENTS.md", ".mcp.json", ".envrc"] {
            let path = world.path("ws").join(name);
            assert!(
                path.symlink_metadata().is_err(),
                "{command}: {name}: {said}"
            );
        }
    }
}

#[test]
fn rules_that_close_all_changes_leave_the_workspace_to_be_read() {
    let closed: [Rules<'_>; 3] = [
        &[("edit", "*", Deny)],
        &[("edit", "*", Ask)],
        &[("edit", "*", Deny), ("edit", "notes/*.md", Allow)],
    ];
    for rules in closed {
        let (world, host) = walled(rules);
        for command in [
            r#"T=src/a.txt; echo x > "$T""#,
            r#"T=new; echo x > "$T""#,
            r#"T=.; touch "$T/x""#,
        ] {
            fails(&world, &host, command);
        }
        let ended = run(&world, &host, r#"cat src/a.txt; echo t > "$TMPDIR/x""#);
        assert_eq!((ended.exit, text(&ended).as_str()), (Exit::Code(0), "old"));
    }
}

#[test]
fn what_the_rules_open_in_a_closed_workspace_can_be_changed() {
    let (world, host) = walled(&[
        ("edit", "*", Ask),
        ("edit", "out/*", Allow),
        ("edit", "one.txt", Allow),
    ]);
    world.put("ws/out/a", "old");
    world.put("ws/one.txt", "old");
    let command = r#"for T in out/a out/new one.txt; do echo new > "$T" || exit 1; done"#;
    let ended = run(&world, &host, command);
    assert_eq!(ended.exit, Exit::Code(0), "{}", text(&ended));
    assert_eq!(world.text("ws/out/new"), "new\n");
    assert_eq!(world.text("ws/one.txt"), "new\n");
    fails(&world, &host, r#"T=two.txt; echo new > "$T""#);
}

#[test]
fn what_changes_between_two_commands_is_noticed() {
    let (world, host) = walled(&[("read", "closed/*", Deny)]);
    let read = r#"for f in .env a/.env a/b/.env d/x; do [ -e "$f" ] && cat "$f"; done; true"#;
    assert_eq!(text(&run(&world, &host, read)), "");
    world.put("ws/.env", "hunter2");
    world.put("ws/a/b/.env", "hunter2");
    let quiet = |world: &World, host: &LocalHost| {
        let said = text(&run(world, host, read));
        assert!(!said.contains("hunter2"), "{said}");
        said
    };
    quiet(&world, &host);
    fs::rename(world.path("ws/a/b"), world.path("ws/a/c")).unwrap();
    quiet(&world, &host);
    fs::rename(world.path("ws/a/c/.env"), world.path("ws/d")).unwrap();
    assert_eq!(text(&run(&world, &host, "cat d")), "hunter2");
    fs::remove_file(world.path("ws/d")).unwrap();
    world.put("ws/closed/x", "hunter2");
    fs::rename(world.path("ws/closed"), world.path("ws/d")).unwrap();
    assert_eq!(text(&run(&world, &host, "cat d/x")), "hunter2");
    fs::rename(world.path("ws/d"), world.path("ws/closed")).unwrap();
    hides(&world, &host, "cat closed/x");
}

#[test]
fn rules_that_change_hold_for_the_next_command() {
    let (world, host) = walled(&[]);
    world.put("ws/src/b.txt", "hunter2");
    says(&world, &host, "cat src/b.txt", "hunter2");
    world.bench.deny("read", "src/b.txt");
    hides(&world, &host, "cat src/*");
}

#[test]
fn a_link_does_not_keep_a_command_from_starting() {
    let (world, host) = walled(&[]);
    world.put("ws/secret.key", "hunter2");
    for (target, name) in [
        ("secret.key", ".env"),
        ("nowhere", "AGENTS.md"),
        ("../outside", ".vscode"),
    ] {
        symlink(target, world.path("ws").join(name)).unwrap();
    }
    says(&world, &host, "cat src/a.txt", "old");
    hides(&world, &host, "cat .env");
}

#[test]
fn a_command_does_not_start_where_it_may_read_nothing() {
    let (world, host) = walled(&[("read", "closed/*", Deny)]);
    world.put("ws/closed/x", "hunter2");
    let stop = world
        .run_for(&host, "pwd", Some("closed"), 60_000)
        .unwrap_err();
    assert!(
        matches!(&stop, Stop::Refused(why) if why.contains("closed")),
        "{stop:?}"
    );
}

#[test]
fn our_own_state_stays_closed_whatever_is_opened_around_it() {
    let (world, _) = walled(&[]);
    let host = world
        .open(|options| options.temp_dir = world.path("tmp"))
        .unwrap();
    world.put("state/tollgate.db", "hunter2");
    world.put("beside", "plain");
    let root = world.path("");
    let root = root.to_str().unwrap().trim_end_matches('/');
    world.put(
        "ws/script.sh",
        format!("cat {root}/beside; cat {root}/state/*; rm -r {root}/state"),
    );
    let command = format!("ls {root} > \"$TMPDIR/named\"; bash script.sh");
    let ended = world.run(&host, &command).unwrap();
    assert!(matches!(ended.exit, Exit::Code(1..)), "{ended:?}");
    let said = text(&ended);
    assert!(
        said.starts_with("plain") && !said.contains("hunter2"),
        "{said}"
    );
    assert_eq!(world.text("state/tollgate.db"), "hunter2");
}

#[test]
fn a_command_that_is_proven_to_look_has_no_place_to_write() {
    let (world, host) = walled(&[]);
    // A file watcher of the repository would be run by `git status`, and could write.
    world.put("ws/watch.sh", "#!/bin/sh\ntouch written\n");
    let ready =
        "git init -q . && git config core.fsmonitor ./watch.sh; chmod +x watch.sh; touch made";
    drop(world.run(&host, ready));
    assert!(world.path("ws/made").exists());
    world.run(&host, "git status --short").unwrap();
    assert!(!world.path("ws/written").exists());
    let before = fs::metadata(world.path("ws/.git/index")).is_ok();
    world.run(&host, "ls -la && git log -1; git diff").unwrap();
    assert_eq!(fs::metadata(world.path("ws/.git/index")).is_ok(), before);
}

#[test]
fn a_hidden_file_that_git_tracks_is_not_kept_as_an_empty_one() {
    let (world, host) = walled(&[("read", "*.env", Deny)]);
    world.put("ws/.env", "hunter2");
    let git = |line: &str| {
        let done = std::process::Command::new("git")
            .args(["-C", world.path("ws").to_str().unwrap()])
            .args(["-c", "user.name=a", "-c", "user.email=a@b"])
            .args(line.split(' '))
            .output();
        String::from_utf8(done.unwrap().stdout).unwrap()
    };
    git("init -q .");
    git("add -A");
    git("commit -qm one");
    world.put("ws/new.txt", "x");
    let line =
        "git add -A; git -c user.name=a -c user.email=a@b commit -qam two; git status --short";
    world.run(&host, line).unwrap();
    assert_eq!(git("show HEAD:.env"), "hunter2");
    assert_eq!(world.text("ws/.env"), "hunter2");
}

#[test]
fn a_command_cannot_tell_git_to_look_for_its_settings_elsewhere() {
    let (world, host) = walled(&[]);
    world.run(&host, "git init -q . && git add -A").unwrap();
    let script = "cp -r .git build; echo ../build > .git/commondir; echo x > .git/config.worktree";
    run(&world, &host, script);
    for name in ["commondir", "config.worktree"] {
        assert!(!world.path(&format!("ws/.git/{name}")).exists(), "{name}");
    }
    // What was there before stays, and cannot be changed.
    world.put("ws/.git/config.worktree", "[user]\n");
    run(&world, &host, "echo y > .git/config.worktree");
    assert_eq!(world.text("ws/.git/config.worktree"), "[user]\n");
}

#[test]
fn a_name_that_a_cut_off_command_held_is_held_again() {
    use std::os::unix::fs::PermissionsExt as _;
    let (world, host) = walled(&[
        ("edit", "*", Ask),
        ("edit.command", "*", Allow),
        ("edit.new", "*", Allow),
        ("edit", "CLAUDE.md", Ask),
    ]);
    let left = world.path("ws/CLAUDE.md");
    fs::create_dir(&left).unwrap();
    fs::set_permissions(&left, fs::Permissions::from_mode(sandbox::HELD_MODE)).unwrap();
    run(&world, &host, "rmdir CLAUDE.md && echo evil > CLAUDE.md");
    assert!(!left.is_file());
    assert!(!left.exists(), "it is gone with the command that held it");
}

#[test]
fn what_holds_names_is_kept_between_commands_where_nobody_comes_and_gone_with_the_session() {
    let (world, host) = walled(&[
        ("edit", "*", Ask),
        ("edit.command", "*", Allow),
        ("edit.new", "*", Allow),
        ("edit", "CLAUDE.md", Ask),
    ]);
    let held = world.path("state/held/session");
    let kept = || fs::read_dir(&held).map_or(0, Iterator::count);
    let mut counts = [0; 2];
    for count in &mut counts {
        let script = format!(
            "echo x > CLAUDE.md; ls -A; touch {0}/x; ls {0}",
            held.display()
        );
        let ended = run(&world, &host, &script);
        assert!(text(&ended).contains("CLAUDE.md"), "{}", text(&ended));
        assert!(!world.path("ws/CLAUDE.md").exists());
        *count = kept();
    }
    assert!(counts[0] > 0 && counts[0] == counts[1], "{counts:?}");
    assert!(world.list(&host, held.to_str().unwrap()).is_err());
    drop(host);
    assert!(!world.path("state/held").exists());
}

#[test]
fn what_the_system_does_not_show_to_everyone_no_command_reads() {
    let (world, host) = walled(&[]);
    // Modes are no wall to root, so what they close is hidden from it.
    let script = "find /etc ! -perm -o=r ! -type l ! -type d -exec cat {} + 2> /dev/null | wc -c; \
        find /etc -type d ! -perm -o=rx -exec ls -A {} + 2> /dev/null; [ -r /etc/passwd ] && echo end";
    let ended = run(&world, &host, script);
    assert_eq!(
        (ended.exit, text(&ended).as_str()),
        (Exit::Code(0), "0\nend\n")
    );
}
