//! Finds the configuration there is and puts what it says one after another.
//!
//! Must not read the environment, or take more from a repository than its rules and what is trusted.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use policy::{Action, Rule};

use crate::error::visible;
use crate::file::{read, read_unlinked};
use crate::folder::{AgentFile, agent_files, is_there, repository_of, unusable};
use crate::ignore::{self, IGNORE_FILE, Reach, parse_ignore};
use crate::markdown::{no_agent, parse_agent};
use crate::modes::parse_modes;
use crate::parse::{Place, parse_permission, parse_user};
use crate::project::{ProjectFile, parse_project};
use crate::text::Bearings;
use crate::{Config, ConfigError, ConfigWarning, Found, Item, Level, Loaded, Sources};

/// The files of configuration in a folder, lowest first.
const FILES: [&str; 6] = [
    "opencode.json",
    "opencode.jsonc",
    "kilo.json",
    "kilo.jsonc",
    "tollgate.json",
    "tollgate.jsonc",
];

/// A further one, below them, in folders that hold nothing but configuration of one system.
const PLAIN_FILE: &str = "config.json";

/// The folders in the user's configuration folder, lowest first.
const USER_FOLDERS: [&str; 3] = ["opencode", "kilo", "tollgate"];

/// The folders of configuration in a directory and in the home directory, lowest first.
const FOLDERS: [&str; 4] = [".opencode", ".kilocode", ".kilo", ".tollgate"];

/// Where older Kilo Code keeps modes: in the user's configuration folder, and in the home directory.
const MODES_OF_EDITOR: &str =
    "Code/User/globalStorage/kilocode.kilo-code/settings/custom_modes.yaml";
const MODES_OF_CLI: &str = ".kilocode/cli/global/settings/custom_modes.yaml";
const MODES_FILE: &str = ".kilocodemodes";

/// Finds and reads all configuration, lowest first: older modes and the user's files; files that were
/// named; the repository's files, from its root down to the workspace; folders of configuration, first
/// the user's, then the repository's, then those in the home directory, then one that was named; texts of
/// the environment; whoever administers the machine. No file moves a rule of another one.
///
/// # Errors
/// A [`ConfigError`] for the first file that is there and cannot be used: nothing is left out silently,
/// for it may be what forbids something.
pub fn discover(sources: &Sources) -> Result<Loaded, ConfigError> {
    let workspace = fs::canonicalize(&sources.workspace).map_err(|error| {
        let label = sources.workspace.display().to_string();
        let help = "work in a directory that is there";
        ConfigError::unreadable(&label, &error.to_string(), help)
    })?;
    let root = repository_of(&workspace)?;
    let home = sources.home.as_deref();
    let mut finder = Finder {
        sources,
        home,
        home_dir: home.map(Path::new).filter(|home| home.is_absolute()),
        root,
        workspace: &workspace,
        loaded: Loaded::default(),
    };
    if let Some(user_dir) = &sources.user_dir
        && !user_dir.is_absolute()
    {
        // A relative one would be looked for in the workspace.
        let help = "set XDG_CONFIG_HOME to an absolute path, or not at all";
        let label = user_dir.display().to_string();
        return Err(ConfigError::unreadable(&label, "it is not absolute", help));
    }
    finder.user_modes()?;
    finder.user_files()?;
    finder.named_files()?;
    finder.project_files()?;
    finder.user_agents()?;
    finder.project_folders()?;
    finder.home_folders()?;
    finder.named_folders()?;
    finder.environment()?;
    finder.managed()?;
    finder.ignored()?;
    Ok(finder.loaded)
}

struct Finder<'s> {
    sources: &'s Sources,
    home: Option<&'s str>,
    home_dir: Option<&'s Path>,
    root: &'s Path,
    workspace: &'s Path,
    loaded: Loaded,
}

impl<'s> Finder<'s> {
    fn user_modes(&mut self) -> Result<(), ConfigError> {
        let of_editor = self
            .sources
            .user_dir
            .iter()
            .map(|dir| dir.join(MODES_OF_EDITOR));
        let names = [MODES_OF_CLI, MODES_FILE];
        let in_home = self
            .home_dir
            .into_iter()
            .flat_map(|dir| names.map(|name| dir.join(name)));
        for path in of_editor.chain(in_home).collect::<Vec<_>>() {
            if is_there(&path)? {
                let label = path.display().to_string();
                let text = read(&path).map_err(|reason| unusable(&label, &reason))?;
                let config = parse_modes(&text, self.place(&label, path.parent()));
                self.add(&label, Level::User, config);
            }
        }
        Ok(())
    }

