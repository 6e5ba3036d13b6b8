//! What stood under a name before a command ran, with enough of it to put it back.
//! Must not follow a link, and must not read a file again of which its own times say that it is the same.

use crate::beneath;
use gate::host::FileId;
use rustix::{
    fd::{AsFd as _, BorrowedFd, OwnedFd},
    fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, openat, readlinkat, statat},
    io::Errno,
};
use sha2::{Digest as _, Sha256};
use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs::File,
    io::Read as _,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// The most of one file that is kept, in bytes. A larger one is known by its digest and cannot be put back.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// The most that is kept of all files together, in bytes.
const BYTES_MAX: u64 = 16 * 1024 * 1024;
/// The most files of which something is kept.
const FILES_MAX: usize = 10_000;
/// The most of one file that is read for its digest, in bytes. A larger one is known by its times alone.
const DIGEST_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The most that is read for digests before one command, in bytes.
const READ_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// The most names that are looked at. Beyond that nobody could wait for it.
pub(super) const NAMES_MAX: usize = 100_000;
/// How deep directories lie in each other at most.
pub(super) const DEPTH_MAX: usize = 128;

/// Times of files are as coarse as the ticks of the kernel.
const TICK: Duration = Duration::from_millis(50);
/// The same where the file system keeps whole seconds.
const COARSE_TICK: Duration = Duration::from_secs(2);
const SECOND_NS: i128 = 1_000_000_000;

/// What stood under a name.
#[derive(Clone, Debug, Default)]
pub(super) enum Thing {
    /// Nothing.
    #[default]
    Missing,
    File {
        stamp: Stamp,
        /// `None`: it is known by its stamp alone.
        digest: Option<[u8; 32]>,
        /// `None`: it cannot be put back.
        bytes: Option<Arc<[u8]>>,
    },
    Directory {
        stamp: Stamp,
        entries: BTreeMap<OsString, Thing>,
    },
    Link {
        stamp: Stamp,
        target: OsString,
    },
    /// A socket, pipe or device, or a directory that cannot be read: known by its stamp alone.
    Other {
        stamp: Stamp,
    },
    /// A directory of which only new names are looked for: what has one is held by walls.
    Names(BTreeMap<OsString, Thing>),
    /// What is held by walls: whoever changes it, it is no command.
    Held,
}

impl Thing {
    /// What this program itself wrote.
    pub(super) fn written(stat: &Stat, bytes: &[u8]) -> Self {
        let is_kept = bytes.len() as u64 <= FILE_BYTES_MAX;
        Self::File {
            // Nothing is settled at such a time, so the bytes are always compared.
            stamp: Stamp::of(stat, UNIX_EPOCH),
            digest: Some(Sha256::digest(bytes).into()),
            bytes: is_kept.then(|| bytes.into()),
        }
    }

    pub(super) fn stamp(&self) -> Option<&Stamp> {
        match self {
            Self::Missing | Self::Names(_) | Self::Held => None,
            Self::File { stamp, .. }
            | Self::Directory { stamp, .. }
            | Self::Link { stamp, .. }
            | Self::Other { stamp } => Some(stamp),
        }
    }
}

/// What a look at a name tells without opening it. Nobody can set the time of the last change (`ctime`) back.
#[derive(Clone, Debug)]
pub(super) struct Stamp {
    pub(super) kind: FileType,
    pub(super) mode: Mode,
    pub(super) owner: (u32, u32),
    pub(super) modified_ns: i128,
    id: FileId,
    size: i128,
    changed_ns: i128,
    /// Whether every later change shows in it.
    is_settled: bool,
}

impl Stamp {
    fn of(stat: &Stat, now: SystemTime) -> Self {
        let time = |seconds: i128, nanoseconds: i128| seconds * SECOND_NS + nanoseconds;
        let mut stamp = Self {
            kind: FileType::from_raw_mode(stat.st_mode),
            mode: Mode::from_raw_mode(stat.st_mode),
            owner: (stat.st_uid, stat.st_gid),
            id: beneath::id_of(stat),
            size: stat.st_size.into(),
            modified_ns: time(stat.st_mtime.into(), stat.st_mtime_nsec.into()),
            changed_ns: time(stat.st_ctime.into(), stat.st_ctime_nsec.into()),
            is_settled: false,
        };
        stamp.is_settled = stamp.is_settled_at(now);
        stamp
    }

    /// One that was read while it may still have been changing could look the same afterwards.
    fn is_settled_at(&self, moment: SystemTime) -> bool {
        let is_whole = |time: i128| time % SECOND_NS == 0;
        let tick = if is_whole(self.changed_ns) && is_whole(self.modified_ns) {
            COARSE_TICK
        } else {
            TICK
        };
        let changed = u64::try_from(self.changed_ns).map(Duration::from_nanos);
        let changed = changed.ok().and_then(|it| UNIX_EPOCH.checked_add(it));
        let age = changed.and_then(|changed| moment.duration_since(changed).ok());
        age.is_some_and(|age| age > tick)
    }

