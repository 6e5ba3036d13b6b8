//! Modes, owners and times of what is put in order, and the way into directories that a command closed.
//! Must not follow a link, nor leave a directory more open than it was found.

use super::record::Stamp;
use rustix::{
    fd::{AsFd as _, AsRawFd as _, BorrowedFd},
    fs::{
        AtFlags, FileType, Gid, Mode, OFlags, Stat, Timespec, Timestamps, Uid, chmod, chownat,
        fstat, openat, statat, utimensat,
    },
    io::Errno,
};
use std::ffi::OsStr;

type Done<T> = Result<T, Errno>;

/// A directory that its owner may list, walk through and change, until this is dropped.
pub(crate) struct Unlocked<'d> {
    dir: BorrowedFd<'d>,
    /// What it gets back; `None`: it was open.
    before: Option<Mode>,
}

impl<'d> Unlocked<'d> {
    pub(crate) fn new(dir: BorrowedFd<'d>) -> Done<Self> {
        let mode = Mode::from_raw_mode(fstat(dir)?.st_mode);
        let before = if mode.contains(Mode::RWXU) {
            None
        } else {
            match change_mode(dir, mode | Mode::RWXU) {
                Ok(()) => Some(mode),
                // Somebody else's. Whatever is done in it is told whether it may be.
                Err(Errno::PERM | Errno::ROFS) => None,
                Err(error) => return Err(error),
            }
        };
        Ok(Self { dir, before })
    }
}

impl Drop for Unlocked<'_> {
    fn drop(&mut self) {
        if let Some(mode) = self.before {
            let _done = change_mode(self.dir, mode);
        }
    }
}

/// What stands under a name.
pub(super) fn look(dir: BorrowedFd<'_>, name: &OsStr) -> Done<Option<Stat>> {
    match statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) fn is_directory(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}

/// Gives a file or directory the owner and the mode that it had. SECURITY: the very thing that was opened, whatever
/// takes its name meanwhile.
pub(super) fn set_mode(dir: BorrowedFd<'_>, name: &OsStr, stamp: &Stamp) -> Done<()> {
    own(dir, name, stamp)?;
    let thing = openat(
        dir,
        name,
        OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    if FileType::from_raw_mode(fstat(&thing)?.st_mode) != stamp.kind {
        return Err(Errno::LOOP);
    }
    change_mode(thing.as_fd(), stamp.mode)
}

/// An opened path takes no `fchmod`.
pub(super) fn change_mode(thing: BorrowedFd<'_>, mode: Mode) -> Done<()> {
    chmod(format!("/proc/self/fd/{}", thing.as_raw_fd()), mode)
}

/// Gives it back to whom it belonged, if we may.
pub(super) fn own(dir: BorrowedFd<'_>, name: &OsStr, stamp: &Stamp) -> Done<()> {
    let now = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if (now.st_uid, now.st_gid) == stamp.owner {
        return Ok(());
    }
    let (user, group) = stamp.owner;
    let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
    match chownat(
        dir,
        name,
        Some(user),
        Some(group),
        AtFlags::SYMLINK_NOFOLLOW,
    ) {
        Err(Errno::PERM) => Ok(()),
        done => done,
    }
}

/// As far as the file system takes it.
pub(super) fn set_times(dir: BorrowedFd<'_>, name: &OsStr, stamp: &Stamp) {
    let second = 1_000_000_000;
    let time = || {
        let seconds = i64::try_from(stamp.modified_ns.div_euclid(second)).ok()?;
        let nanoseconds = i64::try_from(stamp.modified_ns.rem_euclid(second)).ok()?;
        Some(Timespec {
            tv_sec: seconds,
            tv_nsec: nanoseconds,
        })
    };
    if let Some(time) = time() {
        let times = Timestamps {
            last_access: time,
            last_modification: time,
        };
        let _done = utimensat(dir, name, &times, AtFlags::SYMLINK_NOFOLLOW);
    }
}
