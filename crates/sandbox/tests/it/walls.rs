//! What the walls around files hold.
//! Must not test what policy decides.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use tollgate_sandbox::{Confinement, Ended, StartError};

use crate::kit::{self, Room, denied, run, run_with, succeed, supervisor, try_start};

#[test]
fn this_machine_enforces_the_partial_tier() {
    let Confinement::Partial { abi, gaps, .. } = kit::launcher().confinement() else {
        panic!("not enforced")
    };
    assert!(*abi >= 1);
    assert!(
        gaps.iter()
            .any(|gap| gap.about.starts_with("mode, owner, times"))
    );
}

#[test]
fn a_command_writes_inside_and_not_outside() {
    let room = Room::new();
    succeed(
        &room.bash(
            "mkdir -p a/b && echo hi > a/b/c && mv a/b/c d && ln d e && ln -s d f && rm -r a",
        ),
    );
    assert_eq!(fs::read_to_string(room.inside.join("d")).unwrap(), "hi\n");
    for script in [
        "echo x > $OUT/new",
        "echo x >> $OUT/secret",
        "echo x > ../new",
        "cd $OUT && echo x > new",
        "mkdir $OUT/new",
        "ln -s x $OUT/new",
        "mkfifo $OUT/new",
        "truncate -s 0 $OUT/secret",
        "rm $OUT/secret",
        "mv $OUT/secret .",
        "echo x > mine; mv mine $OUT/new",
        "ln -s $OUT/new link; echo x > link",
        "echo x > /proc/self/root$OUT/new",
        "echo x > /dev/shm/new",
        "echo x > /proc/sys/kernel/core_pattern",
    ] {
        denied(&room.bash(script));
    }
    assert_eq!(
        fs::read_to_string(room.outside.join("secret")).unwrap(),
        "topsecret\n"
    );
    assert_eq!(fs::read_dir(&room.outside).unwrap().count(), 1);
    assert_eq!(fs::read_dir(&room.root).unwrap().count(), 2);
}

#[test]
fn an_outside_file_cannot_be_linked_inside() {
    let room = Room::new();
    let (ended, _) = run(&room.bash("ln $OUT/secret mine"));
    assert_eq!(ended, Ended::Code(1));
    assert!(!room.inside.join("mine").exists());
}

#[test]
fn what_is_outside_cannot_be_read() {
    let room = Room::new();
    denied(&room.bash("cat $OUT/secret"));
    denied(&room.bash("ls $OUT"));
    denied(&room.bash("ln -s $OUT/secret link && cat link"));
    denied(&room.bash("cp /bin/true $OUT/x || true; $OUT/secret"));
    assert!(succeed(&room.bash("cat /etc/passwd")).contains("root"));
}

#[test]
fn a_readable_directory_can_be_read_and_not_written() {
    let room = Room::new();
    let mut spawn = room.bash("cat $OUT/secret && echo x > $OUT/new");
    spawn.walls.readable.push(room.outside.clone());
    let (ended, text) = run(&spawn);
    assert_eq!(ended, Ended::Code(1));
    assert!(
        text.contains("topsecret") && text.contains("ermission denied"),
        "{text}"
    );
}

#[test]
fn a_single_file_can_be_opened() {
    let room = Room::new();
    fs::write(room.outside.join("other"), "").unwrap();
    let mut spawn = room.bash("echo x > $OUT/secret && cat $OUT/other");
    spawn.walls.writable.push(room.outside.join("secret"));
    let (ended, text) = run(&spawn);
    assert!(
        ended != Ended::Code(0) && text.contains("other: Permission denied"),
        "{text}"
    );
    assert_eq!(
        fs::read_to_string(room.outside.join("secret")).unwrap(),
        "x\n"
    );
}

