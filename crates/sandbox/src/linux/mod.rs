//! The Linux sandbox seen from the program that starts commands: launcher and running command.
//! Must not confine this process itself, and must not run anything before a supervisor says it is confined.

mod confine;
mod seccomp;
mod supervise;
mod tree;
mod walls;
mod wire;

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::{RecvFlags, SendFlags};

use crate::{Confinement, Ended, Spawn, StartError};
pub use supervise::run_if_helper;
use wire::{FRAME_BYTES, Order, Report, Step};

/// The first argument that turns this program into a supervisor.
const MARKER: &str = "__tollgate-supervisor";
/// How long a supervisor may take until the command runs or is refused, in seconds.
const ANSWER_S: i64 = 20;
/// The newest version of Landlock's interface this crate was tried with.
const ABI_MAX: u32 = 7;

/// Supervisors of dropped commands, to be reaped once they have ended.
static DROPPED: Mutex<Vec<process::Child>> = Mutex::new(Vec::new());

/// Starts commands behind walls.
#[derive(Debug)]
pub struct Launcher {
    program: File,
    abi_max: u32,
    confinement: Confinement,
}

impl Launcher {
    /// Opens this program for use as supervisor and tries out what the machine enforces.
    /// `main` must call [`run_if_helper`] before anything else.
    ///
    /// The descriptor is kept, so a file swapped on disk later is never executed.
    ///
    /// # Errors
    /// When this program's own file cannot be opened. A machine without the means is not an error:
    /// see [`Launcher::confinement`].
    pub fn open() -> io::Result<Self> {
        Self::open_program(Path::new("/proc/self/exe"))
    }

    /// Like [`Launcher::open`] with another program as supervisor, whose `main` calls [`run_if_helper`].
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn open_program(program: &Path) -> io::Result<Self> {
        Self::open_as_abi(program, ABI_MAX)
    }

    /// Like [`Launcher::open_program`], using no more of Landlock than interface version `abi_max`.
    /// With it a new kernel shows what an old one holds; [`Launcher::confinement`] tells the same as there.
    ///
    /// # Errors
    /// When the file cannot be opened.
    #[doc(hidden)]
    pub fn open_as_abi(program: &Path, abi_max: u32) -> io::Result<Self> {
        if std::env::args_os().nth(1).is_some_and(|arg| arg == MARKER) {
            // A `main` that forgot `run_if_helper` would start itself again and again.
            return Err(io::Error::other("the supervisor may not open a launcher"));
        }
        let program = File::open(program)?;
        let mut launcher = Self {
            program,
            abi_max,
            confinement: Confinement::Full,
        };
        launcher.confinement = launcher.probe();
        Ok(launcher)
    }

    /// What this machine enforces.
    pub fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    /// Starts a command behind its walls. Blocks until its program runs (some milliseconds) or is refused.
    ///
    /// # Errors
    /// [`StartError`]; none of the command's code ran then.
    pub fn start(&self, spawn: &Spawn, output: OwnedFd) -> Result<Child, StartError> {
        if let Confinement::NotEnforced { why } = &self.confinement {
            return Err(StartError::NotEnforced { why: why.clone() });
        }
        let paths = [Path::new(&spawn.program), &spawn.cwd].into_iter();
        let walls = spawn
            .walls
            .writable
            .iter()
            .chain(&spawn.walls.readable)
            .map(PathBuf::as_path);
        if let Some(path) = paths.chain(walls).find(|path| !path.is_absolute()) {
            return Err(StartError::NotAbsolute {
                path: path.to_owned(),
            });
        }
        let (child, _abi) = self.launch(Some(spawn), output)?;
        Ok(child)
    }

    /// Confines a child that executes nothing and tries to get out; every later start repeats the trial.
    fn probe(&self) -> Confinement {
        let ended = File::options()
            .write(true)
            .open("/dev/null")
            .map_err(StartError::Supervisor)
            .and_then(|null| {
                let (mut child, abi) = self.launch(None, null.into())?;
                child
                    .wait()
                    .map(|ended| (ended, abi))
                    .map_err(StartError::Supervisor)
            });
        match ended {
            Ok((Ended::Code(0), abi)) => Confinement::Partial {
                abi,
                gaps: gaps(abi, rustix::process::geteuid().is_root()),
            },
            Ok((ended, _)) => Confinement::NotEnforced {
                why: format!("the trial ended with {ended:?}"),
            },
            Err(error) => Confinement::NotEnforced {
                why: error.to_string(),
            },
        }
    }

