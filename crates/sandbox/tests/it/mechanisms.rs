//! Ways out that sandboxes of this kind have had, each with the wall that holds it here: what was tried against
//! others is tried against ours, and tried once more with that wall taken away, where it has to succeed.
//! Must not hold what a sandbox cannot: prompts, trust, names of hosts and the reading of commands are tested where
//! they are decided.
//!
//! Those that need more than a line are tests of their own below, or where the same is tested anyway:
//!
//! | mechanism | known as | tested by |
//! |---|---|---|
//! | a link made inside, followed by a writer outside | CVE-2026-39861 | `a_link_made_inside_opens_nothing_at_the_next_start` |
//! | data carried out by name look-ups, tunnels | CVE-2025-55284, `NomShub` | `nothing_is_carried_out_by_datagrams_or_streams` |
//! | secrets in the environment of whoever started the command | GHSA-wpqr-6v78-jr5g | `the_environment_of_those_around_a_command_is_out_of_reach` |
//! | a daemon that stays | `NomShub` | `two_hundred_processes_that_hide_are_dead_at_the_end_and_when_killed` |
//! | no sandbox on this machine, so none is used | several | all of `failure` |
//!
//! Not tested is a protected name in other letters on a disk that ignores case (CVE-2025-59944), because few machines
//! have such a disk: a mount covers what it covers by whatever name that is reached.

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::path::PathBuf;
use std::process::Command;

use tollgate_sandbox::{Ended, Network, Spawn, StartError};

use crate::kit::{Room, example, full, launcher, run_with, try_start};

/// One mechanism.
struct Mechanism {
    name: &'static str,
    known_as: &'static str,
    /// What holds it.
    wall: &'static str,
    /// Builds the wall, where a room does not have it anyway.
    build: fn(&Room, &mut Spawn),
    /// Takes it away again.
    lift: fn(&Room, &mut Spawn),
    /// Lines for a shell that end well if it worked.
    ways: &'static [&'static str],
}

