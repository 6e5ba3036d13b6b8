//! The way of a forked child from its supervisor's fork to the program it executes.
//! Must not execute anything unless every step succeeded and the trial of the walls was refused.

use std::ffi::OsStr;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::fs::{
    Access, AtFlags, CWD, FileType, Mode, OFlags, StatVfsMountFlags, StatxAttributes, StatxFlags,
};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType};
use rustix::process::{Pid, Resource, Rlimit, Signal};
use rustix::thread::{CapabilitySet, CapabilitySets};

use super::plan::{Kind, Place};
use super::seccomp::{self, Sockets};
use super::walls;
use super::wire::{Report, Step};
use crate::{Limits, Spawn, Tier, Walls};

/// A file that every process may write where nothing restricts it, and that no wall ever opens.
const CANARY: &str = "/proc/self/comm";

/// The same where /proc is no measure: a name that nothing has in a directory that can be written.
const FULL_CANARY: &str = "/dev/.canary";

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

/// What a child is to hold besides the walls of its command.
#[derive(Debug)]
pub(crate) struct Room<'a> {
    pub(crate) tier: Tier,
    /// The version of Landlock's interface.
    pub(crate) abi: u32,
    /// The file tree it lives in, if it is one of its own.
    pub(crate) places: &'a [Place],
}

/// Confines this process, says so through `tell`, and executes the command's program; with no command it
/// returns `Ok`, the trial being done. `supervisor` is the process that forked this one.
///
/// # Errors
/// The report of the step that failed. Nothing of the command ran then.
pub(crate) fn run(
    spawn: Option<&Spawn>,
    room: &Room<'_>,
    supervisor: Pid,
    input: Option<BorrowedFd<'_>>,
    tell: impl FnOnce(Report) -> Result<(), Errno>,
) -> Result<(), Report> {
    let abi = room.abi;
    begin_session(supervisor).map_err(fail(Step::Session))?;
    if let Some(spawn) = spawn {
        rustix::process::chdir(&spawn.cwd).map_err(fail(Step::Directory))?;
    }
    // The trial proves nothing unless it succeeds out here.
    open_canary(room.tier).map_err(fail(Step::Canary))?;

    let none = Walls::default();
    let walls = spawn.map_or(&none, |spawn| &spawn.walls);
    let rules =
        walls::build(walls, room.tier, abi).map_err(|error| error.report(Step::Landlock))?;
    limit(&walls.limits, room.tier).map_err(fail(Step::Limits))?;
    drop_capabilities().map_err(fail(Step::Capabilities))?;
    walls::enforce(rules).map_err(fail(Step::Landlock))?;
    let sockets = Sockets::of(room.tier, walls.network);
    seccomp::enforce(sockets).map_err(|error| fail(Step::Seccomp)(errno(&error)))?;
    try_to_escape(room, sockets, supervisor).map_err(fail(Step::Trial))?;

    tell(Report::Confined { abi }).map_err(fail(Step::Program))?;
    let Some(spawn) = spawn else { return Ok(()) };
    let input = match input {
        None => Stdio::null(),
        Some(input) => Stdio::from(
            input
                .try_clone_to_owned()
                .map_err(|error| fail(Step::Program)(errno(&error)))?,
        ),
    };
    let error = program(spawn).stdin(input).exec();
    Err(fail(Step::Program)(errno(&error)))
}

/// Ends the command if the supervisor ends; makes it the leader of its own session, without a terminal.
fn begin_session(supervisor: Pid) -> Result<(), Errno> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    if rustix::process::getppid() != Some(supervisor) {
        return Err(Errno::SRCH);
    }
    rustix::process::setsid()?;
    // SECURITY: not 0, with which the kernel still hands a core to a program that the machine has for it (apport,
    // systemd-coredump), and that runs outside as root. With 1 it does nothing at all.
    let none = Some(1);
    rustix::process::setrlimit(
        Resource::Core,
        Rlimit {
            current: none,
            maximum: none,
        },
    )
}

/// Leaves root what [`KEPT`] says, and anyone else nothing: in a namespace of their own they have everything.
fn drop_capabilities() -> Result<(), Errno> {
    keep(if rustix::process::geteuid().is_root() {
        KEPT
    } else {
        CapabilitySet::empty()
    })
}

/// Leaves the first process of a namespace what it ends its descendants with, whoever they have become.
pub(crate) fn keep_only_kill() -> Result<(), Errno> {
    rustix::thread::set_no_new_privs(true)?;
    keep(CapabilitySet::KILL)
}

fn keep(kept: CapabilitySet) -> Result<(), Errno> {
    let now = rustix::thread::capabilities(None)?;
    let kept = CapabilitySets {
        effective: now.effective & kept,
        permitted: now.permitted & kept,
        inheritable: CapabilitySet::empty(),
    };
    rustix::thread::set_capabilities(None, kept)
}

