//! What a command works with: the machine, the rules and the tools, put together from what was typed
//! and what the environment says. The only place that reads the environment.

use crate::{args::Scene, error::CliError};
use agent::{Agent, Preset, Tier};
use gate::{
    authority::RootAuthority,
    call::{Parts, Room},
    cancel::Cancel,
    g0_offer::Table,
    g2_admit::Approver,
    g3_confine::{ChildWrites, Confinement, Profile, Silent},
    host::Host,
    journal::Journal,
    tool::AnyTool,
};
use host::{LocalHost, Options, OutputLimits};
use policy::{Action, Layer, Origin, Pattern, Rule, RuleBook, RuleLayers};
use sandbox::Launcher;
use std::{
    env,
    fs::DirBuilder,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    sync::Arc,
};
use store::Store;
use tempfile::TempDir;
use text::truncate::Limits;

/// A command's workplace.
#[derive(Debug)]
pub(crate) struct Workbench {
    pub(crate) agent: Agent,
    pub(crate) rules: RuleBook,
    pub(crate) profile: Profile,
    pub(crate) host: LocalHost,
    pub(crate) tools: Vec<AnyTool>,
    pub(crate) limits: Limits,
    pub(crate) session: String,
    /// The message of a single call.
    message: String,
    session_dir: PathBuf,
    /// What the configuration says that is suspicious but stops nothing.
    pub(crate) warnings: Vec<String>,
    /// Gone with the workbench: the children's temporary directory, and for a check everything.
    _scratch: TempDir,
}

/// Where state is kept, or would be.
#[derive(Debug)]
pub(crate) enum State {
    /// In the user's data folder.
    Kept(PathBuf),
    /// Known but not touched: what is kept goes to a scratch folder and does not outlive the command.
    Untouched,
}

/// The rules and the agent of a scene, before there is a machine.
struct Ground {
    agent: Agent,
    preset: Preset,
    config: config::Config,
    home: Option<String>,
}

impl Ground {
    fn of(scene: &Scene) -> Result<Self, CliError> {
        let home = env::var("HOME").ok();
        let unknown = || {
            let names: Vec<_> = agent::names().collect();
            let name = text::escape::visible_line(&scene.agent);
            CliError::usage(format!(
                "there is no agent `{name}`; there are {}",
                names.join(", ")
            ))
        };
        let agent = agent::agent(&scene.agent).ok_or_else(unknown)?;
        let config = match &scene.config {
            Some(path) => load(path, home.as_deref())?,
            None => config::Config::default(),
        };
        let typed = scene.preset.as_deref().map(str::parse).transpose();
        let preset = typed
            .map_err(CliError::usage)?
            .or(config.preset)
            .unwrap_or_default();
        Ok(Self {
            agent,
            preset,
            config,
            home,
        })
    }
}

fn load(path: &Path, home: Option<&str>) -> Result<config::Config, CliError> {
    config::load(path, home).map_err(|error| CliError::config(config::render(&error)))
}

impl Workbench {
    /// # Errors
    /// The agent, preset or configuration is not there or wrong; a folder cannot be used.
    pub(crate) fn set_up(scene: &Scene, state: &State) -> Result<Self, CliError> {
        let ground = Ground::of(scene)?;
        let workspace = match &scene.dir {
            Some(dir) => dir.clone(),
            None => env::current_dir().map_err(|error| {
                CliError::config(format!("the current directory cannot be used: {error}"))
            })?,
        };
        let launcher = Launcher::open().map_err(|error| CliError::fault(&error))?;
        let Ground {
            agent,
            preset,
            config,
            home,
        } = ground;
        let is_readonly = agent.is_readonly;
        let limits = limits(config.tool_output);
        let warnings = config.warnings.iter().map(ToString::to_string).collect();
        let user = config.rules;
        let layers = |tier| agent::layers(&agent, preset, tier, user, home.as_deref());
        let floor = Floor::lay(workspace, state, launcher, limits, home.as_deref())?;
        let rules = RuleBook::new(layers(tier(&floor.host.confinement())));
        Ok(Self::furnish(
            floor,
            agent,
            rules,
            is_readonly,
            limits,
            warnings,
        ))
    }

