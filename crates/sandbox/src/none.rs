//! The sandbox of a system that has none: it says so and runs nothing.
//! Must not run a command unconfined.

#![cfg_attr(
    target_os = "linux",
    expect(
        unreachable_pub,
        dead_code,
        clippy::unnecessary_wraps,
        reason = "on Linux only its test uses it"
    )
)]

use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::path::Path;

use crate::{Confinement, Ended, Output, Spawn, StartError, Streams, Tier};

/// Starts commands behind walls, which this system cannot build.
#[derive(Debug)]
pub struct Launcher {
    confinement: Confinement,
}

impl Launcher {
    /// Makes a launcher that refuses every start.
    ///
    /// # Errors
    /// Never on this system.
    pub fn open() -> io::Result<Self> {
        let why = format!("not built for {}", std::env::consts::OS);
        Ok(Self {
            confinement: Confinement::NotEnforced { why },
        })
    }

    /// Like [`Launcher::open`]: there is no supervisor to execute.
    ///
    /// # Errors
    /// Never on this system.
    pub fn open_program(_program: &Path) -> io::Result<Self> {
        Self::open()
    }

    /// Like [`Launcher::open`]: there is no tier to build.
    ///
    /// # Errors
    /// Never on this system.
    pub fn open_up_to(_program: &Path, _tier: Tier) -> io::Result<Self> {
        Self::open()
    }

    /// What this machine enforces: nothing.
    pub fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    /// Refuses.
    ///
    /// # Errors
    /// Always [`StartError::NotEnforced`].
    pub fn start_with(&self, spawn: &Spawn, streams: Streams) -> Result<Child, StartError> {
        self.start(spawn, streams.output)
    }

    /// Refuses.
    ///
    /// # Errors
    /// Always [`StartError::NotEnforced`].
    pub fn start(&self, _spawn: &Spawn, _output: Output) -> Result<Child, StartError> {
        let why = match &self.confinement {
            Confinement::NotEnforced { why } => why.clone(),
            Confinement::Full { .. } | Confinement::Partial { .. } => String::new(),
        };
        Err(StartError::NotEnforced { why })
    }
}

/// A running command; on this system there is never one.
#[derive(Debug)]
pub struct Child(Infallible);

impl Child {
    /// How the command ended, if it has.
    ///
    /// # Errors
    /// Never: there is no command.
    pub fn poll_end(&mut self) -> io::Result<Option<Ended>> {
        match self.0 {}
    }

    /// Waits until the command has ended.
    ///
    /// # Errors
    /// Never: there is no command.
    pub fn wait(&mut self) -> io::Result<Ended> {
        match self.0 {}
    }

    /// Where the command's connections to its proxy arrive.
    pub fn take_listener(&mut self) -> Option<TcpListener> {
        match self.0 {}
    }

    /// Asks the command to end.
    pub fn terminate(&self) {
        match self.0 {}
    }

    /// Ends the command.
    pub fn kill(&self) {
        match self.0 {}
    }
}

/// Returns at once: this system has no supervisor.
pub fn run_if_helper() {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Walls;

    #[test]
    fn a_system_without_a_sandbox_says_so_and_runs_nothing() {
        run_if_helper();
        let launcher = Launcher::open_program(Path::new("/bin/true")).unwrap();
        assert!(matches!(
            launcher.confinement(),
            Confinement::NotEnforced { .. }
        ));
        let spawn = Spawn {
            program: "/bin/true".into(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: "/".into(),
            walls: Walls::default(),
        };
        let (_reader, writer) = std::io::pipe().unwrap();
        let refused = launcher.start(&spawn, writer.into());
        assert!(matches!(refused, Err(StartError::NotEnforced { .. })));
    }
}
