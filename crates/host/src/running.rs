//! A child under way, inside walls or, where there are none, without.
//! Must not outlive its owner: dropping it kills all that can be reached.

use gate::host::Exit;
#[cfg(target_os = "linux")]
use rustix::fd::AsFd as _;
use rustix::{
    fd::OwnedFd,
    process::{Pid, Signal, kill_process_group},
};
use std::{io, os::unix::process::ExitStatusExt as _, process::Stdio};
use tokio::process::{Child, Command};

pub(crate) enum Running {
    /// Below the supervisor, which kills the whole tree.
    #[cfg(target_os = "linux")]
    Walled(Walled),
    /// A process group of its own. What leaves the group is out of reach.
    Bare(Bare),
}

impl Running {
    /// Takes over a child that was started inside walls.
    #[cfg(target_os = "linux")]
    pub(crate) fn walled(child: sandbox::Child) -> io::Result<Self> {
        Walled::new(child).map(Self::Walled)
    }

    /// Starts a command of which nothing is confined.
    pub(crate) fn bare(spawn: &sandbox::Spawn, output: OwnedFd) -> io::Result<Self> {
        let mut command = Command::new(&spawn.program);
        command
            .args(&spawn.args)
            .env_clear()
            .envs(spawn.env.iter().cloned())
            .current_dir(&spawn.cwd);
        command
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output);
        let child = command.process_group(0).kill_on_drop(true).spawn()?;
        let group = child
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Ok(Self::Bare(Bare { child, group }))
    }

    /// How it ended. Losing the future loses nothing.
    pub(crate) async fn ended(&mut self) -> io::Result<Exit> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Walled(child) => child.ended().await,
            Self::Bare(bare) => bare.ended().await,
        }
    }

    /// Asks it to end.
    pub(crate) fn terminate(&self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Walled(it) => it.child.terminate(),
            Self::Bare(bare) => bare.signal(Signal::TERM),
        }
    }
}

pub(crate) struct Bare {
    child: Child,
    group: Option<Pid>,
}

impl Bare {
    async fn ended(&mut self) -> io::Result<Exit> {
        let status = self.child.wait().await?;
        // What it left behind in its group goes with it.
        self.signal(Signal::KILL);
        self.group = None;
        Ok(match (status.code(), status.signal()) {
            (Some(code), _) => Exit::Code(code),
            (None, signal) => Exit::Signal(signal.unwrap_or_default()),
        })
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // It fails where the group is gone already.
            let _sent = kill_process_group(group, signal);
        }
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// A child below the supervisor.
#[cfg(target_os = "linux")]
pub(crate) struct Walled {
    child: sandbox::Child,
    /// Another descriptor of the child's own, by which the runtime hears of it.
    control: tokio::net::UnixStream,
}

#[cfg(target_os = "linux")]
impl Walled {
    fn new(child: sandbox::Child) -> io::Result<Self> {
        let control = std::os::unix::net::UnixStream::from(child.as_fd().try_clone_to_owned()?);
        control.set_nonblocking(true)?;
        Ok(Self {
            control: tokio::net::UnixStream::from_std(control)?,
            child,
        })
    }

    async fn ended(&mut self) -> io::Result<Exit> {
        loop {
            self.control.readable().await?;
            let ended = self.control.try_io(tokio::io::Interest::READABLE, || {
                self.child
                    .poll_end()?
                    .ok_or(io::ErrorKind::WouldBlock.into())
            });
            match ended {
                Ok(sandbox::Ended::Code(code)) => return Ok(Exit::Code(code)),
                Ok(sandbox::Ended::Signal(signal)) => return Ok(Exit::Signal(signal)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
}
