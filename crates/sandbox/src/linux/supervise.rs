//! The supervisor: one process per command, between the launcher and the confined child.
//! Must not run with other threads, hold the command's output open, or outlive its launcher.
//!
//! Whoever kills a supervisor from outside (the command itself cannot, since Landlock's version 6) kills the
//! command's first process with it, but not what that one started.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::process;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags};
use rustix::process::{DumpableBehavior, Pid, PidfdFlags, Signal, WaitOptions, WaitStatus};

use super::tree::{self, SignalsOnlyDescendants};
use super::wire::{self, FRAME_BYTES, Order, Report, Step};
use super::{MARKER, confine, walls};

/// How long a command may take to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(1);
/// How often orphans of a running command are reaped.
const SWEEP: Duration = Duration::from_secs(1);

/// Becomes the supervisor of a command if this process was started as one, and then never returns.
/// Otherwise returns at once. Must be the first thing `main` does: before threads, before any file is opened.
pub fn run_if_helper() {
    if std::env::args_os().nth(1).is_none_or(|arg| arg != MARKER) {
        return;
    }
    if rustix::net::sockopt::socket_domain(io::stdin()) != Ok(AddressFamily::UNIX) {
        return;
    }
    let code = match supervise() {
        Ok(()) => 0,
        Err(report) => {
            // The launcher may be gone; there is nobody else to tell.
            _ = tell(report);
            1
        }
    };
    #[expect(
        clippy::exit,
        reason = "a supervisor is done here; what `main` would do next is not for it"
    )]
    process::exit(code);
}

fn fail(step: Step) -> impl Fn(Errno) -> Report {
    move |errno| Report::Failed {
        step,
        index: 0,
        errno: errno.raw_os_error(),
    }
}

/// Sends a report to the launcher, through the socket that is this process' standard input.
fn tell(report: Report) -> Result<(), Errno> {
    let frame = report.encode();
    rustix::net::send(io::stdin(), &frame, SendFlags::NOSIGNAL).map(drop)
}

fn supervise() -> Result<(), Report> {
    close_inherited().map_err(fail(Step::Supervise))?;
    let order = read_order().map_err(|_| fail(Step::Order)(Errno::INVAL))?;
    let abi = walls::abi(order.abi_max);
    let proof = become_supervisor(abi).map_err(fail(Step::Supervise))?;

    // The child's last words; the end that writes closes when the program is executed.
    let (mut words, mouth) = io::pipe().map_err(|_| fail(Step::Fork)(Errno::MFILE))?;
    let supervisor = rustix::process::getpid();
    let Some(child) = fork().map_err(fail(Step::Fork))? else {
        let say = |report: Report| rustix::io::write(&mouth, &report.encode()).map(drop);
        let code = match confine::run(order.spawn.as_ref(), abi, supervisor, say) {
            Ok(()) => 0,
            Err(report) => say(report).map_or(2, |()| 1),
        };
        #[expect(
            clippy::exit,
            reason = "a child that did not execute a program ends here"
        )]
        process::exit(code);
    };
    drop(mouth);
    release_output().map_err(fail(Step::Supervise))?;

    if let Err(report) = hear(&mut words) {
        tree::kill(proof.as_ref(), |_, _| ());
        return Err(report);
    }
    drop(words);
    _ = tell(Report::Started { abi });
    if let Some(status) = watch(child, proof.as_ref()).map_err(fail(Step::Supervise))? {
        _ = tell(ended(status));
    }
    Ok(())
}

/// Reads the order without a buffer, which would swallow words that follow it.
fn read_order() -> io::Result<Order> {
    Order::read(&mut File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// Closes every descriptor but the three standard ones: whoever started Tollgate may have left some open.
#[expect(
    unsafe_code,
    reason = "closes descriptors that nobody in this process owns"
)]
fn close_inherited() -> Result<(), Errno> {
    // SAFETY: this runs before anything in the process opened a descriptor, so nobody owns one of these.
    let answer = unsafe { libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, 0u32) };
    if answer == 0 {
        Ok(())
    } else {
        Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::NOSYS))
    }
}

/// Gives up privileges to come and the right to signal others, and adopts the orphans of its descendants.
fn become_supervisor(abi: u32) -> Result<Option<SignalsOnlyDescendants>, Errno> {
    // Out of the terminal's reach: an interrupt is for Tollgate, and what it leaves is killed from here.
    rustix::process::setsid()?;
    rustix::thread::set_no_new_privs(true)?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    SignalsOnlyDescendants::enforce(abi)
}

