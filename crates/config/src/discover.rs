//! Finds the configuration files there are and puts what they say one after another.
//!
//! Must not read the environment, or take from a repository more than its rules.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use policy::Rule;

use crate::error::visible;
use crate::file::read;
use crate::parse::{Place, parse_user};
use crate::project::parse_project;
use crate::text::Bearings;
use crate::{Config, ConfigError, ConfigWarning, Inert};

/// The systems whose files are read, lowest first, and their files, lowest first.
const SYSTEMS: [(&str, [&str; 2]); 3] = [
    ("opencode", ["opencode.json", "opencode.jsonc"]),
    ("kilo", ["kilo.json", "kilo.jsonc"]),
    ("tollgate", ["tollgate.json", "tollgate.jsonc"]),
];

/// The name of a configuration that is no file.
const CONTENT: &str = "TOLLGATE_CONFIG_CONTENT";

/// Where to look.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The user's configuration folder: `$XDG_CONFIG_HOME` or `~/.config`. Absolute.
    pub user_dir: Option<PathBuf>,
    /// The directory to work in.
    pub workspace: PathBuf,
    /// A file that was named: `--config` or `TOLLGATE_CONFIG`.
    pub explicit: Option<PathBuf>,
    /// The text of `TOLLGATE_CONFIG_CONTENT`.
    pub content: Option<String>,
    /// The directory that `~` and `$HOME` stand for.
    pub home: Option<String>,
}

/// All that was found.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    /// What the user says, in files, in one that was named, and in the environment.
    pub config: Config,
    /// The rules of the repository, for [`policy::Layer::Project`].
    pub project: Vec<Rule>,
    /// What else stands in the repository's files, and has no effect.
    pub inert: Vec<Inert>,
    /// What was read, the lowest first.
    pub found: Vec<Found>,
}

/// A configuration that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The file, or the variable.
    pub name: String,
    /// Whose it is.
    pub level: Level,
}

/// Whose configuration it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// A file of the user's.
    User,
    /// A file that was named.
    Explicit,
    /// A variable of the environment.
    Content,
    /// A file of the repository: only its rules count, and only where they are stricter.
    Project,
}

/// Finds and reads all configuration, lowest first: the user's files (`opencode`, `kilo`, `tollgate`;
/// `.json` in front of `.jsonc`), the file that was named, the text of the environment. No file moves
/// a rule of another one. Files of the repository, from its root down to the workspace, stand apart.
///
/// # Errors
/// A [`ConfigError`] for the first file that is there and cannot be used: nothing is left out silently,
/// for it may be what forbids something.
pub fn discover(sources: &Sources) -> Result<Loaded, ConfigError> {
    let mut finder = Finder {
        home: sources.home.as_deref(),
        loaded: Loaded::default(),
    };
    if let Some(user_dir) = &sources.user_dir {
        finder.user(user_dir)?;
    }
    if let Some(path) = &sources.explicit {
        let config = crate::load(path, finder.home)?;
        finder.add(&path.display().to_string(), Level::Explicit, config);
    }
    if let Some(text) = &sources.content {
        let config = crate::parse(text, CONTENT, finder.home)?;
        finder.add(CONTENT, Level::Content, config);
    }
    finder.project(&sources.workspace)?;
    Ok(finder.loaded)
}

struct Finder<'s> {
    home: Option<&'s str>,
    loaded: Loaded,
}