    fn user_files(&mut self) -> Result<(), ConfigError> {
        let Some(user_dir) = &self.sources.user_dir else {
            return Ok(());
        };
        let mut found = Vec::new();
        for name in USER_FOLDERS {
            let folder = user_dir.join(name);
            if self.files(&folder, Level::User, &[&[PLAIN_FILE][..], &FILES].concat())? {
                found.push(name);
            }
        }
        if found.contains(&"opencode") && found.contains(&"kilo") {
            self.warn_of_two(user_dir);
        }
        Ok(())
    }

    fn named_files(&mut self) -> Result<(), ConfigError> {
        for (variable, path) in &self.sources.variables.files {
            self.outside(variable, path)?;
            self.explicit(path)?;
        }
        match &self.sources.explicit {
            Some(path) => self.explicit(path),
            None => Ok(()),
        }
    }

    fn explicit(&mut self, path: &Path) -> Result<(), ConfigError> {
        let config = crate::load(path, self.home)?;
        self.add(&path.display().to_string(), Level::Explicit, config);
        Ok(())
    }

    fn project_files(&mut self) -> Result<(), ConfigError> {
        for folder in self.project_walk() {
            self.project_modes(&folder.join(MODES_FILE))?;
            self.files(folder, Level::Project, &FILES)?;
        }
        Ok(())
    }

    fn project_modes(&mut self, path: &Path) -> Result<(), ConfigError> {
        let is_users = self
            .home_dir
            .is_some_and(|home| path == home.join(MODES_FILE));
        if is_users || !is_there(path)? {
            return Ok(());
        }
        let label = path.display().to_string();
        let real = self.inside(path)?;
        let text = read(&real).map_err(|reason| unusable(&label, &reason))?;
        if self.is_trusted_file(&real, path, &text) {
            let config = parse_modes(&text, self.project_place(&label));
            self.loaded.config.follow(config);
        }
        self.found(&label, Level::Project);
        Ok(())
    }

    /// Agents in the user's configuration folder, whose other files stand lower.
    fn user_agents(&mut self) -> Result<(), ConfigError> {
        for folder in self.user_folders() {
            self.agents(&folder, Level::User)?;
        }
        Ok(())
    }

    fn project_folders(&mut self) -> Result<(), ConfigError> {
        let own = self.user_folders().into_iter().chain(self.in_home());
        let own: HashSet<_> = own
            .filter_map(|folder| fs::canonicalize(folder).ok())
            .collect();
        for above in self.project_walk() {
            for name in FOLDERS {
                let folder = above.join(name);
                // Where the home directory is a repository, the user's own folders lie in it.
                let is_own = fs::canonicalize(&folder).is_ok_and(|real| own.contains(&real));
                if !is_own && is_there(&folder)? {
                    self.files(&folder, Level::Project, &FILES)?;
                    self.agents(&folder, Level::Project)?;
                }
            }
        }
        Ok(())
    }

    fn home_folders(&mut self) -> Result<(), ConfigError> {
        for folder in self.in_home() {
            self.files(&folder, Level::User, &FILES)?;
            self.agents(&folder, Level::User)?;
        }
        Ok(())
    }

    fn named_folders(&mut self) -> Result<(), ConfigError> {
        for (variable, folder) in &self.sources.variables.dirs {
            self.outside(variable, folder)?;
            if !fs::metadata(folder).is_ok_and(|it| it.is_dir()) {
                let help = "name a folder that is there, or unset the variable";
                let label = format!("{variable}={}", folder.display());
                return Err(ConfigError::unreadable(&label, "it is no folder", help));
            }
            self.files(folder, Level::User, &FILES)?;
            self.agents(folder, Level::User)?;
        }
        Ok(())
    }