const MECHANISMS: &[Mechanism] = &[
    Mechanism {
        name: "settings that did not exist at the start are made, and obeyed outside",
        known_as: "CVE-2026-25725",
        wall: "the place of a protected path that is missing is held",
        build: |room, spawn| protect(room, spawn, &[".claude/settings.json", ".kilo"]),
        lift: |_, spawn| spawn.walls.write_protected.clear(),
        ways: &[
            "mkdir .claude && echo x > .claude/settings.json",
            "mkdir new && echo x > new/settings.json && mv new .claude && [ -e .claude/settings.json ]",
            "ln -s $PWD .claude && echo x > .claude/settings.json",
            "mkdir -p .kilo/tool && echo x > .kilo/tool/x.ts",
        ],
    },
    Mechanism {
        name: "a file that is closed is read by another way to it",
        known_as: "CVE-2026-25724",
        wall: "a mask is a mount, which every way leads to",
        build: |room, spawn| spawn.walls.masked = vec![room.inside.join(".env")],
        lift: |_, spawn| spawn.walls.masked.clear(),
        ways: &[
            "ln -s .env x && grep SECRET x",
            "ln -s . d && grep SECRET d/.env",
            "grep SECRET /proc/self/root$PWD/.env",
            "grep SECRET /proc/self/cwd/.env",
            "ln .env y && grep SECRET y",
            "mv .env z && grep SECRET z",
            "cp .env c && grep SECRET c",
        ],
    },
    Mechanism {
        name: "a directory's name is taken for that of another it begins with",
        known_as: "CVE-2025-54794",
        wall: "the tree shows what was opened, by file and not by name",
        build: |room, _| fs::create_dir(room.root.join("inside-other")).unwrap(),
        lift: |room, spawn| spawn.walls.writable.push(room.root.join("inside-other")),
        ways: &["echo x > $PWD-other/x", "touch $PWD/../inside-other/x"],
    },
    Mechanism {
        name: "a name that everybody knows, in the /tmp that everybody shares",
        known_as: "CVE-2026-46406",
        wall: "the command's /tmp is its own",
        build: |room, spawn| {
            let link = shared_name(room);
            std::os::unix::fs::symlink(room.outside.join("secret"), &link).unwrap();
            spawn.env.push(("SHARED".into(), link.into()));
        },
        lift: |room, spawn| {
            let all = ["/tmp".into(), room.outside.clone()];
            spawn.walls.writable.extend(all);
        },
        ways: &["echo x > $SHARED && [ \"$(cat $OUT/secret)\" = x ]"],
    },
    Mechanism {
        name: "the directory a command starts in becomes one it may write",
        known_as: "CVE-2025-59532",
        wall: "a directory to start in opens nothing",
        build: |room, spawn| {
            spawn.walls.readable.push(room.outside.clone());
            spawn.cwd.clone_from(&room.outside);
        },
        lift: |room, spawn| spawn.walls.writable.push(room.outside.clone()),
        ways: &["echo x > new", "echo x >> secret", "chmod 600 secret"],
    },
    Mechanism {
        name: "what agents and editors obey is written in the workspace",
        known_as: "CVE-2025-54135, CVE-2025-53773, configuration-based escape",
        wall: "protected paths are mounts that cannot be written",
        build: |room, spawn| {
            fs::write(room.inside.join("AGENTS.md"), "").unwrap();
            fs::create_dir(room.inside.join(".vscode")).unwrap();
            protect(
                room,
                spawn,
                &["AGENTS.md", ".vscode", ".mcp.json", ".codex"],
            );
        },
        lift: |_, spawn| spawn.walls.write_protected.clear(),
        ways: &[
            "echo x >> AGENTS.md",
            "echo x > new && mv -T new AGENTS.md",
            "rm AGENTS.md",
            "echo x > .vscode/tasks.json",
            "rmdir .vscode",
            "mv .vscode x",
            "echo x > .mcp.json",
            "mkdir -p .codex && echo x > .codex/config.toml",
        ],
    },
    Mechanism {
        name: "git is made to run something, by a hook, a setting or another repository in its place",
        known_as: "planted git configuration",
        wall: "protected paths, and the directories to them stay where they are",
        build: |room, spawn| {
            for repository in [".", "nested"] {
                let repository = room.inside.join(repository);
                fs::create_dir_all(repository.join(".git/hooks")).unwrap();
                fs::write(repository.join(".git/config"), "[core]\n").unwrap();
            }
            let all = [
                ".git/hooks",
                ".git/config",
                "nested/.git/hooks",
                "nested/.git/config",
            ];
            protect(room, spawn, &all);
        },
        lift: |_, spawn| spawn.walls.write_protected.clear(),
        ways: &[
            "echo x > .git/hooks/post-checkout",
            "echo 'fsmonitor = x' >> .git/config",
            "git config -f .git/config core.hooksPath /tmp",
            "echo x > nested/.git/hooks/pre-commit",
            "mv .git moved && mkdir -p .git/hooks && echo x > .git/hooks/post-checkout",
            "mv nested moved",
            "ln -s .git/hooks h && echo x > h/post-commit",
        ],
    },
    Mechanism {
        name: "programs and tokens that the agent keeps outside the workspace",
        known_as: "seen live in an agent: token store and program cache",
        wall: "what is not listed is not there",
        build: |room, _| fs::write(room.outside.join("rg"), "").unwrap(),
        lift: |room, spawn| spawn.walls.writable.push(room.outside.clone()),
        ways: &[
            "grep topsecret $OUT/secret",
            "echo x > $OUT/rg",
            "ls $OUT/rg",
        ],
    },
    Mechanism {
        name: "a package cache that other projects trust is poisoned",
        known_as: "Clinejection",
        wall: "what can be read cannot be written",
        build: |room, spawn| spawn.walls.readable.push(room.outside.clone()),
        lift: |room, spawn| spawn.walls.writable.push(room.outside.clone()),
        ways: &[
            "echo x > $OUT/package",
            "echo x >> $OUT/secret",
            "rm $OUT/secret",
            "mv $OUT/secret $OUT/other",
            "touch -d 2000-01-01 $OUT/secret",
            "echo x > /proc/self/root$OUT/secret",
        ],
    },
    Mechanism {
        name: "a file outside gets a second name inside",
        known_as: "write escape by hard link",
        wall: "each open directory is a mount of its own",
        build: |room, spawn| spawn.walls.readable.push(room.outside.clone()),
        lift: |room, spawn| {
            spawn.walls.readable.clear();
            spawn.walls.readable = tollgate_sandbox::system_readable();
            spawn.walls.writable = vec![room.root.clone()];
        },
        ways: &["ln $OUT/secret mine && echo x > mine"],
    },
    Mechanism {
        name: "a service that runs as the user does it for the command",
        known_as: "container and desktop sockets",
        wall: "sockets are there only if they are opened one by one",
        build: |room, spawn| {
            let path = room.outside.join("service");
            let listener = std::os::unix::net::UnixListener::bind(path).unwrap();
            // It lives as long as the test's process, like a service.
            std::mem::forget(listener);
            spawn.program = "/usr/bin/python3".into();
        },
        lift: |room, spawn| spawn.walls.sockets.push(room.outside.join("service")),
        ways: &[
            "import os, socket; socket.socket(socket.AF_UNIX).connect(os.environ['OUT'] + '/service')",
        ],
    },
];

