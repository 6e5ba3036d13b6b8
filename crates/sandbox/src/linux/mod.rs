//! The Linux sandbox seen from the program that starts commands: launcher and running command.
//! Must not confine this process itself, and must not run anything before a supervisor says it is confined.

mod confine;
mod gaps;
mod hold;
mod mask;
mod namespace;
mod number;
mod plan;
mod root;
mod seccomp;
mod supervise;
mod tree;
mod walls;
mod wire;
mod zygote;

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags};

use crate::{Confinement, Ended, Network, Spawn, StartError, Streams, Tier};
use wire::{FRAME_BYTES, Order, Report, Step};
pub use zygote::run_if_helper;
use zygote::{Zygote, explain_missing_proc};

/// The first argument that turns this program into a supervisor.
const MARKER: &str = "__tollgate-supervisor";
/// How long a supervisor may take until the command runs or is refused, in seconds.
const ANSWER_S: i64 = 20;
/// The newest version of Landlock's interface this crate was tried with.
const ABI_MAX: u32 = 7;

/// Starts commands behind walls.
#[derive(Debug)]
pub struct Launcher {
    program: File,
    /// What the program was when it was opened.
    state: ProgramState,
    /// The program running, to be forked.
    zygote: Mutex<Option<Zygote>>,
    abi_max: u32,
    confinement: Confinement,
}

/// What changes when a file's content does.
type ProgramState = (u64, SystemTime);