/// Forks this process; `None` is the child.
#[expect(
    unsafe_code,
    reason = "the standard library cannot fork without executing"
)]
fn fork() -> Result<Option<Pid>, Errno> {
    // SAFETY: this process has one thread (`run_if_helper` comes first in `main`), so no lock is held
    // by a thread that the child would lack.
    let answer = unsafe { libc::fork() };
    match answer {
        ..0 => Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::AGAIN)),
        pid => Ok(Pid::from_raw(pid)),
    }
}

/// Lets go of the command's output, so that its reader sees the end of it when the command's processes are
/// gone, and closes this process to debuggers of the same user.
fn release_output() -> Result<(), Errno> {
    let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
}

/// Listens to the child until it executes its program.
fn hear(words: &mut impl io::Read) -> Result<(), Report> {
    let mut heard = Vec::new();
    words
        .read_to_end(&mut heard)
        .map_err(|_| fail(Step::Fork)(Errno::IO))?;
    let mut frames = heard.chunks(FRAME_BYTES).map(Report::decode);
    match (frames.next(), frames.next()) {
        (Some(Some(Report::Confined { .. })), None) => Ok(()),
        (Some(Some(report)), None) | (_, Some(Some(report))) => Err(report),
        // It died without a word: never take that for a confined program.
        _ => Err(fail(Step::Fork)(Errno::CHILD)),
    }
}

/// Waits until the command has ended, is told to end or the launcher is gone; then kills all that is left.
/// Returns how the command ended, or nothing if nobody is there to hear it.
fn watch(child: Pid, proof: Option<&SignalsOnlyDescendants>) -> Result<Option<WaitStatus>, Errno> {
    let handle = rustix::process::pidfd_open(child, PidfdFlags::empty())?;
    let mut status = None;
    let mut keep = |pid: Pid, how: WaitStatus| {
        if pid == child {
            status = Some(how);
        }
    };
    let mut deadline: Option<Instant> = None;
    while deadline.is_none_or(|at| Instant::now() < at) {
        let left = deadline.map_or(SWEEP, |at| {
            SWEEP.min(at.saturating_duration_since(Instant::now()))
        });
        match wait_for(&handle, left)? {
            Event::Nothing => _ = tree::reap(WaitOptions::NOHANG, &mut keep),
            Event::Word(wire::TERMINATE) => {
                // An error means that the group has just ended.
                _ = rustix::process::kill_process_group(child, Signal::TERM);
                deadline.get_or_insert_with(|| Instant::now() + GRACE);
            }
            Event::Ended | Event::Word(_) | Event::LauncherGone => break,
        }
    }
    tree::kill(proof, &mut keep);
    Ok(status)
}

/// What wakes a supervisor.
#[derive(Debug)]
enum Event {
    /// The command's first process is dead.
    Ended,
    /// The launcher said this.
    Word(u8),
    /// The launcher closed its end, or died.
    LauncherGone,
    /// Time went by.
    Nothing,
}

fn wait_for(child: &impl AsFd, limit: Duration) -> Result<Event, Errno> {
    let stdin = io::stdin();
    let limit = Timespec {
        tv_sec: limit.as_secs().cast_signed(),
        tv_nsec: limit.subsec_nanos().into(),
    };
    let mut waiting = [
        PollFd::new(child, PollFlags::IN),
        PollFd::new(&stdin, PollFlags::IN),
    ];
    rustix::io::retry_on_intr(|| rustix::event::poll(&mut waiting, Some(&limit)))?;
    let [command, launcher] = waiting.map(|waited| !waited.revents().is_empty());
    if command {
        return Ok(Event::Ended);
    }
    if !launcher {
        return Ok(Event::Nothing);
    }
    let mut word = [0];
    match rustix::net::recv(&stdin, &mut word, RecvFlags::DONTWAIT) {
        Ok((1.., _)) => Ok(Event::Word(word[0])),
        Err(Errno::AGAIN | Errno::INTR) => Ok(Event::Nothing),
        Ok(_) | Err(_) => Ok(Event::LauncherGone),
    }
}

fn ended(status: WaitStatus) -> Report {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Report::Code(code),
        (None, Some(signal)) => Report::Signal(signal),
        (None, None) => Report::Signal(libc::SIGKILL),
    }
}