impl Finder<'_> {
    fn user(&mut self, user_dir: &Path) -> Result<(), ConfigError> {
        if !user_dir.is_absolute() {
            // A relative one would be looked for in the workspace.
            let help = "set XDG_CONFIG_HOME to an absolute path, or not at all";
            let label = user_dir.display().to_string();
            return Err(ConfigError::unreadable(&label, "it is not absolute", help));
        }
        let mut systems = Vec::new();
        for (system, files) in SYSTEMS {
            for file in files {
                let path = user_dir.join(system).join(file);
                if !is_there(&path)? {
                    continue;
                }
                let label = path.display().to_string();
                let text = read(&path).map_err(|reason| unusable(&label, &reason))?;
                let bearings = Bearings {
                    folder: path.parent(),
                    home: self.home,
                };
                let config = parse_user(
                    &text,
                    Place {
                        label: &label,
                        bearings,
                    },
                )?;
                self.add(&label, Level::User, config);
                systems.push(system);
            }
        }
        self.warn_of_two(user_dir, &systems);
        Ok(())
    }

    fn project(&mut self, workspace: &Path) -> Result<(), ConfigError> {
        let workspace = fs::canonicalize(workspace).map_err(|error| {
            let label = workspace.display().to_string();
            ConfigError::unreadable(
                &label,
                &error.to_string(),
                "work in a directory that is there",
            )
        })?;
        let root = repository_of(&workspace)?;
        let above = workspace
            .ancestors()
            .take_while(|folder| folder.starts_with(root));
        let mut folders: Vec<_> = above.collect();
        folders.reverse();
        for folder in folders {
            let mut systems = Vec::new();
            for (system, files) in SYSTEMS {
                for file in files {
                    let path = folder.join(file);
                    if is_there(&path)? {
                        self.project_file(&path, root)?;
                        systems.push(system);
                    }
                }
            }
            self.warn_of_two(folder, &systems);
        }
        Ok(())
    }

    fn project_file(&mut self, path: &Path, root: &Path) -> Result<(), ConfigError> {
        let label = path.display().to_string();
        let real = fs::canonicalize(path);
        let real = real.map_err(|error| unusable(&label, &error.to_string()))?;
        // SECURITY: what is quoted in an error or held against a rule would be somebody else's file.
        if !real.starts_with(root) {
            return Err(unusable(
                &label,
                "it is a link that leads out of the repository",
            ));
        }
        let text = read(&real).map_err(|reason| unusable(&label, &reason))?;
        let bearings = Bearings {
            folder: None,
            home: self.home,
        };
        let place = Place {
            label: &label,
            bearings,
        };
        let file = parse_project(&text, place)?;
        self.loaded.project.extend(file.rules);
        self.loaded.inert.extend(file.inert);
        self.loaded.config.warnings.extend(file.warnings);
        self.found(&label, Level::Project);
        Ok(())
    }

    fn add(&mut self, label: &str, level: Level, config: Config) {
        self.loaded.config.follow(config);
        self.found(label, level);
    }

    fn found(&mut self, label: &str, level: Level) {
        let name = visible(label);
        self.loaded.found.push(Found { name, level });
    }

    /// People move from one system to the other and forget the old file.
    fn warn_of_two(&mut self, folder: &Path, systems: &[&str]) {
        if systems.contains(&"opencode") && systems.contains(&"kilo") {
            self.loaded.config.warnings.push(ConfigWarning {
                source: visible(&folder.display().to_string()),
                line: 0,
                column: 0,
                message: "there are configurations of opencode and of kilo: both are read, and kilo has the later word".to_owned(),
                help: Some("keep one of them".to_owned()),
            });
        }
    }
}

/// The folder of the repository a directory belongs to: the nearest one above that holds `.git`, else
/// the directory itself.
fn repository_of(workspace: &Path) -> Result<&Path, ConfigError> {
    for folder in workspace.ancestors() {
        if is_there(&folder.join(".git"))? {
            return Ok(folder);
        }
    }
    Ok(workspace)
}

/// Whether there is anything of this name, be it a link that leads nowhere. What cannot be told is an
/// error.
fn is_there(path: &Path) -> Result<bool, ConfigError> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        // Something above it is no folder, so there is nothing in it.
        Err(error) if error.kind() == ErrorKind::NotADirectory => Ok(false),
        Err(error) => Err(unusable(&path.display().to_string(), &error.to_string())),
    }
}

fn unusable(label: &str, reason: &str) -> ConfigError {
    let help = "what it forbids would not hold: mend it, or take it away";
    ConfigError::unreadable(label, reason, help)
}
