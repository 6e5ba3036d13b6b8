//! One look at a tree: what has changed is read and judged again, and what is closed is listed.
//! Must not follow a link, nor open anything but directories.

use super::{
    ANY, Closed, IndexError, Link, Made, NAMES_MAX, Opened, WorkTree,
    node::{Node, Stamp, Write},
};
use crate::{
    git::{HOOK_NAMES, Repository, name_of_work_tree},
    walk::open_below,
};
use gate::{
    g3_confine::{ChildRules, Leave},
    host::Place,
};
use rustix::{
    fd::{AsFd as _, OwnedFd},
    fs::{AtFlags, Dir, FileType, OFlags, Stat, statat},
    io::Errno,
};
use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// What lies deeper is shut, so that nobody can let the walk run out of stack.
pub(super) const DEPTH_MAX: usize = 256;

/// One look at a tree.
pub(super) struct Survey<'a> {
    pub(super) fd: &'a OwnedFd,
    pub(super) root: &'a Path,
    /// Where, in an absolute path, the part below the root begins.
    pub(super) base: usize,
    pub(super) place: Place,
    pub(super) rules: &'a ChildRules,
    pub(super) tick: Duration,
    pub(super) opened: &'a Opened,
    pub(super) made: &'a mut Made,
    /// Directories that a permit opens with what lies in them, and what the rules say to each.
    pub(super) lifted: Vec<(PathBuf, Leave)>,
    /// What the rules say to the root outside the workspace, read and written; a directory in it is closed
    /// where they are stricter.
    pub(super) admitted: [Leave; 2],
    pub(super) names: usize,
    /// How many directories are around the one that is looked at.
    pub(super) depth: usize,
    pub(super) closed: Closed,
}

