//! What each tier leaves open, in words for people.
//! Must not name what a tier holds, and must name what it does not: tests compare some of it with the kernel.

use super::walls;
use crate::gap::{Gap, Wall};

const HARD_LINK: Gap = Gap::part(
    Wall::Write,
    "a hard link inside a writable directory reaches its file wherever else that has a name",
);

const SET_ID: Gap = Gap::part(
    Wall::Kernel,
    "a file inside a writable directory can be made set-user-id, by way of `openat2` alone",
);

const ROOT: Gap = Gap::part(
    Wall::Read,
    "the command is root: file modes do not protect what the readable directories hold",
);

/// What is left open where all walls hold.
pub(super) fn full(abi: u32, is_root: bool) -> Vec<Gap> {
    let mut gaps = vec![
        HARD_LINK,
        Gap::part(
            Wall::Sockets,
            "a UNIX socket inside a directory that can be read can be connected to",
        ),
        Gap::part(
            Wall::WriteProtected,
            "paths are protected and not names: a directory made by the command may hold any name",
        ),
        Gap::part(
            Wall::WriteProtected,
            "a protected file that is replaced from outside is not protected from the commands of that moment",
        ),
        SET_ID,
    ];
    if !walls::has_scopes(abi) {
        gaps.push(Gap::part(
            Wall::Sockets,
            "with the machine's network, abstract UNIX sockets of services outside can be reached",
        ));
    }
    if is_root {
        gaps.push(ROOT);
        gaps.push(Gap::whole(
            Wall::Limits,
            "the system does not count the processes of root",
        ));
    }
    gaps
}

/// What Landlock of this version and seccomp leave open.
pub(super) fn partial(abi: u32, is_root: bool) -> Vec<Gap> {
    let mut gaps = vec![
        Gap::whole(
            Wall::Names,
            "mode, owner, times and extended attributes of files outside can be changed where their owner may, and flags of those that can be read",
        ),
        Gap::whole(
            Wall::Names,
            "whether a path outside exists, its size, its times and where a link leads can be seen, and changes can be watched",
        ),
        Gap::whole(
            Wall::Masked,
            "single paths inside a directory that is open cannot be hidden",
        ),
        Gap::whole(
            Wall::WriteProtected,
            "single paths inside a writable directory cannot be closed while a command runs; the host finds and undoes such changes when it has ended",
        ),
        SET_ID,
        Gap::whole(Wall::Limits, "the number of processes is not limited"),
        HARD_LINK,
        Gap::part(
            Wall::Processes,
            "processes outside and their command lines can be listed, and their priority and processors changed",
        ),
        Gap::whole(
            Wall::Proxied,
            "no way out of the closed network can be opened for single hosts, and none to UNIX sockets; servers inside do not work",
        ),
        Gap::part(
            Wall::Processes,
            "System V message queues, semaphores and shared memory of the same user can be reached",
        ),
    ];
    if abi < 3 {
        gaps.push(Gap::part(
            Wall::Write,
            "files outside can be truncated where their owner may",
        ));
    }
    if !walls::has_scopes(abi) {
        gaps.push(Gap::whole(
            Wall::Processes,
            "processes outside can be signalled where their owner may, Tollgate's own among them",
        ));
    }
    if is_root {
        gaps.push(ROOT);
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gap::Extent;

    fn not_held(gaps: &[Gap]) -> Vec<Wall> {
        let whole = gaps.iter().filter(|it| it.extent == Extent::Whole);
        let mut walls: Vec<Wall> = whole.map(|it| it.wall).collect();
        walls.sort();
        walls.dedup();
        walls
    }

    #[test]
    fn each_tier_says_which_walls_do_not_stand() {
        assert_eq!(not_held(&full(6, false)), []);
        assert_eq!(not_held(&full(6, true)), [Wall::Limits]);
        let partial_walls = [
            Wall::Masked,
            Wall::WriteProtected,
            Wall::Names,
            Wall::Proxied,
            Wall::Limits,
        ];
        assert_eq!(not_held(&partial(6, false)), partial_walls);
        assert!(not_held(&partial(5, false)).contains(&Wall::Processes));
    }

    #[test]
    fn no_gap_is_told_twice() {
        for gaps in [full(1, true), partial(1, true)] {
            let mut phrases: Vec<&str> = gaps.iter().map(|it| it.about).collect();
            phrases.sort_unstable();
            assert!(phrases.windows(2).all(|two| two[0] != two[1]));
        }
    }
}
