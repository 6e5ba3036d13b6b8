//! What others obey by another name than its own: what protected links lead to, what the settings of git name, and
//! the repository of a linked work tree. Must not look into anything but links and git's settings.

use crate::{
    git::{HOOK_NAMES, Location, Named, Settings},
    index::{Closed, Opened, WorkTree},
    local::Machine,
    trail::Trail,
};
use gate::g3_confine::{ChildRules, Leave};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The longest name that a file can have, in bytes.
const NAME_BYTES_MAX: usize = 255;

/// What is gathered for one command.
struct Keeper<'a> {
    workspace: &'a Path,
    /// The workspace, and its repository if that lies outside.
    roots: Vec<&'a Path>,
    work_trees: &'a [WorkTree],
    rules: &'a ChildRules,
    opened: &'a Opened,
    kept: Vec<PathBuf>,
}

impl Keeper<'_> {
    fn is_inside(&self, path: &Path) -> bool {
        self.roots
            .iter()
            .any(|root| path != *root && path.starts_with(root))
    }

    /// Keeps the links on a way, as far as commands could replace them.
    fn keep_links(&mut self, trail: &Trail) {
        let inside = trail.links.iter().filter(|it| self.is_inside(it)).cloned();
        let inside: Vec<_> = inside.collect();
        self.kept.extend(inside);
    }

    /// Keeps what others obey at the end of a way. Where nothing is yet, only the last name is kept from being made:
    /// without the directory around it, more than that name would be.
    fn keep(&mut self, path: PathBuf) {
        let is_name = path
            .file_name()
            .is_some_and(|it| it.len() <= NAME_BYTES_MAX);
        let is_makeable = is_name && (path.exists() || path.parent().is_some_and(Path::is_dir));
        if !is_makeable || self.is_around(&path) || self.is_opened(&path) || !self.is_inside(&path)
        {
            return;
        }
        if !self.is_opened_below(&path) {
            return self.kept.push(path);
        }
        for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
            self.keep(entry.path());
        }
    }

    /// Whether this call may change it. SECURITY: where the rules let a path be changed by its own name, nobody was
    /// asked about what others find there.
    fn is_opened(&self, path: &Path) -> bool {
        let absolute = path.to_string_lossy();
        let real = path.strip_prefix(self.workspace).unwrap_or(path);
        self.opened.write.contains(path)
            && self.rules.change(&real.to_string_lossy(), &absolute) != Leave::Given
    }

    fn is_opened_below(&self, path: &Path) -> bool {
        let mut below = self.opened.write.iter().filter(|it| it.starts_with(path));
        below.any(|it| self.is_opened(it))
    }

    /// Whether work goes on in there: a work tree or a repository lies in it.
    fn is_around(&self, path: &Path) -> bool {
        self.workspace.starts_with(path)
            || self.work_trees.iter().any(|it| {
                let Location { directory, common } = &it.location;
                [&it.root, directory, common]
                    .iter()
                    .any(|it| it.starts_with(path))
            })
    }

    /// Keeps what the settings that git finds from a work tree name.
    fn keep_named(&mut self, work_tree: &Path, named: &Named) {
        let trail = Trail::of(match named {
            Named::Hooks(path) | Named::File(path) | Named::Word(path) => path,
        });
        let Some(end) = trail.end.clone() else {
            return self.keep_links(&trail);
        };
        match named {
            Named::Word(_) if !end.is_file() => return,
            Named::File(_) if end.is_dir() => return,
            // Only hooks are taken from there by git. A directory of others is theirs, whoever named it.
            Named::Hooks(_) if self.is_around(&end) || !end.starts_with(work_tree) => {
                for name in HOOK_NAMES {
                    self.keep(end.join(name));
                }
            }
            Named::Word(_) | Named::File(_) | Named::Hooks(_) => self.keep(end),
        }
        self.keep_links(&trail);
    }
}

impl Machine {
    /// What may not be changed for what leads there, in the workspace and in its repository if that lies outside.
    pub(crate) fn obeyed(
        &self,
        closed: &Closed,
        repository: Option<&Closed>,
        rules: &ChildRules,
        settings: &mut Settings,
        opened: &Opened,
    ) -> Vec<PathBuf> {
        let mut keeper = Keeper {
            workspace: &self.workspace,
            roots: repository
                .into_iter()
                .flat_map(|it| &it.writable)
                .chain([&self.workspace])
                .map(PathBuf::as_path)
                .collect(),
            work_trees: &closed.work_trees,
            rules,
            opened,
            kept: Vec::new(),
        };
        let links = repository.into_iter().flat_map(|it| &it.links);
        for link in closed.links.iter().chain(links) {
            let trail = Trail::of(&link.path);
            // Leave to change what it leads to is leave to have it lead elsewhere.
            if trail.end.as_ref().is_some_and(|end| keeper.is_opened(end)) {
                continue;
            }
            keeper.keep_links(&trail);
            if let Some(end) = trail.end.filter(|_| link.is_obeyed) {
                keeper.keep(end);
            }
        }
        for it in closed.work_trees.iter().filter(|it| !it.is_free) {
            for named in settings.named(&it.root, &it.location, self.home.as_deref()) {
                keeper.keep_named(&it.root, &named);
            }
        }
        keeper.kept.sort();
        keeper.kept.dedup();
        keeper.kept
    }

    /// The repository of a workspace that is a linked work tree: it lies outside, and git can do nothing without it.
    pub(crate) fn linked<'c>(
        &self,
        closed: &'c Closed,
        rules: &ChildRules,
    ) -> Option<&'c WorkTree> {
        let found = closed
            .work_trees
            .iter()
            .find(|it| it.root == self.workspace)?;
        let common = &found.location.common;
        // SECURITY: an ask is no leave to enter what a command chose, but nothing here is chosen: the repository
        // has named this work tree. A deny holds.
        let is_denied = common
            .to_str()
            .is_none_or(|it| rules.enter(it) == Leave::Denied);
        let is_ours = self.is_ours(common) || self.state_dir.starts_with(common);
        let is_linked = !is_denied && !is_ours && found.location.is_linked_from(&self.workspace);
        is_linked.then_some(found)
    }
}
