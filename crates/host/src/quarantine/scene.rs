//! All that is watched while one command runs: how it was, and how it is reached again afterwards.
//! Must not take a thing for changed that walls hold, that a permit opened, or that went with all that was around it.

use super::{
    record::{Reader, Thing, open},
    rights::{change_mode, look},
    store::Store,
    undo::{Outcome, Undoing},
};
use crate::{
    beneath,
    git::{self, Repository},
    local::Machine,
    newcomers::Newcomers,
};
use gate::{
    g3_confine::{ChildRules, Leave},
    host::HostError,
};
use rustix::{
    fd::{AsFd as _, BorrowedFd, OwnedFd},
    fs::{FileType, Mode, Stat, fstat},
    io::Errno,
};
use std::{
    collections::{BTreeMap, HashSet},
    ffi::{OsStr, OsString},
    io::Read as _,
    mem,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Settings of one work tree. Git makes the file where it keeps, say, what is checked out of it.
const WORK_TREE_SETTINGS: &str = "config.worktree";

/// The most that is read of it, in bytes.
const SETTINGS_BYTES_MAX: u64 = 256 * 1024;

/// What is watched, and how it was.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) roots: Vec<Root>,
    pub(super) things: BTreeMap<OsString, Thing>,
    /// Paths that this call may change, or another one that ran meanwhile.
    pub(super) opened: HashSet<PathBuf>,
    /// What this host wrote itself meanwhile.
    pub(super) written: BTreeMap<OsString, Thing>,
    /// By which a thing may go with the directory around it; `None`: none may.
    pub(super) rules: Option<Arc<ChildRules>>,
    /// What went so. Should it come back, it has to be what it was.
    pub(super) gone: BTreeMap<OsString, Thing>,
    /// What git would have run of repositories before.
    pub(super) newcomers: Option<Newcomers>,
}

/// How a path is reached from an open directory.
struct Way<'s, 'p> {
    root: &'s OwnedFd,
    /// The directory that it lies in, below the root.
    around: &'p Path,
    /// The same, absolute.
    parent: &'p Path,
    name: &'p OsStr,
}

impl Way<'_, '_> {
    /// Whether the directory around is gone, and in a repository the work tree too: somebody removed more than what is
    /// watched.
    fn is_all_gone(&self) -> bool {
        let Some(around) = all_around(self.around) else {
            return false;
        };
        beneath::directory(self.root.as_fd(), around).is_err_and(|it| it == Errno::NOENT)
    }
}

/// The directory with which a thing in this one may go; `None`: it may not.
fn all_around(around: &Path) -> Option<&Path> {
    let is_git = |it: &&Path| {
        it.file_name()
            .is_some_and(|name| Repository::called(name).is_some())
    };
    let found = match around.ancestors().filter(is_git).last() {
        None => around,
        Some(repository) => {
            // What git keeps of a work tree goes with it.
            let worktrees = repository.join("worktrees");
            let mut inner = around.ancestors();
            let inner = inner.find(|it| it.parent().is_some_and(|it| it == worktrees));
            inner.or(repository.parent())?
        }
    };
    (!found.as_os_str().is_empty()).then_some(found)
}

/// Whether a new file of settings names nothing that git would run or obey. Nobody can tell whether a command made it or
/// the git of whoever works there.
fn is_harmless(dir: BorrowedFd<'_>, name: &OsStr) -> bool {
    // SECURITY: under another name it could be changed later.
    let is_alone =
        |it: Stat| FileType::from_raw_mode(it.st_mode) == FileType::RegularFile && it.st_nlink == 1;
    if !look(dir, name).is_ok_and(|it| it.is_some_and(is_alone)) {
        return false;
    }
    let Ok(file) = open(dir, name) else {
        return false;
    };
    let mut text = String::new();
    let read = file.take(SETTINGS_BYTES_MAX + 1).read_to_string(&mut text);
    read.is_ok_and(|count| count as u64 <= SETTINGS_BYTES_MAX) && git::is_harmless(&text)
}

/// A directory that a command may write to.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) path: PathBuf,
    pub(super) opened: OwnedFd,
    pub(super) mode: Mode,
}

