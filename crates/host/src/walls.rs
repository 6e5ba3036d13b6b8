//! The walls around one command: what its call may touch, path by path.
//! Must not open anything that the order does not, nor leave out what cannot be told: then nothing runs.

use crate::{
    beneath,
    git::{self, Location, Repository},
    index::{ANY, Closed, Index, IndexError, Made, Opened},
    local::Machine,
    newcomers::Repositories,
};
use gate::{
    access::Spawn,
    g3_confine::{ChildRules, ChildWrites, Leave, Opening, Order},
    host::{HELD_NAMES, HostError, Place},
};
use rustix::{
    fd::{AsFd as _, OwnedFd},
    process::geteuid,
};
use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fs::{File, Metadata},
    io::Write as _,
    mem,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError},
};

/// How many directories outside are remembered.
const OUTSIDE_MAX: usize = 8;

/// The most paths that are closed one by one.
const CLOSED_MAX: usize = 20_000;

/// The most processes and threads of one command.
const PROCESSES_MAX: u64 = 4_096;

/// In how many nested repositories: to hold a place costs as much in each, and there may be hundreds.
const NESTED_MAX: usize = 8;

/// What in the system's own directories is secret, whatever its mode and whatever is opened.
const SYSTEM_SECRETS: &[&str] = &[
    "/etc/NetworkManager/system-connections",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/krb5.keytab",
    "/etc/kubernetes",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/ssl/private",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/wireguard",
];

/// To root, whom no mode keeps out, what modes close to others there. Found once: what is closed later is hidden from
/// the commands of a later session.
static SYSTEM_CLOSED: LazyLock<Vec<PathBuf>> = LazyLock::new(|| {
    if geteuid().is_root() {
        sandbox::system_closed()
    } else {
        Vec::new()
    }
});

/// What is known of the trees that commands may touch, under the rules of the last one.
#[derive(Debug, Default)]
pub(crate) struct Trees {
    rules: Option<Arc<ChildRules>>,
    workspace: Option<Index>,
    /// The repository of a workspace that is a linked work tree.
    repository: Option<Index>,
    /// The one used last stands first.
    outside: Vec<Index>,
    /// What git's files of settings say, whatever the rules.
    settings: git::Settings,
    /// Which directories in the workspace were taken for what tools fetch or make, whatever the rules.
    made: Made,
    /// The repositories that were there before the last command, by the directory that was looked through.
    repositories: BTreeMap<PathBuf, Repositories>,
}

impl Trees {
    /// Forgets what was found under other rules.
    fn keep_for(&mut self, rules: &Arc<ChildRules>) {
        let is_of = |index: &Index| Arc::ptr_eq(index.rules(), rules);
        if let Some(index) = self.workspace.take_if(|index| !is_of(index)) {
            self.made = index.into_made();
        }
        self.repository = self.repository.take().filter(is_of);
        self.outside.retain(is_of);
        self.rules = Some(Arc::clone(rules));
    }

    /// The repositories that were there when a command was about to start.
    pub(crate) fn repositories(&self) -> Repositories {
        let mut all = Repositories::default();
        self.repositories.values().for_each(|it| all.extend(it));
        all
    }

    /// The same now, where a command may write.
    pub(crate) fn look_for_repositories(
        &mut self,
        machine: &Machine,
        writable: &[PathBuf],
    ) -> Result<Repositories, HostError> {
        let mut found = Repositories::default();
        let nothing = Opened::default();
        if let Some(index) = &mut self.workspace {
            let closed = index.closed(&machine.workspace_fd, &nothing);
            found.add(&closed.map_err(not_told)?);
        }
        let is_written = |it: &&mut Index| writable.iter().any(|path| path == it.root());
        let outside = self.outside.iter_mut().filter(is_written);
        for index in self.repository.iter_mut().chain(outside) {
            // Where it is gone or cannot be entered, nobody works.
            if let Ok(fd) = machine.open_directory(index.root()) {
                found.add(&index.closed(&fd, &nothing).map_err(not_told)?);
            }
        }
        Ok(found)
    }

    /// Remembers the repositories below a directory.
    fn note_repositories(&mut self, root: &Path, closed: &Closed) {
        let found = Repositories::of(closed);
        self.repositories.insert(root.to_owned(), found);
    }

