//! Finding what is no longer as it was recorded, moving it away, and putting the old back.
//! Must not remove anything for good, nor follow a link on the way.

use super::{
    draft::Draft,
    record::{DEPTH_MAX, Thing, digest_of, names_in, open},
    rights::{Unlocked, is_directory, look, set_mode},
    store::Store,
};
use crate::beneath;
use rustix::{
    fd::{AsFd as _, BorrowedFd, OwnedFd},
    fs::{FileType, Mode, Stat, mkdirat, readlinkat},
    io::Errno,
};
use std::{
    collections::{BTreeMap, HashSet},
    ffi::{OsStr, OsString},
    path::{Component, Path, PathBuf},
};

/// How many changes are told one by one.
const TOLD_MAX: usize = 10;

/// What is said of every change.
const AGAINST: &str = "while the command ran, although the rules do not let commands change it";

/// What was found and done.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// A sentence for each change that was undone, or at least moved away.
    pub(crate) told: Vec<String>,
    /// How many more there were.
    pub(crate) untold: usize,
    /// Paths that are not as they were, and why.
    pub(crate) failed: Vec<(PathBuf, String)>,
}

impl Outcome {
    pub(crate) fn tell(&mut self, path: &Path, what: &str) {
        if self.told.len() < TOLD_MAX {
            self.told.push(format!("`{}` {what}", line(path)));
        } else {
            self.untold += 1;
        }
    }

    pub(crate) fn fail(&mut self, path: &Path, why: Errno) {
        self.failed.push((path.to_owned(), why.to_string()));
    }
}

/// A path on one line, whatever a command called it.
pub(crate) fn line(path: &Path) -> String {
    let mut line = String::new();
    for it in path.display().to_string().chars() {
        if it.is_control() {
            line.extend(it.escape_default());
        } else {
            line.push(it);
        }
    }
    line
}

/// One comparison of what is watched with what was recorded.
pub(super) struct Undoing<'a> {
    pub(super) store: Store<'a>,
    /// Paths that may be changed now.
    pub(super) opened: &'a HashSet<PathBuf>,
    /// What this host wrote itself meanwhile, which then stands there instead of what was recorded.
    pub(super) written: &'a BTreeMap<OsString, Thing>,
    pub(super) outcome: Outcome,
    pub(super) depth: usize,
}

/// Why something could not be done: the system's own word.
type Done<T> = std::result::Result<T, Errno>;