impl Root {
    /// Lets us in again, should the command have closed it.
    fn reopen(&self) -> rustix::io::Result<()> {
        let now = Mode::from_raw_mode(fstat(&self.opened)?.st_mode);
        if now.contains(Mode::RWXU) || !self.mode.contains(Mode::RWXU) {
            return Ok(());
        }
        change_mode(self.opened.as_fd(), self.mode)
    }
}

impl Scene {
    /// How a path is reached.
    fn way<'s, 'p>(&'s self, path: &'p Path) -> Option<Way<'s, 'p>> {
        let (root, below) = self
            .roots
            .iter()
            .find_map(|root| Some((&root.opened, below(path, &root.path)?)))?;
        Some(Way {
            root,
            around: below.parent()?,
            parent: path.parent()?,
            name: path.file_name()?,
        })
    }

    /// Whether a thing may go with the directory around it: others obey it, and no rule of the person's closes it.
    fn may_go(&self, machine: &Machine, path: &Path) -> bool {
        let real = path.strip_prefix(&machine.workspace).unwrap_or(path);
        let (real, absolute) = (real.to_string_lossy(), path.to_string_lossy());
        let is_recorded = self.things.contains_key(path.as_os_str());
        is_recorded
            && self.rules.as_ref().is_some_and(|rules| {
                rules.is_obeyed(&real, &absolute) && rules.change(&real, &absolute) != Leave::Denied
            })
    }

    /// Puts everything in order. What remains is what could not be.
    pub(super) fn settle(&mut self, machine: &Machine, label: Option<&str>) -> Outcome {
        let mut undoing = Undoing {
            store: Store::new(machine, label),
            opened: &self.opened,
            written: &self.written,
            outcome: Outcome::default(),
            depth: 0,
        };
        for root in &self.roots {
            if let Err(error) = root.reopen() {
                undoing.outcome.fail(&root.path, error);
            }
        }
        let is_watched = |path: &&OsString| {
            let mut around = Path::new(path).ancestors();
            around.any(|it| self.things.contains_key(it.as_os_str()))
        };
        let written = self.written.iter().filter(|(path, _)| is_watched(path));
        let mut went = Vec::new();
        let mut last: Option<(&Path, OwnedFd)> = None;
        for (path, thing) in self.things.iter().chain(written) {
            let path = Path::new(path);
            let Some(way) = self.way(path) else {
                continue;
            };
            if !is_known(last.as_ref(), way.parent) {
                if way.is_all_gone() && self.may_go(machine, path) {
                    went.push(path.as_os_str().to_owned());
                    continue;
                }
                let parent = undoing.parent(way.root.as_fd(), way.around, path, thing);
                last = parent.map(|parent| (way.parent, parent));
            }
            let Some((_, dir)) = &last else {
                continue;
            };
            let is_new = matches!(thing, Thing::Missing);
            if is_new && way.name == WORK_TREE_SETTINGS && is_harmless(dir.as_fd(), way.name) {
                continue;
            }
            undoing.compare(dir.as_fd(), way.name, path, thing);
        }
        let mut back = Vec::new();
        for (path, thing) in &self.gone {
            let path = Path::new(path);
            let Some(way) = self.way(path) else {
                continue;
            };
            let parent = undoing.parent(way.root.as_fd(), way.around, path, &Thing::Missing);
            let is_there = |dir: &OwnedFd| !matches!(look(dir.as_fd(), way.name), Ok(None));
            if let Some(dir) = parent.filter(is_there) {
                undoing.compare(dir.as_fd(), way.name, path, thing);
                back.push(path.as_os_str().to_owned());
            }
        }
        if let Some(newcomers) = &self.newcomers {
            let is_permitted = |path: &Path| {
                self.opened.contains(path) || self.written.contains_key(path.as_os_str())
            };
            let (store, outcome) = (&mut undoing.store, &mut undoing.outcome);
            machine.set_newcomers_aside(newcomers, is_permitted, store, outcome);
        }
        let outcome = undoing.outcome;
        for path in back {
            let thing = self.gone.remove(&path).unwrap_or_default();
            self.things.insert(path, thing);
        }
        for path in went {
            let thing = self.things.remove(&path).unwrap_or_default();
            self.gone.insert(path, thing);
        }
        outcome
    }