    /// The workplace of the tour: its own rules and no others.
    ///
    /// # Errors
    /// A folder cannot be used.
    pub(crate) fn for_tour(
        workspace: PathBuf,
        state: PathBuf,
        launcher: Launcher,
        rules: Vec<Rule>,
    ) -> Result<Self, CliError> {
        let agent = agent::agent("code").ok_or_else(|| CliError::config("no agent `code`"))?;
        let limits = Limits::default();
        let floor = Floor::lay(workspace, &State::Kept(state), launcher, limits, None)?;
        let rules = RuleBook::new(RuleLayers {
            base: rules,
            ..RuleLayers::default()
        });
        Ok(Self::furnish(
            floor,
            agent,
            rules,
            false,
            limits,
            Vec::new(),
        ))
    }

    fn furnish(
        floor: Floor,
        agent: Agent,
        rules: RuleBook,
        is_readonly: bool,
        limits: Limits,
        warnings: Vec<String>,
    ) -> Self {
        let Floor {
            host,
            session,
            session_dir,
            scratch,
        } = floor;
        rules.append(Layer::Session, own_output(&session_dir));
        let child_writes = if is_readonly {
            ChildWrites::TemporaryOnly
        } else {
            ChildWrites::Workspace
        };
        Self {
            agent,
            rules,
            profile: Profile { child_writes },
            host,
            tools: tools::builtins(),
            limits,
            message: session::message_id(&session, 0),
            session,
            session_dir,
            warnings,
            _scratch: scratch,
        }
    }

    /// The tools that the rules leave on the table.
    pub(crate) fn table(&self, tools: &[AnyTool]) -> Result<Table, CliError> {
        Table::lay(tools, &self.rules.current()).map_err(|error| CliError::fault(&error))
    }

    /// A room for one message's calls.
    pub(crate) fn room<'r>(
        &'r self,
        root: &RootAuthority,
        table: &'r Table,
        approver: &'r dyn Approver,
        journal: &'r dyn Journal,
        cancel: &'r Cancel,
    ) -> Room<'r> {
        let parts = Parts {
            table,
            rules: &self.rules,
            approver,
            profile: &self.profile,
            host: &self.host,
            journal,
            clock: &crate::ports::SystemClock,
            progress: &Silent,
            cancel,
            limits: self.limits,
            agent: &self.agent.name,
            session: &self.session,
            message: &self.message,
        };
        Room::open(root, parts)
    }

    /// Tells a person what is suspicious in their configuration.
    pub(crate) fn warn(&self) {
        self.warnings
            .iter()
            .for_each(|warning| crate::complain(&format!("warning: {warning}")));
    }
}

/// The machine and its folders.
struct Floor {
    host: LocalHost,
    session: String,
    session_dir: PathBuf,
    scratch: TempDir,
}

impl Floor {
    fn lay(
        workspace: PathBuf,
        state: &State,
        launcher: Launcher,
        limits: Limits,
        home: Option<&str>,
    ) -> Result<Self, CliError> {
        let scratch = scratch()?;
        let session = store::ascending_id("ses", now_ms());
        let state_dir = match state {
            State::Kept(dir) => dir.clone(),
            State::Untouched => {
                existing_state_dir(&session).unwrap_or_else(|| scratch.path().join("state"))
            }
        };
        make_private(&state_dir)?;
        let session_dir = state_dir.join("output").join(&session);
        let host = LocalHost::open(Options {
            workspace,
            state_dir,
            session_dir: session_dir.clone(),
            temp_dir: scratch.path().join("tmp"),
            home: home.map(PathBuf::from),
            path: env::var_os("PATH"),
            environment: env::vars_os().collect(),
            limits: OutputLimits {
                lines_max: limits.lines_max as u64,
                bytes_max: limits.bytes_max,
            },
            launcher,
            hook: None,
        });
        Ok(Self {
            host: host.map_err(CliError::config)?,
            session,
            session_dir,
            scratch,
        })
    }
}