impl Survey<'_> {
    /// Lists what is closed in a directory, and says whether anything in it may be read.
    pub(super) fn visit(
        &mut self,
        node: &mut Node,
        path: &Path,
        stat: &Stat,
        above: Write,
    ) -> Result<bool, IndexError> {
        let is_top = path.as_os_str().len() < self.base;
        let stamp = Stamp::of(stat);
        if self.depth > DEPTH_MAX {
            node.is_shut = true;
        } else if node.stamp != Some(stamp) {
            self.read(node, path, stamp);
        }
        if node.is_work_tree {
            let is_free = node.is_made || self.lifted(path).is_some();
            self.closed.work_trees.extend(WorkTree::at(path, is_free));
        }
        if node.is_shut {
            self.closed.unseen.push(path.to_owned());
        }
        if node.is_bare || node.repository.is_some() {
            self.closed.repositories.push(path.to_owned());
        }
        self.names += node.names;
        if self.names > NAMES_MAX {
            return Err(IndexError::TooMany(self.root.to_owned()));
        }
        let is_opened = self.opened.read.contains(path);
        let first = self.closed.masked.len();
        let write = self.write(node, path, above);
        let is_file_read = self.files(node, path, write);
        let mut is_read = node.is_read || is_file_read || is_opened;
        let mut gone = Vec::new();
        for (name, below) in &mut node.directories {
            let path = path.join(name);
            let there = statat(self.fd, self.below(&path), AtFlags::SYMLINK_NOFOLLOW);
            match there {
                Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {
                    self.depth += 1;
                    is_read |= self.visit(below, &path, &stat, write)?;
                    self.depth -= 1;
                }
                // The next look reads the directory around again, whose times have changed.
                Ok(_) | Err(Errno::NOENT | Errno::NOTDIR) => gone.push(name.clone()),
                Err(_) => self.shut(&path, write),
            }
        }
        for name in gone {
            node.directories.remove(&name);
            node.stamp = None;
        }
        if node.is_shut || !(is_read || is_top) {
            self.closed.masked.truncate(first);
            self.closed.masked.push(path.to_owned());
            return Ok(false);
        }
        Ok(is_read)
    }

    /// What may be changed in a directory, and listed if that is otherwise than around it.
    fn write(&mut self, node: &Node, path: &Path, above: Write) -> Write {
        let is_open = !node.is_shut
            && (node.is_made_in
                || self.opened.write.contains(path)
                || self.is_lifted_to_make(node, path));
        let write = match above {
            Write::NotYet if is_open => {
                self.closed.writable.push(path.to_owned());
                Write::Open
            }
            // Who may change a file in it may replace it, so names can be made. Who starts the command looks for others.
            Write::Open if !node.is_shut && self.opened.is_written_below(path) => Write::Open,
            Write::Open if !is_open => {
                self.closed.write_protected.push(path.to_owned());
                Write::Over
            }
            Write::NotYet | Write::Open | Write::Over => above,
        };
        let is_top = path.as_os_str().len() < self.base;
        // Leave to change its repository is leave to remove it, and what would hold names in it were in the way.
        let is_kept =
            || self.lifted(path).is_none() && !self.opened.write.contains(&path.join(".git"));
        let is_root = is_top || (node.is_project && is_kept());
        if write == Write::Open && node.repository.is_none() && is_root {
            self.closed.project_roots.push(path.to_owned());
        }
        write
    }

    /// Lists the files of a directory, and says whether a permit lets one be read.
    fn files(&mut self, node: &Node, path: &Path, write: Write) -> bool {
        let mut is_any_read = false;
        for name in &node.unread {
            let path = path.join(name);
            if self.opened.read.contains(&path) {
                is_any_read = true;
            } else {
                self.closed.masked.push(path);
            }
        }
        let is_free = self.lifted(path).is_some();
        for (name, is_obeyed) in node.links.iter().filter(|_| !is_free) {
            if *is_obeyed || write == Write::Open {
                self.closed.links.push(Link {
                    path: path.join(name),
                    is_obeyed: *is_obeyed,
                });
            }
        }
        if write == Write::NotYet {
            let opened = node.unchanged.iter().map(|name| path.join(name));
            let opened = opened.filter(|path| self.opened.write.contains(path));
            self.closed.writable.extend(opened);
        }
        let names = match write {
            Write::Open => &node.unchanged,
            Write::NotYet => &node.changed,
            Write::Over => return is_any_read,
        };
        let is_removed = node.repository == Some(Repository::Worktree) && self.is_removed(path);
        for name in names {
            let path = path.join(name);
            match write {
                Write::Open if self.opened.write.contains(&path) || is_removed => {}
                Write::Open if self.is_lifted(node, &path) => {}
                Write::Open if node.repository.is_some() && self.opened.is_written_below(&path) => {
                    self.keep_hooks(&path);
                }
                Write::Open => self.closed.write_protected.push(path),
                Write::NotYet => self.closed.writable.push(path),
                Write::Over => {}
            }
        }
        is_any_read
    }

    /// What the rules say to the directory that a permit opens with what lies in it, if a path lies in one.
    fn lifted(&self, path: &Path) -> Option<Leave> {
        let mut around = self.lifted.iter().filter(|(it, _)| path.starts_with(it));
        around.next().map(|(_, leave)| *leave)
    }

    /// Whether a file may be changed with the directory around it: the rules are no stricter about the file. In a
    /// repository they say nothing of it, or close all.
    fn is_lifted(&self, node: &Node, path: &Path) -> bool {
        let is_in = |(real, absolute): (String, String), leave: Leave| {
            self.rules.change_by_rules(&real, &absolute) <= leave
        };
        let leave = self.lifted(path);
        leave.is_some_and(|leave| {
            node.repository.is_some() || self.spelled(path).is_some_and(|it| is_in(it, leave))
        })
    }

    /// Whether files may be made in a directory with the one around it.
    fn is_lifted_to_make(&self, node: &Node, path: &Path) -> bool {
        let is_in = |(real, absolute): (String, String), leave: Leave| {
            self.rules.make_by_rules(&real, &absolute) <= leave
        };
        let leave = self.lifted(path).filter(|_| node.repository.is_none());
        leave.is_some_and(|leave| {
            self.spelled(&path.join(ANY))
                .is_some_and(|it| is_in(it, leave))
        })
    }

    /// Whether this directory is kept for a work tree that a permit lets be removed.
    ///
    /// SECURITY: a command may have it name any path, but only a yes of somebody opens one that is called `.git`.
    fn is_removed(&self, path: &Path) -> bool {
        let is_opened = |it: &Path| it.ends_with(".git") && self.opened.write.contains(it);
        !self.opened.write.is_empty() && name_of_work_tree(path).is_some_and(|it| is_opened(&it))
    }

    /// Keeps what is in a directory of hooks, and the names that git looks for there, but for those that are opened.
    fn keep_hooks(&mut self, path: &Path) {
        let Ok(there) = self.entries(path) else {
            return self.closed.write_protected.push(path.to_owned());
        };
        let there = there.into_iter().map(|(name, _)| name);
        let names = there.chain(HOOK_NAMES.iter().map(Into::into));
        let mut kept: Vec<_> = names.map(|name| path.join(name)).collect();
        kept.retain(|path| !self.opened.write.contains(path));
        kept.sort();
        kept.dedup();
        self.closed.write_protected.append(&mut kept);
    }

    fn shut(&mut self, path: &Path, write: Write) {
        self.closed.unseen.push(path.to_owned());
        self.closed.masked.push(path.to_owned());
        if write == Write::Open {
            self.closed.write_protected.push(path.to_owned());
        }
    }

    /// Reads a directory anew. What lies in directories that stay is kept.
    fn read(&mut self, node: &mut Node, path: &Path, stamp: Stamp) {
        let now = SystemTime::now();
        let mut kept = std::mem::take(&mut node.directories);
        let repository = node.repository.take();
        *node = Node {
            repository,
            is_made: node.is_made,
            ..Node::default()
        };
        let Some((real, absolute)) = self.spelled(path) else {
            node.is_shut = true;
            return;
        };
        let Ok(entries) = self.entries(path) else {
            // Its owner could open it, and a command runs as that owner.
            node.is_shut = true;
            return;
        };
        if stamp.is_settled_at(now, self.tick) {
            node.stamp = Some(stamp);
        }
        node.names = entries.len();
        node.is_bare = node.repository.is_none() && is_bare(&entries);
        if let Some(repository) = &node.repository {
            self.look_into_repository(*repository, node, (&real, &absolute), &entries);
        } else {
            self.judge(node, (&real, &absolute), &entries);
        }
        if node.is_shut {
            return;
        }
        for (name, kind) in entries {
            let is_git = node.repository.is_none() && Repository::called(&name).is_some();
            let is_found = matches!(
                kind,
                FileType::Directory | FileType::RegularFile | FileType::Symlink
            );
            node.is_work_tree |= is_git && is_found;
            if kind != FileType::Directory {
                continue;
            }
            let inner = match &node.repository {
                Some(repository) => match repository.inner(&name) {
                    Some(inner) => Some(inner),
                    // Git's own names, of which no rule speaks.
                    None => continue,
                },
                None => Repository::called(&name),
            };
            // What lies in others' packages is no project of this one.
            node.is_project |= inner.is_some() && node.repository.is_none() && !node.is_made;
            let is_made = node.is_made || (inner.is_none() && self.is_made(&path.join(&name)));
            let mut below = kept.remove(&name).unwrap_or_default();
            if (below.repository, below.is_made) != (inner, is_made) {
                below = Node {
                    repository: inner,
                    is_made,
                    ..Node::default()
                };
            }
            node.directories.insert(name, below);
        }
    }

    /// Whether a directory in the workspace holds what tools fetch or make.
    fn is_made(&mut self, path: &Path) -> bool {
        let is_inside = self.place == Place::Inside;
        is_inside && self.made.holds(self.fd, below(path, self.base))
    }

    /// Asks the rules about the files of a directory.
    fn judge(&self, node: &mut Node, (real, absolute): (&str, &str), entries: &Entries) {
        let [mut real, mut absolute] = [real, absolute].map(|path| {
            let mut path = path.to_owned();
            if !path.is_empty() && !path.ends_with('/') {
                path.push('/');
            }
            path
        });
        let stems = [real.len(), absolute.len()];
        let mut spell = |name: &str| {
            real.truncate(stems[0]);
            absolute.truncate(stems[1]);
            real.push_str(name);
            absolute.push_str(name);
            (real.clone(), absolute.clone())
        };
        let (any, any_absolute) = spell(ANY);
        let mut is_entered = true;
        let is_fetched = node.is_made;
        let by_rules = |leave: Leave, by_rules: &dyn Fn() -> Leave| match leave {
            Leave::Asked if is_fetched => by_rules(),
            leave => leave,
        };
        let make = self.rules.make(&any, &any_absolute);
        let make = by_rules(make, &|| self.rules.make_by_rules(&any, &any_absolute));
        node.is_made_in = make == Leave::Given;
        if self.place == Place::Outside {
            let directory = any_absolute.trim_end_matches(ANY);
            is_entered = self.rules.enter(directory) <= self.admitted[0];
            node.is_made_in &= self.rules.enter_to_write(directory) <= self.admitted[1];
        }
        if !is_entered {
            node.is_shut = true;
            return;
        }
        let read = |real: &str, absolute: &str| {
            let leave = self.rules.read(real, absolute);
            by_rules(leave, &|| self.rules.read_by_rules(real, absolute)) == Leave::Given
        };
        node.is_read = read(&any, &any_absolute);
        for (name, kind) in entries {
            if *kind == FileType::Directory {
                continue;
            }
            // What a link leads to is read as it is judged where it stands.
            let is_link = *kind == FileType::Symlink;
            let Some(text) = name.to_str() else {
                if is_link {
                    node.links.push((name.clone(), false));
                } else {
                    node.unread.push(name.clone());
                    node.unchanged.push(name.clone());
                }
                continue;
            };
            let (real, absolute) = spell(text);
            let change = self.rules.change(&real, &absolute);
            let change = by_rules(change, &|| self.rules.change_by_rules(&real, &absolute));
            if is_link {
                if change != Leave::Given {
                    // What git finds by a link is protected as a repository is, and not whole.
                    let is_git = Repository::called(name).is_some();
                    let is_obeyed =
                        !is_git && !is_fetched && self.rules.is_obeyed(&real, &absolute);
                    node.links.push((name.clone(), is_obeyed));
                }
                continue;
            }
            if read(&real, &absolute) {
                node.is_read = true;
            } else {
                node.unread.push(name.clone());
            }
            match (change, node.is_made_in) {
                (Leave::Given, true) => {}
                (Leave::Given, false) => node.changed.push(name.clone()),
                (Leave::Asked | Leave::Denied, _) => node.unchanged.push(name.clone()),
            }
        }
    }

    /// Git writes in its own directory, and reads the settings there, though a tool that does is asked: what
    /// others execute is closed by name, and all of it only by a deny.
    fn look_into_repository(
        &self,
        repository: Repository,
        node: &mut Node,
        (real, absolute): (&str, &str),
        entries: &Entries,
    ) {
        let spell = |name: &str| (format!("{real}/{name}"), format!("{absolute}/{name}"));
        let (any, any_absolute) = spell(ANY);
        node.is_read = self.rules.read(&any, &any_absolute) != Leave::Denied;
        node.is_made_in = self.rules.change(&any, &any_absolute) != Leave::Denied;
        node.is_shut = !node.is_read;
        let is_there = |name: &str| entries.iter().any(|(it, _)| it == name);
        let is_link = |name: &str| {
            let is_it = |it: &OsStr| name.split('/').next().is_some_and(|first| it == first);
            let mut links = entries
                .iter()
                .filter(|(_, kind)| *kind == FileType::Symlink);
            links.any(|(it, _)| is_it(it))
        };
        let executed = if node.is_made {
            &[]
        } else {
            repository.executed()
        };
        for name in executed {
            if is_link(name) {
                node.links.push((name.into(), true));
            } else if is_there(name) || repository.is_held(name) {
                node.unchanged.push(name.into());
            }
        }
        let (config, config_absolute) = spell("config");
        if is_there("config") && self.rules.read(&config, &config_absolute) == Leave::Denied {
            node.unread.push("config".into());
        }
    }

    /// The names in a directory with their kinds.
    fn entries(&self, path: &Path) -> rustix::io::Result<Entries> {
        let below = self.below(path);
        let below = below.to_str().ok_or(Errno::ILSEQ)?;
        let below = if below == "." { "" } else { below };
        let mut dir = Dir::new(open_below(self.fd.as_fd(), below, OFlags::DIRECTORY)?)?;
        let mut entries = Vec::new();
        while let Some(entry) = dir.read() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let mut kind = entry.file_type();
            if kind == FileType::Unknown {
                let stat = statat(dir.fd()?, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
                kind = FileType::from_raw_mode(stat.st_mode);
            }
            entries.push((OsStr::from_bytes(name).to_owned(), kind));
        }
        Ok(entries)
    }

    pub(super) fn below<'p>(&self, path: &'p Path) -> &'p Path {
        below(path, self.base)
    }

    /// A path as rules have it, and absolute.
    fn spelled(&self, path: &Path) -> Option<(String, String)> {
        let absolute = path.to_str()?.to_owned();
        let real = match self.place {
            Place::Inside => absolute.get(self.base..).unwrap_or_default().to_owned(),
            Place::Outside => absolute.clone(),
        };
        Some((real, absolute))
    }
}

/// Whether a directory holds what git looks for in a repository. A command may put it anywhere.
fn is_bare(entries: &Entries) -> bool {
    let has = |name: &str| entries.iter().any(|(it, _)| it == name);
    has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

/// What of a path lies behind so many bytes.
fn below(path: &Path, base: usize) -> &Path {
    match path.as_os_str().as_bytes().get(base..) {
        Some(below) if !below.is_empty() => Path::new(OsStr::from_bytes(below)),
        _ => Path::new("."),
    }
}

/// The names in a directory with their kinds.
type Entries = Vec<(OsString, FileType)>;
