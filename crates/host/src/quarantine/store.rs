//! Where things are kept that were moved out of a workspace: a directory of the session, which no tool reads.
//! Must not overwrite anything there, nor remove what could not be kept.

use super::{
    record::{DEPTH_MAX, names_in, open},
    rights::{Unlocked, change_mode},
};
use crate::{beneath, local::Machine, options::Moment};
use rustix::{
    fd::{AsFd as _, BorrowedFd, OwnedFd},
    fs::{
        AtFlags, FileType, Mode, OFlags, RenameFlags, mkdirat, openat, readlinkat, renameat,
        renameat_with, statat, symlinkat, unlinkat,
    },
    io::Errno,
};
use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read as _},
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

/// The directory's name in that of the session.
pub(crate) const NAME: &str = "quarantine";

/// The most that is copied to another file system, in bytes. More stays beside its place, under another name.
const COPIED_MAX: u64 = 256 * 1024 * 1024;

/// What is added to a name that stays beside its place.
const ENDING: &str = ".set-aside";

/// The names that one command's things may take.
const SLOTS_MAX: usize = 1_000_000;

/// The place for the things of one command. It is made when there is a first one.
pub(crate) struct Store<'a> {
    machine: &'a Machine,
    /// `None`: each stays beside its place.
    label: Option<&'a str>,
    opened: Option<OwnedFd>,
    slot: usize,
}

impl<'a> Store<'a> {
    pub(crate) fn new(machine: &'a Machine, label: Option<&'a str>) -> Self {
        Self {
            machine,
            label,
            opened: None,
            slot: 0,
        }
    }

    /// What was there before is put back next.
    pub(super) fn is_about_to_put_back(&self) {
        self.machine.at(Moment::BeforePutBack);
    }

    /// Moves what stands under a name away, whatever it is, and says where it is now.
    pub(crate) fn take(
        &mut self,
        dir: BorrowedFd<'_>,
        name: &OsStr,
        path: &Path,
    ) -> Result<PathBuf, Errno> {
        match self.label.map(|label| self.keep(label, dir, name)) {
            Some(Ok(kept_at)) => Ok(kept_at),
            // Another file system that does not take it, or a full disk: at least not under its name.
            Some(Err(_)) | None => beside(dir, name).map(|name| path.with_file_name(name)),
        }
    }

    fn keep(&mut self, label: &str, dir: BorrowedFd<'_>, name: &OsStr) -> Result<PathBuf, Errno> {
        let (slot, path) = self.slot(label)?;
        let moved = || renameat(dir, name, &slot, name);
        let done = match moved() {
            // A directory that its owner may not write to cannot be moved into another.
            Err(Errno::ACCESS) => {
                let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let thing = openat(dir, name, flags, Mode::empty())?;
                change_mode(thing.as_fd(), Mode::RWXU)?;
                moved()
            }
            Err(Errno::XDEV) => {
                let mut left = COPIED_MAX;
                match copy((dir, name), slot.as_fd(), &mut left, 0) {
                    Ok(()) => remove(dir, name, 0),
                    Err(error) => {
                        let _done = remove(slot.as_fd(), name, 0);
                        Err(error)
                    }
                }
            }
            done => done,
        };
        done.map(|()| path.join(name))
    }

    /// A directory for one thing, so that it can have its own name.
    fn slot(&mut self, label: &str) -> Result<(OwnedFd, PathBuf), Errno> {
        let opened = if let Some(opened) = self.opened.take() {
            opened
        } else {
            let all = entered(self.machine.session_fd.as_fd(), Path::new(NAME))?;
            entered(all.as_fd(), Path::new(label))?
        };
        let opened = self.opened.insert(opened);
        loop {
            self.slot += 1;
            let slot = self.slot.to_string();
            match mkdirat(&*opened, &slot, Mode::RWXU) {
                // Of an earlier process of this session.
                Err(Errno::EXIST) if self.slot < SLOTS_MAX => {}
                made => {
                    made?;
                    let path = self.machine.session_dir.join(NAME).join(label);
                    let made = beneath::directory(opened.as_fd(), Path::new(&slot))?;
                    return Ok((made, path.join(slot)));
                }
            }
        }
    }
}

/// Opens a directory of ours, made if it is not there.
pub(super) fn entered(dir: BorrowedFd<'_>, name: &Path) -> Result<OwnedFd, Errno> {
    match mkdirat(dir, name, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => beneath::directory(dir, name),
        Err(error) => Err(error),
    }
}

/// Gives a thing another name in its directory.
fn beside(dir: BorrowedFd<'_>, name: &OsStr) -> Result<OsString, Errno> {
    for number in 1..SLOTS_MAX {
        let ending = if number == 1 {
            ENDING.to_owned()
        } else {
            format!("{ENDING}-{number}")
        };
        // Names have 255 bytes at most.
        let stem = name.as_bytes();
        let stem = stem
            .get(..stem.len().min(255 - ending.len()))
            .unwrap_or_default();
        let mut other = OsString::from(OsStr::from_bytes(stem));
        other.push(&ending);
        match renameat_with(dir, name, dir, &other, RenameFlags::NOREPLACE) {
            Err(Errno::EXIST) => {}
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
                if statat(dir, &other, AtFlags::SYMLINK_NOFOLLOW).is_ok() => {}
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                renameat(dir, name, dir, &other)?;
                return Ok(other);
            }
            done => return done.map(|()| other),
        }
    }
    Err(Errno::EXIST)
}

/// Copies files, directories and links under the same name. What is neither has nothing to be copied.
fn copy(
    (dir, name): (BorrowedFd<'_>, &OsStr),
    to: BorrowedFd<'_>,
    left: &mut u64,
    depth: usize,
) -> Result<(), Errno> {
    let stat = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let mut new = File::from(openat(to, name, flags, Mode::RUSR | Mode::WUSR)?);
            let code = |error: io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
            let count = io::copy(&mut open(dir, name)?.take(*left), &mut new).map_err(code)?;
            new.sync_all().map_err(code)?;
            *left -= count;
            if *left == 0 {
                return Err(Errno::FBIG);
            }
            Ok(())
        }
        FileType::Symlink => symlinkat(readlinkat(dir, name, Vec::new())?, to, name),
        FileType::Directory if depth < DEPTH_MAX => {
            mkdirat(to, name, Mode::RWXU)?;
            let to = beneath::directory(to, Path::new(name))?;
            let (below, names) = names_in(dir, name)?;
            for name in names {
                copy((below.as_fd(), &name), to.as_fd(), left, depth + 1)?;
            }
            Ok(())
        }
        _ => Err(Errno::OPNOTSUPP),
    }
}

/// Removes what was copied, or was ours.
pub(super) fn remove(dir: BorrowedFd<'_>, name: &OsStr, depth: usize) -> Result<(), Errno> {
    match unlinkat(dir, name, AtFlags::empty()) {
        Err(Errno::ISDIR | Errno::PERM) if depth < DEPTH_MAX => {}
        done => return done,
    }
    let below = beneath::directory(dir, Path::new(name))?;
    let _unlocked = Unlocked::new(below.as_fd())?;
    let (_, names) = names_in(dir, name)?;
    for name in names {
        remove(below.as_fd(), &name, depth + 1)?;
    }
    unlinkat(dir, name, AtFlags::REMOVEDIR)
}
