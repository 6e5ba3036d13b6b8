//! The local machine as the gate sees it. Must not act on anything but an order of an open call.

use crate::{
    beneath, environment,
    expand::expand,
    git::{self, Git},
    open_calls::OpenCalls,
    openings::Openings,
    options::{Hook, Moment, OpenError, Options, OutputLimits},
    process,
    quarantine::{Quarantine, Watch},
    spares::Spares,
    walls::{self, Trees},
};
use gate::{
    BoxFuture,
    access::{ReadFile, ReadTree, Spawn, WriteFile},
    call::CallId,
    g3_confine::{ChildRules, ChildWrites, Confinement, Order},
    host::{Content, Ended, FileId, Host, HostError, ResolveError, Resolved, Tree},
};
use rustix::{
    fd::OwnedFd,
    fs::{CWD, Mode, OFlags, fstat, openat},
    process::geteuid,
};
use std::{
    collections::HashSet,
    ffi::{OsStr, OsString},
    fmt,
    fs::DirBuilder,
    io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::task::spawn_blocking;

/// This machine, with one workspace and one session.
pub struct LocalHost(Arc<Machine>);

impl fmt::Debug for LocalHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LocalHost").field(&self.0.workspace).finish()
    }
}

impl LocalHost {
    /// Opens the workspace and the private directories.
    ///
    /// # Errors
    /// A directory is missing, lies where it must not, or is not private.
    pub fn open(options: Options) -> Result<Self, OpenError> {
        Machine::open(options).map(|machine| Self(Arc::new(machine)))
    }

    /// What starts children, and says what it enforces.
    pub fn launcher(&self) -> &sandbox::Launcher {
        &self.0.launcher
    }

    /// Records what a command of the person's own with these walls could change and may not. To be ended when nothing
    /// of it is alive; what it changed stays beside its place under another name.
    /// Where that cannot be told apart from other commands, waits for them to end, but no longer than `longest`.
    ///
    /// # Errors
    /// It cannot be recorded, an earlier command left something that could not be put in order, or others do not
    /// end.
    pub fn watch(
        &self,
        walls: &sandbox::Walls,
        longest: Duration,
    ) -> Result<Option<Watch>, HostError> {
        let is_partial = matches!(
            self.0.launcher.confinement(),
            sandbox::Confinement::Partial { .. }
        );
        let turn = is_partial
            .then(|| self.0.turn(longest, || true))
            .transpose()?;
        self.0.watch(walls, HashSet::new(), turn, None)
    }

    /// A command of the person's own with the environment and walls that a tool's command would have under these
    /// rules without any permit. It is not run here: the host runs orders alone. Looks through the workspace;
    /// `program` is absolute.
    ///
    /// # Errors
    /// It cannot be told what the rules close.
    pub fn as_a_tool_would(
        &self,
        program: &Path,
        args: Vec<OsString>,
        rules: &Arc<ChildRules>,
        child_writes: ChildWrites,
    ) -> Result<sandbox::Spawn, HostError> {
        let machine = &self.0;
        let walls = machine.walls_under(rules, child_writes, &[])?;
        let mut env = machine.environment.clone();
        git::restrain(&mut env, machine.git(), machine.git_excludes.as_deref());
        Ok(sandbox::Spawn {
            program: program.into(),
            args,
            env,
            cwd: machine.workspace.clone(),
            walls,
        })
    }
}

impl Host for LocalHost {
    fn confinement(&self) -> Confinement {
        match self.0.launcher.confinement() {
            sandbox::Confinement::Full { .. } => Confinement::Full,
            sandbox::Confinement::Partial { gaps, .. } => Confinement::Partial {
                gaps: gaps.iter().map(ToString::to_string).collect(),
            },
            sandbox::Confinement::NotEnforced { why } => {
                Confinement::NotEnforced { why: why.clone() }
            }
        }
    }

    fn workspace(&self) -> &Path {
        &self.0.workspace
    }

    fn hides(&self, variable: &str) -> bool {
        environment::is_secret(variable)
    }

    fn home(&self) -> Option<&Path> {
        self.0.home.as_deref()
    }

    fn expand(&self, pattern: &str, max: usize) -> Option<Vec<String>> {
        expand(pattern, max)
    }

    fn resolve(&self, path: &str) -> Result<Resolved, ResolveError> {
        self.0.resolve(path)
    }

    fn open_call(&self, call: CallId) {
        self.0.calls.open(call);
    }

    fn close_call(&self, call: CallId) {
        self.0.calls.close(call);
    }

