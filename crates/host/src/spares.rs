//! A directory of ours where the sandbox keeps, between the commands of a session, what holds names in a workspace.
//! Must not lie where a tool or a command comes, nor remove anything but empty directories.

use std::{
    ffi::OsStr,
    fs::{DirBuilder, read_dir, remove_dir},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// Its name in our state; each session has one of its own in there.
const NAME: &str = "held";

/// The directory, made when a command first needs it.
#[derive(Debug)]
pub(crate) struct Spares {
    /// Where it would be; `None` if it would be of no use.
    place: Option<PathBuf>,
    made: OnceLock<Option<PathBuf>>,
}

impl Spares {
    /// The directory of one session. What it keeps cannot be moved to another file system than our state's.
    pub(crate) fn of_session(state_dir: &Path, session: Option<&OsStr>, device: u64) -> Self {
        let is_near = state_dir.metadata().is_ok_and(|meta| meta.dev() == device);
        Self {
            place: session
                .filter(|_| is_near)
                .map(|session| state_dir.join(NAME).join(session)),
            made: OnceLock::new(),
        }
    }

    /// Its path, if there is one. Commands run without it too.
    pub(crate) fn path(&self) -> Option<&Path> {
        let make = || {
            let place = self.place.as_ref()?;
            let made = DirBuilder::new().recursive(true).mode(0o700).create(place);
            made.ok().map(|()| place.clone())
        };
        self.made.get_or_init(make).as_deref()
    }
}

impl Drop for Spares {
    fn drop(&mut self) {
        let Some(Some(path)) = self.made.get() else {
            return;
        };
        let kept = read_dir(path).into_iter().flatten().flatten();
        let paths = kept.map(|entry| entry.path()).chain([path.clone()]);
        let parent = path.parent().map(Path::to_owned);
        for path in paths.chain(parent) {
            // Refused where something is in it, and that is right.
            drop(remove_dir(path));
        }
    }
}