    /// Whether nothing at all happened to it since.
    pub(super) fn is_still(&self, stat: &Stat) -> bool {
        self.is_settled && self.looks_like(stat)
    }

    pub(super) fn looks_like(&self, stat: &Stat) -> bool {
        let now = Self::of(stat, UNIX_EPOCH);
        let what = |it: &Self| (it.kind, it.mode, it.owner, it.id, it.size);
        what(self) == what(&now)
            && (self.modified_ns, self.changed_ns) == (now.modified_ns, now.changed_ns)
    }

    /// Whether it is a thing of the same kind that may be used by the same people in the same way.
    pub(super) fn has_mode_of(&self, stat: &Stat) -> bool {
        let now = Self::of(stat, UNIX_EPOCH);
        (self.kind, self.mode, self.owner) == (now.kind, now.mode, now.owner)
    }
}

/// Why it cannot be told what stands under a name.
#[derive(Debug, thiserror::Error)]
pub(super) enum RecordError {
    #[error("{0}")]
    System(#[from] Errno),
    #[error("there are more than {NAMES_MAX} files in what the rules do not let commands change")]
    TooMany,
    #[error("directories lie too deep in each other there")]
    TooDeep,
    #[error("it is being changed")]
    Changing,
}

/// One look at all that is watched.
#[derive(Debug)]
pub(super) struct Reader {
    now: SystemTime,
    names: usize,
    files_kept: usize,
    bytes_kept: u64,
    bytes_read: u64,
    depth: usize,
}

impl Reader {
    pub(super) fn new() -> Self {
        Self {
            now: SystemTime::now(),
            names: 0,
            files_kept: 0,
            bytes_kept: 0,
            bytes_read: 0,
            depth: 0,
        }
    }

