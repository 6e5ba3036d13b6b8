//! Paths that stay closed inside what is open: masks and write protection, and places held for what is missing.
//! Must not leave anything in a room: that is part of what is tested.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tollgate_sandbox::{Ended, Spawn, StartError};

use crate::kit::{Room, full, is_root, refused_full, run_with, succeed_full, try_start};

fn protecting(room: &Room, names: &[&str], script: &str) -> Spawn {
    let mut spawn = room.bash(script);
    spawn.walls.write_protected = names.iter().map(|name| room.inside.join(name)).collect();
    spawn
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_mask_hides_content_in_readable_and_in_writable_directories() {
    let room = Room::new();
    fs::write(room.inside.join(".env"), "SECRET\n").unwrap();
    fs::create_dir_all(room.outside.join("keys/deep")).unwrap();
    fs::write(room.outside.join("keys/deep/key"), "SECRET\n").unwrap();
    let masked = [room.inside.join(".env"), room.outside.join("keys")];
    for script in [
        "cat .env; cat $OUT/keys/deep/key; grep -r SECRET . $OUT; cp .env x && cat x; ls -A $OUT/keys; exit 1",
        "rm -f .env || exit 1",
        "mv .env y || exit 1",
        "ln .env z || exit 1",
        "echo x > .env || exit 1",
        "echo x > $OUT/keys/new || exit 1",
    ] {
        let mut spawn = room.bash(script);
        spawn.walls.readable.push(room.outside.clone());
        // Opening something in there by itself does not help either.
        spawn
            .walls
            .readable
            .push(room.outside.join("keys/deep/key"));
        spawn.walls.masked = masked.to_vec();
        let (ended, text) = run_with(full(), &spawn);
        assert_eq!(ended, Ended::Code(1), "{text}");
        assert!(
            !text.contains("SECRET") && !text.contains("deep\n"),
            "{text}"
        );
    }
    let read = fs::read_to_string(room.inside.join(".env")).unwrap();
    assert_eq!(read, "SECRET\n");
    // Root is refused too: what is empty would be taken for what the file holds.
    let mut spawn = room.bash("cat .env");
    spawn.walls.masked = masked.to_vec();
    refused_full(&spawn);
}

#[test]
fn a_missing_mask_hides_what_is_made_later() {
    let room = Room::new();
    let mut spawn = room.bash("echo x > .env; cat .env; exit 1");
    spawn.walls.masked = vec![room.inside.join(".env"), room.outside.join("not-shown")];
    let (ended, text) = run_with(full(), &spawn);
    assert_eq!(ended, Ended::Code(1));
    assert!(!text.contains("\nx"), "{text}");
    assert_eq!(names(&room.inside), [""; 0]);
    assert_eq!(names(&room.outside), ["secret"]);
}

#[test]
fn what_is_protected_can_be_read_and_not_changed_removed_or_moved() {
    let room = Room::new();
    fs::create_dir_all(room.inside.join("a/.git/hooks")).unwrap();
    fs::write(room.inside.join("a/.git/hooks/old"), "old\n").unwrap();
    fs::write(room.inside.join("AGENTS.md"), "mine\n").unwrap();
    let closed = ["a/.git/hooks", "AGENTS.md"];
    for script in [
        "echo x > a/.git/hooks/new",
        "echo x >> a/.git/hooks/old",
        "rm a/.git/hooks/old",
        "chmod 777 a/.git/hooks/old",
        "ln -s a/.git/hooks h && echo x > h/new",
        "ln a/.git/hooks/old other",
        "mv a/.git/hooks a/.git/x",
        "mv a/.git a/x",
        "mv a x",
        "rm -r a",
        "echo x > AGENTS.md",
        "sed -i s/mine/yours/ AGENTS.md",
        "rm AGENTS.md",
        "echo y > new && mv new AGENTS.md",
        "ln -sf /etc/passwd AGENTS.md",
        "touch -d 2000-01-01 AGENTS.md",
    ] {
        let mut spawn = protecting(&room, &closed, script);
        spawn.walls.writable.push(room.inside.join("a/.git/hooks"));
        let (ended, text) = run_with(full(), &spawn);
        assert!(
            ended != Ended::Code(0)
                && ["Read-only", "busy", "cross-device"]
                    .iter()
                    .any(|reason| text.contains(reason)),
            "{script}: {ended:?}: {text}"
        );
    }
    let script = "cat AGENTS.md a/.git/hooks/old; echo x > a/.git/index; echo y > a/f; mv a/f a/g; echo z > AGENTS.mdx";
    assert_eq!(
        succeed_full(&protecting(&room, &closed, script)),
        "mine\nold\n"
    );
    assert_eq!(names(&room.inside.join("a/.git/hooks")), ["old"]);
    assert_eq!(names(&room.inside.join("a")), [".git", "g"]);
}

#[test]
fn what_is_protected_and_missing_cannot_be_made_and_leaves_nothing() {
    let room = Room::new();
    fs::write(room.inside.join("file"), "").unwrap();
    let closed = [
        ".vscode/tasks.json",
        ".vscode/x/y",
        ".mcp.json",
        "a/b/c",
        "file/below",
    ];
    for script in [
        "mkdir .vscode",
        "mkdir -p .vscode/x",
        "echo x > .vscode/tasks.json",
        "echo x > .mcp.json",
        "ln -s /etc/passwd .mcp.json/x",
        "rm -r .mcp.json",
        "rmdir .mcp.json && echo x > .mcp.json",
        "mv .mcp.json x",
        "echo x > new && mv -T new .mcp.json",
        "mkdir new && mv -T new .mcp.json",
        "mkdir -p a/b",
        "rm file && mkdir file",
        "chmod 777 .mcp.json",
    ] {
        refused_full(&protecting(&room, &closed, script));
        drop(fs::remove_file(room.inside.join("new")));
        drop(fs::remove_dir(room.inside.join("new")));
        assert_eq!(names(&room.inside), ["file"], "{script}");
    }
}

#[test]
fn git_does_not_see_the_places_that_are_held() {
    let room = Room::new();
    let script = "git init -q . && git config user.email a@b && git config user.name a && echo x > f && \
        git add -A && git commit -qm first && git status --porcelain && git ls-files";
    let spawn = protecting(&room, &[".mcp.json", ".vscode/tasks.json"], script);
    assert_eq!(succeed_full(&spawn), "f\n");
    let hooks = [".git/hooks", ".git/config", ".mcp.json"];
    let script = "echo y > g && git add -A && git commit -qm second && git stash list && git checkout -q HEAD~1 && \
        git gc -q && git status --porcelain; git config user.name b";
    let (ended, text) = run_with(full(), &protecting(&room, &hooks, script));
    assert!(
        ended != Ended::Code(0) && text.contains("could not") || text.contains("busy"),
        "{text}"
    );
    assert_eq!(names(&room.inside), [".git", "f"]);
}

#[test]
fn commands_at_the_same_time_share_what_they_hold() {
    let room = Room::new();
    let closed = [".mcp.json"];
    let waiting = "echo ready; while [ ! -e go ]; do sleep 0.01; done; echo x > .mcp.json";
    let mut first = try_start(full(), &protecting(&room, &closed, waiting)).unwrap();
    assert_eq!(first.line(), "ready");
    refused_full(&protecting(&room, &closed, "echo x > .mcp.json"));
    // The first one still needs it.
    assert!(room.inside.join(".mcp.json").is_dir());
    fs::write(room.inside.join("go"), "").unwrap();
    assert!(first.rest().contains("Is a directory"));
    assert_eq!(first.child.wait().unwrap(), Ended::Code(1));
    assert_eq!(names(&room.inside), ["go"]);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..4 {
                    refused_full(&protecting(&room, &closed, "echo x > .mcp.json"));
                }
            });
        }
    });
    assert_eq!(names(&room.inside), ["go"]);
}

