//! Empty directories that hold the place of protected paths which do not exist, while a command runs.
//! Must not remove anything but an empty directory that bears the mark.
//!
//! A mount can only cover what is there. A directory is taken and not a file because git sees no empty ones,
//! and because most readers of settings look whether a file is there before they open it.
//!
//! To make and remove them is what costs most of it. Where the caller has a directory for that, they are moved there
//! instead, and back when the same place is to be held again.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::{
    AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, RawDir, RenameFlags, SeekFrom, Stat,
    renameat_with,
};
use rustix::io::Errno;

use super::plan::{Kind, Place};
use super::walls::{self, WallError};

/// The mode of such a directory, which no other has: whoever ends last finds those it may remove by it.
const MARK: u32 = crate::HELD_MODE;
/// How often another command may remove what this one is about to share.
const TRIES: usize = 16;
/// The longest name that a directory can have, in bytes.
const NAME_BYTES_MAX: usize = 255;
/// The longest path that a call of the kernel takes, in bytes, with the zero at its end.
const PATH_BYTES_MAX: usize = 4096;
/// How often one start asks for locks that somebody else has.
const ASKS: usize = 200;
/// How long it waits between two of them.
const PAUSE: Duration = Duration::from_millis(1);

/// The directories that one command shares with those at the same time; dropping it changes nothing.
#[derive(Debug, Default)]
pub(crate) struct Held {
    holders: Vec<Holder>,
    /// Where those of earlier commands are kept.
    spares: Option<OwnedFd>,
    /// How often it has waited for locks.
    asked: usize,
}

#[derive(Debug)]
struct Holder {
    around: OwnedFd,
    name: OsString,
    /// Its name among the spares.
    spare: Option<OsString>,
    /// Locked as long as a command needs it.
    directory: OwnedFd,
    /// This command made it. Not every file system keeps the mark.
    is_new: bool,
    /// Somebody has it for themselves, so it is not ours to remove.
    is_lent: bool,
}