    /// What is closed in a repository's own directory, outside.
    fn closed_repository(
        &mut self,
        directory: &Path,
        fd: &OwnedFd,
        rules: &Arc<ChildRules>,
        opened: &Opened,
    ) -> Result<Closed, HostError> {
        let known = self.repository.take().filter(|it| it.root() == directory);
        let index = known.unwrap_or_else(|| Index::of_repository(directory, Arc::clone(rules)));
        let closed = self.repository.insert(index).closed(fd, opened);
        closed.map_err(not_told)
    }

    fn closed_outside(
        &mut self,
        directory: &Path,
        fd: &OwnedFd,
        opened: &Opened,
    ) -> Result<Closed, HostError> {
        let known = self.outside.iter().position(|it| it.root() == directory);
        let known = known.map(|at| self.outside.remove(at));
        let rules = || {
            self.rules
                .clone()
                .map(|rules| Index::new(directory, Place::Outside, rules))
        };
        let Some(mut index) = known.or_else(rules) else {
            return Err(HostError::Failed("no rules to judge a directory by".into()));
        };
        let closed = index.closed(fd, opened).map_err(not_told)?;
        self.outside.truncate(OUTSIDE_MAX - 1);
        self.outside.insert(0, index);
        Ok(closed)
    }
}

impl Machine {
    /// The profile of the order, minus what the rules do not allow, plus what its permits opened; never what
    /// is ours.
    pub(crate) fn walls(&self, order: &Order<Spawn>) -> Result<sandbox::Walls, HostError> {
        let walls = order.walls();
        let held = lock(&self.trees).rules.take();
        let rules = walls.child_rules(held.as_ref());
        // What is proven to look needs no place to write, and nothing has to be protected in one.
        let child_writes = if order.access().is_for_looking() {
            ChildWrites::TemporaryOnly
        } else {
            walls.child_writes()
        };
        let mut walls = self.walls_under(&rules, child_writes, walls.openings())?;
        if child_writes == ChildWrites::Workspace {
            walls.spares = self.spares.path().map(Path::to_owned);
        }
        Ok(walls)
    }

    /// The same from its parts.
    pub(crate) fn walls_under(
        &self,
        rules: &Arc<ChildRules>,
        child_writes: ChildWrites,
        openings: &[Opening],
    ) -> Result<sandbox::Walls, HostError> {
        let mut opened = self.opened(rules, openings);
        let mut walls = self.bare_walls();
        self.add_openings(child_writes, &mut opened, &mut walls);
        walls.masked.extend(self.closed_by_modes(&opened));
        let mut trees = lock(&self.trees);
        trees.keep_for(rules);
        let of_trees = &mut *trees;
        let inside = of_trees.workspace.get_or_insert_with(|| {
            let made = mem::take(&mut of_trees.made);
            Index::new(&self.workspace, Place::Inside, Arc::clone(rules)).knowing(made)
        });
        let inside = inside
            .closed(&self.workspace_fd, &opened)
            .map_err(not_told)?;
        trees.note_repositories(&self.workspace, &inside);
        let linked = self.linked(&inside, rules).map(|it| &it.location);
        let repository = linked
            .map(|it| self.open_repository(&mut trees, it, rules, &opened, &mut walls))
            .transpose()?
            .flatten();
        if child_writes == ChildWrites::Workspace {
            let held = self.held_names(&inside, rules, &opened);
            walls.write_protected.extend(held);
            let settings = &mut trees.settings;
            let obeyed = self.obeyed(&inside, repository.as_ref(), rules, settings, &opened);
            walls.write_protected.extend(obeyed);
            if let Some((linked, closed)) = linked.zip(repository) {
                walls.writable.extend(closed.writable);
                walls.write_protected.extend(closed.write_protected);
                walls.write_protected.extend(linked.of_others());
            }
        }
        if let Some(linked) = linked {
            // Its own protections hold, and not those of any directory outside.
            let is_elsewhere = |path: &PathBuf| !path.starts_with(&linked.common);
            opened.read.retain(is_elsewhere);
            opened.write.retain(is_elsewhere);
        }
        if child_writes == ChildWrites::Workspace {
            walls.writable.extend(inside.writable);
            walls.write_protected.extend(inside.write_protected);
        }
        walls.masked.extend(inside.masked);
        self.open_outside(&mut trees, &opened, &mut walls)?;
        let count = walls.masked.len() + walls.write_protected.len();
        if count > CLOSED_MAX {
            return Err(HostError::Failed(format!(
                "the command did not start: the rules close {count} files one by one, and no more than \
                 {CLOSED_MAX} can be; close the directories they lie in"
            )));
        }
        Ok(walls)
    }