#[test]
fn a_held_place_left_by_a_killed_supervisor_is_removed_by_the_next() {
    let room = Room::new();
    let left = room.inside.join(".mcp.json");
    fs::create_dir(&left).unwrap();
    fs::set_permissions(&left, fs::Permissions::from_mode(0o1555)).unwrap();
    refused_full(&protecting(&room, &[".mcp.json"], "rmdir .mcp.json"));
    assert_eq!(names(&room.inside), [""; 0]);
}

#[test]
fn what_somebody_outside_puts_into_a_held_place_stays() {
    if !is_root() {
        return;
    }
    let room = Room::new();
    let spawn = protecting(
        &room,
        &[".vscode"],
        "echo ready; while [ ! -e go ]; do sleep 0.01; done; ls -A .vscode",
    );
    let mut running = try_start(full(), &spawn).unwrap();
    assert_eq!(running.line(), "ready");
    fs::write(room.inside.join(".vscode/mine"), "").unwrap();
    fs::write(room.inside.join("go"), "").unwrap();
    assert_eq!(
        (running.rest(), running.child.wait().unwrap()),
        (String::new(), Ended::Code(0))
    );
    assert_eq!(names(&room.inside.join(".vscode")), ["mine"]);
}

#[test]
fn an_empty_directory_of_ones_own_is_not_removed() {
    let room = Room::new();
    fs::create_dir(room.inside.join(".vscode")).unwrap();
    refused_full(&protecting(&room, &[".vscode"], "echo x > .vscode/x"));
    assert_eq!(names(&room.inside), [".vscode"]);
}

#[test]
fn a_link_in_place_of_a_protected_path_refuses_the_start_and_leaves_nothing() {
    let room = Room::new();
    symlink("AGENTS.md", room.inside.join("CLAUDE.md")).unwrap();
    let spawn = protecting(&room, &[".a", ".b/c", "CLAUDE.md"], "true");
    match try_start(full(), &spawn).map(drop) {
        Err(StartError::Wall { path, source }) => {
            let expected: PathBuf = room.inside.join("CLAUDE.md");
            assert_eq!((path, source.raw_os_error()), (expected, Some(40))); // ELOOP
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(names(&room.inside), ["CLAUDE.md"]);
}

#[test]
fn dropping_a_command_releases_what_it_held() {
    let room = Room::new();
    let spawn = protecting(&room, &[".mcp.json"], "echo ready; sleep 1000");
    let mut running = try_start(full(), &spawn).unwrap();
    assert_eq!(running.line(), "ready");
    drop(running.child);
    assert_eq!(
        std::io::Read::read(&mut running.output, &mut [0]).unwrap(),
        0
    );
    // The end of the output comes a moment before the supervisor's own.
    while room.inside.join(".mcp.json").exists() {
        std::thread::yield_now();
    }
}
