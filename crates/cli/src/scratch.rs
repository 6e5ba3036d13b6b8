//! A temporary directory that is gone when its owner is, also if the owner was killed: then the next one that
//! makes such a directory removes it. Must not remove what somebody still holds, however old it is, nor anything through
//! a link or a mount.

use crate::{complain, error::CliError};
#[cfg(not(target_os = "linux"))]
use rustix::fs::chmodat;
#[cfg(target_os = "linux")]
use rustix::{
    fd::AsRawFd as _,
    fs::{ResolveFlags, chmod, openat2},
};
use rustix::{
    fd::OwnedFd,
    fs::{
        AtFlags, CWD, Dir, FlockOperation, Mode, OFlags, Stat, fchmod, flock, fstat, openat,
        renameat, unlinkat,
    },
    io::Errno,
    process::geteuid,
};
use std::{
    env,
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::{self, Read as _, Write as _},
    os::unix::{ffi::OsStrExt as _, fs::MetadataExt as _},
    path::{Path, PathBuf},
};
use text::escape::visible_line;

/// How the names of all of them begin.
const PREFIX: &str = "tollgate-";

/// The file in it that its owner holds.
const LOCK: &str = "owner.lock";

/// What that file says, so that nothing else is taken for it.
const SAYS: &str =
    "A temporary directory of Tollgate. It is removed when nobody holds this file.\n";

/// Directories in directories that are open at once: what lies deeper is moved to the top first.
const DEPTH_MAX: usize = 64;

/// See the head of the file.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    /// Held while it is open: by nobody once we are gone, however that came.
    _lock: File,
}

