//! What a command works with: the machine, the rules and the tools, put together from what was typed
//! and what the environment says. Must not decide anything.

use crate::{
    args::Scene,
    bounds,
    error::CliError,
    ground::Ground,
    opening::{self, ByHand},
    own::{self, close_configuration, own_output},
    scratch::{self, Scratch},
};
use agent::{Agent, Tier};
use config::{Bounds, Level, Loaded};
use gate::{
    authority::RootAuthority,
    call::{Parts, Room},
    cancel::Cancel,
    g0_offer::Table,
    g2_admit::{Approvals, Approver, Scope},
    g3_confine::{ChildWrites, Confinement, FailedLines, Profile, Silent},
    host::Host,
    journal::Journal,
    tool::AnyTool,
};
use host::{LocalHost, Openings, Options, OutputLimits};
use policy::{Layer, Rule, RuleBook, RuleLayers};
use sandbox::Launcher;
use std::{
    env,
    ffi::OsString,
    fs::DirBuilder,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    sync::Arc,
};
use store::Store;
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
    /// What the user's configuration says.
    pub(crate) config: config::Config,
    /// What the key `sandbox` opens to this session.
    pub(crate) bounds: Bounds,
    /// The configuration files that were read.
    pub(crate) files: Vec<String>,
    /// What stands in the repository's configuration and has no effect.
    pub(crate) inert: Vec<String>,
    /// Whether the person knows that without being told.
    is_told: bool,
    /// What the configuration says that is suspicious but stops nothing.
    pub(crate) warnings: Vec<String>,
    failed_lines: FailedLines,
    /// Gone with the workbench: the children's temporary directory, and for a check everything.
    _scratch: Scratch,
}

/// Where state is kept, or would be.
#[derive(Debug)]
pub(crate) enum State {
    /// In the user's data folder.
    Kept(PathBuf),
    /// Known but not touched: what is kept goes to a scratch folder and does not outlive the command.
    Untouched,
}

/// The directory that `~` stands for.
pub(crate) fn home() -> Option<String> {
    env::var("HOME").ok()
}

impl Workbench {
    /// # Errors
    /// The agent, preset or configuration is not there or wrong; a folder cannot be used.
    pub(crate) fn set_up(scene: &Scene, state: &State) -> Result<Self, CliError> {
        Self::resume(scene, state, None)
    }

    /// The same for a session that goes on.
    ///
    /// # Errors
    /// As [`Self::set_up`].
    pub(crate) fn resume(
        scene: &Scene,
        state: &State,
        session: Option<&str>,
    ) -> Result<Self, CliError> {
        Self::build(scene, state, session, None)
    }

    /// The same for a person's own command, with what they open to it.
    ///
    /// # Errors
    /// As [`Self::set_up`]; what is to be opened is not there or may not be.
    pub(crate) fn by_hand(scene: &Scene, by_hand: &ByHand<'_>) -> Result<Self, CliError> {
        Self::build(scene, &State::Untouched, None, Some(by_hand))
    }

    fn build(
        scene: &Scene,
        state: &State,
        session: Option<&str>,
        by_hand: Option<&ByHand<'_>>,
    ) -> Result<Self, CliError> {
        let launcher = Launcher::open().map_err(|error| CliError::fault(&error))?;
        let Ground {
            agent,
            preset,
            loaded,
            home,
            workspace,
            user_dir,
            is_told,
            ..
        } = Ground::of(scene)?;
        let (mut bounds, untold) = bounds::written(&loaded.config.sandbox, &workspace)?;
        if let (State::Kept(dir), Some(session)) = (state, session) {
            bounds = bounds.within(&bounds::began_with(dir, session)?);
        }
        // What only looks runs no command, and leaves the home as it is.
        let openings = if matches!(state, State::Kept(_)) || by_hand.is_some() {
            scratch::sweep();
            opening::openings(&bounds, by_hand)?
        } else {
            Openings::default()
        };
        let inert: Vec<String> = loaded.inert().map(ToString::to_string).collect();
        let Loaded {
            config,
            project,
            managed,
            found,
            ..
        } = loaded;
        let limits = limits(config.tool_output);
        let session = session.map_or_else(|| store::ascending_id("ses", now_ms()), str::to_owned);
        let (key_names, key_files) = own::keys(&config);
        let environment =
            env::vars_os().filter(|(name, _)| !key_names.iter().any(|it| name == it.as_str()));
        let floor = Floor::lay(
            workspace,
            state,
            launcher,
            limits,
            home.as_deref(),
            session,
            (environment.collect(), openings),
        )?;
        let tier = tier(&floor.host.confinement());
        let mut rules = bounds.rules_before();
        rules.extend(config.rules.iter().cloned());
        rules.extend(bounds.rules_behind());
        let mut layers = agent::layers(&agent, preset, tier, rules, home.as_deref());
        layers.project = project;
        layers.is_configuration_open = config.require_approval_for_config_edits == Some(false);
        layers.hard = agent::strictest(&layers.hard, &managed);
        let own_files = found
            .iter()
            .filter(|it| matches!(it.level, Level::User | Level::Explicit | Level::Managed))
            .map(|it| PathBuf::from(&it.name))
            .chain(key_files);
        close_configuration(&mut layers.hard, user_dir.as_deref(), own_files);
        let mut bench = Self::furnish(floor, agent, RuleBook::new(layers), limits);
        bench.warnings = config.warnings.iter().map(ToString::to_string).collect();
        bench.warnings.extend(untold);
        bench.bounds = bounds;
        bench.is_told = is_told || inert.is_empty();
        bench.inert = inert;
        bench.files = found.into_iter().map(|it| it.name).collect();
        bench.config = config;
        Ok(bench)
    }

