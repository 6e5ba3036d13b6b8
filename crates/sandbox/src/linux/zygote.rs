//! The process that supervisors are forked from: this same program executed once, which then costs no command
//! the time to execute and link it again.
//! Must not read an order, and must not have threads, files of its own or anything secret.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{self, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use rustix::process::WaitOptions;

use super::wire::{Report, Step};
use super::{MARKER, supervise, tree};

/// Asks for a supervisor; its control socket and the command's output, error and, if there is one, input come with
/// the word.
const FORK: &[u8] = b"f";

/// Processes whose launchers were dropped, to be reaped once they have ended themselves.
static DROPPED: Mutex<Vec<process::Child>> = Mutex::new(Vec::new());

/// What a supervisor is forked with.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) control: OwnedFd,
    pub(crate) output: OwnedFd,
    pub(crate) error: OwnedFd,
    pub(crate) input: Option<OwnedFd>,
}

/// The process seen from its launcher. It ends when this is dropped; supervisors that it forked do not.
#[derive(Debug)]
pub(crate) struct Zygote {
    socket: UnixStream,
    process: Option<process::Child>,
}

impl Zygote {
    /// Executes a program as such a process.
    ///
    /// # Errors
    /// When it cannot be executed.
    pub(crate) fn start(program: &File) -> io::Result<Self> {
        reap_dropped(None);
        let (socket, theirs) = UnixStream::pair()?;
        // Through the descriptor: the path may name another file by now. It gets no environment, so nothing in
        // there (LD_PRELOAD) acts on it and nothing secret can be read from it.
        let process = process::Command::new(format!("/proc/self/fd/{}", program.as_raw_fd()))
            .arg0("tollgate")
            .arg(MARKER)
            .env_clear()
            .current_dir("/")
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(explain_missing_proc)?;
        Ok(Self {
            socket,
            process: Some(process),
        })
    }

    /// Has a supervisor forked, which reads its order from `control`.
    ///
    /// # Errors
    /// When the process has ended.
    pub(crate) fn fork(
        &self,
        control: BorrowedFd<'_>,
        [output, error]: [BorrowedFd<'_>; 2],
        input: Option<BorrowedFd<'_>>,
    ) -> io::Result<()> {
        let all: Vec<_> = [control, output, error].into_iter().chain(input).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut passed = SendAncillaryBuffer::new(&mut space);
        passed.push(SendAncillaryMessage::ScmRights(&all));
        let word = [io::IoSlice::new(FORK)];
        rustix::io::retry_on_intr(|| {
            rustix::net::sendmsg(&self.socket, &word, &mut passed, SendFlags::NOSIGNAL)
        })?;
        Ok(())
    }
}

impl Drop for Zygote {
    fn drop(&mut self) {
        // It sees the end of its socket.
        drop(self.socket.shutdown(std::net::Shutdown::Both));
        reap_dropped(self.process.take());
    }
}

/// Reaps those of the dropped processes that have ended by now, and remembers one more.
fn reap_dropped(more: Option<process::Child>) {
    let mut dropped = DROPPED.lock().unwrap_or_else(PoisonError::into_inner);
    dropped.extend(more);
    dropped.retain_mut(|process| matches!(process.try_wait(), Ok(None)));
}

pub(crate) fn explain_missing_proc(error: io::Error) -> io::Error {
    if Path::new("/proc/self/fd").exists() {
        error
    } else {
        io::Error::other("/proc is not mounted")
    }
}

/// Becomes the process that supervisors are forked from if this one was started as such, and then never returns.
/// Otherwise returns at once. Must be the first thing `main` does: before threads, before any file is opened.
pub fn run_if_helper() {
    if std::env::args_os().nth(1).is_none_or(|arg| arg != MARKER) {
        return;
    }
    if rustix::net::sockopt::socket_domain(io::stdin()) != Ok(AddressFamily::UNIX) {
        return;
    }
    // Whoever asks for more after an error sees that nobody is there.
    let code = i32::from(serve().is_err());
    #[expect(
        clippy::exit,
        reason = "this process is done here; what `main` would do next is not for it"
    )]
    process::exit(code);
}

/// Gives up privileges to come, and forks supervisors until the launcher is gone.
fn serve() -> Result<(), Errno> {
    close_inherited()?;
    // Out of the terminal's reach: an interrupt is for Tollgate, and what it leaves is killed from here.
    rustix::process::setsid()?;
    rustix::thread::set_no_new_privs(true)?;
    while let Some(request) = receive()? {
        tree::reap(WaitOptions::NOHANG, |_, _| ());
        match supervise::fork() {
            Ok(None) => supervise::run(request),
            Ok(Some(_)) => {}
            Err(errno) => {
                let report = Report::Failed {
                    step: Step::Fork,
                    index: 0,
                    errno: errno.raw_os_error(),
                };
                // An error means that the launcher has given up on this one.
                _ = rustix::net::send(&request.control, &report.encode(), SendFlags::NOSIGNAL);
            }
        }
    }
    Ok(())
}

/// The next request, or nothing when the launcher is gone.
fn receive() -> Result<Option<Request>, Errno> {
    let mut word = [0; FORK.len()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut passed = RecvAncillaryBuffer::new(&mut space);
    let mut frame = [io::IoSliceMut::new(&mut word)];
    let flags = RecvFlags::CMSG_CLOEXEC;
    let message = rustix::io::retry_on_intr(|| {
        rustix::net::recvmsg(io::stdin(), &mut frame, &mut passed, flags)
    })?;
    if message.bytes == 0 {
        return Ok(None);
    }
    let descriptors = passed.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    let mut all = descriptors.flatten();
    let (Some(control), Some(output), Some(error)) = (all.next(), all.next(), all.next()) else {
        return Err(Errno::INVAL);
    };
    Ok(Some(Request {
        control,
        output,
        error,
        input: all.next(),
    }))
}

/// Closes every descriptor but the three standard ones: whoever started Tollgate may have left some open.
#[expect(
    unsafe_code,
    reason = "closes descriptors that nobody in this process owns"
)]
fn close_inherited() -> Result<(), Errno> {
    // SAFETY: this runs before anything in the process opened a descriptor, so nobody owns one of these.
    let answer = unsafe { libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, 0u32) };
    if answer == 0 {
        Ok(())
    } else {
        Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::NOSYS))
    }
}
