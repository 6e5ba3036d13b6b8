//! What each tier leaves open, in words for people.
//! Must not name what a tier holds, and must name what it does not: tests compare some of it with the kernel.

use super::walls;

/// What is left open where all walls hold.
pub(super) fn full(abi: u32, is_root: bool) -> Vec<&'static str> {
    let mut gaps = vec![
        "a hard link inside a writable directory reaches its file wherever else that has a name",
        "a UNIX socket inside a directory that can be read can be connected to",
        "paths are protected and not names: a directory made by the command may hold any name",
        "a protected file that is replaced from outside is not protected from the commands of that moment",
        "a file inside a writable directory can be made set-user-id, by way of `openat2` alone",
    ];
    if !walls::has_scopes(abi) {
        gaps.push(
            "with the machine's network, abstract UNIX sockets of services outside can be reached",
        );
    }
    if is_root {
        gaps.push(
            "the command is root: file modes do not protect what the readable directories hold, and the number of its processes is not limited",
        );
    }
    gaps
}

/// What Landlock of this version and seccomp leave open.
pub(super) fn partial(abi: u32, is_root: bool) -> Vec<&'static str> {
    let mut gaps = vec![
        "mode, owner, times and extended attributes of files outside can be changed where their owner may",
        "whether a path outside exists, its size, its times and where a link leads can be seen, and changes can be watched",
        "single paths inside a directory that is open cannot be closed: neither masks nor write protection hold there",
        "a file inside a writable directory can be made set-user-id, by way of `openat2` alone",
        "the number of processes is not limited",
        "a hard link inside a writable directory reaches its file wherever else that has a name",
        "processes outside and their command lines can be listed, and their priority and processors changed",
        "no way out of the closed network can be opened for single hosts, and none to UNIX sockets; servers inside do not work",
        "System V and POSIX message queues and shared memory of the same user can be reached",
    ];
    if abi < 3 {
        gaps.push("files outside can be truncated where their owner may");
    }
    if !walls::has_scopes(abi) {
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
