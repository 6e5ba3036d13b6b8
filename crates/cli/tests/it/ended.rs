//! How a process ends that is asked to, and what is left where it was killed.

use crate::world::{BIN, Ran, World, finish, is_running, ran, start, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::{fs, process::Child};

/// What lies in the place for temporary directories.
fn left(world: &World) -> Vec<String> {
    let entries = fs::read_dir(world.path("tmp")).unwrap();
    let name = |it: fs::DirEntry| it.file_name().into_string().unwrap();
    entries.map(|it| name(it.unwrap())).collect()
}

/// A number that no other process has among its arguments.
fn long(number: u32) -> String {
    format!("{number}{}", std::process::id())
}

/// Sends a signal once the command runs, and waits for the end.
fn ended_by(signal: Signal, child: Child, sleeper: &str) -> Ran {
    wait_until("the command runs", || is_running(sleeper));
    kill_process(Pid::from_child(&child), signal).unwrap();
    finish(child)
}

const SIGNALS: [(Signal, i32); 3] = [(Signal::HUP, 129), (Signal::INT, 130), (Signal::TERM, 143)];

#[test]
fn the_sandbox_that_is_asked_to_end_ends_what_runs_in_it_and_leaves_nothing() {
    for (number, (signal, code)) in (31..).zip(SIGNALS) {
        let world = World::new();
        let sleeper = long(number);
        // It takes no hint, and has a child that has left its session.
        let line = format!(
            "trap '' HUP INT TERM; setsid sleep {sleeper} & touch $TMPDIR/x; sleep {sleeper}"
        );
        let child = start(&mut world.command(&["sandbox", "--", "sh", "-c", &line]));
        let ran = ended_by(signal, child, &sleeper).ended_with(code);
        assert!(!is_running(&sleeper), "{ran:#?}");
        assert_eq!(left(&world), [""; 0], "{ran:#?}");
    }
}

#[test]
fn a_command_in_the_sandbox_may_end_in_order() {
    let world = World::new();
    let sleeper = long(34);
    let line = format!("trap 'echo in order; exit 0' TERM; sleep {sleeper} & wait");
    let child = start(&mut world.command(&["sandbox", "--", "bash", "-c", &line]));
    ended_by(Signal::TERM, child, &sleeper).ended_with(143);
}

#[test]
fn a_signal_that_the_starter_has_us_pass_over_ends_nothing() {
    let world = World::new();
    let sleeper = long(40);
    let line = "trap '' HUP INT; exec \"$0\" sandbox -- sh -c \"$1\"";
    let inner = format!("sleep {sleeper}");
    let child = start(&mut world.wrapped(&["sh", "-c", line], &[BIN, &inner]));
    wait_until("the command runs", || is_running(&sleeper));
    for signal in [Signal::HUP, Signal::INT] {
        kill_process(Pid::from_child(&child), signal).unwrap();
    }
    // Heard, they would have been told first.
    ended_by(Signal::TERM, child, &sleeper).ended_with(143);
}

#[test]
fn a_call_and_a_run_that_are_asked_to_end_say_by_what_and_leave_nothing() {
    for (number, (signal, code)) in (35..).zip(SIGNALS) {
        let world = World::new();
        let sleeper = long(number);
        let command = json!({"command": format!("touch $TMPDIR/x; sleep {sleeper}")});
        let line = ["call", "bash", &command.to_string(), "--on-ask", "deny"];
        let child = start(&mut world.command(&line));
        ended_by(signal, child, &sleeper).ended_with(code);

        let turns = json!([{"calls": [{"tool": "bash", "args": command}]}]);
        let child = start(&mut world.play(&turns, &["--format", "json"]));
        let ran = ended_by(signal, child, &sleeper).ended_with(code);
        let end = ran.out.lines().last().unwrap();
        assert!(end.contains(&format!(r#""exit_code":{code}"#)), "{ran:#?}");
        assert!(!is_running(&sleeper));
        assert_eq!(left(&world), [""; 0], "{ran:#?}");
    }
}

#[test]
fn what_a_killed_process_left_is_removed_by_the_next_and_what_a_running_one_holds_is_not() {
    let world = World::new();
    let (killed, running) = (long(38), long(39));
    let sleep = |number: &str| {
        let line = format!("sleep {number}");
        start(&mut world.command(&["sandbox", "--", "sh", "-c", &line]))
    };
    let (mut gone, stays) = (sleep(&killed), sleep(&running));
    wait_until("both run", || is_running(&killed) && is_running(&running));
    let before = left(&world);
    assert_eq!(before.len(), 2, "{before:?}");
    kill_process(Pid::from_child(&gone), Signal::KILL).unwrap();
    gone.wait().unwrap();
    wait_until("its command is gone", || !is_running(&killed));
    assert_eq!(left(&world).len(), 2, "nobody was there to remove it");
    ran(&mut world.command(&["sandbox", "--", "true"])).ended_with(0);
    let after = left(&world);
    assert!(after.len() == 1 && before.contains(&after[0]), "{after:?}");
    ended_by(Signal::TERM, stays, &running).ended_with(143);
    assert_eq!(left(&world), [""; 0]);
}
