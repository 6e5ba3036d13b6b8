//! What a file tree of its own shows, and that it can be worked in.
//! Must not test what is protected inside a writable directory: see `protected`.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tollgate_sandbox::{Confinement, Ended, Spawn, StartError};

use crate::kit::{
    Room, example, full, is_alive, refused_full, run_with, succeed_full, supervisor, try_start,
};

#[test]
fn this_machine_enforces_the_full_tier() {
    let Confinement::Full { abi, gaps } = full().confinement() else {
        panic!("not full")
    };
    assert!(*abi >= 1 && gaps.iter().any(|gap| gap.about.contains("hard link")));
}

#[test]
fn a_command_writes_inside_and_nowhere_else() {
    let room = Room::new();
    let script = "mkdir -p a/b && echo hi > a/b/c && mv a/b/c d && ln d e && ln -s d f && rm -r a && mkfifo g";
    succeed_full(&room.bash(script));
    assert_eq!(fs::read_to_string(room.inside.join("d")).unwrap(), "hi\n");
    for script in [
        "echo x > $OUT/new",
        "echo x >> $OUT/secret",
        "mv ../inside ../other",
        "rm -r ../inside",
        "echo x > /new",
        "echo x > /usr/new",
        "touch /etc/passwd",
        "echo x > /var/tmp/new",
        "echo x > /dev/new",
        "rm /dev/null",
        "ln -s $OUT/new link; echo x > link",
        "echo x > /proc/self/root$OUT/new",
        "echo x > /proc/sys/kernel/core_pattern",
        "echo x > /proc/sysrq-trigger",
        "echo x > /proc/1/comm",
        "echo x > /sys/kernel/uevent_helper",
    ] {
        refused_full(&room.bash(script));
    }
    assert_eq!(fs::read_dir(&room.outside).unwrap().count(), 1);
    assert_eq!(fs::read_dir(&room.root).unwrap().count(), 2);
}

#[test]
fn what_is_not_listed_is_not_there() {
    let room = Room::new();
    for script in [
        "cat $OUT/secret",
        "stat $OUT",
        "cd $OUT",
        "chmod 600 $OUT/secret",
        "ls /home",
        "ls /run",
        "ls /media",
        "ln -s $OUT/secret link && cat link",
    ] {
        refused_full(&room.bash(script));
    }
    // The way to what is listed is there, and nothing else on it.
    assert_eq!(succeed_full(&room.bash("ls -A ..")), "inside\n");
    assert!(succeed_full(&room.bash("cat /etc/passwd; ls /")).contains("root"));
}

#[test]
fn a_readable_directory_cannot_be_changed_in_any_way() {
    let room = Room::new();
    let secret = room.outside.join("secret");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o644)).unwrap();
    let before = fs::metadata(&secret).unwrap();
    for script in [
        "echo x > $OUT/new",
        "chmod 600 $OUT/secret",
        "chown 1:1 $OUT/secret",
        "touch -d 2000-01-01 $OUT/secret",
        "ln $OUT/secret mine",
        "setfattr -n user.x -v y $OUT/secret || python3 -c 'import os; os.setxattr(\"'$OUT'/secret\", \"user.x\", b\"y\")'",
    ] {
        let mut spawn = room.bash(script);
        spawn.walls.readable.push(room.outside.clone());
        let (ended, text) = run_with(full(), &spawn);
        assert!(
            ended != Ended::Code(0)
                && (text.contains("Read-only") || text.contains("cross-device")),
            "{script}: {ended:?}: {text}"
        );
    }
    let after = fs::metadata(&secret).unwrap();
    assert_eq!(
        (
            before.mode(),
            before.mtime(),
            before.uid(),
            before.ctime(),
            before.ctime_nsec()
        ),
        (
            after.mode(),
            after.mtime(),
            after.uid(),
            after.ctime(),
            after.ctime_nsec()
        )
    );
}

#[test]
fn a_single_file_can_be_opened() {
    let room = Room::new();
    fs::write(room.outside.join("other"), "").unwrap();
    let mut spawn = room.bash("echo x > $OUT/secret && ls $OUT && cat $OUT/other");
    spawn.walls.writable.push(room.outside.join("secret"));
    let (ended, text) = run_with(full(), &spawn);
    assert!(
        ended != Ended::Code(0) && text.starts_with("secret\n") && text.contains("No such file"),
        "{text}"
    );
    let written = fs::read_to_string(room.outside.join("secret")).unwrap();
    assert_eq!(written, "x\n");
}

