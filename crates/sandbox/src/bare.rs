//! What holds of a command that no wall holds. Must not confine it: nothing here does.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Has a command begin a session and a process group of its own when it is started: it has no terminal then, so it
/// can neither read what is typed at ours nor draw over what is asked there. The group has the number of the process.
#[expect(
    unsafe_code,
    reason = "the standard library begins groups, but no sessions"
)]
pub fn begin_session(command: &mut Command) {
    let begin = || {
        // SAFETY: the call takes nothing and changes only the process that makes it.
        let session = unsafe { libc::setsid() };
        if session == -1 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    };
    // SAFETY: between fork and exec only calls that are safe in a signal handler may be made; `setsid` is one, and
    // the number of its error is read without allocating.
    unsafe {
        command.pre_exec(begin);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use rustix::process::{Pid, getpgid, getsid};
    use std::process::Stdio;

    #[test]
    fn a_command_has_a_session_and_a_group_of_its_own() {
        let mut command = Command::new("/bin/cat");
        command.stdin(Stdio::piped());
        begin_session(&mut command);
        let mut child = command.spawn().unwrap();
        let id = Pid::from_child(&child);
        let (session, group) = (getsid(Some(id)), getpgid(Some(id)));
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
        assert_eq!((session, group), (Ok(id), Ok(id)));
    }
}
