//! The walls around one command: what its call may touch, path by path.
//! Must not open anything that the order does not, nor leave out what cannot be told: then nothing runs.

use crate::{
    beneath, git,
    index::{Closed, Index, IndexError, Opened},
    local::Machine,
};
use gate::{
    access::Spawn,
    g3_confine::{ChildRules, ChildWrites, Leave, Opening, Order},
    host::{HostError, Place},
};
use rustix::fd::{AsFd as _, OwnedFd};
use std::{
    fs::{File, Metadata},
    io::Write as _,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// How many directories outside are remembered.
const OUTSIDE_MAX: usize = 8;

/// The most paths that are closed one by one.
const CLOSED_MAX: usize = 20_000;

/// The most processes and threads of one command.
const PROCESSES_MAX: u64 = 4_096;

/// What tools take from the root of a project without being asked. It is kept from being made where nothing has
/// the name; elsewhere, and by other names, only what exists is protected.
const OBEYED: &[&str] = &[
    ".claude",
    ".codex",
    ".cursor",
    ".envrc",
    ".kilo",
    ".mcp.json",
    ".opencode",
    ".vscode",
    "AGENTS.md",
    "CLAUDE.md",
];

/// What in the system's own directories is secret, where file modes may not keep it from us.
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

/// What is known of the trees that commands may touch, under the rules of the last one.
#[derive(Debug, Default)]
pub(crate) struct Trees {
    rules: Option<Arc<ChildRules>>,
    workspace: Option<Index>,
    /// The one used last stands first.
    outside: Vec<Index>,
}

impl Trees {
    /// Forgets what was found under other rules.
    fn keep_for(&mut self, rules: &Arc<ChildRules>) {
        let is_of = |index: &Index| Arc::ptr_eq(index.rules(), rules);
        self.workspace = self.workspace.take().filter(is_of);
        self.outside.retain(is_of);
        self.rules = Some(Arc::clone(rules));
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
        self.walls_under(&rules, child_writes, walls.openings())
    }

    /// The same from its parts.
    pub(crate) fn walls_under(
        &self,
        rules: &Arc<ChildRules>,
        child_writes: ChildWrites,
        openings: &[Opening],
    ) -> Result<sandbox::Walls, HostError> {
        let opened = self.opened(rules, openings);
        let mut walls = self.bare_walls();
        let mut trees = lock(&self.trees);
        trees.keep_for(rules);
        let inside = trees
            .workspace
            .get_or_insert_with(|| Index::new(&self.workspace, Place::Inside, Arc::clone(rules)));
        let inside = inside
            .closed(&self.workspace_fd, &opened)
            .map_err(not_told)?;
        if child_writes == ChildWrites::Workspace {
            let held = self.held_names(&inside, rules, &opened);
            walls.write_protected.extend(held);
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
        let is_real = |path: &PathBuf| path.canonicalize().is_ok_and(|real| real == *path);
        sandbox::Walls {
            readable: self.readable.clone(),
            writable: vec![self.temp_dir.clone()],
            masked: secrets.filter(is_real).collect(),
            links: self.links.clone(),
            limits: sandbox::Limits {
                processes: Some(PROCESSES_MAX),
                ..sandbox::Limits::default()
            },
            ..sandbox::Walls::default()
        }
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
                .filter(|path| self.is_there(path) && !self.state_dir.starts_with(path))
                .collect(),
        }
    }

    /// Whether a path that was judged stands where it did, and is not ours.
    fn is_there(&self, path: &Path) -> bool {
        // SECURITY: what is a link by now was not judged as what it leads to.
        path.canonicalize().is_ok_and(|real| real == path) && !self.is_ours(path)
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
        let roots = closed.project_roots.iter();
        let paths = roots.flat_map(|root| OBEYED.iter().map(|name| root.join(name)));
        let is_held = |path: &PathBuf| {
            // What an earlier command left there when it was cut off is none of the project's.
            let is_left = |it: &Metadata| it.is_dir() && it.mode() & 0o7777 == sandbox::HELD_MODE;
            let is_missing = path.symlink_metadata().as_ref().map_or(true, is_left);
            is_missing && !opened.write.contains(path) && !self.may_be_made(path, rules)
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
    let written = file.write_all(git::excludes(home, OBEYED).as_bytes());
    written.ok().map(|()| path)
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` hands it over")]
fn not_told(error: IndexError) -> HostError {
    HostError::Failed(format!("the command did not start: {error}"))
}
