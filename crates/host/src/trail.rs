//! Where a path leads, link by link, so that each can be kept. Must not open anything, or judge where it ends.

use std::{
    ffi::OsString,
    fs,
    path::{Component, Path, PathBuf},
};

/// As many links as the kernel follows.
const LINKS_MAX: usize = 40;

/// A path with the links on its way followed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Trail {
    /// Each link that is followed, where it stands.
    pub(crate) links: Vec<PathBuf>,
    /// Where it ends, which may be missing. `None`: it goes round in circles, or cannot be told.
    pub(crate) end: Option<PathBuf>,
}

/// A part of a path that has not been gone yet.
enum Step {
    Root,
    Up,
    Down(OsString),
}

impl Trail {
    /// Of an absolute path.
    pub(crate) fn of(path: &Path) -> Self {
        let mut trail = Self::default();
        trail.end = trail.follow(path);
        trail
    }

    fn follow(&mut self, path: &Path) -> Option<PathBuf> {
        let mut at = PathBuf::from("/");
        let mut left = steps(path);
        while let Some(step) = left.pop() {
            let name = match step {
                Step::Root => {
                    at = PathBuf::from("/");
                    continue;
                }
                Step::Up => {
                    at.pop();
                    continue;
                }
                Step::Down(name) => name,
            };
            at.push(name);
            // What is missing, or lies below a file, leads nowhere else.
            let is_link = at.symlink_metadata().is_ok_and(|it| it.is_symlink());
            if !is_link {
                continue;
            }
            if self.links.len() == LINKS_MAX {
                return None;
            }
            let target = fs::read_link(&at).ok()?;
            self.links.push(at.clone());
            at.pop();
            left.extend(steps(&target));
        }
        Some(at)
    }
}

/// The last one first.
fn steps(path: &Path) -> Vec<Step> {
    let steps = path.components().rev().filter_map(|part| match part {
        Component::RootDir => Some(Step::Root),
        Component::ParentDir => Some(Step::Up),
        Component::Normal(name) => Some(Step::Down(name.to_owned())),
        Component::CurDir | Component::Prefix(_) => None,
    });
    steps.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn every_link_on_the_way_is_told_and_what_is_missing_too() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir(root.join("d")).unwrap();
        fs::write(root.join("d/file"), "").unwrap();
        for (target, name) in [
            ("file", "d/one"),
            ("d/one", "two"),
            ("d", "e"),
            ("nowhere/x", "gone"),
            ("round", "round"),
            ("..", "d/up"),
        ] {
            symlink(target, root.join(name)).unwrap();
        }
        symlink(root.join("d"), root.join("absolute")).unwrap();
        for (path, links, end) in [
            ("d/file", &[][..], Some("d/file")),
            ("two", &["two", "d/one"], Some("d/file")),
            ("e/one", &["e", "d/one"], Some("d/file")),
            ("absolute/new", &["absolute"], Some("d/new")),
            ("gone", &["gone"], Some("nowhere/x")),
            (
                "e/up/d/../two",
                &["e", "d/up", "two", "d/one"],
                Some("d/file"),
            ),
            ("d/file/below", &[], Some("d/file/below")),
            ("round/x", &["round"; LINKS_MAX], None),
        ] {
            let want = Trail {
                links: links.iter().map(|it| root.join(it)).collect(),
                end: end.map(|end| root.join(end)),
            };
            assert_eq!(Trail::of(&root.join(path)), want, "{path}");
        }
    }
}