    /// Forgets what is in order.
    pub(super) fn keep(&mut self, failed: &[(PathBuf, String)]) {
        let is_of = |thing: &Path, it: &Path| it.starts_with(thing) || thing.starts_with(it);
        self.things
            .retain(|path, _| failed.iter().any(|(it, _)| is_of(Path::new(path), it)));
    }
}

/// What of a path lies below a directory, by the letters: both are absolute and plain.
pub(super) fn below<'p>(path: &'p Path, root: &Path) -> Option<&'p Path> {
    let rest = path
        .as_os_str()
        .as_bytes()
        .strip_prefix(root.as_os_str().as_bytes())?;
    let rest = rest.strip_prefix(b"/").filter(|rest| !rest.is_empty())?;
    Some(Path::new(OsStr::from_bytes(rest)))
}

/// Whether a directory is the one that is open.
fn is_known(last: Option<&(&Path, OwnedFd)>, parent: &Path) -> bool {
    last.is_some_and(|(known, _)| known.as_os_str() == parent.as_os_str())
}

/// Brings everything to what stands there now.
pub(super) fn record(scene: &mut Scene) -> Result<(), HostError> {
    let mut reader = Reader::new();
    let mut things = mem::take(&mut scene.things);
    let mut last: Option<(&Path, OwnedFd)> = None;
    let mut in_the_way = Vec::new();
    // Walls hold a directory whole in which no permit opens anything.
    let is_walked = |path: &Path| scene.opened.iter().any(|it| it.starts_with(path));
    for (path, thing) in &mut things {
        let path = Path::new(path);
        let Some(way) = scene.way(path) else {
            continue;
        };
        if !is_known(last.as_ref(), way.parent) {
            match beneath::directory(way.root.as_fd(), way.around) {
                Ok(opened) => last = Some((way.parent, opened)),
                Err(Errno::NOENT) => {
                    *thing = Thing::Missing;
                    continue;
                }
                // A link, or no directory: that is what must stay, for what it leads to is elsewhere.
                Err(Errno::LOOP | Errno::NOTDIR) => {
                    in_the_way.push(path.to_owned());
                    continue;
                }
                Err(error) => return Err(not_recorded(path, &error.to_string())),
            }
        }
        if let Some((_, dir)) = &last {
            let done = if let Thing::Names(_) = thing {
                let names = reader.names(dir.as_fd(), path, &is_walked);
                names.map(|names| *thing = names)
            } else {
                reader.refresh(dir.as_fd(), way.name, thing)
            };
            done.map_err(|error| not_recorded(path, &error.to_string()))?;
        }
    }
    drop(last);
    for path in in_the_way {
        things.remove(path.as_os_str());
        record_obstacle(scene, &path, &mut reader, &mut things)?;
    }
    scene.things = things;
    Ok(())
}

/// Records the first thing on the way to a path that is no directory.
fn record_obstacle(
    scene: &Scene,
    path: &Path,
    reader: &mut Reader,
    things: &mut BTreeMap<OsString, Thing>,
) -> Result<(), HostError> {
    let failed = |error: &dyn ToString| not_recorded(path, &error.to_string());
    let Some(way) = scene.way(path) else {
        return Ok(());
    };
    let above = path.ancestors().nth(way.around.components().count() + 1);
    let mut here = above.map(Path::to_owned).unwrap_or_default();
    let mut dir = beneath::directory(way.root.as_fd(), Path::new("")).map_err(|it| failed(&it))?;
    for part in way.around.components() {
        let name = part.as_os_str();
        here.push(name);
        let Ok(next) = beneath::directory(dir.as_fd(), Path::new(name)) else {
            let mut thing = Thing::Missing;
            let done = reader.refresh(dir.as_fd(), name, &mut thing);
            done.map_err(|it| failed(&it))?;
            things.insert(here.into_os_string(), thing);
            return Ok(());
        };
        dir = next;
    }
    Ok(())
}

pub(super) fn not_recorded(path: &Path, why: &str) -> HostError {
    HostError::Failed(format!(
        "the command did not start: it could not be told afterwards whether `{}` was changed: {why}",
        path.display()
    ))
}
