//! Killing everything a command left, however it detached itself.
//! Must not signal a process that is not a descendant of the calling one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};

use super::walls;

/// The proof that the kernel lets this process signal its own descendants and nobody else.
#[derive(Debug)]
pub(crate) struct SignalsOnlyDescendants(());

impl SignalsOnlyDescendants {
    /// Gives up signalling others, where the kernel can hold that, and tries it on the parent process.
    ///
    /// # Errors
    /// When the kernel refuses a restriction it should know.
    pub(crate) fn enforce(abi: u32) -> Result<Option<Self>, Errno> {
        let Some(parent) = rustix::process::getppid() else {
            return Ok(None);
        };
        let could_before = rustix::process::test_kill_process(parent).is_ok();
        if !walls::enforce_signal_scope(abi)? {
            return Ok(None);
        }
        let cannot_now = rustix::process::test_kill_process(parent) == Err(Errno::PERM);
        // Both halves are needed: an ordinary user could not signal a parent of another user anyway.
        Ok((could_before && cannot_now).then_some(Self(())))
    }

    /// The same for the first process of a namespace, which sees no others.
    pub(crate) fn as_first_process() -> Option<Self> {
        (rustix::process::getpid() == Pid::INIT).then_some(Self(()))
    }
}

/// Kills all descendants of this process and reaps them, telling `reaped` of each.
/// Returns when none is left. This process must be the reaper of its orphans.
pub(crate) fn kill(
    proof: Option<&SignalsOnlyDescendants>,
    mut reaped: impl FnMut(Pid, WaitStatus),
) {
    if let Some(SignalsOnlyDescendants(())) = proof {
        // SECURITY: this means every process one may signal, which the proof says are the descendants.
        // It is one step for the kernel: a fork either comes before and is found, or fails.
        // An error means that there are none.
        _ = rustix::process::kill_process_group(Pid::INIT, Signal::KILL);
        reap(WaitOptions::empty(), &mut reaped);
        return;
    }
    loop {
        kill_found();
        if reap(WaitOptions::NOHANG, &mut reaped) == Left::Nobody {
            return;
        }
        // A killed process needs a moment to die.
        thread::sleep(Duration::from_micros(500));
    }
}

/// Whether this process still has children.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// Some child lives.
    Somebody,
    /// There is no child, dead or alive.
    Nobody,
}

/// Reaps dead children, telling `reaped` of each: those dead by now with `NOHANG`, else until none is left.
pub(crate) fn reap(options: WaitOptions, mut reaped: impl FnMut(Pid, WaitStatus)) -> Left {
    loop {
        match rustix::process::wait(options) {
            Ok(Some((pid, status))) => reaped(pid, status),
            Ok(None) => return Left::Somebody,
            Err(Errno::INTR) => {}
            Err(_) => return Left::Nobody,
        }
    }
}

/// Stops the descendants until no new one appears, so that none forks any more, then kills them.
/// A process that forks and exits over and over is caught too: its next number is at the end of the walk.
fn kill_found() {
    let mut stopped = BTreeSet::new();
    loop {
        let mut fresh = descendants(rustix::process::getpid());
        fresh.retain(|pid| stopped.insert(pid.as_raw_pid()));
        if fresh.is_empty() {
            break;
        }
        for pid in fresh {
            // It may have died since; its number cannot be taken again so soon.
            _ = rustix::process::kill_process(pid, Signal::STOP);
        }
    }
    for pid in stopped.into_iter().filter_map(Pid::from_raw) {
        _ = rustix::process::kill_process(pid, Signal::KILL);
    }
}

/// The living descendants of a process, from what /proc says of each process' parent.
fn descendants(ancestor: Pid) -> Vec<Pid> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        if let Some(parent) = living_parent(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut open = vec![ancestor.as_raw_pid()];
    while let Some(parent) = open.pop() {
        let below = children.remove(&parent).unwrap_or_default();
        found.extend(below.iter().copied().filter_map(Pid::from_raw));
        open.extend(below);
    }
    found
}

/// The parent of a process, or nothing if it is dead and only waits to be reaped.
/// The second field of the line is the program's name in parentheses and may hold anything, even those.
fn living_parent(pid: i32) -> Option<i32> {
    let line = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let line = String::from_utf8_lossy(&line);
    let (_, rest) = line.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(parent)
}
