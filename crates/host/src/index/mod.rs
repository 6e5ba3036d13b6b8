//! Which paths of a tree the rules close to commands. Walked once; after that only directories that have
//! changed are read again. Must not follow a link, nor open anything but directories.
//!
//! A directory is known by its identity and its times. One that was read while it may still have been
//! changing is read again the next time, because its times could be the same afterwards.

mod made;
mod node;
mod survey;

use crate::git::{Location, Repository};
use gate::{
    g3_confine::{ChildRules, Leave},
    host::Place,
};
pub(crate) use made::Made;
pub(crate) use node::Stamp;
use node::{Node, TICK, Write};
use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, FileType, Stat, statat},
    io::Errno,
};
use std::{
    collections::{BTreeMap, HashSet},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use survey::Survey;

/// The most names a tree may hold. Beyond that nobody could wait for the walk.
pub(crate) const NAMES_MAX: usize = 1_000_000;

/// A name for which no rule was written: it tells what holds for names that do not exist yet.
pub(crate) const ANY: &str = "a-name-that-no-rule-was-written-for";

/// A tree with what the rules say to it.
#[derive(Debug)]
pub(crate) struct Index {
    root: PathBuf,
    place: Place,
    rules: Arc<ChildRules>,
    /// How coarse the times of files are.
    tick: Duration,
    top: Node,
    /// Which directories hold what tools fetch or make.
    made: Made,
    /// Repositories' own directories that have other names than `.git`: a link or a file leads to them.
    others: BTreeMap<PathBuf, Node>,
}

/// What a tree shows to one command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Closed {
    /// What may not be read, in a tree that may.
    pub(crate) masked: Vec<PathBuf>,
    /// What may be changed. The root itself, or what lies apart from each other in it.
    pub(crate) writable: Vec<PathBuf>,
    /// What may not be changed in there.
    pub(crate) write_protected: Vec<PathBuf>,
    /// Directories in there from which tools take what they execute or obey: the root, and the root of
    /// every repository.
    pub(crate) project_roots: Vec<PathBuf>,
    /// Links in there that may not be changed.
    pub(crate) links: Vec<Link>,
    /// Where git finds a repository from.
    pub(crate) work_trees: Vec<WorkTree>,
    /// Repositories' own directories, bare ones and those in others too, whatever the rules say to them.
    pub(crate) repositories: Vec<PathBuf>,
    /// Directories that nobody looked into.
    pub(crate) unseen: Vec<PathBuf>,
}

/// A path that leads over a link which may not be changed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) path: PathBuf,
    /// Others run or obey what it leads to.
    pub(crate) is_obeyed: bool,
}

/// A directory with the repository that git finds from there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WorkTree {
    pub(crate) root: PathBuf,
    pub(crate) location: Location,
    /// What its settings name is not held: it lies in what tools fetch or make, or may be removed.
    pub(crate) is_free: bool,
}

impl WorkTree {
    fn at(root: &Path, is_free: bool) -> Option<Self> {
        let location = Location::of(root)?;
        Some(Self {
            root: root.to_owned(),
            location,
            is_free,
        })
    }
}

/// Why a tree cannot be told.
#[derive(Debug, thiserror::Error)]
pub(crate) enum IndexError {
    #[error("`{}` cannot be looked through: {errno}", path.display())]
    Root { path: PathBuf, errno: Errno },
    #[error(
        "`{}` holds more than {NAMES_MAX} files and directories, so it cannot be told which of them the rules \
         close; take a smaller directory",
        .0.display()
    )]
    TooMany(PathBuf),
}

/// What this call holds permits for, by absolute path.
#[derive(Debug, Default)]
pub(crate) struct Opened {
    pub(crate) read: HashSet<PathBuf>,
    pub(crate) write: HashSet<PathBuf>,
}

impl Opened {
    /// Whether something below a path may be changed by a permit of its own.
    pub(crate) fn is_written_below(&self, path: &Path) -> bool {
        self.write
            .iter()
            .any(|it| it.starts_with(path) && it != path)
    }
}

impl Index {
    pub(crate) fn new(root: &Path, place: Place, rules: Arc<ChildRules>) -> Self {
        Self {
            root: root.to_owned(),
            place,
            rules,
            tick: TICK,
            top: Node::default(),
            made: Made::default(),
            others: BTreeMap::new(),
        }
    }

