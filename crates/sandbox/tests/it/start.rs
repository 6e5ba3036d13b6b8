//! What a start needs, what refuses it, and what the program gets.
//! Must not repeat the tests of the walls.

use std::ffi::OsStr;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use tollgate_sandbox::{Confinement, Ended, Launcher, StartError, Streams};

use crate::kit::{Room, full, launcher, run, succeed, supervisor, try_start};

#[test]
fn a_program_that_cannot_be_executed_is_an_error_and_not_an_exit_code() {
    let room = Room::new();
    fs::write(room.inside.join("plain"), "").unwrap();
    let plain = room.inside.join("plain");
    for (program, expected) in [
        ("/bin/no-such-program", ErrorKind::NotFound),
        (plain.to_str().unwrap(), ErrorKind::PermissionDenied),
        (
            room.outside.join("secret").to_str().unwrap(),
            ErrorKind::PermissionDenied,
        ),
    ] {
        match try_start(launcher(), &room.spawn(program, &[])).map(drop) {
            Err(StartError::Program { path, source }) => {
                assert_eq!(
                    (path.as_path(), source.kind()),
                    (Path::new(program), expected)
                );
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn relative_paths_are_refused() {
    let room = Room::new();
    let program = room.spawn("true", &[]);
    let mut cwd = room.bash("true");
    cwd.cwd = ".".into();
    let mut wall = room.bash("true");
    wall.walls.writable.push("inside".into());
    for spawn in [program, cwd, wall] {
        assert!(matches!(
            try_start(launcher(), &spawn).map(drop),
            Err(StartError::NotAbsolute { .. })
        ));
    }
}

#[test]
fn a_missing_directory_is_an_error() {
    let room = Room::new();
    let mut spawn = room.bash("true");
    spawn.cwd = room.inside.join("missing");
    assert!(matches!(
        try_start(launcher(), &spawn).map(drop),
        Err(StartError::Directory { .. })
    ));
}

#[test]
fn too_many_arguments_are_an_error() {
    let room = Room::new();
    let mut spawn = room.bash("true");
    spawn
        .args
        .extend(std::iter::repeat_n("x".repeat(100_000).into(), 100));
    assert!(matches!(
        try_start(launcher(), &spawn).map(drop),
        Err(StartError::Program { .. })
    ));
    spawn
        .args
        .extend(std::iter::repeat_n("x".repeat(100_000).into(), 100));
    assert!(matches!(
        try_start(launcher(), &spawn).map(drop),
        Err(StartError::Supervisor(_))
    ));
}

#[test]
fn environment_arguments_directory_and_input_are_exactly_the_given() {
    let room = Room::new();
    let mut spawn = room.spawn("/usr/bin/env", &[]);
    spawn.env = vec![
        ("A".into(), "1".into()),
        ("B".into(), OsStr::from_bytes(b"\xff").into()),
    ];
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut child = launcher().start(&spawn, writer.into()).unwrap();
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).unwrap();
    assert_eq!(
        (child.wait().unwrap(), bytes.as_slice()),
        (Ended::Code(0), b"A=1\nB=\xff\n".as_slice())
    );

    let mut spawn = room.bash("printf '%s|' \"$0\" \"$@\"; pwd; cat; echo end");
    spawn.args.extend(["zero".into(), "a b".into(), "".into()]);
    assert_eq!(
        succeed(&spawn),
        format!("zero|a b||{}\nend\n", room.inside.display())
    );
}

#[test]
fn input_and_errors_are_streams_of_their_own_if_that_is_wanted() {
    let room = Room::new();
    for launcher in [launcher(), full()] {
        let (input, mut typed) = std::io::pipe().unwrap();
        let (mut output, out) = std::io::pipe().unwrap();
        let (mut errors, error) = std::io::pipe().unwrap();
        let streams = Streams {
            input: Some(input.into()),
            output: out.into(),
            error: error.into(),
        };
        // It lets go of the input, and whoever writes to it then learns that nobody else holds it.
        let spawn =
            room.bash("read -r line; echo got $line; echo bad >&2; exec < /dev/null; sleep 1000");
        let child = launcher.start_with(&spawn, streams).unwrap();
        typed.write_all(b"it\n").unwrap();
        let broken = loop {
            if let Err(error) = typed.write_all(b"more\n") {
                break error;
            }
        };
        assert_eq!(broken.kind(), ErrorKind::BrokenPipe);
        child.kill();
        let (mut said, mut complained) = (String::new(), String::new());
        output.read_to_string(&mut said).unwrap();
        errors.read_to_string(&mut complained).unwrap();
        assert_eq!((said.as_str(), complained.as_str()), ("got it\n", "bad\n"));
    }
}

#[test]
fn a_broken_pipe_ends_a_writer_as_in_any_shell() {
    let room = Room::new();
    assert_eq!(
        run(&room.bash("yes | head -n 1; echo ${PIPESTATUS[0]}")).1,
        "y\n141\n"
    );
}

#[test]
fn a_program_that_is_no_supervisor_leaves_nothing_enforced_and_runs_nothing() {
    for program in ["/bin/true", "/bin/false", "/bin/cat"] {
        let launcher = Launcher::open_program(Path::new(program)).unwrap();
        assert!(matches!(
            launcher.confinement(),
            Confinement::NotEnforced { .. }
        ));
        let started = try_start(&launcher, &Room::new().bash("true")).map(drop);
        assert!(matches!(started, Err(StartError::NotEnforced { .. })));
    }
}

#[test]
fn the_supervisor_is_the_program_opened_at_the_start_whatever_lies_there_now() {
    let room = Room::new();
    let program = room.root.join("confine");
    fs::copy(supervisor(), &program).unwrap();
    let launcher = Launcher::open_program(&program).unwrap();
    fs::remove_file(&program).unwrap();
    fs::copy("/bin/false", &program).unwrap();
    assert_eq!(
        try_start(&launcher, &room.bash("exit 7"))
            .unwrap()
            .child
            .wait()
            .unwrap(),
        Ended::Code(7)
    );
}

#[test]
fn the_marker_alone_makes_no_supervisor() {
    // Standard input is no socket, so the program goes on and complains about its arguments.
    let output = std::process::Command::new(supervisor())
        .arg("__tollgate-supervisor")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(125));
}
