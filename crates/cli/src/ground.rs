//! What the configuration says for a scene, before there is a machine, and what of a repository's a person
//! trusts. Reads the environment, and makes no state.

use crate::{
    args::Scene,
    error::CliError,
    workbench::{home, open_store, state_path},
};
use agent::{Agent, Agents, Preset};
use config::{ConfigWarning, Loaded, MANAGED_DIRS, Reference, Sources, Trust, Variables};
use std::{
    env,
    path::{Path, PathBuf},
};
use store::Store;

/// What the configuration says for a scene.
pub(crate) struct Ground {
    pub(crate) agents: Agents,
    pub(crate) agent: Agent,
    pub(crate) preset: Preset,
    pub(crate) loaded: Loaded,
    pub(crate) home: Option<String>,
    pub(crate) workspace: PathBuf,
    pub(crate) user_dir: Option<PathBuf>,
    /// Whether the person said that nothing of the repository is to be trusted.
    pub(crate) is_told: bool,
}

impl Ground {
    /// # Errors
    /// The configuration, the agent or the preset is not there or wrong.
    pub(crate) fn of(scene: &Scene) -> Result<Self, CliError> {
        let is_told = scene.is_project_untrusted;
        let mut sources = sources(scene.dir.as_deref())?;
        sources.explicit.clone_from(&scene.config);
        let mut loaded = discover(&sources)?;
        // Only where there is something to trust is the store looked into.
        if !is_told && !loaded.items.is_empty() {
            match trusted(&sources.workspace)? {
                Known::Nothing => {}
                Known::Trust(trust) => {
                    sources.trust = trust;
                    loaded = discover(&sources)?;
                }
                Known::Unreadable(warning) => loaded.config.warnings.push(warning),
            }
        }
        let agents = agents(&loaded)?;
        let default = loaded
            .config
            .default_agent
            .as_ref()
            .map(|name| name.resolve(&look_up));
        let default = default.transpose().map_err(CliError::config)?;
        let agent = match &scene.agent {
            Some(name) => agents.primary(name).map_err(CliError::usage)?,
            None => agents
                .default_agent(default.as_deref())
                .map_err(CliError::config)?,
        };
        let agent = agent.clone();
        let typed = scene.preset.as_deref().map(str::parse).transpose();
        let preset = typed
            .map_err(CliError::usage)?
            .or(loaded.config.preset)
            .unwrap_or_default();
        let Sources {
            home,
            workspace,
            user_dir,
            ..
        } = sources;
        Ok(Self {
            agents,
            agent,
            preset,
            loaded,
            home,
            workspace,
            user_dir,
            is_told,
        })
    }
}

/// Where configuration is looked for, with nothing of the repository trusted.
pub(crate) fn sources(dir: Option<&Path>) -> Result<Sources, CliError> {
    let home = home();
    Ok(Sources {
        user_dir: user_dir(home.as_deref()),
        home,
        workspace: workspace(dir)?,
        explicit: None,
        variables: Variables::of(&|name| env::var_os(name)),
        managed_dirs: MANAGED_DIRS.map(PathBuf::from).to_vec(),
        trust: Trust::default(),
    })
}

pub(crate) fn discover(sources: &Sources) -> Result<Loaded, CliError> {
    config::discover(sources).map_err(|error| CliError::config(config::render(&error)))
}

/// The agents that a configuration makes.
pub(crate) fn agents(loaded: &Loaded) -> Result<Agents, CliError> {
    let settings = loaded.config.agent_settings(&look_up);
    Agents::with(settings.map_err(CliError::config)?).map_err(CliError::config)
}

/// Files are read later, through the gates; here their text is not needed.
fn look_up(reference: &Reference) -> Option<String> {
    match reference {
        Reference::Env(name) => env::var(name).ok(),
        Reference::File(_) => Some(String::new()),
    }
}

/// What is known of what a person trusts.
enum Known {
    Nothing,
    Trust(Trust),
    /// Then nothing is trusted: this also is so from inside one of our own tools.
    Unreadable(ConfigWarning),
}

fn trusted(workspace: &Path) -> Result<Known, CliError> {
    let Some(dir) = state_path().filter(|dir| dir.join("tollgate.db").is_file()) else {
        return Ok(Known::Nothing);
    };
    apart(&dir, workspace)?;
    let store = open_store(&dir);
    let trust = store.and_then(|store| trust_in(&store));
    Ok(trust.map_or_else(
        |error| {
            Known::Unreadable(ConfigWarning {
                source: text::escape::visible_line(&dir.display().to_string()),
                line: 0,
                column: 0,
                message: format!(
                    "what you trust of this repository cannot be read, so nothing of it is trusted: {}",
                    error.message
                ),
                help: None,
            })
        },
        Known::Trust,
    ))
}

/// What a store says is trusted.
pub(crate) fn trust_in(store: &Store) -> Result<Trust, CliError> {
    let all = store.trusted().map_err(|error| CliError::fault(&error))?;
    let place = |it: store::StoredTrust| (it.item.file.into(), it.item.key, it.item.digest);
    Ok(Trust::of(all.into_iter().map(place)))
}

/// SECURITY: a variable that a repository's own settings for a shell may have set must not make a store
/// in the repository say what is trusted. A home directory that is itself a repository is the user's.
///
/// # Errors
/// The state folder lies in the repository.
pub(crate) fn apart(state_dir: &Path, workspace: &Path) -> Result<(), CliError> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let root = root(workspace)?;
    let is_home = home().is_some_and(|home| real(Path::new(&home)).starts_with(&root));
    if is_home || !real(state_dir).starts_with(&root) {
        return Ok(());
    }
    Err(CliError::config(format!(
        "the state folder `{}` lies in the repository, which must not say what you trust; \
         set TOLLGATE_DATA_DIR to a folder outside of it",
        state_dir.display()
    )))
}

/// The real path of the repository that a workspace belongs to.
pub(crate) fn root(workspace: &Path) -> Result<PathBuf, CliError> {
    let real = workspace
        .canonicalize()
        .map_err(|error| unusable(workspace, &error))?;
    let root = config::repository_of(&real).map(Path::to_owned);
    root.map_err(|error| CliError::config(config::render(&error)))
}

/// Looked at before a configuration is looked for in it, so that what is wrong is said of the right thing.
fn workspace(dir: Option<&Path>) -> Result<PathBuf, CliError> {
    let Some(dir) = dir else {
        return env::current_dir().map_err(|error| {
            CliError::config(format!("the current directory cannot be used: {error}"))
        });
    };
    match std::fs::metadata(dir) {
        Ok(_) => Ok(dir.to_owned()),
        Err(error) => Err(unusable(dir, &error)),
    }
}

fn unusable(dir: &Path, error: &std::io::Error) -> CliError {
    let dir = dir.display();
    CliError::config(format!("the workspace `{dir}` cannot be used: {error}"))
}

/// Where users keep configuration: `$XDG_CONFIG_HOME`, else `~/.config`.
pub(crate) fn user_dir(home: Option<&str>) -> Option<PathBuf> {
    let given = env::var_os("XDG_CONFIG_HOME")
        .filter(|dir| !dir.is_empty())
        .map(PathBuf::from);
    given.or_else(|| Some(Path::new(home?).join(".config")).filter(|dir| dir.is_absolute()))
}
