//! The supervisor: one process per command, between the launcher and the confined child.
//! Must not run with other threads, hold the command's output open, or outlive its launcher.
//!
//! In the full tier it is two: the one that was forked first keeps to what only the outside can do, and the first
//! process of the namespaces does the rest. When that one ends, the kernel ends all others in there.
//! In the partial tier, whoever kills a supervisor from outside (the command itself cannot, since Landlock's
//! version 6) kills the command's first process with it, but not what that one started.

use std::fs::File;
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::process;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use rustix::process::{DumpableBehavior, Pid, PidfdFlags, Signal, WaitOptions, WaitStatus};

use super::confine::Room;
use super::hold::Held;
use super::plan::Place;
use super::tree::{self, SignalsOnlyDescendants};
use super::walls::WallError;
use super::wire::{self, FRAME_BYTES, Order, Report, Step};
use super::zygote::Request;
use super::{confine, namespace, plan, root, walls};
use crate::{Network, Tier, Walls};

/// How long a command may take to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(1);
/// How often orphans of a running command are reaped.
const SWEEP: Duration = Duration::from_secs(1);

/// Supervises one command in this process, which was forked for that, and ends it.
pub(crate) fn run(request: Request) -> ! {
    let Request {
        control,
        output,
        error,
        input,
    } = request;
    let taken = rustix::stdio::dup2_stdin(&control)
        .and_then(|()| rustix::stdio::dup2_stdout(&output))
        .and_then(|()| rustix::stdio::dup2_stderr(&error))
        .map_err(fail(Step::Supervise));
    drop((control, output, error));
    let code = match taken.and_then(|()| supervise(input)) {
        Ok(()) => 0,
        Err(report) => {
            // The launcher may be gone; there is nobody else to tell.
            _ = tell(report);
            1
        }
    };
    #[expect(
        clippy::exit,
        reason = "a supervisor is done here; what the process it was forked from does is not for it"
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

/// Tells the launcher that the program runs, and hands over the way out of its network if there is one.
fn tell_started(abi: u32, listener: Option<OwnedFd>) -> Result<(), Errno> {
    let report = Report::Started { abi };
    let Some(listener) = listener else {
        return tell(report);
    };
    let listener = [listener.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut passed = SendAncillaryBuffer::new(&mut space);
    passed.push(SendAncillaryMessage::ScmRights(&listener));
    let frame = report.encode();
    let frame = [io::IoSlice::new(&frame)];
    rustix::net::sendmsg(io::stdin(), &frame, &mut passed, SendFlags::NOSIGNAL).map(drop)
}

fn supervise(input: Option<OwnedFd>) -> Result<(), Report> {
    let order = read_order().map_err(|_| fail(Step::Order)(Errno::INVAL))?;
    let abi = walls::abi(order.abi_max);
    match order.tier {
        Tier::Partial => {
            let proof = become_supervisor(abi).map_err(fail(Step::Supervise))?;
            let room = Room {
                tier: Tier::Partial,
                abi,
                places: &[],
            };
            run_command(&order, &room, proof.as_ref(), input, None, tell)
        }
        Tier::Full => run_in_namespaces(&order, abi, input),
    }
}

/// Prepares what only the outside can, and lets the first process of new namespaces run the command.
fn run_in_namespaces(order: &Order, abi: u32, input: Option<OwnedFd>) -> Result<(), Report> {
    let none = Walls::default();
    let walls = order.spawn.as_ref().map_or(&none, |spawn| &spawn.walls);
    let report = |error: WallError| error.report(Step::Mounts);
    let mut places = plan::places(walls).map_err(report)?;
    let held = Held::make(&mut places, walls.spares.as_deref()).map_err(report)?;
    run_below(order, abi, walls, &places, held, input)
}

/// Makes the first process, and hands on what it says at the end: by then everything else in its namespaces is
/// dead. It goes itself while the launcher already knows.
fn run_below(
    order: &Order,
    abi: u32,
    walls: &Walls,
    places: &[Place],
    held: Held,
    input: Option<OwnedFd>,
) -> Result<(), Report> {
    let pipe = || io::pipe().map_err(|_| fail(Step::Fork)(Errno::MFILE));
    let ((known, knowing), (mut end, ending)) = (pipe()?, pipe()?);
    let Some(first) = namespace::fork(walls.network).map_err(fail(Step::Namespaces))? else {
        // The locks stay with the supervisor's copies.
        drop((knowing, end, held));
        let code = match be_first(order, abi, walls, places, input, known, &ending) {
            Ok(()) => 0,
            Err(report) => tell(report).map_or(2, |()| 1),
        };
        #[expect(
            clippy::exit,
            reason = "what the supervisor would do next is not for this process"
        )]
        process::exit(code);
    };
    drop((known, ending, input));
    let outcome = namespace::keep_identity(first)
        .map_err(|error| fail(Step::Identity)(Errno::from_io_error(&error).unwrap_or(Errno::IO)))
        .and_then(|()| {
            release_output().map_err(fail(Step::Supervise))?;
            rustix::io::write(&knowing, b"!")
                .map(drop)
                .map_err(fail(Step::Identity))
        });
    // Closed without a word it tells the first process to end.
    drop(knowing);
    let mut frame = [0; FRAME_BYTES];
    let report = end.read_exact(&mut frame).ok();
    if report.is_none() {
        // Killed, or it has told the launcher itself why there is no command.
        tree::reap(WaitOptions::empty(), |_, _| ());
    }
    held.release();
    if let Some(report) = report.and_then(|()| Report::decode(&frame)) {
        _ = tell(report);
    }
    tree::reap(WaitOptions::empty(), |_, _| ());
    outcome
}