impl Undoing<'_> {
    /// The directory `around` in which what stood under a path is looked for; nothing if there is none and none is
    /// needed.
    pub(super) fn parent(
        &mut self,
        root: BorrowedFd<'_>,
        around: &Path,
        path: &Path,
        old: &Thing,
    ) -> Option<OwnedFd> {
        let is_wanted = !matches!(old, Thing::Missing | Thing::Names(_) | Thing::Held);
        match beneath::directory(root, around) {
            Ok(parent) => return Some(parent),
            Err(Errno::NOENT) if !is_wanted => return None,
            Err(_) => {}
        }
        match self.make_way(root, around, path, is_wanted) {
            Ok(parent) => parent,
            Err(error) => {
                self.outcome.fail(path, error);
                None
            }
        }
    }

    /// Walks to a directory where something stands in the way: what is none is moved away, and what is missing is
    /// made if it is wanted.
    fn make_way(
        &mut self,
        root: BorrowedFd<'_>,
        around: &Path,
        path: &Path,
        is_wanted: bool,
    ) -> Done<Option<OwnedFd>> {
        let mut dir = beneath::directory(root, Path::new(""))?;
        let depth = around.components().count();
        let mut above = path.ancestors().nth(depth + 1).map(Path::to_owned);
        for part in around.components() {
            let Component::Normal(name) = part else {
                continue;
            };
            if let Some(above) = &mut above {
                above.push(name);
            }
            let here = above.as_deref().unwrap_or(path);
            // The command may have closed it. Once we are in the next one, this one is not asked any more.
            let unlocked = Unlocked::new(dir.as_fd())?;
            let mut found = look(dir.as_fd(), name)?;
            if found.as_ref().is_some_and(|it| !is_directory(it)) {
                let kept_at = line(&self.store.take(dir.as_fd(), name, here)?);
                let what = format!(
                    "was put in place of a directory {AGAINST}: it was moved to `{kept_at}`"
                );
                self.outcome.tell(here, &what);
                found = None;
            }
            if found.is_none() {
                if !is_wanted {
                    return Ok(None);
                }
                mkdirat(&dir, name, Mode::RWXU)?;
            }
            let next = beneath::directory(dir.as_fd(), Path::new(name))?;
            drop(unlocked);
            dir = next;
        }
        Ok(Some(dir))
    }

    /// Compares what stands under a name with what did, and puts it in order.
    pub(super) fn compare(&mut self, dir: BorrowedFd<'_>, name: &OsStr, path: &Path, old: &Thing) {
        if self.opened.contains(path) {
            return;
        }
        let old = self.written.get(path.as_os_str()).unwrap_or(old);
        let mut unlocked = None;
        let mut found = look(dir, name);
        if matches!(found, Err(Errno::ACCESS)) {
            unlocked = Unlocked::new(dir).ok();
            found = look(dir, name);
        }
        let done = found.and_then(|now| match (old, now) {
            (Thing::Names(names), Some(now)) if is_directory(&now) => {
                self.inside(dir, name, path, names, true)
            }
            (Thing::Missing, None) | (Thing::Names(_) | Thing::Held, _) => Ok(()),
            (old, None) => self.removed(dir, name, path, old),
            (Thing::Missing, Some(now)) => {
                // A permit for what lies in a directory lets the directory be made.
                if is_directory(&now) && self.is_changed_below(path) {
                    return self.inside(dir, name, path, &BTreeMap::new(), true);
                }
                self.made(dir, name, path)
            }
            (old, Some(now)) => self.stayed(dir, name, path, old, &now),
        });
        drop(unlocked);
        if let Err(error) = done {
            self.outcome.fail(path, error);
        }
    }

    /// Whether something that lies in it may have been made.
    fn is_changed_below(&self, path: &Path) -> bool {
        let mut written = self.written.keys().map(Path::new);
        self.opened.iter().any(|it| it.starts_with(path)) || written.any(|it| it.starts_with(path))
    }

    /// Something stands there as before: whether it is the same.
    fn stayed(
        &mut self,
        dir: BorrowedFd<'_>,
        name: &OsStr,
        path: &Path,
        old: &Thing,
        now: &Stat,
    ) -> Done<()> {
        let Some(stamp) = old.stamp() else {
            return Ok(());
        };
        if stamp.kind != FileType::from_raw_mode(now.st_mode) {
            return self.changed(dir, name, path, old);
        }
        let is_still = stamp.is_still(now);
        match old {
            Thing::File { .. } | Thing::Link { .. } if is_still => return Ok(()),
            Thing::Other { .. } if stamp.looks_like(now) => return Ok(()),
            Thing::Other { .. } => return self.changed(dir, name, path, old),
            _ => {}
        }
        let is_link = matches!(old, Thing::Link { .. });
        let has_mode = is_link || stamp.has_mode_of(now);
        if !has_mode {
            // Before its content is looked at: it may have been closed to us as well.
            set_mode(dir, name, stamp)?;
        }
        let is_same = match old {
            Thing::Missing | Thing::Other { .. } | Thing::Names(_) | Thing::Held => true,
            Thing::Directory { entries, .. } => {
                let has_others = !is_still;
                return self
                    .inside(dir, name, path, entries, has_others)
                    .map(|()| self.tell_mode(has_mode, path));
            }
            Thing::Link { target, .. } => {
                let now = readlinkat(dir, name, Vec::new())?;
                now.as_bytes() == target.as_encoded_bytes()
            }
            Thing::File {
                digest: Some(digest),
                ..
            } => {
                let mut file = open(dir, name)?;
                digest_of(&mut file, |_| ())? == *digest
            }
            Thing::File { digest: None, .. } => has_mode && stamp.looks_like(now),
        };
        if is_same {
            self.tell_mode(has_mode, path);
            return Ok(());
        }
        self.changed(dir, name, path, old)
    }

    fn tell_mode(&mut self, has_mode: bool, path: &Path) {
        if !has_mode {
            let what = format!("was given other rights {AGAINST}: it has its own again");
            self.outcome.tell(path, &what);
        }
    }

    /// Compares what lies in a directory.
    fn inside(
        &mut self,
        dir: BorrowedFd<'_>,
        name: &OsStr,
        path: &Path,
        entries: &BTreeMap<OsString, Thing>,
        has_others: bool,
    ) -> Done<()> {
        if self.depth == DEPTH_MAX {
            return Err(Errno::LOOP);
        }
        let below = beneath::directory(dir, Path::new(name))?;
        let mut unlocked = None;
        let mut others = Vec::new();
        if has_others {
            let mut found = names_in(dir, name);
            if matches!(found, Err(Errno::ACCESS)) {
                unlocked = Some(Unlocked::new(below.as_fd())?);
                found = names_in(dir, name);
            }
            let (_, names) = found?;
            others.extend(names.into_iter().filter(|it| !entries.contains_key(it)));
        }
        self.depth += 1;
        for (name, old) in entries {
            self.compare(below.as_fd(), name, &path.join(name), old);
        }
        for name in others {
            self.compare(below.as_fd(), &name, &path.join(&name), &Thing::Missing);
        }
        self.depth -= 1;
        drop(unlocked);
        Ok(())
    }

    fn made(&mut self, dir: BorrowedFd<'_>, name: &OsStr, path: &Path) -> Done<()> {
        let _unlocked = Unlocked::new(dir)?;
        let kept_at = line(&self.store.take(dir, name, path)?);
        let what = format!("was made {AGAINST}: it was moved to `{kept_at}`");
        self.outcome.tell(path, &what);
        Ok(())
    }

    fn removed(&mut self, dir: BorrowedFd<'_>, name: &OsStr, path: &Path, old: &Thing) -> Done<()> {
        let _unlocked = Unlocked::new(dir)?;
        let draft = Draft::of(dir, old);
        self.store.is_about_to_put_back();
        if draft.is_made {
            draft.put(dir, name)?;
        }
        let what = format!("was removed {AGAINST}: {}", draft.said("it was put back"));
        self.outcome.tell(path, &what);
        draft.error.map_or(Ok(()), Err)
    }

    fn changed(&mut self, dir: BorrowedFd<'_>, name: &OsStr, path: &Path, old: &Thing) -> Done<()> {
        let _unlocked = Unlocked::new(dir)?;
        // Beforehand, so that the old bytes are on the disk before anything else is touched.
        let draft = Draft::of(dir, old);
        let kept_at = match self.store.take(dir, name, path) {
            Ok(kept_at) => line(&kept_at),
            Err(error) => {
                draft.drop_from(dir);
                return Err(error);
            }
        };
        self.store.is_about_to_put_back();
        if draft.is_made {
            draft.put(dir, name)?;
        }
        let said = draft.said("what was there before is there again");
        let what = format!("was changed {AGAINST}: the new one was moved to `{kept_at}`; {said}");
        self.outcome.tell(path, &what);
        draft.error.map_or(Ok(()), Err)
    }
}