impl Launcher {
    /// Opens this program for use as supervisor and tries out what the machine enforces.
    /// `main` must call [`run_if_helper`] before anything else.
    ///
    /// The descriptor is kept, so a file swapped on disk later is never executed, and one that was written to
    /// refuses every start.
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
        Self::open_up_to(program, Tier::Full)
    }

    /// Like [`Launcher::open_program`], for no more than a tier.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn open_up_to(program: &Path, tier: Tier) -> io::Result<Self> {
        Self::open_as_abi(program, tier, ABI_MAX)
    }

    /// Like [`Launcher::open_up_to`], using no more of Landlock than interface version `abi_max`.
    /// With it a new kernel shows what an old one holds; [`Launcher::confinement`] tells the same as there.
    ///
    /// # Errors
    /// When the file cannot be opened.
    #[doc(hidden)]
    pub fn open_as_abi(program: &Path, tier: Tier, abi_max: u32) -> io::Result<Self> {
        if std::env::args_os().nth(1).is_some_and(|arg| arg == MARKER) {
            // A `main` that forgot `run_if_helper` would start itself again and again.
            return Err(io::Error::other("the supervisor may not open a launcher"));
        }
        let program = File::open(program).map_err(explain_missing_proc)?;
        let mut launcher = Self {
            state: state_of(&program)?,
            program,
            zygote: Mutex::new(None),
            abi_max,
            confinement: Confinement::NotEnforced { why: String::new() },
        };
        launcher.confinement = launcher.probe(tier);
        Ok(launcher)
    }

    /// What this machine enforces.
    pub fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    /// Starts a command behind its walls, with no input and its standard error in its output. Blocks until its
    /// program runs (some milliseconds) or is refused.
    ///
    /// # Errors
    /// [`StartError`]; none of the command's code ran then.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "closed here, it leaves no end of the output but the command's"
    )]
    pub fn start(&self, spawn: &Spawn, output: OwnedFd) -> Result<Child, StartError> {
        self.start_behind_walls(spawn, [output.as_fd(), output.as_fd()], None)
    }

    /// Like [`Launcher::start`], with an input and an error stream of its own.
    ///
    /// # Errors
    /// As [`Launcher::start`].
    #[expect(
        clippy::needless_pass_by_value,
        reason = "closed here, they leave no ends but the command's"
    )]
    pub fn start_with(&self, spawn: &Spawn, streams: Streams) -> Result<Child, StartError> {
        let written = [streams.output.as_fd(), streams.error.as_fd()];
        self.start_behind_walls(spawn, written, streams.input.as_ref().map(AsFd::as_fd))
    }

    fn start_behind_walls(
        &self,
        spawn: &Spawn,
        written: [BorrowedFd<'_>; 2],
        input: Option<BorrowedFd<'_>>,
    ) -> Result<Child, StartError> {
        let tier = match &self.confinement {
            Confinement::NotEnforced { why } => {
                return Err(StartError::NotEnforced { why: why.clone() });
            }
            Confinement::Partial { .. } => Tier::Partial,
            Confinement::Full { .. } => Tier::Full,
        };
        let paths = [Path::new(&spawn.program), &spawn.cwd].into_iter();
        let walls = spawn.walls.paths().map(PathBuf::as_path);
        if let Some(path) = paths.chain(walls).find(|path| !path.is_absolute()) {
            return Err(StartError::NotAbsolute {
                path: path.to_owned(),
            });
        }
        let (child, _abi) = self.launch(Some(spawn), tier, written, input)?;
        let is_proxied = tier == Tier::Full && spawn.walls.network == Network::Proxied;
        if is_proxied != child.listener.is_some() {
            return Err(StartError::Supervisor(io::ErrorKind::InvalidData.into()));
        }
        Ok(child)
    }

    /// Finds the best tier that holds here; every later start repeats the trial.
    fn probe(&self, tier: Tier) -> Confinement {
        let is_root = rustix::process::geteuid().is_root();
        let mut why = String::from("it was not asked for");
        if tier == Tier::Full {
            match self.try_out(Tier::Full) {
                Ok(abi) => {
                    return Confinement::Full {
                        abi,
                        gaps: gaps::full(abi, is_root),
                    };
                }
                // What the supervisor itself reports; without one, less would not work either.
                Err(error @ StartError::Confine { .. }) => why = reason(&error),
                Err(error) => return not_enforced(&error),
            }
        }
        match self.try_out(Tier::Partial) {
            Ok(abi) => Confinement::Partial {
                abi,
                gaps: gaps::partial(abi, is_root),
                why,
            },
            Err(error) => not_enforced(&error),
        }
    }

    /// Confines a child that executes nothing and tries to get out. Returns Landlock's version.
    fn try_out(&self, tier: Tier) -> Result<u32, StartError> {
        let null = File::options().write(true).open("/dev/null");
        let null = null.map_err(StartError::Supervisor)?;
        let (mut child, abi) = self.launch(None, tier, [null.as_fd(); 2], None)?;
        match child.wait().map_err(StartError::Supervisor)? {
            Ended::Code(0) => Ok(abi),
            ended => {
                let error = io::Error::other(format!("the trial ended with {ended:?}"));
                Err(StartError::Supervisor(error))
            }
        }
    }

    /// Starts a supervisor with its order and waits for its first report; `None` stands for the trial.
    fn launch(
        &self,
        spawn: Option<&Spawn>,
        tier: Tier,
        written: [BorrowedFd<'_>; 2],
        input: Option<BorrowedFd<'_>>,
    ) -> Result<(Child, u32), StartError> {
        let mut child = self
            .supervisor(written, input)
            .map_err(StartError::Supervisor)?;
        let order = Order::encode(spawn, tier, self.abi_max);
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

    fn supervisor(
        &self,
        written: [BorrowedFd<'_>; 2],
        input: Option<BorrowedFd<'_>>,
    ) -> io::Result<Child> {
        if state_of(&self.program)? != self.state {
            return Err(io::Error::other(
                "the supervisor's program was changed; start Tollgate again",
            ));
        }
        let (ours, theirs) = UnixStream::pair()?;
        let fork = |zygote: &Zygote| zygote.fork(theirs.as_fd(), written, input);
        let mut running = self.zygote.lock().unwrap_or_else(PoisonError::into_inner);
        // One that was killed is started again; its end harms no command.
        if running.as_ref().is_none_or(|zygote| fork(zygote).is_err()) {
            let zygote = Zygote::start(&self.program)?;
            fork(&zygote)?;
            *running = Some(zygote);
        }
        Ok(Child {
            control: ours,
            ended: None,
            received: Vec::new(),
            listener: None,
        })
    }
}

/// A running command. Dropping it kills the command and all it started, without waiting for that.
#[derive(Debug)]
pub struct Child {
    control: UnixStream,
    ended: Option<Ended>,
    received: Vec<u8>,
    listener: Option<TcpListener>,
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

    /// Where the command's connections to [`crate::PROXY_PORT`] arrive, if its walls say
    /// [`Network::Proxied`] and the full tier holds them. There is one; once it is dropped, they are refused.
    pub fn take_listener(&mut self) -> Option<TcpListener> {
        self.listener.take()
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
                    "it took too long: very many paths are closed one by one, the machine is busy, or \
                     `main` does not call `run_if_helper` first",
                ));
            }
        }
    }

    /// The next report if it has arrived whole.
    fn receive(&mut self) -> io::Result<Option<Report>> {
        let mut buffer = [0; FRAME_BYTES];
        while self.received.len() < FRAME_BYTES {
            let room = FRAME_BYTES - self.received.len();
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut passed = RecvAncillaryBuffer::new(&mut space);
            let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
            let mut frame = [io::IoSliceMut::new(&mut buffer[..room])];
            let count = match rustix::net::recvmsg(&self.control, &mut frame, &mut passed, flags) {
                Ok(message) if message.bytes == 0 => return Err(gone()),
                Err(rustix::io::Errno::CONNRESET) => return Err(gone()),
                Ok(message) => message.bytes,
                Err(rustix::io::Errno::AGAIN) => return Ok(None),
                Err(rustix::io::Errno::INTR) => continue,
                Err(errno) => return Err(errno.into()),
            };
            for message in passed.drain() {
                if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                    self.listener = descriptors.last().map(TcpListener::from);
                }
            }
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
    }
}

