//! Reads one configuration file from the disk.
//! Must not look for a file, or wait for one that is none.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::path::Path;

use crate::parse::{Place, parse_user};
use crate::text::Bearings;
use crate::{Config, ConfigError};

/// The most a configuration file may hold, in bytes.
pub const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Reads one configuration file of the user's.
///
/// `home` is the directory that `~` and `$HOME` stand for in patterns. Rules
/// name their file as `path` is given.
///
/// # Errors
/// A [`ConfigError`] with the faults of the file. Nothing of a faulty file is used.
pub fn load(path: &Path, home: Option<&str>) -> Result<Config, ConfigError> {
    let label = path.display().to_string();
    let text = read(path).map_err(|reason| {
        let help = "name a JSONC file, or none to run with the preset alone";
        ConfigError::unreadable(&label, &reason, help)
    })?;
    // Where the folder cannot be told, a path in the file that is relative to it is a fault.
    let real = fs::canonicalize(path).ok();
    let bearings = Bearings {
        folder: real.as_deref().and_then(Path::parent),
        home,
    };
    parse_user(
        &text,
        Place {
            label: &label,
            bearings,
        },
    )
}

/// The text of a file, or why there is none.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    // Asked before the file is opened, for opening a pipe would wait for a writer.
    let kind = fs::metadata(path).map_err(|error| error.to_string())?;
    if kind.is_dir() {
        return Err("it is a directory".to_owned());
    }
    if !kind.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    text_of(File::open(path).map_err(|error| error.to_string())?)
}

/// The same for a file that must be no link, whatever is put in its place meanwhile.
pub(crate) fn read_unlinked(path: &Path) -> Result<String, String> {
    let before = fs::symlink_metadata(path).map_err(|error| error.to_string())?;
    if !before.is_file() {
        return Err("it is not a regular file, or a link to one".to_owned());
    }
    let file = open_unlinked(path).map_err(|error| error.to_string())?;
    let after = file.metadata().map_err(|error| error.to_string())?;
    if !is_same(&before, &after) {
        return Err("it was another file a moment ago".to_owned());
    }
    text_of(file)
}

#[cfg(unix)]
fn open_unlinked(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};

    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

#[cfg(not(unix))]
fn open_unlinked(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(unix)]
fn is_same(before: &Metadata, after: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    after.is_file() && before.dev() == after.dev() && before.ino() == after.ino()
}

#[cfg(not(unix))]
fn is_same(_: &Metadata, after: &Metadata) -> bool {
    after.is_file()
}

fn text_of(file: File) -> Result<String, String> {
    let mut bytes = Vec::new();
    (file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(format!("it is larger than {FILE_BYTES_MAX} bytes"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        format!("byte {offset} is not UTF-8 text")
    })
}