    /// What every command has, before rules and permits: nothing of the workspace can be written.
    pub(crate) fn bare_walls(&self) -> sandbox::Walls {
        let secrets = SYSTEM_SECRETS.iter().map(PathBuf::from);
        sandbox::Walls {
            readable: self.readable.clone(),
            writable: vec![self.temp_dir.clone()],
            masked: secrets.filter(|path| is_real(path)).collect(),
            links: self.links.clone(),
            limits: sandbox::Limits {
                processes: Some(PROCESSES_MAX),
                ..sandbox::Limits::default()
            },
            ..sandbox::Walls::default()
        }
    }

    /// What root's commands are kept from although they could read it, but for what is opened by itself, and for the
    /// workspace, which the rules tell apart.
    fn closed_by_modes(&self, opened: &Opened) -> impl Iterator<Item = PathBuf> {
        let is_meant = |path: &PathBuf| {
            let is_opened = opened.read.contains(path) || opened.write.contains(path);
            let is_inside = path.starts_with(&self.workspace) || self.workspace.starts_with(path);
            !is_opened && !is_inside && is_real(path)
        };
        SYSTEM_CLOSED
            .iter()
            .filter(move |path| is_meant(path))
            .cloned()
    }

    /// The permits of this call and the directories that rules open by name, but for what is ours and for
    /// paths that are no longer where they were.
    fn opened(&self, rules: &ChildRules, openings: &[Opening]) -> Opened {
        let read = openings.iter().filter_map(|opening| match opening {
            Opening::Read(path) => Some(path),
            Opening::Write(_) => None,
        });
        let written = openings.iter().filter_map(|opening| match opening {
            Opening::Write(path) => Some(path),
            Opening::Read(_) => None,
        });
        // What is ours can be hidden in what is read, if nothing in it must be shown.
        let is_hidden = !self.temp_dir.starts_with(&self.state_dir);
        let read = read.chain(rules.read_outside()).map(PathBuf::from);
        let written = written.chain(rules.written_outside()).map(PathBuf::from);
        Opened {
            read: read
                .filter(|path| {
                    self.is_there(path) && (is_hidden || !self.state_dir.starts_with(path))
                })
                .collect(),
            write: written
                .filter(|path| self.is_there(path) || self.is_missing_there(path))
                .filter(|path| !self.state_dir.starts_with(path))
                .collect(),
        }
    }

    /// Whether a path that was judged stands where it did, and is not ours.
    pub(crate) fn is_there(&self, path: &Path) -> bool {
        // SECURITY: what is a link by now was not judged as what it leads to.
        is_real(path) && !self.is_ours(path)
    }

    /// Whether a path in the workspace that was judged is still missing, and could only be made there.
    fn is_missing_there(&self, path: &Path) -> bool {
        let above = path.ancestors().find(|it| it.symlink_metadata().is_ok());
        let is_inside = |it: &Path| it != path && it.starts_with(&self.workspace) && is_real(it);
        above.is_some_and(is_inside) && !self.is_ours(path)
    }

    /// The rules of the last command whose walls were told.
    pub(crate) fn rules_of_the_last(&self) -> Option<Arc<ChildRules>> {
        lock(&self.trees).rules.clone()
    }

    /// Directories in which nothing may be made but what these permits name: no wall can tell such names apart.
    pub(crate) fn partly_opened(&self, opened: &HashSet<PathBuf>) -> Vec<PathBuf> {
        let Some(rules) = self.rules_of_the_last() else {
            return Vec::new();
        };
        let is_closed = |path: &&Path| {
            let is_below = **path != *self.workspace && path.starts_with(&self.workspace);
            // Git makes what it likes in there; what others execute is protected by name.
            let is_git = path.iter().any(|it| Repository::called(it).is_some());
            is_below
                && !is_git
                && !opened.contains(*path)
                && !self.may_be_made(&path.join(ANY), &rules)
        };
        let top = |path: &PathBuf| {
            let above = path.ancestors().skip(1).filter(is_closed);
            above.last().map(Path::to_owned)
        };
        let found: BTreeSet<PathBuf> = opened.iter().filter_map(top).collect();
        found.into_iter().collect()
    }

    /// Opens the repository of a linked work tree to be read, and tells what may be written in it: as in the
    /// repository of any workspace.
    fn open_repository(
        &self,
        trees: &mut Trees,
        location: &Location,
        rules: &Arc<ChildRules>,
        opened: &Opened,
        walls: &mut sandbox::Walls,
    ) -> Result<Option<Closed>, HostError> {
        let common = &location.common;
        let fd = self.open_directory(common)?;
        let closed = trees.closed_repository(common, &fd, rules, opened)?;
        trees.note_repositories(common, &closed);
        if closed.masked.contains(common) {
            return Ok(None);
        }
        walls.readable.push(common.clone());
        walls.masked.extend(closed.masked.iter().cloned());
        let text = common.to_str();
        let is_writable = text.is_some_and(|it| rules.enter_to_write(it) != Leave::Denied);
        Ok(is_writable.then_some(closed))
    }

