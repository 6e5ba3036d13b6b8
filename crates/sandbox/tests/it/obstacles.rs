//! Closed places that cannot be reached, made, looked into or locked: what they close stays closed, and other commands
//! start. Must not leave anything in a room.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use rustix::fs::{CWD, FileType, FlockOperation, Mode, flock, mknodat};
use tollgate_sandbox::{Ended, HELD_MODE, Spawn};

use crate::kit::{Room, example, full, is_root, refused_full, run_with, succeed_full, try_start};

fn closing(room: &Room, protected: &[PathBuf], masked: &[PathBuf], script: &str) -> Spawn {
    let mut spawn = room.bash(script);
    spawn.walls.write_protected = protected.to_vec();
    spawn.walls.masked = masked.to_vec();
    spawn
}

#[test]
fn a_path_too_long_to_be_named_is_closed_with_what_is_around_it() {
    let room = Room::new();
    let name = "d".repeat(250);
    let deep =
        format!("for i in $(seq 20); do mkdir {name}; cd {name}; done; echo mine > AGENTS.md");
    assert!(
        Command::new("/bin/bash")
            .args(["-c", &deep])
            .current_dir(&room.inside)
            .status()
            .unwrap()
            .success()
    );
    let mut path = room.inside.clone();
    path.extend(std::iter::repeat_n(&name, 20));
    path.push("AGENTS.md");
    let [protected, masked] = [[path.clone()], [path]];
    let way = format!("for i in $(seq 20); do cd {name} || exit 9; done");
    assert_eq!(
        succeed_full(&closing(
            &room,
            &protected,
            &[],
            &format!("{way}; cat AGENTS.md")
        )),
        "mine\n"
    );
    for script in ["echo x > AGENTS.md", "rm AGENTS.md", "echo x > other"] {
        refused_full(&closing(
            &room,
            &protected,
            &[],
            &format!("{way} 2>/dev/null; {script} || exit 1"),
        ));
    }
    let (ended, text) = run_with(
        full(),
        &closing(&room, &[], &masked, &format!("{way}; cat AGENTS.md")),
    );
    assert!(ended != Ended::Code(0) && !text.contains("mine"), "{text}");
    succeed_full(&closing(&room, &protected, &masked, "echo x > free"));
}

#[test]
fn a_name_that_nothing_can_have_closes_nothing() {
    let room = Room::new();
    let long = [
        room.inside.join("h".repeat(300)),
        room.inside.join("x".repeat(300)).join("y"),
    ];
    succeed_full(&closing(&room, &long, &long, "echo x > free; rm free"));
}

#[test]
fn what_is_no_file_is_kept_by_its_name() {
    let room = Room::new();
    let pipe = room.inside.join(".envrc");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o666), 0).unwrap();
    let socket = room.inside.join("AGENTS.md");
    let _listener = UnixListener::bind(&socket).unwrap();
    let closed = [pipe, socket];
    succeed_full(&closing(&room, &closed, &[], "echo x > free"));
    for script in [
        "rm .envrc",
        "mv .envrc x",
        "chmod 600 .envrc",
        "echo x > new && mv -f new .envrc",
        "rm AGENTS.md",
        "chmod 600 AGENTS.md",
    ] {
        refused_full(&closing(&room, &closed, &[], script));
    }
    let masked = closing(&room, &[], &closed, "timeout 5 cat .envrc || exit 1");
    refused_full(&masked);
}

#[test]
fn a_directory_that_cannot_be_searched_is_closed_whole_until_it_can() {
    if !is_root() {
        // Root alone can become somebody whom modes keep out and leave the others what they were.
        return;
    }
    let room = Room::new();
    let program = room.root.join("confine");
    fs::copy(example("confine"), &program).unwrap();
    let dir = room.inside.join("d");
    fs::create_dir_all(dir.join("sub")).unwrap();
    fs::write(dir.join(".env"), "SECRET").unwrap();
    fs::write(dir.join("sub/AGENTS.md"), "mine").unwrap();
    for (path, mode) in [
        ("sub", 0o777),
        ("sub/AGENTS.md", 0o666),
        (".env", 0o666),
        ("", 0o444),
    ] {
        let path = dir.join(path);
        std::os::unix::fs::chown(&path, Some(65_534), Some(65_534)).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }
    for (kind, closed) in [("--mask", ".env"), ("--protect", "sub/AGENTS.md")] {
        let run = |script: &str| {
            let mut command = Command::new(&program);
            command.uid(65_534).gid(65_534).current_dir(&room.inside);
            command
                .arg("--write")
                .arg(&room.inside)
                .arg(kind)
                .arg(dir.join(closed));
            let output = command
                .args(["--", "/bin/bash", "-c", script])
                .output()
                .unwrap();
            let text = String::from_utf8([output.stderr, output.stdout].concat()).unwrap();
            (output.status.code(), text)
        };
        assert_eq!(
            run("echo x > free; rm free"),
            (Some(0), String::new()),
            "{kind}"
        );
        for script in [
            "chmod 755 d",
            "mv d e",
            &format!("chmod 755 d; cat d/{closed}; echo x > d/{closed}"),
        ] {
            let (code, text) = run(script);
            assert!(
                code == Some(1) && !text.contains("SECRET"),
                "{kind} {script}: {text}"
            );
        }
    }
}

#[test]
fn whoever_has_a_held_directory_for_themselves_stops_no_command() {
    let room = Room::new();
    let place = room.inside.join(".vscode");
    fs::create_dir(&place).unwrap();
    fs::set_permissions(&place, fs::Permissions::from_mode(HELD_MODE)).unwrap();
    let theirs = File::open(&place).unwrap();
    flock(&theirs, FlockOperation::LockExclusive).unwrap();
    let closed = [place.clone()];
    refused_full(&closing(&room, &closed, &[], "echo x > .vscode/tasks.json"));
    assert!(place.exists(), "it is not ours to remove");
    drop(theirs);
    refused_full(&closing(&room, &closed, &[], "rmdir .vscode"));
    assert!(!place.exists());
}

#[test]
fn thousands_of_closed_places_start() {
    let room = Room::new();
    let mut closed = Vec::new();
    for number in 0..2_000 {
        let around = room.inside.join(format!("j/{number}"));
        fs::create_dir_all(&around).unwrap();
        fs::write(around.join("AGENTS.md"), "").unwrap();
        closed.push(around.join("AGENTS.md"));
    }
    // A link is kept too, and is no way to what it leads to.
    symlink("j/1", room.inside.join("link")).unwrap();
    closed.push(room.inside.join("link"));
    let spawn = closing(
        &room,
        &closed,
        &[],
        "echo x > j/1/free; echo x > j/1999/AGENTS.md",
    );
    let mut running = try_start(full(), &spawn).unwrap();
    assert!(running.rest().contains("Read-only"));
    assert_eq!(running.child.wait().unwrap(), Ended::Code(1));
}
