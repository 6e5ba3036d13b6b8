//! Namespaces of one's own: making a first process in them, and what it needs before it can do anything.
//! Must not need a privilege. A process that has some gives them up with everybody else's user numbers.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::process::Pid;

use crate::{Network, PROXY_PORT};

/// Forks this process into new namespaces; `None` is the child, which is their first process and has every
/// capability in them but no user number yet: see [`keep_identity`].
#[expect(
    unsafe_code,
    reason = "the standard library cannot fork without executing"
)]
pub(crate) fn fork(network: Network) -> Result<Option<Pid>, Errno> {
    let mut flags = libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::SIGCHLD;
    if network != Network::Shared {
        flags |= libc::CLONE_NEWNET;
    }
    // The kernel takes a long; the flags fill the lower half, where the highest bit is not a sign.
    let flags = libc::c_ulong::from(flags.cast_unsigned());
    // SAFETY: this process has one thread (`run_if_helper` comes first in `main`), so no lock is held by a thread
    // that the child would lack. Without a stack and without shared memory the call is a fork. The C library does
    // not learn of it: its record of the thread's number is wrong in the child, which calls nothing that reads it.
    let answer = unsafe { libc::syscall(libc::SYS_clone, flags, 0usize, 0usize, 0usize, 0usize) };
    match i32::try_from(answer) {
        Ok(0) => Ok(None),
        Ok(pid @ 1..) => Ok(Pid::from_raw(pid)),
        _ => Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::AGAIN)),
    }
}

/// Lets a process in new namespaces be the user it was.
///
/// Root keeps all numbers, because it works with everybody's files; anyone else keeps their own alone, and
/// other users' files belong to nobody in there.
///
/// # Errors
/// When the kernel refuses, or /proc is not there.
pub(crate) fn keep_identity(child: Pid) -> io::Result<()> {
    let child = child.as_raw_pid();
    let write = |name, text: &str| fs::write(format!("/proc/{child}/{name}"), text);
    if rustix::process::geteuid().is_root() {
        let users = same_numbers(&fs::read_to_string("/proc/self/uid_map")?);
        let groups = same_numbers(&fs::read_to_string("/proc/self/gid_map")?);
        if write("uid_map", &users).is_ok() {
            return write("gid_map", &groups);
        }
    }
    let own = |number: u32| format!("{number} {number} 1\n");
    write("uid_map", &own(rustix::process::geteuid().as_raw()))?;
    // Without this anyone could drop a group that a file refuses.
    write("setgroups", "deny")?;
    write("gid_map", &own(rustix::process::getegid().as_raw()))
}

/// A map that gives each number of this namespace the same number in the new one.
fn same_numbers(map: &str) -> String {
    map.lines()
        .filter_map(|line| {
            let mut fields = line.split_ascii_whitespace();
            let (first, _, count) = (fields.next()?, fields.next()?, fields.next()?);
            Some(format!("{first} {first} {count}\n"))
        })
        .collect()
}

/// Opens the way out of a network namespace: who holds the socket takes the connections, wherever they are.
///
/// # Errors
/// When the loopback interface is not started.
pub(crate) fn listen() -> Result<OwnedFd, Errno> {
    /// How many connections may wait to be taken.
    const WAITING: i32 = 128;
    let flags = SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
    rustix::net::bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, PROXY_PORT))?;
    rustix::net::listen(&socket, WAITING)?;
    Ok(socket)
}

/// Starts the loopback interface of a new network namespace.
///
/// # Errors
/// When there is none or it cannot be started.
#[expect(unsafe_code, reason = "no crate offers this request")]
pub(crate) fn start_loopback() -> Result<(), Errno> {
    /// `struct ifreq` of the kernel with the flags of its union.
    #[repr(C)]
    struct Request {
        name: [u8; libc::IFNAMSIZ],
        flags: libc::c_short,
        rest: [u8; 22],
    }
    const { assert!(size_of::<Request>() == size_of::<libc::ifreq>()) };
    let mut name = [0; libc::IFNAMSIZ];
    if let Some(start) = name.get_mut(..2) {
        start.copy_from_slice(b"lo");
    }
    let flags = libc::IFF_UP | libc::IFF_RUNNING;
    let request = Request {
        name,
        flags: libc::c_short::try_from(flags).unwrap_or_default(),
        rest: [0; 22],
    };
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    // SAFETY: the descriptor is an open socket, and the pointer leads to a structure of the kernel's layout and
    // size, which lives through the call and is only read by this request.
    let answer = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    if answer == 0 {
        Ok(())
    } else {
        Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::NODEV))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_keeps_each_number() {
        let map = "         0     100000      65536\n     70000          5          1\n";
        assert_eq!(same_numbers(map), "0 0 65536\n70000 70000 1\n");
        assert_eq!(same_numbers(""), "");
    }
}