#[test]
fn the_temporary_directories_are_the_commands_own() {
    let room = Room::new();
    let name = format!("tollgate-test-{}", std::process::id());
    let script = format!(
        "for d in /tmp /dev/shm; do echo '#!/bin/sh' > $d/{name} && chmod +x $d/{name} && $d/{name} && ls $d; done"
    );
    let text = succeed_full(&room.bash(&script));
    assert!(text.contains(&name), "{text}");
    assert!(!fs::exists(format!("/tmp/{name}")).unwrap());
    assert!(!fs::exists(format!("/dev/shm/{name}")).unwrap());
    // Not even the next command of the same person sees it.
    refused_full(&room.bash(&format!("cat /tmp/{name}")));
}

#[test]
fn a_workspace_may_lie_in_a_directory_that_is_the_commands_own() {
    for own in ["/dev/shm", "/tmp", "/run"] {
        // Not everyone may make a directory there.
        if tempfile::tempdir_in(own).is_err() {
            continue;
        }
        let room = Room::below(Path::new(own));
        fs::write(room.inside.join(".env"), "SECRET\n").unwrap();
        let script = "echo x > new && [ ! -e $OUT ] && echo y > /dev/shm/own && echo z > /tmp/own && ls .. && cat .env";
        for readable in [None, Some("/")] {
            let mut spawn = room.bash(script);
            spawn.walls.readable.extend(readable.map(PathBuf::from));
            spawn.walls.masked = vec![room.inside.join(".env")];
            let (_, text) = run_with(full(), &spawn);
            assert!(
                text.starts_with("inside\n") && text.contains("ermission denied"),
                "{own}: {text}"
            );
            assert_eq!(fs::read_to_string(room.inside.join("new")).unwrap(), "x\n");
        }
    }
    assert!(!fs::exists("/dev/shm/own").unwrap() && !fs::exists("/tmp/own").unwrap());
}

#[test]
fn a_command_has_devices_and_terminals_of_its_own() {
    let room = Room::new();
    let script = "echo x > /dev/null; head -c 3 /dev/zero | wc -c; head -c 3 /dev/urandom | wc -c; \
        echo out > /dev/stdout; echo err > /dev/stderr; cat <(echo fd)";
    assert_eq!(succeed_full(&room.bash(script)), "3\n3\nout\nerr\nfd\n");
    let script = "import pty, os; pty.spawn(['/bin/sh', '-c', 'tty; stty -a | head -c 5'])";
    assert!(succeed_full(&room.python(script)).starts_with("/dev/pts/0"));
    let names = succeed_full(&room.bash("ls /dev | tr '\\n' ' '"));
    assert_eq!(
        names,
        "fd full null ptmx pts random shm stderr stdin stdout tty urandom zero "
    );
    refused_full(&room.bash("exec 3<> /dev/tty"));
}

#[test]
fn the_machines_devices_can_be_used_and_not_changed() {
    let room = Room::new();
    // As it is already, so that nothing is spoiled where there is no wall.
    let state = || {
        let device = fs::metadata("/dev/full").unwrap();
        (device.mode(), device.ctime(), device.ctime_nsec())
    };
    let before = state();
    for script in [
        "chmod 666 /dev/full",
        "chown $(stat -c %u:%g /dev/full) /dev/full",
        "touch -c -r /dev/full /dev/full",
    ] {
        refused_full(&room.bash(script));
    }
    assert_eq!(before, state());
}

#[test]
fn nothing_that_is_mounted_outside_later_gets_in_and_no_descriptor_does() {
    let room = Room::new();
    let script =
        "grep -cE ' (shared|master):' /proc/self/mountinfo; ls /proc/self/fd | tr '\\n' ' '";
    let (_, text) = run_with(full(), &room.bash(script));
    // The fourth is the directory that `ls` reads.
    assert_eq!(text, "0\n0 1 2 3 ");
}

#[test]
fn a_command_sees_its_own_processes_alone() {
    let room = Room::new();
    let script = "echo $$; for p in /proc/[0-9]*; do echo ${p#/proc/}; done | sort -n | tail -1; \
        cat /proc/1/environ /proc/1/maps 2>&1 | grep -c -e denied -e permitted -e 'No such'; \
        cat /proc/self/environ /proc/self/maps > /dev/null";
    let text = succeed_full(&room.bash(script));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "2");
    assert!(lines[1].parse::<u32>().unwrap() < 20, "{text}");
    assert_eq!(lines[2], "2");
}

