//! Names in a repository's own directory that would have git run or obey something, where nothing has them yet.
//! Must not list what is there: that is protected by walls.

use std::path::{Path, PathBuf};

/// Where nothing has such a name, no empty directory can hold it: git would fail on it.
const OF_GIT: [&str; 3] = ["commondir", "config.worktree", "hooks"];

/// What of that is missing now in the repositories that these walls protect. SECURITY: `.git/commondir` says where
/// git finds its settings and hooks, so that protecting those would be worth nothing.
pub(crate) fn missing(walls: &sandbox::Walls) -> Vec<PathBuf> {
    let mut missing = Vec::new();
    for path in &walls.write_protected {
        // Each has one of these, which is protected: what git keeps of a linked work tree has the second.
        let is_told = path.ends_with("config") || path.ends_with("commondir");
        let Some(directory) = path.parent().filter(|_| is_told) else {
            continue;
        };
        let names = OF_GIT.iter().map(|name| directory.join(name));
        missing
            .extend(names.filter(|path| !is_there(path) && !walls.write_protected.contains(path)));
    }
    missing
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
