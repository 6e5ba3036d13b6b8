//! Running one command to its end: its walls, its environment, its output, its time.
//! Must not wait for anything but the command itself, whoever still holds its output.

use crate::{
    git::{self, Git},
    local::{Machine, blocking},
    network::{self, WayOut},
    output::Output,
    quarantine::{Turn, Watch},
    resolve::failed,
    running::{Caged, Running},
};
use gate::{
    access::Spawn,
    g3_confine::{ChildWrites, Opening, Order, Reach},
    host::{Ended, Exit, FileKind, HostError},
};
use rustix::{
    fd::OwnedFd,
    pipe::{PipeFlags, pipe_with},
};
use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::{
    io::AsyncReadExt as _,
    net::unix::pipe::Receiver,
    time::{Instant, sleep},
};

/// How long a command whose time is over may take to end by itself.
const GRACE: Duration = Duration::from_secs(3);

/// The bytes read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// What is read at most once the command has ended, in bytes: more than a pipe holds.
const DRAIN_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Where a shell is looked for. Not along `PATH`: that is the user's, and this choice is ours.
const BASH: &[&str] = &[
    "/usr/bin/bash",
    "/bin/bash",
    "/usr/local/bin/bash",
    "/opt/homebrew/bin/bash",
];

/// What a blocking start hands to the runtime.
enum Started {
    #[cfg(target_os = "linux")]
    Walled(Caged),
    /// Started on the runtime, which must know it to reap it.
    Bare(Box<sandbox::Spawn>, OwnedFd),
}

impl Started {
    /// Opens the way out of the command's own network, where it has one.
    fn way_out(&mut self, reach: Reach) -> Result<Option<WayOut>, HostError> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Walled(caged) => {
                let open = |listener| WayOut::open(listener, reach).map_err(not_started);
                caged.child.take_listener().map(open).transpose()
            }
            Self::Bare(..) => Ok(None),
        }
    }
}

/// See `gate::host::Host::spawn`.
pub(crate) async fn spawn(machine: Arc<Machine>, order: Order<Spawn>) -> Result<Ended, HostError> {
    let mut closing = machine.calls.check(order.call())?;
    let timeout = Duration::from_millis(order.access().timeout_ms());
    let reach = order.reach().clone();
    let shared = Arc::clone(&machine);
    let (mut started, pipe) = blocking(&machine, move |_| shared.start(&order)).await?;
    let way_out = started.way_out(reach)?;
    let mut running = run(started)?;
    let mut pipe = Receiver::from_owned_fd(pipe).map_err(not_started)?;
    let mut output = Output::new(Arc::clone(&machine));

    let mut chunk = vec![0; CHUNK_BYTES];
    let mut is_writing = true;
    let mut is_timed_out = false;
    let mut deadline = std::pin::pin!(sleep(timeout));
    let exit = loop {
        tokio::select! {
            () = closing.closed() => return Err(HostError::Refused("the call is over".into())),
            read = pipe.read(&mut chunk), if is_writing => match read {
                Ok(0) | Err(_) => is_writing = false,
                Ok(count) => output.take(&chunk[..count]).await,
            },
            ended = running.ended() => {
                let ended = ended.map_err(|error| HostError::Failed(format!("the command was lost: {error}")))?;
                break if is_timed_out { Exit::TimedOut } else { ended };
            }
            () = deadline.as_mut() => {
                if is_timed_out {
                    break Exit::TimedOut;
                }
                is_timed_out = true;
                running.terminate();
                deadline.as_mut().reset(Instant::now() + GRACE);
            }
        }
    };
    blocking(&machine, move |_| running.finish()).await?;
    drain(&pipe, &mut chunk, &mut output).await;
    let refused = way_out.as_ref().map(WayOut::refused).unwrap_or_default();
    drop(way_out);
    let bytes_total = output.bytes_total;
    let (tail, kept_at) = output.finish().await;
    Ok(Ended {
        exit,
        tail,
        bytes_total,
        refused,
        undone: machine.quarantine.take_untold(),
        kept_at,
    })
}

/// Takes what already lies in the pipe. Asks the kernel and not the runtime, which may not have heard
/// of the last bytes yet.
async fn drain(pipe: &Receiver, chunk: &mut [u8], output: &mut Output) {
    let mut bytes_left = DRAIN_BYTES_MAX;
    while let Ok(count @ 1..) = rustix::io::read(pipe, &mut *chunk) {
        output.take(&chunk[..count]).await;
        bytes_left = bytes_left.saturating_sub(count);
        if bytes_left == 0 {
            return;
        }
    }
}

fn run(started: Started) -> Result<Running, HostError> {
    match started {
        #[cfg(target_os = "linux")]
        Started::Walled(caged) => Running::walled(caged),
        Started::Bare(spawn, output) => Running::bare(&spawn, output),
    }
    .map_err(not_started)
}

fn not_started(error: impl Into<io::Error>) -> HostError {
    HostError::Failed(format!("the command did not start: {}", error.into()))
}