    /// With what an earlier one took for fetched or made, which holds as long as the session.
    pub(crate) fn knowing(mut self, made: Made) -> Self {
        self.made = made;
        self
    }

    pub(crate) fn into_made(self) -> Made {
        self.made
    }

    /// One of a repository's own directory, which lies outside the workspace.
    pub(crate) fn of_repository(root: &Path, rules: Arc<ChildRules>) -> Self {
        let mut index = Self::new(root, Place::Outside, rules);
        index.top.repository = Some(Repository::Main);
        index
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The rules it was made under: under others another is made.
    pub(crate) fn rules(&self) -> &Arc<ChildRules> {
        &self.rules
    }

    /// Directories in here that a permit opens although the rules do not let them be changed, with what the rules say.
    ///
    /// SECURITY: somebody was asked about each. Where rules let one be changed by its own name, nobody was, and outside
    /// the question may have been another.
    fn lifted(&self, opened: &Opened) -> Vec<(PathBuf, Leave)> {
        if self.place == Place::Outside {
            return Vec::new();
        }
        let lifted = |path: &PathBuf| {
            let real = path.strip_prefix(&self.root).ok()?.to_str()?;
            let absolute = path.to_str()?;
            let is_asked = self.rules.change(real, absolute) == Leave::Asked;
            // What the permit was given for is no link: it stands where it was judged.
            (is_asked && !real.is_empty() && path.is_dir())
                .then(|| (path.clone(), self.rules.change_by_rules(real, absolute)))
        };
        opened.write.iter().filter_map(lifted).collect()
    }

    /// What is closed now to a command with these permits.
    ///
    /// # Errors
    /// The tree cannot be read, or is too large.
    pub(crate) fn closed(&mut self, fd: &OwnedFd, opened: &Opened) -> Result<Closed, IndexError> {
        let path = self.root.to_string_lossy().into_owned();
        let lifted = self.lifted(opened);
        let mut survey = Survey {
            fd,
            root: &self.root,
            base: path.trim_end_matches('/').len() + 1,
            place: self.place,
            rules: &self.rules,
            tick: self.tick,
            opened,
            made: &mut self.made,
            lifted,
            admitted: [self.rules.enter(&path), self.rules.enter_to_write(&path)],
            names: 0,
            depth: 0,
            closed: Closed::default(),
        };
        let stat = statat(fd, ".", AtFlags::empty());
        let stat = stat.map_err(|errno| IndexError::Root {
            path: self.root.clone(),
            errno,
        })?;
        survey.visit(&mut self.top, &self.root, &stat, Write::NotYet)?;
        let mut known = std::mem::take(&mut self.others);
        for directory in survey.closed.repositories_elsewhere(&self.root) {
            let stat = statat(fd, survey.below(&directory), AtFlags::SYMLINK_NOFOLLOW);
            let is_directory =
                |stat: &Stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
            let Some(stat) = stat.ok().filter(is_directory) else {
                continue;
            };
            let mut node = known.remove(&directory).unwrap_or_default();
            node.repository = Some(Repository::Main);
            survey.visit(&mut node, &directory, &stat, Write::Open)?;
            self.others.insert(directory, node);
        }
        Ok(survey.closed)
    }
}

impl Closed {
    /// Repositories' own directories in a tree that have no name which tells it, where something may be changed.
    fn repositories_elsewhere(&self, root: &Path) -> Vec<PathBuf> {
        let all = self
            .work_trees
            .iter()
            .flat_map(|it| [&it.location.directory, &it.location.common]);
        let is_told = |below: &Path| below.iter().any(|name| Repository::called(name).is_some());
        let lies_in = |paths: &[PathBuf], path: &Path| paths.iter().any(|it| path.starts_with(it));
        let mut elsewhere: Vec<PathBuf> = all
            .filter(|path| path.strip_prefix(root).is_ok_and(|below| !is_told(below)))
            .filter(|path| lies_in(&self.writable, path) && !lies_in(&self.write_protected, path))
            .cloned()
            .collect();
        elsewhere.sort();
        elsewhere.dedup();
        elsewhere
    }
}
#[cfg(test)]
mod tests;
