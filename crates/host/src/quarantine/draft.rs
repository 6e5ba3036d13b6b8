//! What stood under a name, made anew under a name that nobody uses, to be put in its place in one step.
//! Must not take the place of anything.

use super::{
    record::Thing,
    rights::{look, own, set_mode, set_times},
    store::remove,
};
use crate::beneath;
use rustix::{
    fd::{AsFd as _, BorrowedFd},
    fs::{Mode, OFlags, RenameFlags, mkdirat, openat, renameat, renameat_with, symlinkat},
    io::Errno,
};
use std::{
    ffi::{OsStr, OsString},
    fs::File,
    hash::{BuildHasher as _, RandomState},
    io::Write as _,
    path::Path,
};

type Done<T> = Result<T, Errno>;

/// What stood there, made anew under a name that nobody uses.
pub(super) struct Draft {
    name: OsString,
    pub(super) is_made: bool,
    /// Whether nothing of it is missing.
    is_whole: bool,
    /// Why it could not be made although it could be.
    pub(super) error: Option<Errno>,
}

impl Draft {
    pub(super) fn of(dir: BorrowedFd<'_>, old: &Thing) -> Self {
        let name = OsString::from(format!(
            ".tollgate-{:016x}.tmp",
            RandomState::new().hash_one(0)
        ));
        match make(dir, &name, old) {
            Ok(made) => Self {
                name,
                is_made: made != Made::Nothing,
                is_whole: made == Made::Whole,
                error: None,
            },
            Err(error) => {
                // As far as it got.
                let _done = remove(dir, &name, 0);
                Self {
                    name,
                    is_made: false,
                    is_whole: false,
                    error: Some(error),
                }
            }
        }
    }

    pub(super) fn put(&self, dir: BorrowedFd<'_>, name: &OsStr) -> Done<()> {
        let done = match renameat_with(dir, &self.name, dir, name, RenameFlags::NOREPLACE) {
            // A file system that cannot refuse: look first.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => match look(dir, name)? {
                None => renameat(dir, &self.name, dir, name),
                Some(_) => Err(Errno::EXIST),
            },
            done => done,
        };
        if done.is_err() {
            self.drop_from(dir);
        }
        done
    }

    pub(super) fn drop_from(&self, dir: BorrowedFd<'_>) {
        if self.is_made {
            let _done = remove(dir, &self.name, 0);
        }
    }

    pub(super) fn said(&self, whole: &'static str) -> &'static str {
        match (self.is_made, self.is_whole) {
            (true, true) => whole,
            (true, false) => {
                "what was there before is there again but for what was too large to be kept"
            }
            (false, _) => "what was there before was not kept, so it could not be put back",
        }
    }
}

/// How much of a thing could be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    Nothing,
    Part,
    Whole,
}

fn make(dir: BorrowedFd<'_>, name: &OsStr, old: &Thing) -> Done<Made> {
    match old {
        Thing::Missing
        | Thing::Other { .. }
        | Thing::Names(_)
        | Thing::Held
        | Thing::File { bytes: None, .. } => Ok(Made::Nothing),
        Thing::File {
            bytes: Some(bytes),
            stamp,
            ..
        } => {
            let flags =
                OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let mut file = File::from(openat(dir, name, flags, Mode::RUSR | Mode::WUSR)?);
            file.write_all(bytes).map_err(|error| code(&error))?;
            file.sync_all().map_err(|error| code(&error))?;
            set_mode(dir, name, stamp)?;
            set_times(dir, name, stamp);
            Ok(Made::Whole)
        }
        Thing::Link { target, stamp } => {
            symlinkat(target, dir, name)?;
            own(dir, name, stamp)?;
            set_times(dir, name, stamp);
            Ok(Made::Whole)
        }
        Thing::Directory { entries, stamp } => {
            mkdirat(dir, name, Mode::RWXU)?;
            let below = beneath::directory(dir, Path::new(name))?;
            let mut made = Made::Whole;
            for (name, thing) in entries {
                if make(below.as_fd(), name, thing)? != Made::Whole {
                    made = Made::Part;
                }
            }
            set_mode(dir, name, stamp)?;
            set_times(dir, name, stamp);
            Ok(made)
        }
    }
}

fn code(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}
