//! How commands end, and that nothing they started outlives them.
//! Must not leave processes behind when a test fails: every tree here hangs on a supervisor.

use std::io::{BufRead, BufReader, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::Stdio;

use rustix::event::{PollFd, PollFlags, poll};
use tollgate_sandbox::{Ended, Launcher};

use crate::kit::{
    ABI_WITHOUT_SIGNALS, Room, is_alive, launcher, launcher_as_abi, run, start, try_start,
};

/// Leaves a daemon in the usual way: a new session, two forks, no descriptor of ours. Prints its number.
const DAEMON: &str = "
setsid bash -c '(exec sleep 1000 < /dev/null > /dev/null 2>&1 & echo $! > pid.new; mv pid.new pid)'
until [ -e pid ]; do :; done; cat pid";

#[test]
fn codes_and_signals_are_reported() {
    let room = Room::new();
    assert_eq!(run(&room.bash("exit 7")).0, Ended::Code(7));
    assert_eq!(run(&room.bash("kill -SEGV $$")).0, Ended::Signal(11));
    assert_eq!(run(&room.bash("kill -KILL $$")).0, Ended::Signal(9));
}

#[test]
fn a_child_that_holds_the_output_does_not_delay_the_end() {
    let room = Room::new();
    let mut running = start(&room.bash("sleep 1000 & echo $!"));
    assert_eq!(running.child.wait().unwrap(), Ended::Code(0));
    let pid = running.rest();
    assert!(!is_alive(&pid));
}

#[test]
fn a_daemon_is_dead_when_the_end_is_reported() {
    let room = Room::new();
    let mut running = start(&room.bash(DAEMON));
    assert_eq!(running.child.wait().unwrap(), Ended::Code(0));
    assert!(!is_alive(&running.rest()));
}

#[test]
fn a_daemon_is_dead_when_the_end_is_reported_on_older_kernels_too() {
    let room = Room::new();
    let launcher = launcher_as_abi(ABI_WITHOUT_SIGNALS);
    let mut running = try_start(&launcher, &room.bash(DAEMON)).unwrap();
    assert_eq!(running.child.wait().unwrap(), Ended::Code(0));
    assert!(!is_alive(&running.rest()));
}

#[test]
fn killing_the_launcher_hard_kills_the_tree() {
    let room = Room::new();
    let mut confine = room
        .confine("setsid sleep 1000 & sleep 1000 & echo $$; wait")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(confine.stdout.take().unwrap());
    let mut pid = String::new();
    output.read_line(&mut pid).unwrap();
    assert!(is_alive(&pid));
    confine.kill().unwrap();
    confine.wait().unwrap();
    // Ends when the last process that holds the output is dead.
    output.read_to_end(&mut Vec::new()).unwrap();
}

#[test]
fn an_interrupt_from_the_terminal_ends_the_launcher_and_the_supervisor_still_kills_the_tree() {
    let room = Room::new();
    let mut confine = room.confine("setsid sleep 1000 & echo ready; wait");
    let mut confine = confine
        .process_group(0)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(confine.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    let group = rustix::process::Pid::from_child(&confine);
    rustix::process::kill_process_group(group, rustix::process::Signal::INT).unwrap();
    confine.wait().unwrap();
    output.read_to_end(&mut Vec::new()).unwrap();
}

#[test]
fn killing_the_supervisor_hard_kills_the_command() {
    let room = Room::new();
    let mut running = start(&room.bash("echo $PPID; exec sleep 1000"));
    let supervisor: i32 = running.line().parse().unwrap();
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(supervisor).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
    assert_eq!(running.rest(), "");
    assert!(running.child.wait().is_err());
}

#[test]
fn dropping_a_child_kills_its_tree() {
    let room = Room::new();
    let mut running = start(&room.bash("setsid sleep 1000 & echo ready; sleep 1000"));
    assert_eq!(running.line(), "ready");
    drop(running.child);
    running.output.read_to_end(&mut Vec::new()).unwrap();
}

#[test]
fn kill_ends_at_once_and_the_end_is_readable() {
    let room = Room::new();
    let mut running = start(&room.bash("echo ready; sleep 1000"));
    assert_eq!(running.line(), "ready");
    assert_eq!(running.child.poll_end().unwrap(), None);
    running.child.kill();
    poll(
        &mut [PollFd::new(&running.child.as_fd(), PollFlags::IN)],
        None,
    )
    .unwrap();
    assert_eq!(running.child.wait().unwrap(), Ended::Signal(9));
    assert_eq!(running.child.poll_end().unwrap(), Some(Ended::Signal(9)));
    running.child.kill();
    running.child.terminate();
}

#[test]
fn terminate_lets_a_command_clean_up() {
    let room = Room::new();
    let mut running =
        start(&room.bash("trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.01; done"));
    assert_eq!(running.line(), "ready");
    running.child.terminate();
    assert_eq!(running.child.wait().unwrap(), Ended::Code(3));
    assert!(running.rest().contains("bye"));
}

#[test]
fn terminate_kills_a_command_that_will_not_end() {
    let room = Room::new();
    let mut running = start(&room.bash("trap '' TERM; echo ready; while :; do sleep 0.01; done"));
    assert_eq!(running.line(), "ready");
    running.child.terminate();
    running.child.terminate();
    assert_eq!(running.child.wait().unwrap(), Ended::Signal(9));
}

/// Four processes that fork and exit as fast as they can, so that none is ever twice the same,
/// and some that multiply to a bounded number.
const STORM: &str = "
import os, time
for _ in range(4):
    if os.fork() == 0:
        os.setsid()
        while True:
            if os.fork():
                os._exit(0)
for _ in range(5):
    os.fork()
    os.setsid() if os.getpid() != os.getsid(0) and os.getpid() != os.getpgid(0) else None
print('x', flush=True)
time.sleep(1000)
";

fn a_storm_ends(launcher: &Launcher) {
    let room = Room::new();
    let mut running = try_start(launcher, &room.python(STORM)).unwrap();
    for _ in 0..32 {
        assert_eq!(running.line(), "x");
    }
    running.child.kill();
    assert_eq!(running.child.wait().unwrap(), Ended::Signal(9));
    assert_eq!(running.rest(), "");
}

#[test]
fn a_storm_of_forks_ends() {
    a_storm_ends(launcher());
}

#[test]
fn a_storm_of_forks_ends_on_older_kernels_too() {
    a_storm_ends(&launcher_as_abi(ABI_WITHOUT_SIGNALS));
}

#[test]
fn many_commands_at_once_end_each_for_itself() {
    let room = Room::new();
    std::thread::scope(|scope| {
        for code in 0..16 {
            let spawn = room.bash(&format!("setsid sleep 1000 & exit {code}"));
            scope.spawn(move || assert_eq!(run(&spawn).0, Ended::Code(code)));
        }
    });
}