    fn read_file(&self, order: Order<ReadFile>) -> BoxFuture<'_, Result<Content, HostError>> {
        Box::pin(blocking(&self.0, move |machine| machine.read_file(&order)))
    }

    fn read_tree(&self, order: Order<ReadTree>) -> BoxFuture<'_, Result<Tree, HostError>> {
        Box::pin(blocking(&self.0, move |machine| machine.read_tree(&order)))
    }

    fn write_file(&self, order: Order<WriteFile>) -> BoxFuture<'_, Result<(), HostError>> {
        Box::pin(blocking(&self.0, move |machine| machine.write_file(&order)))
    }

    fn spawn(&self, order: Order<Spawn>) -> BoxFuture<'_, Result<Ended, HostError>> {
        Box::pin(process::spawn(Arc::clone(&self.0), order))
    }

    fn keep_output(&self, call: CallId, text: &str) -> BoxFuture<'_, Result<String, HostError>> {
        let text = text.to_owned();
        Box::pin(blocking(&self.0, move |machine| {
            machine.keep_output(call, &text)
        }))
    }
}

/// Does work that may wait for the disk on a thread that may wait. It goes on if nobody waits for it
/// any more, but then its call is closed, which a write asks right before it takes effect.
pub(crate) async fn blocking<T: Send + 'static>(
    machine: &Arc<Machine>,
    work: impl FnOnce(&Machine) -> Result<T, HostError> + Send + 'static,
) -> Result<T, HostError> {
    let machine = Arc::clone(machine);
    let done = spawn_blocking(move || work(&machine)).await;
    done.unwrap_or_else(|_| Err(HostError::Failed("the work was broken off".into())))
}

/// What all of the host stands on.
pub(crate) struct Machine {
    /// Absolute, real, and UTF-8.
    pub(crate) workspace: PathBuf,
    pub(crate) workspace_fd: OwnedFd,
    pub(crate) workspace_id: FileId,
    /// `/`, from where paths outside the workspace are walked.
    pub(crate) root: OwnedFd,
    pub(crate) state_dir: PathBuf,
    pub(crate) session_dir: PathBuf,
    pub(crate) session_fd: OwnedFd,
    pub(crate) temp_dir: PathBuf,
    /// The whole environment of a child.
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// What every child may read.
    pub(crate) readable: Vec<PathBuf>,
    /// Links in the home by which toolchains are reached.
    pub(crate) links: Vec<PathBuf>,
    /// What the person opened beyond.
    pub(crate) openings: Openings,
    pub(crate) trees: Mutex<Trees>,
    pub(crate) quarantine: Quarantine,
    pub(crate) spares: Spares,
    /// What git passes over in commands.
    pub(crate) git_excludes: Option<PathBuf>,
    pub(crate) shell: PathBuf,
    /// As the environment of children says it.
    pub(crate) home: Option<PathBuf>,
    pub(crate) limits: OutputLimits,
    pub(crate) launcher: sandbox::Launcher,
    pub(crate) calls: OpenCalls,
    /// Held by the one write that is under way.
    pub(crate) writes: Mutex<()>,
    hook: Option<Hook>,
}

/// The `PATH` of children where none is given.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

