//! What a person opens to every command of a session, beyond the usual walls.
//! Must not open what the rules close in a folder, nor a place to write to a command that may write nowhere.

use crate::{index::Opened, local::Machine};
use gate::g3_confine::ChildWrites;
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

/// See the head of the file. Paths are absolute and real; what is not there any more opens nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Openings {
    /// Files and directories outside the workspace that may be read, whole.
    pub readable: Vec<PathBuf>,
    /// Directories that may be read and written, whole: caches, in which no rule is about anything.
    pub caches: Vec<PathBuf>,
    /// Files and directories outside the workspace that may be read and written, but for what the rules close
    /// in them.
    pub writable: Vec<PathBuf>,
    /// UNIX sockets that may be connected to.
    pub sockets: Vec<PathBuf>,
    /// Variables as children get them, whatever they are called.
    pub variables: Vec<(OsString, OsString)>,
    /// Whether git runs the hooks that a repository has, where walls hold them.
    pub has_git_hooks: bool,
}

impl Openings {
    /// Puts the variables over those that a child has.
    pub(crate) fn set_variables(&self, environment: &mut Vec<(OsString, OsString)>) {
        for (name, value) in &self.variables {
            environment.retain(|(known, _)| known != name);
            environment.push((name.clone(), value.clone()));
        }
    }
}

impl Machine {
    /// Whether it lies neither in the workspace nor around it, nor around what is ours.
    fn is_apart(&self, path: &Path) -> bool {
        let is_around = |inner: &Path| inner.starts_with(path);
        !path.starts_with(&self.workspace)
            && !is_around(&self.workspace)
            && !is_around(&self.state_dir)
    }

    /// Adds what the person opened to what the permits of a call did, and to its walls. A command that may write
    /// nowhere looks at the folders, and reaches no agent.
    pub(crate) fn add_openings(
        &self,
        child_writes: ChildWrites,
        opened: &mut Opened,
        walls: &mut sandbox::Walls,
    ) {
        let it = &self.openings;
        let there = |paths: &[PathBuf]| {
            paths
                .iter()
                .filter(|path| self.is_there(path))
                .cloned()
                .collect()
        };
        let (readable, caches, mut writable): (Vec<_>, Vec<_>, Vec<_>) =
            (there(&it.readable), there(&it.caches), there(&it.writable));
        // SECURITY: in the workspace the rules alone say what may be changed.
        writable.retain(|path| self.is_apart(path));
        walls.readable.extend(readable);
        opened.read.extend(writable.iter().cloned());
        match child_writes {
            ChildWrites::TemporaryOnly => walls.readable.extend(caches),
            ChildWrites::Workspace => {
                opened.write.extend(writable);
                walls.writable.extend(caches);
                walls.sockets.extend(there(&it.sockets));
            }
        }
    }
}