    /// Starts a supervisor with its order and waits for its first report; `None` stands for the trial.
    fn launch(&self, spawn: Option<&Spawn>, output: OwnedFd) -> Result<(Child, u32), StartError> {
        reap_dropped(None);
        let mut child = self.supervisor(output).map_err(StartError::Supervisor)?;
        let order = Order::encode(spawn, self.abi_max);
        // A supervisor that failed early has closed its end; what it reported says more than this error.
        let sent = order
            .map_err(StartError::Supervisor)
            .map(|bytes| child.send(&bytes))?;
        match child.first_report() {
            Ok(Report::Started { abi }) => Ok((child, abi)),
            Ok(Report::Failed { step, index, errno }) => Err(failed(spawn, step, index, errno)),
            Ok(_) => Err(StartError::Supervisor(io::ErrorKind::InvalidData.into())),
            Err(error) => Err(StartError::Supervisor(sent.err().unwrap_or(error))),
        }
    }

    fn supervisor(&self, output: OwnedFd) -> io::Result<Child> {
        let (ours, theirs) = UnixStream::pair()?;
        // Through the descriptor: the path may name another file by now. The supervisor gets no environment,
        // so nothing in it (LD_PRELOAD) acts there and nothing secret can be read from it.
        let helper = process::Command::new(format!("/proc/self/fd/{}", self.program.as_raw_fd()))
            .arg0("tollgate")
            .arg(MARKER)
            .env_clear()
            .current_dir("/")
            .stdin(OwnedFd::from(theirs))
            .stdout(output.try_clone()?)
            .stderr(output)
            .spawn()?;
        Ok(Child {
            control: ours,
            helper: Some(helper),
            ended: None,
            received: Vec::new(),
        })
    }
}

/// A running command. Dropping it kills the command and all it started, without waiting for that.
#[derive(Debug)]
pub struct Child {
    control: UnixStream,
    helper: Option<process::Child>,
    ended: Option<Ended>,
    received: Vec<u8>,
}

impl AsFd for Child {
    /// The descriptor that becomes readable when the command has ended.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.control.as_fd()
    }
}

impl Child {
    /// How the command ended, or `None` while it runs. Never blocks.
    /// Once it has ended, every process it started is dead.
    ///
    /// # Errors
    /// When the supervisor vanished without a report: then processes may be left over.
    pub fn poll_end(&mut self) -> io::Result<Option<Ended>> {
        if self.ended.is_some() {
            return Ok(self.ended);
        }
        self.ended = match self.receive()? {
            None => return Ok(None),
            Some(Report::Code(code)) => Some(Ended::Code(code)),
            Some(Report::Signal(signal)) => Some(Ended::Signal(signal)),
            Some(_) => return Err(io::ErrorKind::InvalidData.into()),
        };
        if let Some(mut helper) = self.helper.take() {
            helper.wait()?;
        }
        Ok(self.ended)
    }

    /// Waits until the command has ended and returns how.
    ///
    /// # Errors
    /// As [`Child::poll_end`].
    pub fn wait(&mut self) -> io::Result<Ended> {
        loop {
            if let Some(ended) = self.poll_end()? {
                return Ok(ended);
            }
            readable(&self.control, None)?;
        }
    }

    /// Asks the command's process group to end (SIGTERM); one second later everything is killed.
    pub fn terminate(&self) {
        self.tell(wire::TERMINATE);
    }

    /// Kills the command and all it started, at once.
    pub fn kill(&self) {
        self.tell(wire::KILL);
    }

    fn tell(&self, word: u8) {
        // An error means that the supervisor has ended, and with it the command.
        drop(self.send(&[word]));
    }

