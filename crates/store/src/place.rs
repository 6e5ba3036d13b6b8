//! Where the file lies: makes it and its directories for this user alone, and knows it again.
//!
//! Must not widen the permissions of anything, or touch a directory that was there before.

use crate::error::Cause;
use std::{
    fs::{self, DirBuilder, OpenOptions, Permissions},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::Path,
};

const FILE_MODE: u32 = 0o600;
const DIRECTORY_MODE: u32 = 0o700;

/// Which file this is, whatever its name: device and inode.
pub(crate) type Identity = (u64, u64);

/// Makes what is missing of the file and the directories above it.
///
/// INVARIANT: never opens a file that exists. Closing it would drop the locks that `SQLite` holds on it
/// in this process.
pub(crate) fn prepare(path: &Path) -> Result<Identity, Cause> {
    if let Some(parent) = path.parent() {
        let made = DirBuilder::new()
            .recursive(true)
            .mode(DIRECTORY_MODE)
            .create(parent);
        made.map_err(|error| obstacle(parent).unwrap_or_else(|| error.into()))?;
    }
    match OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(FILE_MODE)
        .open(path)
    {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error.into()),
    }
    let found = fs::metadata(path)?;
    if !found.is_file() {
        return Err(Cause::NotAStore);
    }
    // Also where a umask took too much away, or an earlier copy came with too much.
    if found.mode() & 0o7777 != FILE_MODE {
        fs::set_permissions(path, Permissions::from_mode(FILE_MODE))?;
    }
    Ok((found.dev(), found.ino()))
}

/// Whether the file that was opened still stands there.
///
/// `SQLite` writes on into a deleted file and calls that a success.
pub(crate) fn verify(path: &Path, opened: Identity) -> Result<(), Cause> {
    match fs::metadata(path) {
        Ok(found) if (found.dev(), found.ino()) == opened => Ok(()),
        Ok(_) => Err(Cause::Moved),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Cause::Moved),
        Err(error) => Err(error.into()),
    }
}

/// What keeps `directory` from being one.
fn obstacle(directory: &Path) -> Option<Cause> {
    let found = directory.ancestors().find(|path| path.exists())?;
    (!found.is_dir()).then(|| Cause::NotADirectory(found.to_owned()))
}