impl Machine {
    fn open(options: Options) -> Result<Self, OpenError> {
        let workspace = real("workspace", &options.workspace)?;
        let state_dir = real("state directory", &options.state_dir)?;
        let home = options
            .home
            .as_ref()
            .and_then(|home| home.canonicalize().ok());
        if workspace.to_str().is_none() {
            return Err(OpenError::NotUtf8(workspace));
        }
        if home.as_ref() == Some(&workspace) {
            return Err(OpenError::HomeIsWorkspace(workspace));
        }
        apart(("workspace", &workspace), ("state directory", &state_dir))?;
        apart(("state directory", &state_dir), ("workspace", &workspace))?;

        let session_dir = private("session directory", &options.session_dir)?;
        if session_dir == state_dir || !session_dir.starts_with(&state_dir) {
            return Err(OpenError::SessionElsewhere(session_dir));
        }
        let temp_dir = private("temporary directory", &options.temp_dir)?;
        for (role, path) in [
            ("workspace", &workspace),
            ("state directory", &state_dir),
            ("session directory", &session_dir),
        ] {
            apart((role, path), ("temporary directory", &temp_dir))?;
        }
        for (role, path) in [
            ("workspace", &workspace),
            ("session directory", &session_dir),
        ] {
            apart(("temporary directory", &temp_dir), (role, path))?;
        }

        let path = options.path.unwrap_or_else(|| PATH.into());
        let mut readable = sandbox::system_readable();
        readable.extend(
            home.as_deref()
                .map(sandbox::toolchain_readable)
                .unwrap_or_default(),
        );
        readable.extend(programs(&path, home.as_deref(), &state_dir));
        readable.push(workspace.clone());

        let mut environment =
            environment::of_child(&options.environment, &path, temp_dir.as_os_str());
        environment.extend(git::identity(home.as_deref(), &environment));
        options.openings.set_variables(&mut environment);

        let opened =
            |role, path: &Path| directory(path).map_err(|error| unusable(role, path, error));
        let workspace_fd = opened("workspace", &workspace)?;
        let stat =
            fstat(&workspace_fd).map_err(|error| unusable("workspace", &workspace, error))?;
        Ok(Self {
            workspace_id: beneath::id_of(&stat),
            workspace_fd,
            root: opened("root", Path::new("/"))?,
            session_fd: opened("session directory", &session_dir)?,
            environment,
            readable,
            links: home
                .as_deref()
                .map(sandbox::toolchain_links)
                .unwrap_or_default(),
            openings: options.openings,
            trees: Mutex::default(),
            quarantine: Quarantine::default(),
            spares: Spares::of_session(
                &state_dir,
                session_dir.file_name(),
                beneath::id_of(&stat).device,
            ),
            git_excludes: walls::git_excludes(home.as_deref(), &temp_dir),
            shell: process::shell(),
            home: options.home.filter(|home| home.is_absolute()),
            limits: options.limits,
            launcher: options.launcher,
            calls: OpenCalls::default(),
            writes: Mutex::default(),
            hook: options.hook,
            workspace,
            state_dir,
            session_dir,
            temp_dir,
        })
    }

    /// What git does in commands that change something. SECURITY: where nothing confines a command, a hook would
    /// run as freely as the person, who was asked about git alone.
    pub(crate) fn git(&self) -> Git {
        let is_walled = !matches!(
            self.launcher.confinement(),
            sandbox::Confinement::NotEnforced { .. }
        );
        if self.openings.has_git_hooks && is_walled {
            Git::WithHooks
        } else {
            Git::Plain
        }
    }

    /// Tells the hook where the work is.
    pub(crate) fn at(&self, moment: Moment) {
        if let Some(hook) = &self.hook {
            hook(moment);
        }
    }
}

fn unusable(role: &'static str, path: &Path, error: impl Into<io::Error>) -> OpenError {
    OpenError::Directory {
        role,
        path: path.to_path_buf(),
        source: error.into(),
    }
}

fn directory(path: &Path) -> rustix::io::Result<OwnedFd> {
    openat(
        CWD,
        path,
        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::empty(),
    )
}

fn real(role: &'static str, path: &Path) -> Result<PathBuf, OpenError> {
    let real = path
        .canonicalize()
        .map_err(|error| unusable(role, path, error))?;
    if real.is_dir() {
        Ok(real)
    } else {
        Err(unusable(role, path, io::ErrorKind::NotADirectory))
    }
}

/// Makes a directory that nobody else can enter, or finds that it is one.
fn private(role: &'static str, path: &Path) -> Result<PathBuf, OpenError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| unusable(role, path, error))?;
    let real = real(role, path)?;
    let meta = real
        .metadata()
        .map_err(|error| unusable(role, path, error))?;
    if meta.uid() != geteuid().as_raw() || meta.mode() & 0o077 != 0 {
        return Err(OpenError::NotPrivate { role, path: real });
    }
    Ok(real)
}

/// `inner` must not lie in `outer`.
fn apart(inner: (&'static str, &Path), outer: (&'static str, &Path)) -> Result<(), OpenError> {
    if !inner.1.starts_with(outer.1) {
        return Ok(());
    }
    Err(OpenError::Overlap {
        inner: inner.0,
        inner_path: inner.1.to_path_buf(),
        outer: outer.0,
        outer_path: outer.1.to_path_buf(),
    })
}

/// The directories of a `PATH`, without such as would open a home or what is ours.
fn programs(path: &OsStr, home: Option<&Path>, state_dir: &Path) -> Vec<PathBuf> {
    let real = std::env::split_paths(path)
        .filter(|path| path.is_absolute())
        .filter_map(|path| path.canonicalize().ok());
    real.filter(|path| {
        !state_dir.starts_with(path)
            && !path.starts_with(state_dir)
            && home.is_none_or(|home| !home.starts_with(path))
    })
    .collect()
}