    fn send(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let count = rustix::io::retry_on_intr(|| {
                rustix::net::send(&self.control, bytes, SendFlags::NOSIGNAL)
            })?;
            bytes = &bytes[count..];
        }
        Ok(())
    }

    fn first_report(&mut self) -> io::Result<Report> {
        loop {
            if let Some(report) = self.receive()? {
                return Ok(report);
            }
            let limit = Timespec {
                tv_sec: ANSWER_S,
                tv_nsec: 0,
            };
            if !readable(&self.control, Some(&limit))? {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "no answer; `main` must call `run_if_helper` first",
                ));
            }
        }
    }

    /// The next report if it has arrived whole.
    fn receive(&mut self) -> io::Result<Option<Report>> {
        let mut buffer = [0; FRAME_BYTES];
        while self.received.len() < FRAME_BYTES {
            let room = FRAME_BYTES - self.received.len();
            let count =
                match rustix::net::recv(&self.control, &mut buffer[..room], RecvFlags::DONTWAIT) {
                    Ok((0, _)) => {
                        return Err(io::Error::new(
                            io::ErrorKind::UnexpectedEof,
                            "it ended without a report",
                        ));
                    }
                    Ok((count, _)) => count,
                    Err(rustix::io::Errno::AGAIN) => return Ok(None),
                    Err(rustix::io::Errno::INTR) => continue,
                    Err(errno) => return Err(errno.into()),
                };
            self.received.extend_from_slice(&buffer[..count]);
        }
        let report = Report::decode(&std::mem::take(&mut self.received));
        report
            .map(Some)
            .ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // The supervisor sees the end of its control socket and kills the tree.
        drop(self.control.shutdown(std::net::Shutdown::Both));
        reap_dropped(self.helper.take());
    }
}

/// Reaps the supervisors of dropped commands that have ended by now, and remembers one more.
fn reap_dropped(more: Option<process::Child>) {
    let mut dropped = DROPPED.lock().unwrap_or_else(PoisonError::into_inner);
    dropped.extend(more);
    dropped.retain_mut(|helper| matches!(helper.try_wait(), Ok(None)));
}

/// Whether the socket became readable before the limit, if there is one.
fn readable(socket: &UnixStream, limit: Option<&Timespec>) -> io::Result<bool> {
    let mut waiting = [PollFd::new(socket, PollFlags::IN)];
    let ready = rustix::io::retry_on_intr(|| rustix::event::poll(&mut waiting, limit))?;
    Ok(ready > 0)
}

fn failed(spawn: Option<&Spawn>, step: Step, index: u16, errno: i32) -> StartError {
    let source = io::Error::from_raw_os_error(errno);
    let path = |path: &OsStr| PathBuf::from(path);
    match (step, spawn) {
        (Step::Wall, Some(spawn)) => {
            let mut walls = spawn.walls.writable.iter().chain(&spawn.walls.readable);
            StartError::Wall {
                path: walls.nth(index.into()).cloned().unwrap_or_default(),
                source,
            }
        }
        (Step::Directory, Some(spawn)) => StartError::Directory {
            path: spawn.cwd.clone(),
            source,
        },
        (Step::Program, Some(spawn)) => StartError::Program {
            path: path(&spawn.program),
            source,
        },
        (step, _) => StartError::Confine {
            step: step.name(),
            source,
        },
    }
}

/// What Landlock of this version and seccomp leave open.
fn gaps(abi: u32, is_root: bool) -> Vec<&'static str> {
    let mut gaps = vec![
        "mode, owner, times and extended attributes of files outside can be changed where their owner may",
        "whether a path outside exists, its size and its times can be seen, and changes to it can be watched",
        "single paths inside a writable directory cannot be closed",
        "a file inside a writable directory can be made set-user-id",
        "a hard link inside a writable directory reaches its file wherever else that has a name",
        "processes outside and their command lines can be listed, and their priority lowered",
        "System V and POSIX message queues and shared memory of the same user can be reached",
    ];
    if abi < 3 {
        gaps.push("files outside can be truncated where their owner may");
    }
    if abi < 6 {
        gaps.push(
            "processes outside can be signalled where their owner may, Tollgate's own among them",
        );
    }
    if is_root {
        gaps.push(
            "the command is root: file modes do not protect what the readable directories hold",
        );
    }
    gaps
}