#[test]
fn a_link_planted_in_place_of_a_wall_refuses_the_start() {
    let room = Room::new();
    let wall = room.inside.join("tmp");
    symlink(&room.outside, &wall).unwrap();
    for wall in [wall.clone(), wall.join("below")] {
        let mut all = [
            room.bash("true"),
            room.bash("true"),
            room.bash("true"),
            room.bash("true"),
        ];
        all[0].walls.writable.push(wall.clone());
        all[1].walls.masked.push(wall.clone());
        all[2].walls.write_protected.push(wall.clone());
        // A readable one inside what is open already changes nothing, so it is not even looked at here.
        all[3].walls.readable.push(wall.clone());
        all[3].walls.writable.clear();
        all[3].cwd = "/".into();
        let is_kept_itself = |spawn: &Spawn| {
            spawn
                .walls
                .write_protected
                .contains(&room.inside.join("tmp"))
        };
        for spawn in all.iter().filter(|spawn| !is_kept_itself(spawn)) {
            match try_start(full(), spawn).map(drop) {
                Err(StartError::Wall { path, source }) => {
                    assert_eq!((path, source.raw_os_error()), (wall.clone(), Some(40))); // ELOOP
                }
                other => panic!("{other:?} {:?}", spawn.walls),
            }
        }
    }
}

#[test]
fn a_link_that_is_write_protected_stays_what_it_is() {
    let room = Room::new();
    fs::create_dir(room.inside.join("led to")).unwrap();
    for target in ["led to", "nowhere"] {
        let link = room.inside.join("link");
        symlink(target, &link).unwrap();
        for script in [
            "rm link",
            "mv link x",
            "touch y && mv -T y link",
            "ln -sfn /tmp link",
            "ln -P link z",
            "touch -h -d 2000-01-01 link",
        ] {
            let mut spawn = room.bash(script);
            spawn.walls.write_protected = vec![link.clone()];
            refused_full(&spawn);
            spawn = room.bash("readlink link");
            spawn.walls.write_protected = vec![link.clone()];
            assert_eq!(succeed_full(&spawn), format!("{target}\n"));
        }
        fs::remove_file(link).unwrap();
    }
}

