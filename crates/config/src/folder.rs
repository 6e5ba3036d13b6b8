//! Looks into folders: whose repository a directory is, and which agents a folder holds. Must not read a
//! file.

use std::collections::HashSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::ConfigError;

/// The most agents and folders of them that one folder may hold.
const ENTRIES_MAX: usize = 1000;

/// A file that holds an agent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AgentFile {
    pub(crate) path: PathBuf,
    /// Its path below the folder of agents, without its ending.
    pub(crate) name: String,
    /// The key it would stand below in a configuration.
    pub(crate) key: &'static str,
}

/// The agents of a folder of configuration, by folder and name.
pub(crate) fn agent_files(folder: &Path) -> Result<Vec<AgentFile>, ConfigError> {
    let mut search = Search {
        seen: HashSet::new(),
        entry_count: 0,
        files: Vec::new(),
    };
    for (name, key) in [
        ("agent", "agent"),
        ("agents", "agent"),
        ("mode", "mode"),
        ("modes", "mode"),
    ] {
        let below = folder.join(name);
        let searched = search.folder(&below, "", key);
        searched.map_err(|error| unusable(&below.display().to_string(), &error.to_string()))?;
    }
    Ok(search.files)
}

struct Search {
    /// The folders that were searched, so that a link into one of them ends.
    seen: HashSet<PathBuf>,
    entry_count: usize,
    files: Vec<AgentFile>,
}

impl Search {
    fn folder(&mut self, folder: &Path, prefix: &str, key: &'static str) -> io::Result<()> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        if !self.seen.insert(fs::canonicalize(folder)?) {
            return Ok(());
        }
        let mut paths = entries
            .map(|entry| Ok(entry?.path()))
            .collect::<io::Result<Vec<_>>>()?;
        paths.sort();
        for path in paths {
            self.entry_count += 1;
            if self.entry_count > ENTRIES_MAX {
                return Err(io::Error::other(format!(
                    "it holds more than {ENTRIES_MAX} files"
                )));
            }
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
                continue;
            };
            // Modes lie in no folders of their own.
            if path.is_dir() && key == "agent" {
                self.folder(&path, &format!("{prefix}{name}/"), key)?;
            } else if let Some(name) = name.strip_suffix(".md") {
                let name = format!("{prefix}{name}");
                self.files.push(AgentFile { path, name, key });
            }
        }
        Ok(())
    }
}

/// The folder of the repository a directory belongs to: the nearest one above that holds `.git`, else
/// the directory itself. The directory is given by its real path.
///
/// # Errors
/// It cannot be told whether one of them holds `.git`.
pub fn repository_of(workspace: &Path) -> Result<&Path, ConfigError> {
    for folder in workspace.ancestors() {
        if is_there(&folder.join(".git"))? {
            return Ok(folder);
        }
    }
    Ok(workspace)
}

/// Whether there is anything of this name, be it a link that leads nowhere. What cannot be told is an
/// error.
pub(crate) fn is_there(path: &Path) -> Result<bool, ConfigError> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        // Something above it is no folder, so there is nothing in it.
        Err(error) if error.kind() == ErrorKind::NotADirectory => Ok(false),
        Err(error) => Err(unusable(&path.display().to_string(), &error.to_string())),
    }
}

/// A file or folder that is there and cannot be used.
pub(crate) fn unusable(label: &str, reason: &str) -> ConfigError {
    let help = "what it forbids would not hold: mend it, or take it away";
    ConfigError::unreadable(label, reason, help)
}
