//! Names in a repository's own directory that would have git run or obey something, and that a command made:
//! set aside when it has ended. Must not touch what was there before.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Where nothing has such a name, no empty directory can hold it: git would fail on it.
const OBEYED: [&str; 3] = ["commondir", "config.worktree", "hooks"];

/// What is added to a name that is set aside.
const ENDING: &str = ".set-aside";

/// The names that were missing when a command started. Dropped, whatever has one of them by then is renamed.
#[derive(Debug)]
pub struct Aside(Vec<PathBuf>);

impl Aside {
    /// Looks at the repositories that these walls protect. SECURITY: `.git/commondir` says where git finds its
    /// settings and hooks, so that protecting those would be worth nothing.
    pub fn before(walls: &sandbox::Walls) -> Self {
        let mut missing = Vec::new();
        for path in &walls.write_protected {
            let Some(directory) = path.parent().filter(|_| path.ends_with("config")) else {
                continue;
            };
            let names = OBEYED.iter().map(|name| directory.join(name));
            missing.extend(
                names.filter(|path| !is_there(path) && !walls.write_protected.contains(path)),
            );
        }
        Self(missing)
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        for path in self.0.iter().filter(|path| is_there(path)) {
            let mut name = path.clone().into_os_string();
            name.push(ENDING);
            // What cannot be renamed here could not have been made by the command either.
            drop(fs::rename(path, &name));
        }
    }
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
