//! Empty directories that hold the place of protected paths which do not exist, while a command runs.
//! Must not remove anything but an empty directory that bears the mark.
//!
//! A mount can only cover what is there. A directory is taken and not a file because git sees no empty ones,
//! and because most readers of settings look whether a file is there before they open it.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::plan::{Kind, Place};
use super::walls::{self, WallError};

/// The mode of such a directory, which no other has: whoever ends last finds those it may remove by it.
const MARK: u32 = crate::HELD_MODE;
/// How often another command may remove what this one is about to share.
const TRIES: usize = 16;

/// The directories that one command shares with those at the same time; dropping it changes nothing.
#[derive(Debug, Default)]
pub(crate) struct Held(Vec<Holder>);

#[derive(Debug)]
struct Holder {
    around: OwnedFd,
    name: OsString,
    /// Locked as long as a command needs it.
    directory: OwnedFd,
    /// This command made it. Not every file system keeps the mark.
    is_new: bool,
}

impl Held {
    /// Makes a directory for each closed place where nothing is, and turns the place into that directory.
    ///
    /// # Errors
    /// When a path leads through a link, or a directory that should be makeable is not.
    pub(crate) fn make(places: &mut Vec<Place>) -> Result<Self, WallError> {
        let mut held = Self::default();
        let umask = rustix::process::umask(Mode::empty());
        let filled = held.fill(places);
        rustix::process::umask(umask);
        match filled {
            Ok(()) => Ok(held),
            Err(error) => {
                held.release();
                Err(error)
            }
        }
    }

    fn fill(&mut self, places: &mut Vec<Place>) -> Result<(), WallError> {
        for mut place in std::mem::take(places) {
            let fail = |errno| WallError {
                index: Some(place.index),
                errno,
            };
            if !matches!(place.kind, Kind::Fixed | Kind::Protected | Kind::Masked) {
                places.push(place);
                continue;
            }
            let around = places
                .iter()
                .rfind(|around| place.path.starts_with(&around.path))
                .map(|around| (around.path.clone(), around.kind.is_writable()));
            let (standing, path) = standing(&place.path).map_err(fail)?;
            let path = path.to_owned();
            let below = around.is_some_and(|(around, is_writable)| {
                is_writable && path != around && path.starts_with(around)
            });
            match (standing, place.kind) {
                (Standing::There, Kind::Fixed) => {}
                (_, Kind::Fixed) => continue,
                (Standing::There, _) if is_marked(&path).map_err(fail)? => {
                    place.is_held = self.hold(&path).map_err(fail)?;
                }
                // Outside a writable directory nobody can make it, so there is nothing to hold.
                (Standing::Missing, _) => {
                    if !below || !self.hold(&path).map_err(fail)? {
                        continue;
                    }
                    place.is_held = true;
                }
                (Standing::BelowFile, _) if !below => continue,
                (Standing::There | Standing::BelowFile, _) => {}
            }
            place.path = path;
            match places.iter_mut().find(|other| other.path == place.path) {
                Some(other) if other.kind != Kind::Masked => *other = place,
                Some(_) => {}
                None => places.push(place),
            }
        }
        Ok(())
    }

    /// Makes or shares the directory; false if the command could not make it either.
    fn hold(&mut self, path: &Path) -> Result<bool, Errno> {
        let (Some(around), Some(name)) = (path.parent(), path.file_name()) else {
            return Ok(false);
        };
        let around = walls::open(around)?;
        for _ in 0..TRIES {
            let is_new = match rustix::fs::mkdirat(&around, name, Mode::from_raw_mode(MARK)) {
                Ok(()) => true,
                Err(Errno::EXIST) => false,
                Err(Errno::ROFS | Errno::ACCESS | Errno::PERM) => return Ok(false),
                Err(errno) => return Err(errno),
            };
            let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
            let directory = match rustix::fs::openat(&around, name, flags, Mode::empty()) {
                Err(Errno::NOENT) => continue,
                other => other?,
            };
            // Where there are no locks, the first to end removes it.
            _ = rustix::fs::flock(&directory, FlockOperation::LockShared);
            // Whoever had it before may have removed it in the meantime.
            let ours = rustix::fs::fstat(&directory)?;
            match rustix::fs::statat(&around, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(there) if (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino) => {
                    let name = name.to_owned();
                    self.0.push(Holder {
                        around,
                        name,
                        directory,
                        is_new,
                    });
                    return Ok(true);
                }
                Ok(_) | Err(Errno::NOENT) => {}
                Err(errno) => return Err(errno),
            }
        }
        Err(Errno::AGAIN)
    }

    /// Removes the directories that no other command needs.
    pub(crate) fn release(self) {
        for holder in self.0.iter().rev() {
            let is_ours = holder.is_new
                || rustix::fs::fstat(&holder.directory)
                    .is_ok_and(|stat| stat.st_mode & 0o7777 == MARK);
            let lock = FlockOperation::NonBlockingLockExclusive;
            let is_shared = rustix::fs::flock(&holder.directory, lock) == Err(Errno::WOULDBLOCK);
            if is_ours && !is_shared {
                // An error means that somebody outside has put something in; then it is theirs.
                _ = rustix::fs::unlinkat(&holder.around, &holder.name, AtFlags::REMOVEDIR);
            }
        }
    }
}

/// What stands in the way to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// The path itself.
    There,
    /// Nothing, from this part on.
    Missing,
    /// This part is a file, so the path cannot be.
    BelowFile,
}

/// What stands at a path, and the part of it that this is said of.
fn standing(path: &Path) -> Result<(Standing, &Path), Errno> {
    let mut answer = (Standing::There, path);
    for at in path.ancestors() {
        match walls::open(at) {
            Ok(_) if answer.0 == Standing::BelowFile => return Ok((Standing::BelowFile, at)),
            Ok(_) => break,
            Err(Errno::NOENT) => answer = (Standing::Missing, at),
            Err(Errno::NOTDIR) => answer = (Standing::BelowFile, at),
            Err(errno) => return Err(errno),
        }
    }
    Ok(answer)
}

/// Whether an empty directory left by, or shared with, another command is there.
fn is_marked(path: &Path) -> Result<bool, Errno> {
    let stat = rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(stat.st_mode) == FileType::Directory
        && stat.st_mode & 0o7777 == MARK)
}