impl Machine {
    fn start(self: &Arc<Self>, order: &Order<Spawn>) -> Result<(Started, OwnedFd), HostError> {
        let _open = self.calls.check(order.call())?;
        // Before anything is looked at: another command may be at it.
        let turn = self.turn_of(order)?;
        let mut env = self.environment.clone();
        let git = if order.access().is_for_looking() {
            Git::Looking
        } else if order.is_outside_sandbox() {
            Git::Plain
        } else {
            self.git()
        };
        git::restrain(&mut env, git, self.git_excludes.as_deref());
        let cwd = self.directory_of(order)?;
        let walls = self.walls_if_any(order)?;
        if walls.masked.iter().any(|masked| cwd.starts_with(masked)) {
            return Err(HostError::Refused(format!(
                "the command did not start: the rules do not let commands read in `{}`",
                cwd.display()
            )));
        }
        if walls.network == sandbox::Network::Proxied {
            network::point_at(&mut env, sandbox::PROXY_PORT);
        }
        let spawn = sandbox::Spawn {
            program: self.shell.clone().into(),
            args: self.arguments(order.access().command())?,
            env,
            cwd,
            walls,
        };
        let watch = self.watch_over(order, &spawn.walls, turn)?;
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).map_err(not_started)?;
        let started = match self.launcher.confinement() {
            // A person has let this one out, for this call.
            _ if order.is_outside_sandbox() => Started::Bare(Box::new(spawn), writer),
            // The gate knows, and somebody said yes to this command as it is.
            sandbox::Confinement::NotEnforced { .. } => Started::Bare(Box::new(spawn), writer),
            #[cfg(target_os = "linux")]
            sandbox::Confinement::Full { .. } | sandbox::Confinement::Partial { .. } => {
                let child = self.launcher.start(&spawn, writer);
                let child = child.map_err(|error| match error {
                    sandbox::StartError::Wall { path, source } if self.holds_ours(&path) => {
                        not_started(source)
                    }
                    error => HostError::Failed(format!("the command did not start: {error}")),
                })?;
                Started::Walled(Caged::new(child, watch))
            }
            #[cfg(not(target_os = "linux"))]
            sandbox::Confinement::Full { .. } | sandbox::Confinement::Partial { .. } => {
                return Err(HostError::Failed(
                    "the command did not start: no sandbox here".into(),
                ));
            }
        };
        Ok((started, reader))
    }

    /// In the partial tier two commands that write in the workspace could not be told apart afterwards.
    fn turn_of(&self, order: &Order<Spawn>) -> Result<Option<Turn>, HostError> {
        let is_writing = !order.access().is_for_looking()
            && order.walls().child_writes() == ChildWrites::Workspace;
        if !self.is_partial() || !is_writing || order.is_outside_sandbox() {
            return Ok(None);
        }
        let longest = Duration::from_millis(order.access().timeout_ms());
        let is_open = || self.calls.check(order.call()).is_ok();
        self.turn(longest, is_open).map(Some)
    }

    fn watch_over(
        self: &Arc<Self>,
        order: &Order<Spawn>,
        walls: &sandbox::Walls,
        turn: Option<Turn>,
    ) -> Result<Option<Watch>, HostError> {
        let opened = order.walls().openings().iter();
        let opened = opened.filter_map(|opening| match opening {
            Opening::Write(path) => Some(path.into()),
            Opening::Read(_) => None,
        });
        self.watch(
            walls,
            opened.collect(),
            turn,
            Some(order.call().to_string()),
        )
    }

    fn walls_if_any(&self, order: &Order<Spawn>) -> Result<sandbox::Walls, HostError> {
        match self.launcher.confinement() {
            _ if order.is_outside_sandbox() => Ok(sandbox::Walls::default()),
            sandbox::Confinement::NotEnforced { .. } => Ok(sandbox::Walls::default()),
            sandbox::Confinement::Partial { .. } => self.walls(order),
            sandbox::Confinement::Full { .. } => {
                let mut walls = self.walls(order)?;
                if order.walls().may_reach() {
                    walls.network = sandbox::Network::Proxied;
                }
                Ok(walls)
            }
        }
    }

    /// Whether our directory lies in or around a path.
    fn holds_ours(&self, path: &Path) -> bool {
        path.starts_with(&self.state_dir) || self.state_dir.starts_with(path)
    }

    fn arguments(&self, command: &str) -> Result<Vec<std::ffi::OsString>, HostError> {
        if command.contains('\0') {
            return Err(HostError::Failed("the command holds a NUL".into()));
        }
        let is_bash = self.shell.ends_with("bash");
        let quiet: &[&str] = if is_bash {
            &["--noprofile", "--norc"]
        } else {
            &[]
        };
        Ok(quiet
            .iter()
            // A command that begins with `-` is no option of the shell.
            .chain(&["-c", "--", command])
            .map(Into::into)
            .collect())
    }

    /// Where the command starts, looked at right before. A directory swapped after that gains nothing inside: the
    /// walls do not go by it. Outside of them it counts, so the gate lets nothing else of the session run beside such
    /// a command, and the person who says yes is told that other programs may change what it would do.
    fn directory_of(&self, order: &Order<Spawn>) -> Result<PathBuf, HostError> {
        let Some(target) = order.workdir() else {
            self.check_workspace().map_err(HostError::Failed)?;
            return Ok(self.workspace.clone());
        };
        match self.stand(target)?.found.map(|found| found.kind) {
            Some(FileKind::Directory) => Ok(PathBuf::from(&target.absolute)),
            Some(FileKind::File | FileKind::Other) => {
                Err(failed(target, io::ErrorKind::NotADirectory))
            }
            None => Err(failed(target, io::ErrorKind::NotFound)),
        }
    }
}

/// The shell that reads command lines.
pub(crate) fn shell() -> PathBuf {
    BASH.iter()
        .map(Path::new)
        .find(|path| path.is_file())
        .unwrap_or(Path::new("/bin/sh"))
        .to_path_buf()
}