/// Runs the command as the first process of its namespaces.
fn be_first(
    order: &Order,
    abi: u32,
    walls: &Walls,
    places: &[Place],
    input: Option<OwnedFd>,
    mut known: io::PipeReader,
    ending: &io::PipeWriter,
) -> Result<(), Report> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(fail(Step::Supervise))?;
    // If the parent died before that, there is nobody to write, and if it failed, it has said so.
    if !matches!(known.read(&mut [0]), Ok(1)) {
        return Ok(());
    }
    drop(known);
    if walls.network != Network::Shared {
        namespace::start_loopback().map_err(fail(Step::Loopback))?;
    }
    let listener = (walls.network == Network::Proxied)
        .then(|| namespace::listen().map_err(fail(Step::Listen)))
        .transpose()?;
    root::enter(places, &walls.links)?;
    let proof = SignalsOnlyDescendants::as_first_process();
    let room = Room {
        tier: Tier::Full,
        abi,
        places,
    };
    run_command(order, &room, proof.as_ref(), input, listener, |report| {
        rustix::io::write(ending, &report.encode()).map(drop)
    })
}

/// Starts the command, watches it until everything it started is dead, and then tells how it ended.
fn run_command(
    order: &Order,
    room: &Room<'_>,
    proof: Option<&SignalsOnlyDescendants>,
    input: Option<OwnedFd>,
    listener: Option<OwnedFd>,
    tell_end: impl FnOnce(Report) -> Result<(), Errno>,
) -> Result<(), Report> {
    // The child's last words; the end that writes closes when the program is executed.
    let (mut words, mouth) = io::pipe().map_err(|_| fail(Step::Fork)(Errno::MFILE))?;
    let supervisor = rustix::process::getpid();
    let say = |report: Report| rustix::io::write(&mouth, &report.encode()).map(drop);
    let child = start_sharing(|| {
        let input = input.as_ref().map(AsFd::as_fd);
        match confine::run(order.spawn.as_ref(), room, supervisor, input, say) {
            Ok(()) => 0,
            Err(report) => say(report).map_or(2, |()| 1),
        }
    });
    let child = child.map_err(fail(Step::Fork))?;
    // SECURITY: the command may run by now. Its walls keep it from tracing and signalling this process; what follows
    // leaves less to gain by that.
    if room.tier == Tier::Full {
        confine::keep_only_kill().map_err(fail(Step::Supervise))?;
    }
    release_output().map_err(fail(Step::Supervise))?;
    drop((mouth, input));

    if let Err(report) = hear(&mut words) {
        tree::kill(proof, |_, _| ());
        return Err(report);
    }
    drop(words);
    // An error means that the launcher is gone, which ends the command in a moment.
    _ = tell_started(room.abi, listener);
    if let Some(status) = watch(child, proof).map_err(fail(Step::Supervise))? {
        // An error means that there is nobody to hear it.
        _ = tell_end(ended(status));
    }
    Ok(())
}

/// Reads the order without a buffer, which would swallow words that follow it.
fn read_order() -> io::Result<Order> {
    Order::read(&mut File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// Gives up the right to signal others, and adopts the orphans of its descendants.
fn become_supervisor(abi: u32) -> Result<Option<SignalsOnlyDescendants>, Errno> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    SignalsOnlyDescendants::enforce(abi)
}

/// Forks this process; `None` is the child.
#[expect(
    unsafe_code,
    reason = "the standard library cannot fork without executing"
)]
pub(crate) fn fork() -> Result<Option<Pid>, Errno> {
    // SAFETY: this process has one thread (`run_if_helper` comes first in `main`), so no lock is held
    // by a thread that the child would lack.
    let answer = unsafe { libc::fork() };
    match answer {
        ..0 => Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::AGAIN)),
        pid => Ok(Pid::from_raw(pid)),
    }
}

/// Runs a function in a child that shares this process' memory, and waits until it executes a program or returns
/// its exit code. To copy the memory for so short a time costs more than all that the child does.
#[expect(
    unsafe_code,
    reason = "the standard library has no such fork, and its own use of one runs no function"
)]
fn start_sharing<F: Fn() -> i32>(run: F) -> Result<Pid, Errno> {
    /// What the function may need of a stack, in bytes; untouched parts cost nothing.
    const STACK_BYTES: usize = 1 << 20;
    extern "C" fn enter<F: Fn() -> i32>(run: *mut libc::c_void) -> i32 {
        // SAFETY: the pointer is that of `run` below, which lives until the child is done with it.
        let run = unsafe { &*run.cast_const().cast::<F>() };
        run()
    }
    let mut stack: Vec<u128> = Vec::with_capacity(STACK_BYTES / size_of::<u128>());
    let top = stack.spare_capacity_mut().as_mut_ptr_range().end;
    // SAFETY: the end of the stack is aligned for any call and all of it is writable. This process has one thread
    // and stands still (CLONE_VFORK) until the child has executed a program or ended, so that memory is used by one
    // of both at a time, as in a call of the function. A child that executes does not return and drops nothing: what
    // it holds of memory is lost to this process, and its descriptors are copies. One that returns ends without
    // running what this process has to run at its exit.
    let answer = unsafe {
        libc::clone(
            enter::<F>,
            top.cast(),
            libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
            (&raw const run).cast_mut().cast(),
        )
    };
    match answer {
        ..0 => Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::AGAIN)),
        pid => Pid::from_raw(pid).ok_or(Errno::AGAIN),
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
        // What ends after it may have been given its number.
        if pid == child {
            status.get_or_insert(how);
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
