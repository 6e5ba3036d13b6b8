//! Replacing one file by bytes that were shown, whole or not at all.
//! Must not touch anything when what stands there is not what was shown.
//!
//! The bytes are written beside the file under a name of their own, and the two change places in one
//! step. Only then does it show for certain what was replaced; if that is not what was judged, they
//! change back. The file keeps its mode; of a file with several names only this one gets the new
//! bytes. Access lists and extended attributes are not carried over.

use crate::{
    beneath::{self, Spot, directory, found_at, id_of},
    file::not_regular,
    local::Machine,
    options::Moment,
    resolve::{changed, changed_or_failed, failed},
};
use gate::{
    access::{Digest, WriteFile},
    g3_confine::Order,
    host::{FileId, FileKind, Found, HostError, Resolved},
};
use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{
        AtFlags, Mode, OFlags, Stat, fchmod, fchown, fstat, fsync, linkat, mkdirat, openat,
        renameat, statat, unlinkat,
    },
    io::Errno,
    process::{Gid, Uid},
};
use std::{
    ffi::{OsStr, OsString},
    fs::File,
    hash::{BuildHasher as _, RandomState},
    io::Write as _,
    mem,
    path::Path,
};

/// What stands there before a write, as it was judged.
struct Old {
    found: Found,
    digest: Digest,
    stat: Stat,
}

impl Machine {
    pub(crate) fn write_file(&self, order: &Order<WriteFile>) -> Result<(), HostError> {
        let target = order.target();
        self.calls.check(order.call())?;
        let Some(change) = order.access().change() else {
            return Err(HostError::Refused("a write without its bytes".into()));
        };
        if Path::new(&target.absolute).starts_with(&self.state_dir) {
            return Err(HostError::Refused(format!(
                "`{}` belongs to Tollgate and is out of reach",
                target.real
            )));
        }
        // Our own writers would otherwise undo each other, and so would who compares after a command.
        let _one_at_a_time = self.alone();
        let spot = self.stand(target)?;
        let old = self.old(&spot, target)?;
        if old.as_ref().map(|old| old.digest) != change.before() {
            return Err(changed(target));
        }
        let name = spot.name.clone();
        let mut draft = Draft::write(
            spot,
            change.after(),
            old.as_ref().map(|old| &old.stat),
            target,
        )?;
        self.at(Moment::BeforeRename);
        self.calls.check(order.call())?;
        if !self.still_leads_to(&draft, target) {
            return Err(changed(target));
        }
        match old {
            Some(old) => self.replace(&mut draft, &name, &old, target),
            None => self.create(&mut draft, &name, target),
        }?;
        if let Some(stat) = &draft.stat {
            self.quarantine
                .note_write(&target.absolute, stat, change.after());
        }
        Ok(())
    }

    fn old(&self, spot: &Spot, target: &Resolved) -> Result<Option<Old>, HostError> {
        let Some(found) = spot.found else {
            return Ok(None);
        };
        match found.kind {
            FileKind::Directory => {
                return Err(HostError::Failed(format!(
                    "`{}` is a directory",
                    target.real
                )));
            }
            FileKind::Other => return Err(not_regular(target)),
            FileKind::File => {}
        }
        let digest = Digest::of(&self.bytes(&spot.dir, &spot.name, found, target)?);
        let stat = statat(&spot.dir, &spot.name, AtFlags::SYMLINK_NOFOLLOW);
        let stat = stat.map_err(|error| changed_or_failed(target, error))?;
        if beneath::found_of(&stat) != found {
            return Err(changed(target));
        }
        // A rename would get past the mode, which says that the file is not to be changed.
        if !Mode::from_raw_mode(stat.st_mode).contains(Mode::WUSR) {
            let why = "the file is read-only; it has to be made writable first";
            return Err(HostError::Failed(format!("`{}`: {why}", target.real)));
        }
        Ok(Some(Old {
            found,
            digest,
            stat,
        }))
    }