    fn environment(&mut self) -> Result<(), ConfigError> {
        let variables = &self.sources.variables;
        let text = |name: &str, value: &'s std::ffi::OsStr| {
            let help = "set it to text, or not at all";
            let wrong = || ConfigError::unreadable(name, "it is not UTF-8 text", help);
            value.to_str().ok_or_else(wrong)
        };
        for (name, value) in &variables.contents {
            let config = parse_user(text(name, value)?, self.place(name, None))?;
            self.add(name, Level::Content, config);
        }
        for (name, value) in &variables.permissions {
            let config = parse_permission(text(name, value)?, self.place(name, None))?;
            self.add(name, Level::Content, config);
        }
        Ok(())
    }

    fn managed(&mut self) -> Result<(), ConfigError> {
        for folder in &self.sources.managed_dirs {
            self.files(
                folder,
                Level::Managed,
                &[&[PLAIN_FILE][..], &FILES].concat(),
            )?;
        }
        let is_allow = |rule: &&Rule| rule.action == Action::Allow;
        let allows: Vec<_> = self
            .loaded
            .managed
            .iter()
            .filter(is_allow)
            .cloned()
            .collect();
        self.loaded.config.rules.splice(0..0, allows);
        Ok(())
    }

    /// The files of paths to be left alone. The user's come last, so that no repository takes one back.
    fn ignored(&mut self) -> Result<(), ConfigError> {
        let in_project = self
            .walk()
            .map(|folder| (folder.join(IGNORE_FILE), folder, Level::Project));
        let in_home = [".kilocode", ".kilo"].into_iter().filter_map(|name| {
            let path = self.home_dir?.join(name).join(IGNORE_FILE);
            Some((path, self.root, Level::User))
        });
        for (path, folder, level) in in_project.chain(in_home).collect::<Vec<_>>() {
            if !is_there(&path)? {
                continue;
            }
            let label = path.display().to_string();
            let reach = Reach {
                folder,
                is_everywhere: level == Level::User,
            };
            let ignored = match read_unlinked(&path) {
                Ok(text) => parse_ignore(&text, &label, reach),
                Err(reason) => ignore::closed(&label, &reason),
            };
            self.loaded.project.extend(ignored.rules);
            self.loaded.config.warnings.extend(ignored.warnings);
            self.found(&label, level);
        }
        Ok(())
    }

    /// Reads those of these files that a folder holds, and says whether there are any.
    fn files(&mut self, folder: &Path, level: Level, names: &[&str]) -> Result<bool, ConfigError> {
        let mut found = Vec::new();
        for name in names {
            let path = folder.join(name);
            if !is_there(&path)? {
                continue;
            }
            found.push(*name);
            match level {
                Level::Project => self.project_file(&path)?,
                level => self.own_file(&path, level)?,
            }
        }
        let is_of = |system: &str| found.iter().any(|name| name.starts_with(system));
        if is_of("opencode.") && is_of("kilo.") {
            self.warn_of_two(folder);
        }
        Ok(!found.is_empty())
    }

    fn own_file(&mut self, path: &Path, level: Level) -> Result<(), ConfigError> {
        let label = path.display().to_string();
        let text = read(path).map_err(|reason| unusable(&label, &reason))?;
        let mut config = parse_user(&text, self.place(&label, path.parent()))?;
        if level == Level::Managed {
            self.loaded.managed.extend(config.only_tighten());
        }
        self.add(&label, level, config);
        Ok(())
    }

    fn project_file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let label = path.display().to_string();
        let real = self.inside(path)?;
        let text = read(&real).map_err(|reason| unusable(&label, &reason))?;
        let place = self.project_place(&label);
        let ProjectFile {
            config,
            rules,
            items,
        } = parse_project(&text, place, &real, &self.sources.trust)?;
        self.loaded.project.extend(rules);
        self.loaded.items.extend(items);
        self.add(&label, Level::Project, config);
        Ok(())
    }

    /// Reads the agents below a folder of configuration.
    fn agents(&mut self, folder: &Path, level: Level) -> Result<(), ConfigError> {
        for AgentFile { path, name, key } in agent_files(folder)? {
            let label = path.display().to_string();
            let place = self.place(&label, path.parent());
            let config = match level {
                Level::Project => self.project_agent(&path, &name, key),
                _ => match read(&path) {
                    Ok(text) => parse_agent(&text, &name, key, place),
                    Err(reason) => no_agent(&name, &label, 0, &reason),
                },
            };
            self.add(&label, level, config);
        }
        Ok(())
    }

    /// An agent of the repository, if it is trusted: nothing of one that is not has an effect.
    fn project_agent(&mut self, path: &Path, name: &str, key: &str) -> Config {
        let label = path.display().to_string();
        let real = self.inside(path).map_err(|error| error.to_string());
        let (text, real) = match real.and_then(|real| Ok((read(&real)?, real))) {
            Ok(found) => found,
            Err(reason) => {
                let warnings = no_agent(name, &label, 0, &reason).warnings;
                return Config {
                    warnings,
                    ..Config::default()
                };
            }
        };
        if self.is_trusted_file(&real, path, &text) {
            return parse_agent(&text, name, key, self.project_place(&label));
        }
        Config::default()
    }

    /// Whether a file that is one item as a whole is trusted.
    fn is_trusted_file(&mut self, real: &Path, path: &Path, text: &str) -> bool {
        let key = path.strip_prefix(self.root).unwrap_or(path);
        let item = Item::of_file(real, &key.display().to_string(), text, &self.sources.trust);
        let is_trusted = item.is_trusted();
        self.loaded.items.push(item);
        is_trusted
    }

    /// The real path of a file of the repository.
    fn inside(&self, path: &Path) -> Result<PathBuf, ConfigError> {
        let label = path.display().to_string();
        let real = fs::canonicalize(path);
        let real = real.map_err(|error| unusable(&label, &error.to_string()))?;
        // SECURITY: what is quoted in an error or held against a rule would be somebody else's file.
        if !real.starts_with(self.root) {
            let reason = "it is a link that leads out of the repository";
            return Err(unusable(&label, reason));
        }
        Ok(real)
    }

    /// SECURITY: a variable that a repository's own settings for a shell may have set must not make the
    /// repository's files the user's.
    fn outside(&self, variable: &str, path: &Path) -> Result<(), ConfigError> {
        let label = format!("{variable}={}", path.display());
        let help = "name an absolute path outside of the repository, or unset the variable";
        if !path.is_absolute() {
            return Err(ConfigError::unreadable(&label, "it is not absolute", help));
        }
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if real.starts_with(self.root) || path.starts_with(self.root) {
            let reason = "it lies in the repository, which must not say what is yours";
            return Err(ConfigError::unreadable(&label, reason, help));
        }
        Ok(())
    }

    /// The folders from the root of the repository down to the workspace.
    fn walk(&self) -> impl Iterator<Item = &'s Path> + use<'s> {
        let above = self.workspace.ancestors();
        let root = self.root;
        let mut folders: Vec<_> = above
            .take_while(|folder| folder.starts_with(root))
            .collect();
        folders.reverse();
        folders.into_iter()
    }

    /// The same where the configuration of the repository counts, else nothing.
    fn project_walk(&self) -> impl Iterator<Item = &'s Path> + use<'s> {
        let is_on = !self.sources.variables.is_project_off;
        self.walk().filter(move |_| is_on)
    }

    fn user_folders(&self) -> Vec<PathBuf> {
        let dir = self.sources.user_dir.iter();
        dir.flat_map(|dir| USER_FOLDERS.map(|name| dir.join(name)))
            .collect()
    }

    fn in_home(&self) -> Vec<PathBuf> {
        let dir = self.home_dir.into_iter();
        dir.flat_map(|dir| FOLDERS.map(|name| dir.join(name)))
            .collect()
    }

    fn place<'p>(&self, label: &'p str, folder: Option<&'p Path>) -> Place<'p>
    where
        's: 'p,
    {
        let home = self.home;
        Place {
            label,
            bearings: Bearings { folder, home },
        }
    }

    fn project_place<'p>(&self, label: &'p str) -> Place<'p>
    where
        's: 'p,
    {
        self.place(label, None)
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
    fn warn_of_two(&mut self, folder: &Path) {
        self.loaded.config.warnings.push(ConfigWarning {
            source: visible(&folder.display().to_string()),
            line: 0,
            column: 0,
            message: "there are configurations of opencode and of kilo: both are read, and kilo has the later word".to_owned(),
            help: Some("keep one of them".to_owned()),
        });
    }
}