impl Scratch {
    /// # Errors
    /// There is no place for it.
    pub(crate) fn make() -> Result<Self, CliError> {
        make_in(&env::temp_dir()).map_err(|error| {
            CliError::config(format!(
                "no temporary folder can be made: {error}; set TMPDIR"
            ))
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

fn make_in(directory: &Path) -> io::Result<Scratch> {
    let made = tempfile::Builder::new()
        .prefix(PREFIX)
        .tempdir_in(directory)?;
    // Held before it has its name, so that whoever finds the name finds it held.
    let unnamed = made.path().join("owner.lock.new");
    let mut lock = File::create_new(&unnamed)?;
    lock.write_all(SAYS.as_bytes())?;
    flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
    fs::rename(&unnamed, made.path().join(LOCK))?;
    Ok(Scratch {
        path: made.keep(),
        _lock: lock,
    })
}

/// Removes what owners left who are gone.
pub(crate) fn sweep() {
    sweep_in(&env::temp_dir());
}

fn sweep_in(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    let entries = entries.filter_map(Result::ok);
    let ours = entries.filter(|it| {
        it.file_name()
            .as_encoded_bytes()
            .starts_with(PREFIX.as_bytes())
    });
    for path in ours.map(|it| it.path()) {
        // The lock is held until it is removed, so that nobody else begins with it.
        if let Some(_lock) = left(&path) {
            remove(&path);
        }
    }
}

/// The lock of a directory of ours that nobody holds.
fn left(path: &Path) -> Option<File> {
    let is_own = |uid: u32| uid == geteuid().as_raw();
    let found = path.symlink_metadata().ok()?;
    if !found.is_dir() || !is_own(found.uid()) {
        return None;
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut lock = File::from(openat(CWD, path.join(LOCK), flags, Mode::empty()).ok()?);
    let found = lock.metadata().ok()?;
    if !found.is_file() || !is_own(found.uid()) || found.len() != SAYS.len() as u64 {
        return None;
    }
    let mut said = String::new();
    lock.read_to_string(&mut said).ok()?;
    if said != SAYS {
        return None;
    }
    flock(&lock, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some(lock)
}

/// Removes a directory of ours, and tells what had to stay.
fn remove(path: &Path) {
    let left = match Removal::of(path) {
        Ok(left) => left,
        Err(error) => Some((path.to_owned(), error)),
    };
    if let Some((left, error)) = left {
        complain(&visible_line(&format!(
            "the temporary folder `{}` was left, for `{}` cannot be removed: {}",
            path.display(),
            left.display(),
            said(error)
        )));
    }
}

fn said(error: Errno) -> String {
    match error {
        Errno::XDEV => "something is mounted there".to_owned(),
        error => io::Error::from(error).to_string(),
    }
}

/// The removal of a tree in which commands may have left anything: directories that nobody may change, links to
/// elsewhere, mounts. SECURITY: it goes by opened directories and never by a path, and not into another mount: what
/// is there is not ours.
struct Removal {
    top: OwnedFd,
    top_stat: Stat,
    /// The first thing that could not be removed.
    left: Option<(PathBuf, Errno)>,
    /// What lay too deep was moved to the top under such a number.
    moved: usize,
}

impl Removal {
    /// What could not be removed. Then the lock stays as well, so that the next owner tries again.
    fn of(path: &Path) -> Result<Option<(PathBuf, Errno)>, Errno> {
        let top = openat(CWD, path, ENTER, Mode::empty())?;
        let top_stat = fstat(&top)?;
        let mut removal = Self {
            top,
            top_stat,
            left: None,
            moved: 0,
        };
        let top = removal.top.try_clone().map_err(|_| Errno::MFILE)?;
        loop {
            let moved = removal.moved;
            removal.empty(&top, path, 0);
            if removal.moved == moved {
                break;
            }
        }
        if removal.left.is_none() {
            match unlinkat(&top, LOCK, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(error) => return Err(error),
            }
            unlinkat(CWD, path, AtFlags::REMOVEDIR)?;
        }
        Ok(removal.left)
    }

    /// Removes what lies in a directory, but for the lock of the top.
    fn empty(&mut self, dir: &OwnedFd, path: &Path, depth: usize) {
        let names = match open_up(dir).and_then(|()| names(dir)) {
            Ok(names) => names,
            Err(error) => return self.leave(path, error),
        };
        for name in names {
            if depth == 0 && name == LOCK {
                continue;
            }
            let here = path.join(&name);
            if let Err(error) = self.remove(dir, &name, &here, depth) {
                self.leave(&here, error);
            }
        }
    }

    fn remove(
        &mut self,
        dir: &OwnedFd,
        name: &OsStr,
        path: &Path,
        depth: usize,
    ) -> Result<(), Errno> {
        let unlinked = unlinkat(dir, name, AtFlags::empty());
        match unlinked {
            Err(Errno::ISDIR | Errno::PERM) => {}
            done => return done,
        }
        let below = match self.enter(dir, name) {
            // It is no directory, so the first answer counts.
            Err(Errno::NOTDIR) => return unlinked,
            entered => entered?,
        };
        if depth < DEPTH_MAX {
            self.empty(&below, path, depth + 1);
            return match unlinkat(dir, name, AtFlags::REMOVEDIR) {
                // Why is told already.
                Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(()),
                done => done,
            };
        }
        // A directory can only be moved by who may write in it.
        open_up(&below)?;
        self.moved += 1;
        renameat(dir, name, &self.top, format!("deep-{}", self.moved))
    }

    /// Opens a directory of the same mount.
    fn enter(&self, dir: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
        let below = match enter(dir, name) {
            Err(Errno::ACCESS) => {
                let_in(dir, name)?;
                enter(dir, name)?
            }
            entered => entered?,
        };
        if fstat(&below)?.st_dev == self.top_stat.st_dev {
            Ok(below)
        } else {
            Err(Errno::XDEV)
        }
    }

    fn leave(&mut self, path: &Path, error: Errno) {
        self.left.get_or_insert_with(|| (path.to_owned(), error));
    }
}

/// How a directory is opened.
const ENTER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Opens a directory in another. The kernel refuses one on which something is mounted.
#[cfg(target_os = "linux")]
fn enter_with(dir: &OwnedFd, name: &OsStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    match openat2(dir, name, flags, Mode::empty(), resolve) {
        // Kernels before 5.6, and containers whose filter does not know the call.
        Err(Errno::NOSYS | Errno::PERM) => {}
        opened => return opened,
    }
    let opened = openat(dir, name, flags, Mode::empty())?;
    if mount_of(&opened) == mount_of(dir) {
        Ok(opened)
    } else {
        Err(Errno::XDEV)
    }
}

/// The number of the mount that an open directory lies in, where the kernel tells it.
#[cfg(target_os = "linux")]
fn mount_of(dir: &OwnedFd) -> Option<String> {
    let told = fs::read_to_string(format!("/proc/self/fdinfo/{}", dir.as_raw_fd())).ok()?;
    let number = told.lines().find_map(|line| line.strip_prefix("mnt_id:"));
    number.map(|number| number.trim().to_owned())
}

#[cfg(target_os = "linux")]
fn enter(dir: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    enter_with(dir, name, ENTER)
}

#[cfg(not(target_os = "linux"))]
fn enter(dir: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    openat(dir, name, ENTER, Mode::empty())
}

/// Makes a directory such that we can open it: the very one that was found to be of this mount.
#[cfg(target_os = "linux")]
fn let_in(dir: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let found = enter_with(dir, name, flags)?;
    chmod(format!("/proc/self/fd/{}", found.as_raw_fd()), Mode::RWXU)
}

#[cfg(not(target_os = "linux"))]
fn let_in(dir: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    chmodat(dir, name, Mode::RWXU, AtFlags::SYMLINK_NOFOLLOW)
}

/// Lets us change what lies in an open directory.
fn open_up(dir: &OwnedFd) -> Result<(), Errno> {
    let mode = Mode::from_raw_mode(fstat(dir)?.st_mode);
    if mode.contains(Mode::RWXU) {
        return Ok(());
    }
    fchmod(dir, Mode::RWXU)
}

fn names(dir: &OwnedFd) -> Result<Vec<OsString>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name != "." && name != ".." {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        fs::Permissions,
        os::unix::fs::{PermissionsExt as _, symlink},
    };

    #[test]
    fn it_is_removed_with_its_owner_whatever_was_left_in_it() {
        let place = tempfile::tempdir().unwrap();
        let scratch = make_in(place.path()).unwrap();
        let shut = scratch.path().join("tmp/shut");
        fs::create_dir_all(shut.join("in")).unwrap();
        fs::write(shut.join("in/file"), "").unwrap();
        for directory in [shut.join("in"), shut] {
            fs::set_permissions(directory, Permissions::from_mode(0o000)).unwrap();
        }
        sweep_in(place.path());
        assert!(scratch.path().exists(), "somebody holds it");
        drop(scratch);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_tree_deeper_than_descriptors_reach_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let scratch = make_in(place.path()).unwrap();
        let mut dir = openat(CWD, scratch.path(), ENTER, Mode::empty()).unwrap();
        for _ in 0..3_000 {
            rustix::fs::mkdirat(&dir, "in", Mode::RWXU).unwrap();
            let below = enter(&dir, OsStr::new("in")).unwrap();
            fchmod(&dir, Mode::RUSR | Mode::XUSR).unwrap();
            dir = below;
        }
        drop((dir, scratch));
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_link_in_it_leads_to_stays() {
        let place = tempfile::tempdir().unwrap();
        let kept = tempfile::tempdir().unwrap();
        fs::write(kept.path().join("file"), "").unwrap();
        fs::set_permissions(kept.path(), Permissions::from_mode(0o755)).unwrap();
        let scratch = make_in(place.path()).unwrap();
        symlink(kept.path(), scratch.path().join("link")).unwrap();
        drop(scratch);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
        assert!(kept.path().join("file").exists());
        let mode = kept.path().metadata().unwrap().mode();
        assert_eq!(mode & 0o777, 0o755);
    }

    #[test]
    fn what_an_owner_left_is_removed_and_nothing_that_only_looks_like_it() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        let left = |name: &str| {
            fs::create_dir(path(name)).unwrap();
            fs::write(path(name).join(LOCK), SAYS).unwrap();
        };
        left("tollgate-left");
        left("other-left");
        for (name, file, said) in [("new", "owner.lock.new", SAYS), ("project", LOCK, "")] {
            let folder = path(&format!("tollgate-{name}"));
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join(file), said).unwrap();
        }
        fs::write(path("tollgate-file"), "").unwrap();
        symlink(path("other-left"), path("tollgate-link")).unwrap();
        fs::create_dir(path("tollgate-linked")).unwrap();
        symlink(
            path("other-left").join(LOCK),
            path("tollgate-linked").join(LOCK),
        )
        .unwrap();
        fs::create_dir_all(path("tollgate-folder").join(LOCK)).unwrap();
        let held = make_in(place.path()).unwrap();
        sweep_in(place.path());
        assert!(!path("tollgate-left").exists());
        for name in [
            "other-left/owner.lock",
            "tollgate-new",
            "tollgate-project",
            "tollgate-file",
            "tollgate-link",
            "tollgate-linked",
            "tollgate-folder",
        ] {
            assert!(path(name).symlink_metadata().is_ok(), "{name}");
        }
        assert!(held.path().exists());
    }
}