/// Sets the limits of the command, which it cannot raise again.
fn limit(limits: &Limits, tier: Tier) -> Result<(), Errno> {
    // Outside a namespace this would count all processes of the user.
    let processes = limits.processes.filter(|_| tier == Tier::Full);
    for (resource, value) in [
        (Resource::Nproc, processes),
        (Resource::Data, limits.memory_bytes),
        (Resource::Fsize, limits.file_bytes),
        (Resource::Cpu, limits.cpu_s),
    ] {
        if value.is_some() {
            let before = rustix::process::getrlimit(resource);
            let value = value.min(before.maximum.or(value));
            let both = Rlimit {
                current: value,
                maximum: value,
            };
            rustix::process::setrlimit(resource, both)?;
        }
    }
    Ok(())
}

/// Writes where only Landlock is in the way.
fn open_canary(tier: Tier) -> Result<(), Errno> {
    match tier {
        Tier::Partial => std::fs::File::options()
            .write(true)
            .open(CANARY)
            .map(drop)
            .map_err(|error| errno(&error)),
        Tier::Full => {
            // What lies in /dev and is no device is on a file system that can be written.
            let mode = Mode::from_raw_mode(0o600);
            let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
            drop(rustix::fs::open(FULL_CANARY, flags, mode)?);
            rustix::fs::unlink(FULL_CANARY)
        }
    }
}

/// Tries what the walls forbid, once per kind of wall.
fn try_to_escape(room: &Room<'_>, sockets: Sockets, supervisor: Pid) -> Result<(), Errno> {
    refused(open_canary(room.tier), Errno::ACCESS)?;
    for family in [AddressFamily::INET, AddressFamily::UNIX] {
        let is_refused = match sockets {
            Sockets::Pairs => true,
            Sockets::Internet => family == AddressFamily::UNIX,
            Sockets::Local => false,
        };
        if is_refused {
            let socket = rustix::net::socket(family, SocketType::STREAM, None);
            refused(socket.map(drop), Errno::ACCESS)?;
        }
    }
    let odd = rustix::net::socket(AddressFamily::VSOCK, SocketType::STREAM, None);
    refused(odd.map(drop), Errno::ACCESS)?;
    if walls::has_scopes(room.abi) {
        refused(rustix::process::test_kill_process(supervisor), Errno::PERM)?;
    }
    if room.tier == Tier::Full {
        try_the_tree(room.places)?;
    }
    Ok(())
}

/// Tries the mounts, which hold without Landlock too: `access` asks them and not it.
fn try_the_tree(places: &[Place]) -> Result<(), Errno> {
    let is_writable = |path: &Path| {
        places
            .first()
            .is_some_and(|place| place.path == path && place.kind.is_writable())
    };
    if !is_writable(Path::new("/")) {
        cannot_be_written(Path::new("/"))?;
    }
    // Where what covers others comes from.
    let covers = [
        rustix::fs::stat("/dev")?.st_dev,
        rustix::fs::stat("/proc")?.st_dev,
    ];
    for place in places.iter().filter(|place| place.kind.is_closed()) {
        let there = match rustix::fs::lstat(&place.path) {
            // Nothing is there to be hidden, and the directory around it cannot be written.
            Err(Errno::NOENT) if !place.is_held => continue,
            other => other?,
        };
        let is_masked = place.kind == Kind::Masked || place.is_held;
        if is_masked && !covers.contains(&there.st_dev) {
            return Err(Errno::NOTSUP);
        }
        let kind = FileType::from_raw_mode(there.st_mode);
        if is_masked && !place.is_held && kind == FileType::Directory {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let opened = rustix::fs::open(&place.path, flags, Mode::empty());
            refused(opened.map(drop), Errno::ACCESS)?;
        }
        // What covers a file is a device that is none; of such, only an attempt tells.
        if kind == FileType::CharacterDevice {
            let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let opened = rustix::fs::open(&place.path, flags, Mode::empty());
            refused(opened.map(drop), Errno::ACCESS)?;
            continue;
        }
        if kind == FileType::Symlink {
            is_mounted(&place.path)?;
            continue;
        }
        // Of what is no file, `access` does not ask the mount.
        if matches!(
            kind,
            FileType::Fifo | FileType::Socket | FileType::BlockDevice
        ) {
            is_mounted(&place.path)?;
            is_read_only(&place.path)?;
            continue;
        }
        cannot_be_written(&place.path)?;
    }
    Ok(())
}

/// Tells that the mount of what is no link takes no changes.
fn is_read_only(path: &Path) -> Result<(), Errno> {
    if rustix::fs::statvfs(path)?
        .f_flag
        .contains(StatVfsMountFlags::RDONLY)
    {
        Ok(())
    } else {
        Err(Errno::NOTSUP)
    }
}

/// Tells of a name that it is a mount of its own, which can be neither removed nor replaced. No attempt tells that
/// which would not do harm if it succeeded.
fn is_mounted(name: &Path) -> Result<(), Errno> {
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    let found = rustix::fs::statx(CWD, name, flags, StatxFlags::empty())?;
    if found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT) {
        Ok(())
    } else {
        Err(Errno::NOTSUP)
    }
}

fn cannot_be_written(path: &Path) -> Result<(), Errno> {
    match rustix::fs::access(path, Access::WRITE_OK) {
        // The mode of what is there may be in the way before the mount is.
        Err(Errno::ROFS | Errno::ACCESS) => Ok(()),
        Err(errno) => Err(errno),
        Ok(()) => Err(Errno::NOTSUP),
    }
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
        .envs(environment(spawn));
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