    /// Puts what was approved before under the session's rules.
    ///
    /// # Errors
    /// The store could not be read.
    pub(crate) fn recall(&self, store: &Store) -> Result<(), CliError> {
        let workspace = self.host.workspace().display().to_string();
        let kept = store.approvals_for(&self.session, &workspace);
        for approval in kept.map_err(|error| CliError::fault(&error))? {
            let layer = match approval.scope {
                Scope::Session => Layer::Session,
                Scope::Project | Scope::Global => Layer::Saved,
            };
            self.rules.append(layer, vec![approval.rule()]);
        }
        Ok(())
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
        let session = store::ascending_id("ses", now_ms());
        let floor = Floor::lay(
            workspace,
            &State::Kept(state),
            launcher,
            limits,
            None,
            session,
            (env::vars_os().collect(), Openings::default()),
        )?;
        let rules = RuleBook::new(RuleLayers {
            base: rules,
            ..RuleLayers::default()
        });
        Ok(Self::furnish(floor, agent, rules, limits))
    }

    fn furnish(floor: Floor, agent: Agent, rules: RuleBook, limits: Limits) -> Self {
        let Floor {
            host,
            session,
            session_dir,
            scratch,
        } = floor;
        rules.append(Layer::Session, own_output(&session_dir));
        let child_writes = if agent.is_readonly {
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
            config: config::Config::default(),
            bounds: Bounds::default(),
            files: Vec::new(),
            inert: Vec::new(),
            is_told: true,
            warnings: Vec::new(),
            failed_lines: FailedLines::default(),
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
        (approver, approvals): (&'r dyn Approver, &'r dyn Approvals),
        journal: &'r dyn Journal,
        cancel: &'r Cancel,
    ) -> Room<'r> {
        let parts = Parts {
            table,
            rules: &self.rules,
            approver,
            approvals,
            profile: &self.profile,
            failed_lines: &self.failed_lines,
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
        if !self.is_told {
            let things = match self.inert.len() {
                1 => "1 thing that this repository's configuration says has".to_owned(),
                count => format!("{count} things that this repository's configuration says have"),
            };
            let way = "`tollgate trust` says why, and asks";
            crate::complain(&format!("warning: {things} no effect: {way}"));
        }
    }
}

/// The machine and its folders.
struct Floor {
    host: LocalHost,
    session: String,
    session_dir: PathBuf,
    scratch: Scratch,
}

impl Floor {
    fn lay(
        workspace: PathBuf,
        state: &State,
        launcher: Launcher,
        limits: Limits,
        home: Option<&str>,
        session: String,
        (environment, openings): (Vec<(OsString, OsString)>, Openings),
    ) -> Result<Self, CliError> {
        let scratch = Scratch::make()?;
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
            environment,
            openings,
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

pub(crate) fn state_path() -> Option<PathBuf> {
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

/// The store if there is one and it can be opened: for a command that only wants to know what it holds.
pub(crate) fn existing_store() -> Option<Arc<Store>> {
    let dir = state_path().filter(|dir| dir.join("tollgate.db").is_file())?;
    open_store(&dir).ok()
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
