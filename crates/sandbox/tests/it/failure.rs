//! Machines that lack something: what is said then, and that nothing runs with less than was said.
//! Must not change the machine: each case lives in a namespace or below a filter of its own.

use std::fs;
use std::io::ErrorKind;
use std::process::{Command, Output};
use std::time::SystemTime;

use tollgate_sandbox::{Confinement, Launcher, StartError};

use crate::kit::{Room, example, supervisor, try_start};

/// Answers some system calls with an error number (`number=error`, "no such call" without one, and 0 for a lie),
/// then executes the rest of the line.
const WITHOUT: &str = "
import ctypes, os, struct, sys
answers, program = [call.split('=') for call in sys.argv[1].split(',')], sys.argv[2:]
code = [(0x20, 0, 0, 0)]
for number, *error in answers:
    code += [(0x15, 0, 1, int(number)), (0x06, 0, 0, 0x00050000 | (int(error[0]) if error else 38))]
code += [(0x06, 0, 0, 0x7fff0000)]
text = b''.join(struct.pack('HBBI', *line) for line in code)
buffer = ctypes.create_string_buffer(text)
filter = struct.pack('HxxxxxxQ', len(code), ctypes.addressof(buffer))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, filter, 0, 0) == 0
os.execv(program[0], program)
";

fn text(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8(all).unwrap()
}

/// What `enclose` says of a machine without some system calls, and what it does there.
fn without(numbers: &str) -> (String, String) {
    let room = Room::new();
    let run = |args: &[&str]| {
        let mut command = Command::new("/usr/bin/python3");
        command
            .args(["-c", WITHOUT, numbers])
            .arg(example("enclose"));
        let output = command.args(args).current_dir(&room.inside).output();
        text(&output.unwrap())
    };
    let ran = run(&["--", "/bin/sh", "-c", "echo ran; touch ../outside/x"]);
    assert!(!room.outside.join("x").exists());
    (run(&["--tier"]), ran)
}

/// The same in a user namespace of its own, after a line that spoils something.
fn in_namespace(spoil: &str, args: &str) -> String {
    let room = Room::new();
    let script = format!("{spoil}; exec {} {args}", example("enclose").display());
    let mut command = Command::new("unshare");
    command.args(["-Urm", "--", "/bin/sh", "-c", &script]);
    text(&command.current_dir(&room.inside).output().unwrap())
}

/// What `enclose` says of a start when something is spoiled after it has found out what the machine can.
fn in_session(spoil: &str) -> String {
    let room = Room::new();
    let script = format!(
        "coproc E {{ exec {} --pause -- /bin/echo ran 2>&1; }}; exec 3<&${{E[0]}} 4>&${{E[1]}}; read -r line <&3; \
         echo $line; {spoil}; echo >&4; exec cat <&3",
        example("enclose").display()
    );
    let mut command = Command::new("unshare");
    command.args(["-Urm", "--", "/bin/bash", "-c", &script]);
    text(&command.current_dir(&room.inside).output().unwrap())
}

#[test]
fn what_is_lost_in_the_session_refuses_the_start_and_never_lowers_the_tier() {
    assert_eq!(in_session("true"), "full\nran\n");
    for (spoil, said) in [
        (
            "echo 0 > /proc/sys/user/max_user_namespaces",
            "cannot make namespaces: no more are allowed (user.max_user_namespaces)",
        ),
        (
            "mount -t tmpfs none /proc",
            "cannot keep the user's number in a new namespace: /proc is not mounted",
        ),
        (
            "mount -t tmpfs none /proc/acpi || mount -t tmpfs none /proc/bus",
            "cannot mount a fresh /proc: Operation not permitted (os error 1)",
        ),
    ] {
        let expected = format!("full\nenclose: {said}\n");
        assert_eq!(in_session(spoil), expected, "{spoil}");
    }
}

#[test]
fn a_full_disk_refuses_the_start() {
    let room = Room::new();
    // There is room for the directory itself, and for no place to hold.
    let script = format!(
        "mkdir full && mount -t tmpfs -o nr_inodes=1 none full && cd full && exec {} -- /bin/echo ran",
        example("enclose").display()
    );
    let mut command = Command::new("unshare");
    command.args(["-Urm", "--", "/bin/sh", "-c", &script]);
    let said = text(&command.current_dir(&room.inside).output().unwrap());
    let expected = format!(
        "enclose: cannot build the wall around `{}/full/.agents`: No space left on device (os error 28)\n",
        room.inside.display()
    );
    assert_eq!(said, expected);
    // Where it is the tree itself, that shows when the machine is tried, and is told.
    let (said, ran) = without("432=28");
    assert!(
        said.contains("Partial") && said.contains("No space left on device"),
        "{said}"
    );
    assert!(ran.starts_with("ran\n"), "{ran}");
}