#[test]
fn a_link_planted_in_place_of_a_wall_refuses_the_start() {
    let room = Room::new();
    let wall = room.inside.join("tmp");
    symlink(&room.outside, &wall).unwrap();
    for wall in [wall.clone(), wall.join("below")] {
        let mut writable = room.bash("true");
        writable.walls.writable.push(wall.clone());
        let mut readable = room.bash("true");
        readable.walls.readable.push(wall.clone());
        for spawn in [writable, readable] {
            match try_start(kit::launcher(), &spawn).map(drop) {
                Err(StartError::Wall { path, source }) => {
                    assert_eq!((path, source.raw_os_error()), (wall.clone(), Some(40))); // ELOOP
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn a_missing_writable_wall_refuses_the_start_and_a_missing_readable_one_opens_nothing() {
    let room = Room::new();
    let mut spawn = room.bash("true");
    spawn.walls.readable.push(room.outside.join("missing"));
    succeed(&spawn);
    spawn.walls.writable.push(room.outside.join("missing"));
    assert!(matches!(
        try_start(kit::launcher(), &spawn).map(drop),
        Err(StartError::Wall { .. })
    ));
}

#[test]
fn the_common_devices_work_and_terminals_do_not() {
    let room = Room::new();
    let text = succeed(&room.bash("echo x > /dev/null; head -c 3 /dev/zero | wc -c; head -c 3 /dev/urandom | wc -c; echo out > /dev/stdout; echo err > /dev/stderr"));
    assert_eq!(text, "3\n3\nout\nerr\n");
    denied(&room.bash("exec 3<> /dev/ptmx"));
    denied(&room.bash("ls /dev/pts"));
    denied(&room.bash("ls /dev"));
}

#[test]
fn environment_and_memory_of_processes_outside_cannot_be_read() {
    let room = Room::new();
    for file in ["environ", "mem", "maps", "root/etc/passwd", "cwd/x", "fd/0"] {
        for pid in ["1", "$PPID", &std::process::id().to_string()] {
            let (ended, text) = run(&room.bash(&format!("cat /proc/{pid}/{file}")));
            assert_eq!(
                (ended, text.contains("denied") || text.contains("No such")),
                (Ended::Code(1), true),
                "{text}"
            );
        }
    }
    succeed(&room.bash("cat /proc/self/environ /proc/self/maps"));
}

#[test]
fn a_descriptor_left_open_by_whoever_started_us_does_not_get_in() {
    let room = Room::new();
    let mut command = Command::new("/bin/bash");
    command
        .args(["-c", "exec 9< $OUT/secret; exec \"$@\"", "bash"])
        .arg(supervisor());
    command
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
fn changing_the_mode_outside_is_a_gap_and_is_named() {
    // If this fails because the change was refused, the gap is closed: take it off the list.
    let room = Room::new();
    succeed(&room.bash("chmod 600 $OUT/secret"));
    let mode = fs::metadata(room.outside.join("secret"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn older_kernels_hold_what_they_can_and_name_the_rest() {
    let room = Room::new();
    let file = room.outside.join("secret");
    let Confinement::Partial { abi: newest, .. } = *kit::launcher().confinement() else {
        panic!("not enforced")
    };
    for abi in 1..=newest {
        let launcher = kit::launcher_as_abi(abi);
        let Confinement::Partial {
            abi: found, gaps, ..
        } = launcher.confinement()
        else {
            panic!("{abi}")
        };
        assert_eq!(*found, abi);
        assert_eq!(
            gaps.iter().any(|gap| gap.about.contains("truncated")),
            abi < 3
        );
        assert_eq!(
            gaps.iter().any(|gap| gap.about.contains("signalled")),
            abi < 6
        );

        let (ended, text) = run_with(&launcher, &room.bash("echo x > mine && mv mine $OUT/new"));
        assert_eq!(ended, Ended::Code(1), "{text}");
        let (ended, _) = run_with(&launcher, &room.bash("exec 3<> /dev/tcp/127.0.0.1/9"));
        assert_eq!(ended, Ended::Code(1));

        fs::write(&file, "topsecret\n").unwrap();
        let cut = room.python("import os; os.truncate(os.environ['OUT'] + '/secret', 0)");
        assert_eq!(
            run_with(&launcher, &cut).0 == Ended::Code(0),
            abi < 3,
            "the named gap is not the real one"
        );
        let signal = room.bash("kill -0 $PPID");
        assert_eq!(
            run_with(&launcher, &signal).0 == Ended::Code(0),
            abi < 6,
            "the named gap is not the real one"
        );
    }
    let none = kit::launcher_as_abi(0);
    assert!(matches!(
        none.confinement(),
        Confinement::NotEnforced { .. }
    ));
    assert!(matches!(
        try_start(&none, &room.bash("true")).map(drop),
        Err(StartError::NotEnforced { .. })
    ));
}

#[test]
fn an_ordinary_user_gets_the_same_walls() {
    let room = Room::new();
    // The test's own directory may be closed to others.
    let program = room.root.join("confine");
    fs::copy(supervisor(), &program).unwrap();
    let mut command = Command::new(&program);
    if fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0) {
        command.uid(65534).gid(65534);
    }
    let script = "id -u; echo x > a && cat a; grep CapEff /proc/self/status; (setsid sleep 1000 &); \
        for try in \"cat $OUT/secret\" \"touch $OUT/new\" 'exec 3<>/dev/tcp/127.0.0.1/9' \"kill -0 $PPID\" 'unshare -U true'; do \
        bash -c \"$try\" 2>/dev/null && echo \"got out: $try\"; done; echo end";
    command
        .args(room.confine_args(script))
        .current_dir(&room.inside)
        .env("OUT", &room.outside);
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
        !text.starts_with("0\n") && text.contains("\nx\nCapEff:\t0000000000000000\nend\n"),
        "{text}"
    );
}