#[test]
fn walls_that_are_missing_or_go_up_are_as_strict_as_in_the_partial_tier() {
    let room = Room::new();
    let mut spawn = room.bash("true");
    spawn.walls.readable.push(room.outside.join("missing"));
    succeed_full(&spawn);
    for wall in [room.outside.join("missing"), room.inside.join("../outside")] {
        let mut spawn = room.bash("true");
        spawn.walls.writable.push(wall.clone());
        match try_start(full(), &spawn).map(drop) {
            Err(StartError::Wall { path, .. }) => assert_eq!(path, wall),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn directory_and_program_must_be_in_the_tree() {
    let room = Room::new();
    let mut outside = room.bash("true");
    outside.cwd = room.outside.clone();
    match try_start(full(), &outside).map(drop) {
        Err(error @ StartError::Directory { .. }) => {
            assert!(
                error
                    .to_string()
                    .ends_with(": it is not there inside of the walls"),
                "{error}"
            );
        }
        other => panic!("{other:?}"),
    }
    let program = room.outside.join("secret");
    assert!(matches!(
        try_start(full(), &room.spawn(program.to_str().unwrap(), &[])).map(drop),
        Err(StartError::Program { .. })
    ));
}

#[test]
fn links_on_the_way_to_what_is_readable_are_shown() {
    let room = Room::new();
    let (moved, link) = (room.root.join("moved"), room.root.join("home/.rustup"));
    fs::create_dir(&moved).unwrap();
    fs::create_dir(room.root.join("home")).unwrap();
    fs::write(moved.join("f"), "found\n").unwrap();
    symlink(&moved, &link).unwrap();
    let mut spawn = room.bash("cat ../home/.rustup/f");
    refused_full(&spawn);
    spawn.walls.readable.push(moved);
    spawn.walls.links.push(link);
    assert_eq!(succeed_full(&spawn), "found\n");
}

#[test]
fn everything_may_be_readable_and_the_services_are_still_out_of_reach() {
    let room = Room::new();
    let mut spawn = room.bash(
        "cat $OUT/secret && echo x > mine && ls /run | wc -l && ls /proc/self > /dev/null && echo x > /tmp/own && \
         ls -d /var /home > /dev/null; echo x > $OUT/new",
    );
    spawn.walls.readable = vec!["/".into(), room.outside.clone()];
    let (ended, text) = run_with(full(), &spawn);
    assert_eq!(ended, Ended::Code(1), "{text}");
    assert!(text.starts_with("topsecret\n0\n"), "{text}");
    assert!(text.contains("Read-only"), "{text}");
    assert_eq!(fs::read_dir(&room.outside).unwrap().count(), 1);
}

#[test]
fn a_descriptor_left_open_by_whoever_started_us_does_not_get_in() {
    let room = Room::new();
    let mut command = Command::new("/bin/bash");
    command
        .args(["-c", "exec 9< $OUT/secret; exec \"$@\"", "bash"])
        .arg(supervisor())
        .args(room.confine_args("ls /proc/self/fd; cat <&9"))
        .env("OUT", &room.outside);
    let output = command
        .current_dir(&room.inside)
        .stderr(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        !text.contains("topsecret") && text.contains("Bad file descriptor"),
        "{text}"
    );
}

#[test]
fn an_ordinary_user_gets_the_same_tree_and_no_capabilities() {
    let room = Room::new();
    // The test's own directory may be closed to others.
    let program = room.root.join("enclose");
    fs::copy(example("enclose"), &program).unwrap();
    fs::write(room.inside.join(".env"), "SECRET\n").unwrap();
    fs::set_permissions(room.inside.join(".env"), fs::Permissions::from_mode(0o666)).unwrap();
    let mut command = Command::new(&program);
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    if is_root {
        command.uid(65534).gid(65534);
    }
    let script = "id -u; echo x > a && cat a; grep CapEff /proc/self/status; (setsid sleep 1000 &); \
        for try in \"cat $OUT/secret\" \"touch $OUT/new\" 'unshare -U true' 'kill -9 1' 'cat .env' 'ls /proc/1' \
        'mkdir .vscode' 'echo x > AGENTS.md'; do \
        bash -c \"$try\" > /dev/null 2>&1 && echo \"got out: $try\"; done; echo end; \
        python3 -c 'import os, time
count = 0
try:
    while count < 1500:
        if os.fork() == 0: time.sleep(100); os._exit(0)
        count += 1
except OSError: print(count < 1000)'; echo $GITHUB_TOKEN";
    command
        .args(["--", "/bin/bash", "-c", script])
        .current_dir(&room.inside)
        .env("OUT", &room.outside)
        .env("GITHUB_TOKEN", "t");
    let (mut reader, writer) = std::io::pipe().unwrap();
    let status = command
        .stdout(writer.try_clone().unwrap())
        .stderr(writer)
        .status()
        .unwrap();
    drop(command);
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert!(status.success(), "{text}");
    assert!(
        !text.starts_with("0\n") && text.ends_with("\nx\nCapEff:\t0000000000000000\nend\nTrue\n\n"),
        "{text}"
    );
    assert!(!room.inside.join(".vscode").exists() && !room.inside.join("AGENTS.md").exists());
}

#[test]
fn other_users_files_are_roots_to_work_with_as_before() {
    if fs::metadata("/proc/self").is_ok_and(|own| own.uid() != 0) {
        return;
    }
    let room = Room::new();
    let file = room.inside.join("theirs");
    fs::write(&file, "").unwrap();
    std::os::unix::fs::chown(&file, Some(12345), Some(12345)).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let script =
        "stat -c %u theirs && echo x > theirs && cat theirs && touch new && chown 54321 new";
    assert_eq!(succeed_full(&room.bash(script)), "12345\nx\n");
    assert_eq!(fs::metadata(room.inside.join("new")).unwrap().uid(), 54321);
}

#[test]
fn everyday_tools_work() {
    let room = Room::new();
    let script = "cat <<E\nhere\nE\nf=$(mktemp) && echo temp > $f && cat $f; seq 3 | sort -rn | tr '\\n' ' '; \
        printf '#!/bin/sh\\necho built\\n' > x && chmod +x x && ./x";
    assert_eq!(
        succeed_full(&room.bash(script)),
        "here\ntemp\n3 2 1 built\n"
    );
    let script = "git init -q . && git config user.email a@b && git config user.name a && echo x > f && git add f && \
        git commit -qm first && echo y >> f && git stash -q && git checkout -qb other && git log --format=%s && \
        git status --porcelain && git clone -q . clone && ls clone";
    let room = Room::new();
    assert_eq!(succeed_full(&room.bash(script)), "first\nf\n");
    let script = "
import multiprocessing, subprocess, tempfile, threading
print(multiprocessing.Pool(2).map(len, ['a', 'bb']))
with tempfile.NamedTemporaryFile() as f: f.write(b'x')
print(subprocess.check_output(['echo', 'hi'], text=True), end='')
";
    assert_eq!(succeed_full(&room.python(script)), "[1, 2]\nhi\n");
}

#[test]
fn nothing_that_was_mounted_is_left_outside() {
    let room = Room::new();
    let mounts = || fs::read_to_string("/proc/self/mountinfo").unwrap();
    let before = mounts();
    let pid =
        succeed_full(&room.bash("setsid sleep 1000 > /dev/null 2>&1 & readlink /proc/self/ns/mnt"));
    assert_eq!(before, mounts());
    assert!(pid.starts_with("mnt:"));
    assert!(!is_alive("2") || fs::read_to_string("/proc/2/comm").unwrap() != "sleep\n");
}
