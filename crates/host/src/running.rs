//! A child under way, inside walls or, where there are none, without.
//! Must not outlive its owner: dropping it kills all that can be reached.

#[cfg(target_os = "linux")]
use crate::quarantine::{Left, Watch};
use gate::host::{Exit, HostError};
#[cfg(target_os = "linux")]
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fd::AsFd as _,
};
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
    /// A session and process group of its own. What leaves the group is out of reach.
    Bare(Bare),
}

impl Running {
    /// Takes over a child that was started inside walls.
    #[cfg(target_os = "linux")]
    pub(crate) fn walled(caged: Caged) -> io::Result<Self> {
        Walled::new(caged).map(Self::Walled)
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
        sandbox::begin_session(command.as_std_mut());
        let child = command.kill_on_drop(true).spawn()?;
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

    /// Ends whatever is left of it, and undoes what it might not change. May wait for the disk.
    pub(crate) fn finish(self) -> Result<(), HostError> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Walled(it) => it.caged.finish(),
            Self::Bare(_) => Ok(()),
        }
    }

    /// Asks it to end.
    pub(crate) fn terminate(&self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Walled(it) => it.caged.child.terminate(),
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

/// A child below the supervisor, and what it may not change. Dropped, it is killed, and what it did is compared once
/// nothing of it is alive.
#[cfg(target_os = "linux")]
pub(crate) struct Caged {
    pub(crate) child: sandbox::Child,
    has_ended: bool,
    watch: Option<Watch>,
}

/// How long a killed command may take to be gone, in seconds.
#[cfg(target_os = "linux")]
const GONE_S: i64 = 10;

#[cfg(target_os = "linux")]
impl Caged {
    pub(crate) fn new(child: sandbox::Child, watch: Option<Watch>) -> Self {
        Self {
            child,
            has_ended: false,
            watch,
        }
    }

    fn poll_end(&mut self) -> io::Result<Option<sandbox::Ended>> {
        let ended = self.child.poll_end();
        self.has_ended |= matches!(ended, Ok(Some(_)));
        ended
    }

    fn finish(mut self) -> Result<(), HostError> {
        self.settle()
    }

    fn settle(&mut self) -> Result<(), HostError> {
        self.kill();
        let left = if self.has_ended {
            Left::Nothing
        } else {
            Left::Unknown
        };
        let watch = self.watch.take();
        watch.map_or(Ok(()), |watch| watch.settle(left))
    }

    /// Kills what is alive and waits until it is gone, where that matters.
    fn kill(&mut self) {
        if self.has_ended || self.watch.is_none() {
            return;
        }
        self.child.kill();
        let limit = Timespec {
            tv_sec: GONE_S,
            tv_nsec: 0,
        };
        while !self.has_ended {
            let mut waiting = [PollFd::new(&self.child, PollFlags::IN)];
            let is_ready = poll(&mut waiting, Some(&limit)).is_ok_and(|ready| ready > 0);
            if !is_ready || self.poll_end().is_err() {
                break;
            }
        }
    }
}

#[cfg(target_os = "linux")]
impl Drop for Caged {
    fn drop(&mut self) {
        // Whoever comes next is told, and refused if it failed.
        drop(self.settle());
    }
}

/// The same on the runtime.
#[cfg(target_os = "linux")]
pub(crate) struct Walled {
    caged: Caged,
    /// Another descriptor of the child's own, by which the runtime hears of it.
    control: tokio::net::UnixStream,
}

#[cfg(target_os = "linux")]
impl Walled {
    fn new(caged: Caged) -> io::Result<Self> {
        let control = caged.child.as_fd().try_clone_to_owned()?;
        let control = std::os::unix::net::UnixStream::from(control);
        control.set_nonblocking(true)?;
        Ok(Self {
            control: tokio::net::UnixStream::from_std(control)?,
            caged,
        })
    }

    async fn ended(&mut self) -> io::Result<Exit> {
        loop {
            self.control.readable().await?;
            let ended = self.control.try_io(tokio::io::Interest::READABLE, || {
                self.caged
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