    fn replace(
        &self,
        draft: &mut Draft,
        name: &OsStr,
        old: &Old,
        target: &Resolved,
    ) -> Result<(), HostError> {
        match exchange(&draft.dir, &draft.temp, name) {
            Ok(()) => {}
            // A file system that cannot do it: look once more, then rename. What somebody puts there
            // between the two is lost.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                if !self.is_old(draft, name, old, target) {
                    return Err(changed(target));
                }
                renameat(&draft.dir, &draft.temp, &draft.dir, name)
                    .map_err(|error| changed_or_failed(target, error))?;
                draft.is_in_place = true;
                return Ok(());
            }
            Err(error) => return Err(changed_or_failed(target, error)),
        }
        self.at(Moment::AfterRename);
        if self.is_old(draft, &draft.temp, old, target) && self.still_leads_to(draft, target) {
            draft.is_in_place = true;
            return Ok(());
        }
        draft.take_back(name, target)?;
        Err(changed(target))
    }

    fn create(&self, draft: &mut Draft, name: &OsStr, target: &Resolved) -> Result<(), HostError> {
        put(&draft.dir, &draft.temp, name).map_err(|error| changed_or_failed(target, error))?;
        self.at(Moment::AfterRename);
        if self.still_leads_to(draft, target) {
            draft.is_in_place = true;
            return Ok(());
        }
        if draft.is_under(name) {
            unlinkat(&draft.dir, name, AtFlags::empty()).map_err(|error| failed(target, error))?;
        }
        Err(changed(target))
    }

    /// Whether the file under a name is the one that was judged, with the bytes that were shown.
    fn is_old(&self, draft: &Draft, name: &OsStr, old: &Old, target: &Resolved) -> bool {
        self.bytes(&draft.dir, name, old.found, target)
            .is_ok_and(|bytes| Digest::of(&bytes) == old.digest)
    }

    /// Whether the judged path still leads to the directory that is written in.
    fn still_leads_to(&self, draft: &Draft, target: &Resolved) -> bool {
        let (base, path) = self.way(target);
        let now = directory(base, path.parent().unwrap_or(Path::new("")));
        now.and_then(|dir| fstat(&dir))
            .is_ok_and(|stat| id_of(&stat) == draft.dir_id)
    }
}

/// New bytes on their way. Dropping it removes what is not in place: the temporary file, or what was
/// exchanged for it, and the directories made for it.
struct Draft {
    dir: OwnedFd,
    dir_id: FileId,
    temp: OsString,
    id: FileId,
    /// What the new file is, once it is whole.
    stat: Option<Stat>,
    /// The directories made for it: where, and under which name.
    made: Vec<(OwnedFd, OsString)>,
    is_in_place: bool,
    /// The temporary name holds what is not ours to remove.
    is_left: bool,
}

impl Draft {
    fn write(
        spot: Spot,
        bytes: &[u8],
        old: Option<&Stat>,
        target: &Resolved,
    ) -> Result<Self, HostError> {
        let id = spot.above;
        let mut draft = Self {
            dir: spot.dir,
            dir_id: id,
            temp: temp_name(),
            id,
            stat: None,
            made: Vec::new(),
            is_in_place: false,
            is_left: false,
        };
        for name in spot.missing {
            draft
                .enter(name)
                .map_err(|error| changed_or_failed(target, error))?;
        }
        draft
            .fill(bytes, old)
            .map_err(|error| failed(target, error))?;
        Ok(draft)
    }

    /// Makes a directory and goes on in it.
    fn enter(&mut self, name: OsString) -> rustix::io::Result<()> {
        mkdirat(&self.dir, &name, Mode::from_raw_mode(0o755))?;
        // If this fails, what stands there is no longer what was made, and stays.
        let inner = directory(self.dir.as_fd(), Path::new(&name))?;
        self.made.push((mem::replace(&mut self.dir, inner), name));
        self.dir_id = id_of(&fstat(&self.dir)?);
        Ok(())
    }