#[test]
fn a_kernel_that_says_yes_and_does_nothing_is_found_out() {
    const GOT_OUT: &str = "enclose: cannot hold the walls: the trial got out";
    // Landlock and seccomp are the last walls of both tiers.
    for lie in ["446=0", "317=0"] {
        let (said, ran) = without(lie);
        assert!(said.starts_with(GOT_OUT), "{lie}: {said}");
        assert!(ran.starts_with(GOT_OUT), "{lie}: {ran}");
    }
    // Without the attributes of mounts, or without their new root, the tree is none.
    for lie in ["442=0", "155=0"] {
        let (said, ran) = without(lie);
        assert!(said.contains("Partial"), "{lie}: {said}");
        assert!(ran.starts_with("ran\n"), "{lie}: {ran}");
    }
}

#[test]
fn a_sandbox_inside_a_sandbox_says_that_it_is_one_and_runs_nothing() {
    let room = Room::new();
    let program = example("enclose");
    let inner = program.to_str().unwrap();
    for outer in [&["--"][..], &["--partial", "--"]] {
        for tier in [&[][..], &["--partial"]] {
            let mut command = Command::new(inner);
            command.args(outer).arg(inner).args(tier);
            command.args(["--", "/bin/echo", "ran"]);
            let said = text(&command.current_dir(&room.inside).output().unwrap());
            assert!(
                said.starts_with("enclose: ")
                    && said.contains("inside another sandbox")
                    && said.lines().count() == 1,
                "{outer:?} {tier:?}: {said}"
            );
        }
    }
}

#[test]
fn where_user_namespaces_are_forbidden_it_is_the_partial_tier_and_says_why() {
    let spoil = "echo 0 > /proc/sys/user/max_user_namespaces";
    let said = in_namespace(spoil, "--tier");
    assert!(
        said.contains("Partial") && said.contains("user.max_user_namespaces"),
        "{said}"
    );
    assert_eq!(in_namespace(spoil, "-- /bin/echo ran"), "ran\n");
}

#[test]
fn where_the_file_tree_cannot_be_built_it_is_the_partial_tier_and_says_why() {
    for (numbers, reason) in [
        ("442", "file tree"),
        ("430", "file tree"),
        ("155", "file tree"),
    ] {
        let (said, ran) = without(numbers);
        assert!(
            said.contains("Partial") && said.contains(reason) && said.contains("not implemented"),
            "{numbers}: {said}"
        );
        assert!(ran.starts_with("ran\n"), "{ran}");
    }
}

#[test]
fn where_proc_cannot_be_mounted_it_is_the_partial_tier_and_says_why() {
    // As in most containers: part of /proc is covered, so the kernel gives no fresh one.
    let said = in_namespace(
        "mount -t tmpfs none /proc/acpi || mount -t tmpfs none /proc/bus",
        "--tier",
    );
    assert!(
        said.contains("Partial") && said.contains("fresh /proc"),
        "{said}"
    );
}

#[test]
fn without_landlock_or_seccomp_nothing_runs() {
    for (numbers, reason) in [("444", "this kernel has no Landlock"), ("317,157", "")] {
        let (said, ran) = without(numbers);
        assert!(
            said.starts_with("enclose: ") && said.contains(reason) && said.lines().count() == 1,
            "{said}"
        );
        assert!(!ran.contains("ran") && ran.lines().count() == 1, "{ran}");
    }
}

#[test]
fn without_proc_nothing_runs() {
    for args in ["--tier", "-- /bin/echo ran"] {
        let said = in_namespace("mount -t tmpfs none /proc", args);
        assert_eq!(said, "enclose: /proc is not mounted\n");
    }
}

#[test]
fn a_supervisor_that_was_written_to_refuses_every_start() {
    let room = Room::new();
    let program = room.root.join("confine");
    fs::copy(supervisor(), &program).unwrap();
    let launcher = Launcher::open_program(&program).unwrap();
    assert!(!matches!(
        launcher.confinement(),
        Confinement::NotEnforced { .. }
    ));
    // While it runs nobody can write to it.
    let append = || fs::File::options().append(true).open(&program);
    let busy = append().map(drop).unwrap_err();
    assert_eq!(busy.kind(), ErrorKind::ExecutableFileBusy);
    // Nor does it have to be killed for that: a file that looks changed is enough.
    let file = fs::File::open(&program).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    match try_start(&launcher, &room.bash("echo ran")).map(drop) {
        Err(error @ StartError::Supervisor(_)) => {
            assert!(error.to_string().contains("was changed"), "{error}");
        }
        other => panic!("{other:?}"),
    }
}
