//! Where the repository of a work tree lies, which git finds by a directory, a link or a file named `.git`.
//! Must not take the word of a work tree for what lies outside of it: that has to name the work tree too.

use super::config::{Entry, entries, text_of};
use crate::trail::Trail;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A repository as one work tree sees it; all paths are real.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    /// What git keeps of this work tree.
    pub(crate) directory: PathBuf,
    /// What it keeps of all of them: settings, hooks, objects. The same but for a linked work tree.
    pub(crate) common: PathBuf,
}

impl Location {
    /// Of the work tree with this root. Says nothing of whether there is a repository.
    pub(crate) fn of(root: &Path) -> Option<Self> {
        let found = Trail::of(&root.join(".git")).end?;
        let directory = if found.is_dir() {
            found
        } else {
            let text = text_of(&found)?;
            real(root, text.strip_prefix("gitdir:")?)?
        };
        let common = text_of(&directory.join("commondir")).and_then(|text| real(&directory, &text));
        Some(Self {
            common: common.unwrap_or_else(|| directory.clone()),
            directory,
        })
    }

    /// Whether the repository, which lies outside, knows this work tree as one of its own. Nobody who can write in
    /// the work tree alone can bring that about.
    pub(crate) fn is_linked_from(&self, root: &Path) -> bool {
        let is_file = fs::symlink_metadata(root.join(".git")).is_ok_and(|it| it.is_file());
        let is_there = |name: &str| self.common.join(name).is_dir();
        is_file
            && (self.is_of_work_tree(root) || self.is_of_submodule(root))
            && is_there("objects")
            && is_there("refs")
            && !root.starts_with(&self.common)
            && !self.common.starts_with(root)
    }

    fn is_of_work_tree(&self, root: &Path) -> bool {
        let back = name_of_work_tree(&self.directory);
        // SECURITY: `commondir` alone could lead anywhere.
        self.directory.parent() == Some(&self.common.join("worktrees"))
            && back == Some(root.join(".git"))
    }

    fn is_of_submodule(&self, root: &Path) -> bool {
        let text = text_of(&self.common.join("config")).unwrap_or_default();
        let is_it = |it: &&Entry| it.section == "core" && it.key == "worktree";
        let entries = entries(&text);
        let named = entries
            .iter()
            .rfind(is_it)
            .and_then(|it| it.value.as_deref());
        let named = named.and_then(|it| Trail::of(&self.common.join(it)).end);
        self.directory == self.common && named.as_deref() == Some(root)
    }

    /// What in a repository that lies outside is of other work trees, or says where this one lies.
    pub(crate) fn of_others(&self) -> Vec<PathBuf> {
        if self.directory == self.common {
            return Vec::new();
        }
        let around = self.directory.parent().into_iter();
        let entries = around.filter_map(|around| fs::read_dir(around).ok());
        let others = entries.flatten().flatten().map(|entry| entry.path());
        let main = ["HEAD", "index"].map(|name| self.common.join(name));
        let main = main.into_iter().filter(|path| path.exists());
        main.chain(others.filter(|path| *path != self.directory))
            .chain([self.directory.join("gitdir")])
            .collect()
    }
}

/// The `.git` of the work tree that this directory of a repository is kept for.
pub(crate) fn name_of_work_tree(directory: &Path) -> Option<PathBuf> {
    let text = text_of(&directory.join("gitdir"))?;
    Trail::of(&directory.join(text.trim_end())).end
}

/// A path as a file of git's names it, where it leads to.
fn real(from: &Path, text: &str) -> Option<PathBuf> {
    let named = text.trim_start().trim_end_matches(['\n', '\r']);
    let end = Trail::of(&from.join(named)).end?;
    (!named.is_empty() && end.is_dir()).then_some(end)
}