    /// Writes the bytes to the disk under the temporary name, with owner and mode of the old file.
    fn fill(&mut self, bytes: &[u8], old: Option<&Stat>) -> std::io::Result<()> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = if old.is_some() { 0o600 } else { 0o644 };
        let file = openat(&self.dir, &self.temp, flags, Mode::from_raw_mode(mode))?;
        let stat = fstat(&file)?;
        self.id = id_of(&stat);
        let mut file = File::from(file);
        file.write_all(bytes)?;
        if let Some(old) = old {
            keep_owner(&file, old, &stat)?;
            // Not the bits that let a program run as somebody else: these are other bytes.
            fchmod(&file, Mode::from_raw_mode(old.st_mode & 0o777))?;
        }
        fsync(&file)?;
        self.stat = Some(fstat(&file)?);
        Ok(())
    }

    /// Whether the new bytes stand under this name.
    fn is_under(&self, name: &OsStr) -> bool {
        found_at(&self.dir, name).is_ok_and(|found| found.is_some_and(|found| found.id == self.id))
    }

    /// Changes places again, so that what somebody else put there stands there again.
    fn take_back(&mut self, name: &OsStr, target: &Resolved) -> Result<(), HostError> {
        let mut back = exchange(&self.dir, &self.temp, name);
        if back.is_ok() && !self.is_under(&self.temp) {
            // Yet another file had come in between, and it is the newest.
            back = exchange(&self.dir, &self.temp, name);
        }
        if back == Err(Errno::NOENT) {
            back = put(&self.dir, &self.temp, name);
        }
        back.map_err(|_| {
            self.is_left = true;
            let temp = self.temp.display();
            HostError::Changed(format!("`{}` was changed by somebody else meanwhile; what stood there is kept beside it as `{temp}`", target.real))
        })
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_left {
            let _gone = unlinkat(&self.dir, &self.temp, AtFlags::empty());
        }
        if !self.is_in_place {
            for (dir, name) in self.made.iter().rev() {
                // Fails where somebody put something into it, and then it stays.
                let _gone = unlinkat(dir, name, AtFlags::REMOVEDIR);
            }
        }
    }
}

/// A name nobody else uses; that it is free is the kernel's to check.
fn temp_name() -> OsString {
    format!(".tollgate-{:016x}.tmp", RandomState::new().hash_one(0)).into()
}

/// Who owned a file owns it still, if we may say so; its group must stay, as the mode speaks of it.
fn keep_owner(file: &File, old: &Stat, new: &Stat) -> rustix::io::Result<()> {
    if (old.st_uid, old.st_gid) == (new.st_uid, new.st_gid) {
        return Ok(());
    }
    let group = Some(Gid::from_raw(old.st_gid));
    match fchown(file, Some(Uid::from_raw(old.st_uid)), group) {
        Err(Errno::PERM) => fchown(file, None, group),
        done => done,
    }
}

/// Two names in a directory change places, in one step.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn exchange(dir: &OwnedFd, one: &OsStr, other: &OsStr) -> rustix::io::Result<()> {
    use rustix::fs::{RenameFlags, renameat_with};
    renameat_with(dir, one, dir, other, RenameFlags::EXCHANGE)
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn exchange(_: &OwnedFd, _: &OsStr, _: &OsStr) -> rustix::io::Result<()> {
    Err(Errno::NOSYS)
}

/// Gives a file a name that must be free. A link does what a rename cannot everywhere: fail if it is not.
fn put(dir: &OwnedFd, temp: &OsStr, name: &OsStr) -> rustix::io::Result<()> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        use rustix::fs::{RenameFlags, renameat_with};
        match renameat_with(dir, temp, dir, name, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
            done => return done,
        }
    }
    linkat(dir, temp, dir, name, AtFlags::empty())
}