    /// Makes `thing` what stands under a name, and keeps of it what is still so.
    ///
    /// # Errors
    /// It cannot be told.
    pub(super) fn refresh(
        &mut self,
        dir: BorrowedFd<'_>,
        name: &OsStr,
        thing: &mut Thing,
    ) -> Result<(), RecordError> {
        self.names += 1;
        if self.names > NAMES_MAX {
            return Err(RecordError::TooMany);
        }
        let stat = match statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => {
                *thing = Thing::Missing;
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        let is_still = thing.stamp().is_some_and(|it| it.is_still(&stat));
        match thing {
            Thing::File { bytes, .. } if is_still => {
                if let Some(bytes) = bytes {
                    self.files_kept += 1;
                    self.bytes_kept += bytes.len() as u64;
                }
                return Ok(());
            }
            Thing::Link { .. } | Thing::Other { .. } if is_still => return Ok(()),
            Thing::Directory { entries, .. } if is_still => {
                // The same names; what they stand for may be other things.
                let below = beneath::directory(dir, Path::new(name))?;
                return self.entries(below.as_fd(), entries);
            }
            _ => {}
        }
        let stamp = Stamp::of(&stat, self.now);
        *thing = match stamp.kind {
            FileType::RegularFile => self.file(dir, name, stamp)?,
            FileType::Symlink => Thing::Link {
                target: OsString::from_vec(readlinkat(dir, name, Vec::new())?.into_bytes()),
                stamp,
            },
            FileType::Directory => self.directory(dir, name, stamp, std::mem::take(thing))?,
            _ => Thing::Other { stamp },
        };
        Ok(())
    }

    /// The names in a directory and in those in it that `is_walked` says.
    ///
    /// # Errors
    /// They cannot be told.
    pub(super) fn names(
        &mut self,
        dir: BorrowedFd<'_>,
        path: &Path,
        is_walked: &dyn Fn(&Path) -> bool,
    ) -> Result<Thing, RecordError> {
        let Some(name) = path.file_name() else {
            return Ok(Thing::Held);
        };
        let (below, names) = match names_in(dir, name) {
            Err(Errno::NOENT) => return Ok(Thing::Missing),
            // No directory, or one that walls close as a whole.
            Err(Errno::NOTDIR | Errno::LOOP | Errno::ACCESS) => return Ok(Thing::Held),
            found => found?,
        };
        self.names += names.len();
        if self.names > NAMES_MAX {
            return Err(RecordError::TooMany);
        }
        if self.depth == DEPTH_MAX {
            return Err(RecordError::TooDeep);
        }
        self.depth += 1;
        let each = names.into_iter().map(|name| {
            let path = path.join(&name);
            let thing = if is_walked(&path) {
                self.names(below.as_fd(), &path, is_walked)?
            } else {
                Thing::Held
            };
            Ok((name, thing))
        });
        let entries = each.collect::<Result<_, RecordError>>();
        self.depth -= 1;
        entries.map(Thing::Names)
    }

    fn entries(
        &mut self,
        dir: BorrowedFd<'_>,
        entries: &mut BTreeMap<OsString, Thing>,
    ) -> Result<(), RecordError> {
        if self.depth == DEPTH_MAX {
            return Err(RecordError::TooDeep);
        }
        self.depth += 1;
        let mut each = entries.iter_mut();
        let done = each.try_for_each(|(name, thing)| self.refresh(dir, name, thing));
        self.depth -= 1;
        done?;
        entries.retain(|_, thing| !matches!(thing, Thing::Missing));
        Ok(())
    }

    fn directory(
        &mut self,
        dir: BorrowedFd<'_>,
        name: &OsStr,
        stamp: Stamp,
        known: Thing,
    ) -> Result<Thing, RecordError> {
        let mut known = match known {
            Thing::Directory { entries, .. } => entries,
            _ => BTreeMap::new(),
        };
        let (below, names) = match names_in(dir, name) {
            // Its owner could open it, so a change of its mode or times is a change.
            Err(Errno::ACCESS) => return Ok(Thing::Other { stamp }),
            found => found?,
        };
        let mut entries: BTreeMap<_, _> = names
            .into_iter()
            .map(|name| (known.remove(&name).unwrap_or_default(), name))
            .map(|(thing, name)| (name, thing))
            .collect();
        self.entries(below.as_fd(), &mut entries)?;
        Ok(Thing::Directory { stamp, entries })
    }

    fn file(
        &mut self,
        dir: BorrowedFd<'_>,
        name: &OsStr,
        stamp: Stamp,
    ) -> Result<Thing, RecordError> {
        let size = u64::try_from(stamp.size).unwrap_or(u64::MAX);
        let is_read = size <= DIGEST_BYTES_MAX && self.bytes_read + size <= READ_BYTES_MAX;
        if !is_read && stamp.is_settled {
            return Ok(Thing::File {
                stamp,
                digest: None,
                bytes: None,
            });
        }
        let is_kept = size <= FILE_BYTES_MAX
            && self.bytes_kept + size <= BYTES_MAX
            && self.files_kept < FILES_MAX;
        let (digest, bytes) = match read(dir, name, &stamp, is_kept) {
            // As with a directory that cannot be read.
            Err(RecordError::System(Errno::ACCESS)) if stamp.is_settled => (None, None),
            Err(RecordError::System(Errno::ACCESS)) => return Err(RecordError::Changing),
            found => {
                let (digest, bytes) = found?;
                (Some(digest), bytes)
            }
        };
        self.bytes_read += size;
        if let Some(bytes) = &bytes {
            self.files_kept += 1;
            self.bytes_kept += bytes.len() as u64;
        }
        Ok(Thing::File {
            stamp,
            digest,
            bytes,
        })
    }
}

/// The digest of a file, and its bytes if they are kept.
type Content = ([u8; 32], Option<Arc<[u8]>>);

fn read(
    dir: BorrowedFd<'_>,
    name: &OsStr,
    stamp: &Stamp,
    is_kept: bool,
) -> Result<Content, RecordError> {
    let mut file = open(dir, name)?;
    if !stamp.looks_like(&fstat(&file)?) {
        return Err(RecordError::Changing);
    }
    let mut kept = Vec::new();
    let digest = digest_of(&mut file, |chunk| {
        if is_kept {
            kept.extend_from_slice(chunk);
        }
    })?;
    if !stamp.looks_like(&fstat(&file)?) {
        return Err(RecordError::Changing);
    }
    Ok((digest, is_kept.then(|| kept.into())))
}

/// Opens a file to be read. A pipe does not wait for its other end.
pub(super) fn open(dir: BorrowedFd<'_>, name: &OsStr) -> rustix::io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    openat(dir, name, flags, Mode::empty()).map(File::from)
}

/// The digest of all that is left of a file.
pub(super) fn digest_of(
    file: &mut File,
    mut each: impl FnMut(&[u8]),
) -> rustix::io::Result<[u8; 32]> {
    let mut hash = Sha256::new();
    let mut chunk = vec![0; 64 * 1024];
    loop {
        let count = file
            .read(&mut chunk)
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        let Some(read) = chunk.get(..count).filter(|read| !read.is_empty()) else {
            return Ok(hash.finalize().into());
        };
        hash.update(read);
        each(read);
    }
}

/// A directory opened to be walked in, and the names in it.
pub(super) fn names_in(
    dir: BorrowedFd<'_>,
    name: &OsStr,
) -> rustix::io::Result<(OwnedFd, Vec<OsString>)> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = openat(dir, name, flags, Mode::empty())?;
    let mut names = Vec::new();
    for entry in Dir::read_from(&opened)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(OsStr::from_bytes(name).to_owned());
        }
    }
    Ok((opened, names))
}