impl Held {
    /// Makes a directory for each closed place where nothing is, and turns the place into that directory.
    /// One from `spares` is taken where there is one; nothing fails because there is none.
    ///
    /// # Errors
    /// When a path leads through a link, or a directory that should be makeable is not.
    pub(crate) fn make(places: &mut Vec<Place>, spares: Option<&Path>) -> Result<Self, WallError> {
        let mut held = Self {
            holders: Vec::new(),
            spares: spares.and_then(|spares| walls::open(spares).ok()),
            asked: 0,
        };
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
        // Where each is in the list. They come in order, and there may be thousands.
        let mut known: BTreeMap<PathBuf, usize> = BTreeMap::new();
        for mut place in std::mem::take(places) {
            let fail = |errno| WallError {
                index: Some(place.index),
                errno,
            };
            if !matches!(place.kind, Kind::Fixed | Kind::Protected | Kind::Masked) {
                known.insert(place.path.clone(), places.len());
                places.push(place);
                continue;
            }
            let around = place
                .path
                .ancestors()
                .find_map(|at| Some((at, places.get(*known.get(at)?)?)))
                .map(|(at, around)| (at.to_owned(), around.kind.is_writable()));
            let (standing, path) = standing(&place).map_err(fail)?;
            let path = path.to_owned();
            let is_around = around
                .as_ref()
                .is_some_and(|(around, _)| path.starts_with(around));
            let below = is_around
                && around.is_some_and(|(around, is_writable)| is_writable && path != around);
            match (standing, place.kind) {
                (Standing::There, Kind::Fixed) if !is_marked(&path).map_err(fail)? => {}
                (_, Kind::Fixed) | (Standing::Never, _) => continue,
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
                // What is around it is not shown either.
                (Standing::OutOfReach, _) if !is_around => continue,
                (Standing::There | Standing::BelowFile | Standing::OutOfReach, _) => {}
            }
            place.path = path;
            let at = known.get(&place.path).copied();
            match at.and_then(|at| places.get_mut(at)) {
                Some(other) if other.kind != Kind::Masked => *other = place,
                Some(_) => {}
                None => {
                    known.insert(place.path.clone(), places.len());
                    places.push(place);
                }
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
        let spare = spare_name(path);
        for _ in 0..TRIES {
            let taken = spare
                .as_ref()
                .and_then(|spare| self.take(spare, &around, name));
            let is_new = taken.is_some()
                || match rustix::fs::mkdirat(&around, name, Mode::from_raw_mode(MARK)) {
                    Ok(()) => true,
                    Err(Errno::EXIST) => false,
                    Err(Errno::ROFS | Errno::ACCESS | Errno::PERM | Errno::NAMETOOLONG) => {
                        return Ok(false);
                    }
                    Err(errno) => return Err(errno),
                };
            let directory = match taken.map_or_else(|| open_directory(&around, name), Ok) {
                Err(Errno::NOENT) => continue,
                other => other?,
            };
            let is_lent = !self.share(&directory);
            // Whoever had it before may have removed it in the meantime.
            if stands_at(&directory, &around, name)? {
                self.holders.push(Holder {
                    around,
                    name: name.to_owned(),
                    spare,
                    directory,
                    is_new,
                    is_lent,
                });
                return Ok(true);
            }
        }
        Err(Errno::AGAIN)
    }

    /// Locks a directory with whoever needs it; false if somebody has it for themselves.
    ///
    /// SECURITY: whoever can open it can lock it for ever, so no start waits for more than a moment: as long as
    /// another command takes to remove what it held.
    fn share(&mut self, directory: &OwnedFd) -> bool {
        loop {
            match rustix::fs::flock(directory, FlockOperation::NonBlockingLockShared) {
                Err(Errno::WOULDBLOCK) if self.asked < ASKS => {
                    self.asked += 1;
                    thread::sleep(PAUSE);
                }
                Err(Errno::WOULDBLOCK) => return false,
                // Where there are no locks, the first to end removes it.
                Ok(()) | Err(_) => return true,
            }
        }
    }

    /// Moves the directory that held this place before back to it.
    fn take(&self, spare: &OsStr, around: &OwnedFd, name: &OsStr) -> Option<OwnedFd> {
        let spares = self.spares.as_ref()?;
        let directory = open_directory(spares, spare).ok()?;
        if !is_untouched(&directory).ok()? {
            return None;
        }
        let moved = renameat_with(spares, spare, around, name, RenameFlags::NOREPLACE);
        moved.ok().map(|()| directory)
    }

    /// Takes away the directories that no other command needs.
    pub(crate) fn release(mut self) {
        // Each lock goes with its holder, so that nobody waits for all of them.
        while let Some(holder) = self.holders.pop() {
            let is_marked =
                || rustix::fs::fstat(&holder.directory).is_ok_and(|stat| bears_mark(&stat));
            let is_ours = !holder.is_lent && (holder.is_new || is_marked());
            let lock = FlockOperation::NonBlockingLockExclusive;
            let is_shared = rustix::fs::flock(&holder.directory, lock) == Err(Errno::WOULDBLOCK);
            if is_ours && !is_shared && !self.keep(&holder) {
                // An error means that somebody outside has put something in; then it is theirs.
                _ = rustix::fs::unlinkat(&holder.around, &holder.name, AtFlags::REMOVEDIR);
            }
        }
    }

    /// Moves a directory to the spares; false if it has to be removed.
    fn keep(&self, holder: &Holder) -> bool {
        let Some((spares, spare)) = self.spares.as_ref().zip(holder.spare.as_ref()) else {
            return false;
        };
        let Holder {
            around,
            name,
            directory,
            ..
        } = holder;
        let is_as_made = |at: &OwnedFd, name: &OsStr| {
            stands_at(directory, at, name) == Ok(true) && is_untouched(directory) == Ok(true)
        };
        let flags = RenameFlags::NOREPLACE;
        if !is_as_made(around, name) || renameat_with(around, name, spares, spare, flags).is_err() {
            return false;
        }
        if !is_as_made(spares, spare) {
            // Somebody outside was faster, and what is there is theirs.
            _ = renameat_with(spares, spare, around, name, flags);
        }
        true
    }
}

/// The name of a place among the spares, if it can have one.
///
/// SECURITY: each place has its own. A command with other walls may have opened the directory where it stood, and
/// could then make things wherever it stands next; where it stood, that command may make them anyway.
fn spare_name(path: &Path) -> Option<OsString> {
    let path = path.as_os_str().as_bytes();
    if path.len() > NAME_BYTES_MAX || path.contains(&b'\\') {
        return None;
    }
    let in_one = |byte: &u8| if *byte == b'/' { b'\\' } else { *byte };
    Some(OsString::from_vec(path.iter().map(in_one).collect()))
}

fn open_directory(at: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    rustix::fs::openat(at, name, flags, Mode::empty())
}

/// Whether a name stands for this directory.
fn stands_at(directory: &OwnedFd, at: &OwnedFd, name: &OsStr) -> Result<bool, Errno> {
    let ours = rustix::fs::fstat(directory)?;
    match rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(there) => Ok((there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)),
        Err(Errno::NOENT) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// Whether a directory bears the mark, and nothing is in it.
fn is_untouched(directory: &OwnedFd) -> Result<bool, Errno> {
    if !bears_mark(&rustix::fs::fstat(directory)?) {
        return Ok(false);
    }
    rustix::fs::seek(directory, SeekFrom::Start(0))?;
    let mut space = [MaybeUninit::uninit(); 512];
    let mut entries = RawDir::new(directory, &mut space);
    while let Some(entry) = entries.next() {
        if !matches!(entry?.file_name().to_bytes(), b"." | b"..") {
            return Ok(false);
        }
    }
    Ok(true)
}

fn bears_mark(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory && stat.st_mode & 0o7777 == MARK
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
    /// What lies in this part cannot be reached by this path, and a command could change that: by another way to it, or
    /// by letting itself in.
    OutOfReach,
    /// Nothing can have such a name.
    Never,
}

/// What stands at a place, and the part of its path that this is said of. What is kept as it is may be a link.
fn standing(place: &Place) -> Result<(Standing, &Path), Errno> {
    let path = place.path.as_path();
    if !is_possible(path) {
        return Ok((Standing::Never, path));
    }
    let mut answer = (Standing::There, path);
    for at in path.ancestors() {
        let opened = if at == path && place.kind == Kind::Protected {
            walls::open_name(at)
        } else {
            walls::open(at)
        };
        match opened {
            Ok(_) if matches!(answer.0, Standing::BelowFile | Standing::OutOfReach) => {
                return Ok((answer.0, at));
            }
            // What another command holds is as if it were missing.
            Ok(_) if answer.0 == Standing::Missing && is_marked(at)? => answer.1 = at,
            Ok(_) => break,
            Err(Errno::NOENT) => answer = (Standing::Missing, at),
            Err(Errno::NOTDIR) => answer = (Standing::BelowFile, at),
            // The file system has shorter names than most.
            Err(Errno::NAMETOOLONG) if at.as_os_str().len() < PATH_BYTES_MAX => {
                return Ok((Standing::Never, path));
            }
            Err(Errno::ACCESS | Errno::NAMETOOLONG) => answer = (Standing::OutOfReach, at),
            Err(errno) => return Err(errno),
        }
    }
    Ok(answer)
}

/// Whether any file system could have such a path.
fn is_possible(path: &Path) -> bool {
    path.iter().all(|name| name.len() <= NAME_BYTES_MAX)
}

/// Whether an empty directory left by, or shared with, another command is there, or was a moment ago.
fn is_marked(path: &Path) -> Result<bool, Errno> {
    let (Some(around), Some(name)) = (path.parent(), path.file_name()) else {
        return Ok(false);
    };
    let look = || {
        if !bears_mark(&rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW)?) {
            return Ok(false);
        }
        // What somebody has put something into is theirs by now.
        is_untouched(&open_directory(&walls::open(around)?, name)?)
    };
    match look() {
        Err(Errno::NOENT) => Ok(true),
        other => other,
    }
}
