//! Looking at and opening names below a directory that is already open.
//! Must not follow a link, and must not take a path that leads upwards.

use gate::host::{FileId, FileKind, Found};
use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, openat, statat},
    io::{Errno, Result},
};
use std::{
    ffi::{OsStr, OsString},
    path::{Component, Path},
};

/// A directory that is only walked through needs no leave to be read.
#[cfg(target_os = "linux")]
const WALK: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const WALK: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

/// Where a path ends, as far as it exists.
#[derive(Debug)]
pub(crate) struct Spot {
    /// The deepest directory on the way that exists, the path's own end not counted.
    pub(crate) dir: OwnedFd,
    /// The identity of `dir`.
    pub(crate) above: FileId,
    /// The directories that are missing below `dir`.
    pub(crate) missing: Vec<OsString>,
    /// The last name; `.` where the path is the base itself.
    pub(crate) name: OsString,
    /// What stands under it.
    pub(crate) found: Option<Found>,
}

/// Looks where `path` ends below `base`.
///
/// # Errors
/// A link anywhere on the way, its end included; something on the way that is no directory; or the
/// system's own.
pub(crate) fn look(base: BorrowedFd<'_>, path: &Path) -> Result<Spot> {
    let name = path.file_name().unwrap_or(OsStr::new(".")).to_owned();
    let mut parent = path.parent().unwrap_or(Path::new(""));
    let mut missing = Vec::new();
    let dir = loop {
        match (directory(base, parent), parent.file_name()) {
            (Err(Errno::NOENT), Some(name)) => missing.push(name.to_owned()),
            (opened, _) => break opened?,
        }
        parent = parent.parent().unwrap_or(Path::new(""));
    };
    missing.reverse();
    let above = id_of(&fstat(&dir)?);
    let found = if missing.is_empty() {
        found_at(&dir, &name)?
    } else {
        None
    };
    Ok(Spot {
        dir,
        above,
        missing,
        name,
        found,
    })
}

/// What stands under a name in a directory.
///
/// # Errors
/// A link, or the system's own.
pub(crate) fn found_at(dir: impl AsFd, name: &OsStr) -> Result<Option<Found>> {
    match statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink => Err(Errno::LOOP),
        Ok(stat) => Ok(Some(found_of(&stat))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Opens a directory to walk on from.
pub(crate) fn directory(base: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd> {
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    if !path
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    {
        return Err(Errno::XDEV);
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{ResolveFlags, openat2};
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match openat2(base, path, WALK, Mode::empty(), resolve) {
            // Kernels before 5.6, and containers whose filter does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => {}
            opened => return opened,
        }
    }
    step_by_step(base, path)
}

/// The same without the kernel's help. As safe: each step is taken from an open directory to a name
/// in it that may not be a link, and none leads upwards.
fn step_by_step(base: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd> {
    let mut dir = openat(base, ".", WALK, Mode::empty())?;
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => {
                dir = openat(&dir, name, WALK | OFlags::NOFOLLOW, Mode::empty())?;
            }
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(Errno::XDEV);
            }
        }
    }
    Ok(dir)
}

/// Whether `path` below `base` is a directory, or a link to one that lies below `base` too.
pub(crate) fn leads_to_directory(base: BorrowedFd<'_>, path: &Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{ResolveFlags, openat2};
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        match openat2(base, path, WALK, Mode::empty(), resolve) {
            Err(Errno::NOSYS | Errno::PERM) => {}
            opened => return opened.is_ok(),
        }
    }
    step_by_step(base, path).is_ok()
}

/// The identity in a stat.
pub(crate) fn id_of(stat: &Stat) -> FileId {
    FileId {
        device: wide(stat.st_dev),
        inode: wide(stat.st_ino),
    }
}

/// What a stat found. A directory has one name; what its link count counts is its subdirectories.
pub(crate) fn found_of(stat: &Stat) -> Found {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        _ => FileKind::Other,
    };
    let links = if kind == FileKind::Directory {
        1
    } else {
        wide(stat.st_nlink)
    };
    Found {
        id: id_of(stat),
        links,
        kind,
    }
}

/// The fields of a stat are of other types on other systems.
fn wide<N: TryInto<u64>>(number: N) -> u64 {
    number.try_into().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::symlink};

    #[test]
    fn both_walks_open_the_same_and_refuse_links_and_ways_up() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/file"), "x").unwrap();
        symlink("a", root.join("link")).unwrap();
        symlink("/", root.join("out")).unwrap();
        let base = fs::File::open(root).unwrap();
        for (path, is_open) in [
            (".", true),
            ("a", true),
            ("a/b", true),
            ("a/./b", true),
            ("link", false),
            ("link/b", false),
            ("out", false),
            ("a/file", false),
            ("a/none", false),
            ("a/..", false),
            ("..", false),
            ("/", false),
        ] {
            let path = Path::new(path);
            assert_eq!(directory(base.as_fd(), path).is_ok(), is_open, "{path:?}");
            assert_eq!(
                step_by_step(base.as_fd(), path).is_ok(),
                is_open,
                "{path:?}"
            );
        }
    }

    #[test]
    fn a_look_says_how_far_a_path_exists() {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir_all(temp.path().join("a")).unwrap();
        let base = fs::File::open(temp.path()).unwrap();
        let spot = look(base.as_fd(), Path::new("a/b/c/d")).unwrap();
        assert_eq!(spot.missing, ["b", "c"]);
        assert_eq!((spot.name.to_str(), spot.found), (Some("d"), None));
        let here = look(base.as_fd(), Path::new(".")).unwrap();
        assert_eq!(here.found.unwrap().id, here.above);
        assert_eq!(here.found.unwrap().links, 1);
    }
}