/// A session without long outputs leaves no folder behind.
impl Drop for Workbench {
    fn drop(&mut self) {
        // Refused where something was kept, and that is right.
        drop(std::fs::remove_dir(&self.session_dir));
    }
}

/// The user's data folder for us, made if it is not there.
///
/// # Errors
/// There is no home, or the folder cannot be made: which is also so inside one of our own tools.
pub(crate) fn state_dir() -> Result<PathBuf, CliError> {
    let dir = state_path().ok_or_else(|| {
        CliError::config("there is no absolute HOME, so no state folder; set TOLLGATE_DATA_DIR")
    })?;
    make_private(&dir)?;
    Ok(dir)
}

/// The same folder for a command that keeps nothing, so that it judges paths as the others do: only if
/// it is there, and not from inside one of our own tools, where it cannot be used.
fn existing_state_dir(session: &str) -> Option<PathBuf> {
    let dir = state_path().filter(|dir| dir.is_dir())?;
    make_private(&dir.join("output").join(session)).ok()?;
    Some(dir)
}

fn state_path() -> Option<PathBuf> {
    let given = env::var_os("TOLLGATE_DATA_DIR").map(PathBuf::from);
    let data = env::var_os("XDG_DATA_HOME").map(|dir| PathBuf::from(dir).join("tollgate"));
    let home = env::var_os("HOME").map(|dir| PathBuf::from(dir).join(".local/share/tollgate"));
    given.or(data).or(home).filter(|dir| dir.is_absolute())
}

/// The journal and the sessions.
pub(crate) fn open_store(state_dir: &Path) -> Result<Arc<Store>, CliError> {
    let path = state_dir.join("tollgate.db");
    let store = Store::open(&path, Arc::new(crate::ports::SystemClock));
    store.map(Arc::new).map_err(CliError::config)
}

fn make_private(dir: &Path) -> Result<(), CliError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.map_err(|error| {
        CliError::config(format!(
            "the state folder `{}` cannot be made: {error}; set TOLLGATE_DATA_DIR to a folder that can",
            dir.display()
        ))
    })
}

fn scratch() -> Result<TempDir, CliError> {
    tempfile::Builder::new()
        .prefix("tollgate-")
        .tempdir()
        .map_err(|error| {
            CliError::config(format!(
                "no temporary folder can be made: {error}; set TMPDIR"
            ))
        })
}

fn now_ms() -> u64 {
    gate::host::Clock::now_ms(&crate::ports::SystemClock)
}

fn tier(confinement: &Confinement) -> Tier {
    match confinement {
        Confinement::Full => Tier::Full,
        Confinement::Partial { .. } => Tier::Partial,
        Confinement::NotEnforced { .. } => Tier::None,
    }
}

fn limits(config: Option<config::ToolOutput>) -> Limits {
    let config = config.unwrap_or_default();
    let default = Limits::default();
    Limits {
        lines_max: config.max_lines.unwrap_or(default.lines_max),
        bytes_max: config.max_bytes.unwrap_or(default.bytes_max),
    }
}

/// A session may read what it was told to look up: its own long outputs. As session rules they lift
/// an ask and never a denial.
fn own_output(session_dir: &Path) -> Vec<Rule> {
    let pattern = format!("{}/*", session_dir.display());
    let rule = |permission: &str| {
        let origin = Origin {
            source: "the output of this session".into(),
            line: 0,
            column: 0,
        };
        Rule::new(
            permission,
            Pattern::wildcard(&pattern),
            Action::Allow,
            origin,
        )
    };
    vec![rule("external_directory"), rule("read")]
}