    /// Opens what lies outside the workspace, as far as the rules do not close what lies in it.
    fn open_outside(
        &self,
        trees: &mut Trees,
        opened: &Opened,
        walls: &mut sandbox::Walls,
    ) -> Result<(), HostError> {
        let is_outside = |path: &&PathBuf| !path.starts_with(&self.workspace);
        let mut read: Vec<&PathBuf> = opened.read.iter().filter(is_outside).collect();
        let mut written: Vec<&PathBuf> = opened.write.iter().filter(is_outside).collect();
        read.sort();
        written.sort();
        for path in read.iter().filter(|it| !it.is_dir()) {
            walls.readable.push((*path).clone());
        }
        for path in written.iter().filter(|it| !it.is_dir()) {
            walls.writable.push((*path).clone());
        }
        let mut directories: Vec<&PathBuf> = read
            .iter()
            .chain(&written)
            .copied()
            .filter(|it| it.is_dir())
            .collect();
        directories.sort();
        directories.dedup();
        for directory in directories {
            let closed =
                trees.closed_outside(directory, &self.open_directory(directory)?, opened)?;
            if opened.read.contains(directory) {
                walls.readable.push(directory.clone());
            }
            if opened.write.contains(directory) {
                walls.writable.push(directory.clone());
                trees.note_repositories(directory, &closed);
                // Its own rules: what is open in it is so because the directory is.
                walls.write_protected.extend(closed.write_protected);
            }
            walls.masked.extend(closed.masked);
            if self.state_dir.starts_with(directory) {
                walls.masked.push(self.state_dir.clone());
            }
        }
        Ok(())
    }

    fn open_directory(&self, path: &Path) -> Result<OwnedFd, HostError> {
        let below = path.strip_prefix("/").unwrap_or(path);
        beneath::directory(self.root.as_fd(), below).map_err(|errno| {
            not_told(IndexError::Root {
                path: path.to_owned(),
                errno,
            })
        })
    }

    /// Names that must not appear in a project while a command runs.
    fn held_names(&self, closed: &Closed, rules: &ChildRules, opened: &Opened) -> Vec<PathBuf> {
        let (top, nested): (Vec<_>, Vec<_>) = closed
            .project_roots
            .iter()
            .partition(|root| **root == self.workspace);
        let roots = top.into_iter().chain(nested.into_iter().take(NESTED_MAX));
        let paths = roots.flat_map(|root| HELD_NAMES.iter().map(|name| root.join(name)));
        let is_held = |path: &PathBuf| {
            // What an earlier command left there when it was cut off is none of the project's.
            let is_left = |it: &Metadata| it.is_dir() && it.mode() & 0o7777 == sandbox::HELD_MODE;
            let is_missing = path.symlink_metadata().as_ref().map_or(true, is_left);
            let is_opened = opened.write.contains(path) || opened.is_written_below(path);
            is_missing && !is_opened && !self.may_be_made(path, rules)
        };
        paths.filter(is_held).collect()
    }

    fn may_be_made(&self, path: &Path, rules: &ChildRules) -> bool {
        let real = path.strip_prefix(&self.workspace).unwrap_or(path);
        let (real, absolute) = (real.to_string_lossy(), path.to_string_lossy());
        rules.make(&real, &absolute) == Leave::Given
    }
}

/// A file for git, where commands can read it. Without it, git sees the directories that hold places.
pub(crate) fn git_excludes(home: Option<&Path>, temp_dir: &Path) -> Option<PathBuf> {
    let path = temp_dir.join("git-excludes");
    // SECURITY: never through what a command of an earlier session left there.
    drop(std::fs::remove_file(&path));
    let mut file = File::create_new(&path).ok()?;
    let written = file.write_all(git::excludes(home, HELD_NAMES).as_bytes());
    written.ok().map(|()| path)
}

/// Whether a path exists and reaches its place without a link.
fn is_real(path: &Path) -> bool {
    path.canonicalize().is_ok_and(|real| real == path)
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` hands it over")]
fn not_told(error: IndexError) -> HostError {
    HostError::Failed(format!("the command did not start: {error}"))
}