fn protect(room: &Room, spawn: &mut Spawn, names: &[&str]) {
    spawn.walls.write_protected = names.iter().map(|name| room.inside.join(name)).collect();
}

fn shared_name(room: &Room) -> PathBuf {
    let name = room.root.file_name().unwrap().to_str().unwrap();
    PathBuf::from(format!("/tmp/tollgate-test-shared-{name}"))
}

#[test]
fn what_got_out_of_others_does_not_get_out_here_and_would_without_the_wall() {
    for mechanism in MECHANISMS {
        for way in mechanism.ways {
            let says = format!("{} ({}): `{way}`", mechanism.name, mechanism.known_as);
            for is_lifted in [false, true] {
                let room = Room::new();
                fs::write(room.inside.join(".env"), "SECRET\n").unwrap();
                let mut spawn = room.bash(way);
                (mechanism.build)(&room, &mut spawn);
                if is_lifted {
                    (mechanism.lift)(&room, &mut spawn);
                }
                let (ended, text) = run_with(full(), &spawn);
                drop(fs::remove_file(shared_name(&room)));
                assert_eq!(
                    ended == Ended::Code(0),
                    is_lifted,
                    "{says}, held by: {}; {ended:?}: {text}",
                    mechanism.wall
                );
            }
        }
    }
}

#[test]
fn a_link_made_inside_opens_nothing_at_the_next_start() {
    let room = Room::new();
    let (ended, text) = run_with(
        full(),
        &room.bash("mkdir d && ln -s $OUT d/cache && ln -s $OUT/secret f"),
    );
    assert_eq!(ended, Ended::Code(0), "{text}");
    for launcher in [full(), launcher()] {
        for planted in ["d/cache", "d/cache/new", "f"] {
            let mut spawn = room.bash("echo x > $OUT/new");
            spawn.walls.writable.push(room.inside.join(planted));
            assert!(matches!(
                try_start(launcher, &spawn).map(drop),
                Err(StartError::Wall { .. })
            ));
        }
    }
    assert_eq!(fs::read_dir(&room.outside).unwrap().count(), 1);
}

#[test]
fn nothing_is_carried_out_by_datagrams_or_streams() {
    let room = Room::new();
    let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
    let streams = TcpListener::bind("127.0.0.1:0").unwrap();
    datagrams.set_nonblocking(true).unwrap();
    streams.set_nonblocking(true).unwrap();
    let script = format!(
        "
import socket
for kind, port in ((socket.SOCK_DGRAM, {}), (socket.SOCK_STREAM, {})):
    try:
        s = socket.socket(socket.AF_INET, kind); s.connect(('127.0.0.1', port)); s.send(b'secret')
    except OSError: pass
",
        datagrams.local_addr().unwrap().port(),
        streams.local_addr().unwrap().port()
    );
    let arrived = || {
        (
            datagrams.recv(&mut [0; 16]).is_ok(),
            streams.accept().is_ok(),
        )
    };
    for network in [Network::Private, Network::Proxied] {
        for launcher in [full(), launcher()] {
            let mut spawn = room.python(&script);
            spawn.walls.network = network;
            run_with(launcher, &spawn);
            assert_eq!(arrived(), (false, false));
        }
    }
    let mut spawn = room.python(&script);
    spawn.walls.network = Network::Shared;
    run_with(full(), &spawn);
    assert_eq!(arrived(), (true, true));
}

#[test]
fn the_environment_of_those_around_a_command_is_out_of_reach() {
    let room = Room::new();
    let script = "cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c FOUND; env | grep -c FOUND; echo end";
    for tier in [&["--"][..], &["--partial", "--"]] {
        let output = Command::new(example("enclose"))
            .args(tier)
            .args(["/bin/bash", "-c", script])
            .env("MY_TOKEN", "FOUND")
            .current_dir(&room.inside)
            .output()
            .unwrap();
        assert_eq!(output.stdout, b"0\n0\nend\n", "{output:?}");
    }
}
