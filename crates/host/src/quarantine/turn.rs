//! Commands that write in a workspace where changes cannot be kept apart run one after the other.
//! Must not lock anything in the workspace: whoever can read a directory could keep every command from starting.

use super::store::entered;
use crate::{beneath, local::Machine};
use gate::host::HostError;
use rustix::{
    fd::{AsFd as _, OwnedFd},
    fs::{FlockOperation, Mode, OFlags, flock, fstat, ftruncate, openat},
    io::{Errno, pread, pwrite},
};
use std::{
    path::Path,
    process, thread,
    time::{Duration, Instant},
};

/// The directory in our state with a file for each workspace, by the device and the number of its directory.
const NAME: &str = "turns";

/// How often a command asks whether the one before it has ended.
const PAUSE: Duration = Duration::from_millis(10);

/// The most that is read of what a holder says of itself, in bytes.
const HOLDER_BYTES_MAX: usize = 256;

/// The right to be the only command that writes in a workspace where changes cannot be kept apart.
#[derive(Debug)]
pub(crate) struct Turn(#[expect(dead_code, reason = "the lock goes with it")] OwnedFd);

impl Machine {
    /// Waits until no other command writes in this workspace where changes could not be told apart: in the partial
    /// tier, for as long as `is_wanted`.
    pub(crate) fn turn(
        &self,
        longest: Duration,
        is_wanted: impl Fn() -> bool,
    ) -> Result<Turn, HostError> {
        let begun = Instant::now();
        let lock = self.turns_file().map_err(not_locked)?;
        loop {
            match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::WOULDBLOCK | Errno::INTR) if begun.elapsed() < longest => {}
                Err(Errno::WOULDBLOCK | Errno::INTR) => {
                    return Err(HostError::Refused(format!(
                        "the command did not start: another one is running in this workspace{}, and this \
                         sandbox cannot tell apart what the two change; try again when it has ended",
                        holder(&lock)
                    )));
                }
                done => {
                    done.map_err(not_locked)?;
                    self.sign(&lock);
                    return Ok(Turn(lock));
                }
            }
            if !is_wanted() {
                return Err(HostError::Refused("the call is over".into()));
            }
            thread::sleep(PAUSE);
        }
    }

    fn turns_file(&self) -> rustix::io::Result<OwnedFd> {
        let workspace = beneath::id_of(&fstat(&self.workspace_fd)?);
        let state = self.state_dir.strip_prefix("/").unwrap_or(&self.state_dir);
        let state = beneath::directory(self.root.as_fd(), state)?;
        let turns = entered(state.as_fd(), Path::new(NAME))?;
        let name = format!("{}-{}", workspace.device, workspace.inode);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(&turns, name, flags, Mode::RUSR | Mode::WUSR)
    }

    /// Says who has the turn. On a full disk nobody is told, and the lock holds all the same.
    fn sign(&self, lock: &OwnedFd) {
        let session = self.session_dir.file_name().unwrap_or_default();
        let text = format!("{} {}\n", process::id(), session.display());
        let _done = ftruncate(lock, 0).and_then(|()| pwrite(lock, text.as_bytes(), 0));
    }
}

/// Who has the turn, as far as they said so.
fn holder(lock: &OwnedFd) -> String {
    let mut bytes = [0; HOLDER_BYTES_MAX];
    let count = pread(lock, &mut bytes, 0).unwrap_or_default();
    let text = bytes.get(..count).unwrap_or_default();
    let text = String::from_utf8_lossy(text);
    let is_plain = |it: &&str| {
        it.chars()
            .all(|it| it.is_ascii_alphanumeric() || "-_.".contains(it))
    };
    let mut words = text.split_whitespace().filter(is_plain);
    match (words.next(), words.next()) {
        (Some(process), Some(session)) => format!(" (process {process}, session {session})"),
        _ => String::new(),
    }
}

fn not_locked(error: Errno) -> HostError {
    HostError::Failed(format!(
        "the command did not start: its turn in the workspace cannot be taken: {error}"
    ))
}
