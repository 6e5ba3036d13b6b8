//! The way of a forked child from its supervisor's fork to the program it executes.
//! Must not execute anything unless every step succeeded and the trial of the walls was refused.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType};
use rustix::process::{Pid, Resource, Rlimit, Signal};
use rustix::thread::{CapabilitySet, CapabilitySets};

use super::wire::{Report, Step};
use super::{seccomp, walls};
use crate::{Spawn, Walls};

/// A file that every process may write where nothing restricts it, and that no wall ever opens.
const CANARY: &str = "/proc/self/comm";

/// What a root command keeps: to own, enter and hand over files. All else (mounts, raw disks, the network,
/// the clock, reading kernel memory) goes. The program cannot regain it, because `no_new_privs` is set.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID);

/// A step that failed, as the report about it.
fn fail(step: Step) -> impl Fn(Errno) -> Report {
    move |errno| Report::Failed {
        step,
        index: 0,
        errno: errno.raw_os_error(),
    }
}

/// The error number of an error, or the one for "refused" if it has none.
fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::ACCESS)
}

/// Confines this process, says so through `tell`, and executes the command's program; with no command it
/// returns `Ok`, the trial being done. `supervisor` is the process that forked this one.
///
/// # Errors
/// The report of the step that failed. Nothing of the command ran then.
pub(crate) fn run(
    spawn: Option<&Spawn>,
    abi: u32,
    supervisor: Pid,
    tell: impl FnOnce(Report) -> Result<(), Errno>,
) -> Result<(), Report> {
    begin_session(supervisor).map_err(fail(Step::Session))?;
    if let Some(spawn) = spawn {
        rustix::process::chdir(&spawn.cwd).map_err(fail(Step::Directory))?;
    }
    // The trial proves nothing unless it succeeds out here.
    open_canary().map_err(fail(Step::Canary))?;

    let none = Walls::default();
    let rules =
        walls::build(spawn.map_or(&none, |spawn| &spawn.walls), abi).map_err(
            |error| match error.index {
                Some(index) => Report::Failed {
                    step: Step::Wall,
                    index,
                    errno: error.errno.raw_os_error(),
                },
                None => fail(Step::Landlock)(error.errno),
            },
        )?;
    drop_capabilities().map_err(fail(Step::Capabilities))?;
    walls::enforce(rules).map_err(fail(Step::Landlock))?;
    seccomp::enforce().map_err(|error| fail(Step::Seccomp)(errno(&error)))?;
    try_to_escape(abi, supervisor).map_err(fail(Step::Trial))?;

    tell(Report::Confined { abi }).map_err(fail(Step::Program))?;
    let Some(spawn) = spawn else { return Ok(()) };
    let error = program(spawn).exec();
    Err(fail(Step::Program)(errno(&error)))
}

/// Ends the command if the supervisor ends; makes it the leader of its own session, without a terminal.
fn begin_session(supervisor: Pid) -> Result<(), Errno> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    if rustix::process::getppid() != Some(supervisor) {
        return Err(Errno::SRCH);
    }
    rustix::process::setsid()?;
    rustix::process::setrlimit(
        Resource::Core,
        Rlimit {
            current: Some(0),
            maximum: Some(0),
        },
    )
}

fn drop_capabilities() -> Result<(), Errno> {
    let now = rustix::thread::capabilities(None)?;
    let kept = CapabilitySets {
        effective: now.effective & KEPT,
        permitted: now.permitted & KEPT,
        inheritable: CapabilitySet::empty(),
    };
    rustix::thread::set_capabilities(None, kept)
}

fn open_canary() -> Result<(), Errno> {
    std::fs::File::options()
        .write(true)
        .open(CANARY)
        .map(drop)
        .map_err(|error| errno(&error))
}

/// Tries what the walls forbid, once per kind of wall.
fn try_to_escape(abi: u32, supervisor: Pid) -> Result<(), Errno> {
    refused(open_canary(), Errno::ACCESS)?;
    for family in [AddressFamily::INET, AddressFamily::UNIX] {
        refused(
            rustix::net::socket(family, SocketType::STREAM, None).map(drop),
            Errno::ACCESS,
        )?;
    }
    if walls::holds_signals(abi) {
        refused(rustix::process::test_kill_process(supervisor), Errno::PERM)?;
    }
    Ok(())
}

fn refused(outcome: Result<(), Errno>, expected: Errno) -> Result<(), Errno> {
    match outcome {
        Err(errno) if errno == expected => Ok(()),
        Err(errno) => Err(errno),
        Ok(()) => Err(Errno::NOTSUP),
    }
}

fn program(spawn: &Spawn) -> Command {
    let mut command = Command::new(&spawn.program);
    command
        .args(&spawn.args)
        .env_clear()
        .envs(environment(spawn))
        .stdin(Stdio::null());
    // The name a program sees is the one it is known by, as a shell would pass it.
    if let Some(name) = Path::new(&spawn.program).file_name() {
        command.arg0(name);
    }
    command
}

fn environment(spawn: &Spawn) -> impl Iterator<Item = (&OsStr, &OsStr)> {
    spawn
        .env
        .iter()
        .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
}
