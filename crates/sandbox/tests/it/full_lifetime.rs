//! How commands end in the full tier, and that nothing they started outlives them.
//! Must not leave processes behind when a test fails: every tree here hangs on a supervisor.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use tollgate_sandbox::{Ended, Launcher};

use crate::kit::{Room, full, run_with, supervisor, try_start};

/// The processes that bear a mark in their command line.
fn marked(mark: &str) -> Vec<i32> {
    let entries = fs::read_dir("/proc").unwrap();
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(|pid| {
        fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains(mark))
    })
    .collect()
}

/// The children of a process, the newest last: those before may have ended.
fn children(pid: u32) -> Vec<i32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let mut all: Vec<i32> = threads
        .map(|thread| fs::read_to_string(thread.unwrap().path().join("children")).unwrap())
        .flat_map(|line| {
            let pids = line.split_ascii_whitespace();
            pids.map(|pid| pid.parse().unwrap()).collect::<Vec<_>>()
        })
        .collect();
    all.sort_unstable();
    all
}

#[test]
fn codes_and_signals_are_reported() {
    let room = Room::new();
    for (script, ended) in [
        ("exit 7", Ended::Code(7)),
        ("kill -SEGV $$", Ended::Signal(11)),
        ("kill -KILL $$", Ended::Signal(9)),
        ("kill -KILL -1; exit 5", Ended::Code(5)),
    ] {
        assert_eq!(run_with(full(), &room.bash(script)).0, ended, "{script}");
    }
}

#[test]
fn two_hundred_processes_that_hide_are_dead_at_the_end_and_when_killed() {
    let room = Room::new();
    for (mark, last) in [("987651", "exit 3"), ("987652", "echo ready; sleep 987652")] {
        let script = format!(
            "for i in $(seq 100); do setsid bash -c '(exec sleep {mark} < /dev/null > /dev/null 2>&1 &)'; \
             (exec -a x setsid sleep {mark} > /dev/null 2>&1 &); done; {last}"
        );
        let mut running = try_start(full(), &room.bash(&script)).unwrap();
        if last.starts_with("exit") {
            assert_eq!(running.child.wait().unwrap(), Ended::Code(3));
        } else {
            assert_eq!(running.line(), "ready");
            assert!(marked(mark).len() >= 200);
            running.child.kill();
            assert_eq!(running.child.wait().unwrap(), Ended::Signal(9));
        }
        assert_eq!(marked(mark), [0; 0]);
    }
}

#[test]
fn terminate_lets_a_command_clean_up_and_kills_one_that_will_not_end() {
    let room = Room::new();
    for (trap, ended) in [
        ("trap 'echo bye; exit 3' TERM", Ended::Code(3)),
        ("trap '' TERM", Ended::Signal(9)),
    ] {
        let script = format!("{trap}; echo ready; while :; do sleep 0.01; done");
        let mut running = try_start(full(), &room.bash(&script)).unwrap();
        assert_eq!(running.line(), "ready");
        running.child.terminate();
        assert_eq!(running.child.wait().unwrap(), ended);
        assert_eq!(running.rest().contains("bye"), ended == Ended::Code(3));
    }
}

#[test]
fn whoever_of_those_around_the_command_is_killed_it_ends() {
    let room = Room::new();
    // The launcher, the supervisor, and the first process of the namespaces. Between the first two is the process
    // that supervisors are forked from.
    for depth in [0, 2, 3] {
        let mut confine = room.confine("setsid sleep 1000 & sleep 1000 & echo ready; wait");
        let mut confine = confine.stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(confine.stdout.take().unwrap());
        output.read_line(&mut String::new()).unwrap();
        let mut victim = i32::try_from(confine.id()).unwrap();
        for _ in 0..depth {
            victim = *children(victim.cast_unsigned()).last().unwrap();
        }
        kill_process(Pid::from_raw(victim).unwrap(), Signal::KILL).unwrap();
        // Ends when the last process that holds the output is dead.
        output.read_to_end(&mut Vec::new()).unwrap();
        let status = confine.wait().unwrap();
        assert!(!status.success());
    }
}

#[test]
fn what_supervisors_are_forked_from_may_die_and_is_started_again() {
    let room = Room::new();
    let launcher = Launcher::open_program(&supervisor()).unwrap();
    let own = std::process::id();
    let mut first = try_start(
        &launcher,
        &room.bash("echo ready; while [ ! -e go ]; do :; done; exit 3"),
    )
    .unwrap();
    let zygote = *children(own).last().unwrap();
    assert_eq!(first.line(), "ready");
    kill_process(Pid::from_raw(zygote).unwrap(), Signal::KILL).unwrap();
    // It is this process' child, which keeps its number until another is started.
    let stat = format!("/proc/{zygote}/stat");
    while !fs::read_to_string(&stat).unwrap().contains(") Z ") {
        std::thread::yield_now();
    }
    // What runs is not touched, and what comes later gets a new one.
    let ended = |script: &str| {
        let mut running = try_start(&launcher, &room.bash(script)).unwrap();
        running.child.wait().unwrap()
    };
    assert_eq!(ended("exit 4"), Ended::Code(4));
    assert_ne!(*children(own).last().unwrap(), zygote);
    assert_eq!(ended("exit 5"), Ended::Code(5));
    fs::write(room.inside.join("go"), "").unwrap();
    assert_eq!(first.child.wait().unwrap(), Ended::Code(3));
}

#[test]
fn dropping_a_child_kills_its_tree() {
    let room = Room::new();
    let script = "setsid sleep 1000 & echo ready; sleep 1000";
    let mut running = try_start(full(), &room.bash(script)).unwrap();
    assert_eq!(running.line(), "ready");
    drop(running.child);
    running.output.read_to_end(&mut Vec::new()).unwrap();
}

#[test]
fn root_ends_the_processes_that_have_become_other_users_too() {
    let room = Room::new();
    let script = "import os, time
for uid in (1, 2):
    if os.fork() == 0:
        try: os.setuid(uid)
        except OSError: pass
        os.setsid(); time.sleep(1000)
print('ready', flush=True)
time.sleep(0.1)";
    let (ended, text) = run_with(full(), &room.python(script));
    assert_eq!((ended, text.as_str()), (Ended::Code(0), "ready\n"));
}

#[test]
fn a_storm_of_forks_ends() {
    let room = Room::new();
    let script = "
import os, time
for _ in range(4):
    if os.fork() == 0:
        os.setsid()
        while True:
            if os.fork():
                os._exit(0)
print('x', flush=True)
time.sleep(1000)
";
    let mut running = try_start(full(), &room.python(script)).unwrap();
    assert_eq!(running.line(), "x");
    running.child.kill();
    assert_eq!(running.child.wait().unwrap(), Ended::Signal(9));
    assert_eq!(running.rest(), "");
}

#[test]
fn many_commands_at_once_end_each_for_itself() {
    let room = Room::new();
    std::thread::scope(|scope| {
        for code in 0..16 {
            let spawn = room.bash(&format!("setsid sleep 1000 & exit {code}"));
            scope.spawn(move || assert_eq!(run_with(full(), &spawn).0, Ended::Code(code)));
        }
    });
}

#[test]
fn two_hundred_megabytes_of_output_come_through() {
    let room = Room::new();
    let spawn = room.bash("head -c 209715200 /dev/zero");
    let mut running = try_start(full(), &spawn).unwrap();
    let count = std::io::copy(&mut running.output, &mut std::io::sink()).unwrap();
    assert_eq!(
        (count, running.child.wait().unwrap()),
        (200 << 20, Ended::Code(0))
    );
}