fn gone() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "it ended without a report")
}

/// Whether the socket became readable before the limit, if there is one.
fn readable(socket: &UnixStream, limit: Option<&Timespec>) -> io::Result<bool> {
    let mut waiting = [PollFd::new(socket, PollFlags::IN)];
    let ready = rustix::io::retry_on_intr(|| rustix::event::poll(&mut waiting, limit))?;
    Ok(ready > 0)
}

fn failed(spawn: Option<&Spawn>, step: Step, index: u16, errno: i32) -> StartError {
    let source = source_of(step, errno);
    let path = |path: &OsStr| PathBuf::from(path);
    match (step, spawn) {
        (Step::Wall, Some(spawn)) => {
            let mut walls = spawn.walls.paths();
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

fn state_of(program: &File) -> io::Result<ProgramState> {
    let found = program.metadata()?;
    Ok((found.len(), found.modified()?))
}

fn not_enforced(error: &StartError) -> Confinement {
    Confinement::NotEnforced { why: reason(error) }
}

/// An error as a reason, with what explains many of them.
fn reason(error: &StartError) -> String {
    let mut reason = error.to_string();
    if is_filtered() {
        reason.push_str(
            "; system calls of this program are filtered, as inside another sandbox or a container",
        );
    }
    reason
}

/// Whether somebody has put this program behind a filter of system calls.
fn is_filtered() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mode = status
        .lines()
        .find_map(|line| line.strip_prefix("Seccomp:"));
    mode.is_some_and(|mode| mode.trim() != "0")
}

/// What the system said, where its own words lead astray.
fn source_of(step: Step, errno: i32) -> io::Error {
    let words = match (step, errno) {
        (Step::Namespaces, libc::ENOSPC) => "no more are allowed (user.max_user_namespaces)",
        (Step::Identity, libc::ENOENT) => "/proc is not mounted",
        (Step::Directory, libc::ENOENT) => "it is not there inside of the walls",
        (Step::Landlock, libc::ENOSYS) => "this kernel has no Landlock",
        _ => return io::Error::from_raw_os_error(errno),
    };
    io::Error::other(words)
}
