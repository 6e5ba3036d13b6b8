//! One world a test: a workspace, what lies outside, a host on them, and a tool that does one thing.

use conform::testkit::{Action, Bench, MemoryHost, yes};
use gate::{
    Problem,
    access::{GlobQuery, GrepQuery, ReadFile, ReadTree, Spawn, WriteFile},
    call::NotRun,
    g1_decode::{ArgumentFault, Asks, RawArguments, Scout, Want},
    g2_admit::{Grants, Refusal},
    g3_confine::{CallContext, Confinement, Look},
    host::{Ended, Host as _, Matches, Paths, Tree},
    output::ToolOutput,
    tool::{AnyTool, Tool},
};
use serde_json::{Value, json};
use std::{
    env,
    ffi::OsString,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard},
};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tollgate_host::{Hook, LocalHost, Moment, OpenError, Openings, Options, OutputLimits};

pub(crate) const LIMITS: OutputLimits = OutputLimits {
    lines_max: 100,
    bytes_max: 10_000,
};

/// As the presets have them where all walls hold.
pub(crate) const NORMAL: &[(&str, &str, Action)] = &[
    ("*", "*", Action::Ask),
    ("read", "*", Action::Allow),
    ("read", "*.git/config", Action::Ask),
    ("edit", "*", Action::Ask),
    ("bash", "*", Action::Allow),
    ("edit.new", "*", Action::Allow),
    ("edit.command", "*", Action::Allow),
    ("edit", "*.git/*", Action::Ask),
];

/// A host with all walls.
pub(crate) fn opened(world: &World) -> LocalHost {
    let host = world.host();
    assert_eq!(host.confinement(), Confinement::Full);
    host
}

/// The same with the programs of whoever runs the tests, which may lie in their home.
pub(crate) fn with_toolchains(world: &World) -> LocalHost {
    let home = env::var_os("HOME");
    let host = world.open(|options| {
        options.path = env::var_os("PATH");
        options.home = home.clone().map(PathBuf::from);
        options.environment = vec![("HOME".into(), home.unwrap_or_default())];
    });
    let host = host.unwrap();
    assert_eq!(host.confinement(), Confinement::Full);
    host
}

/// What a call came to, in few words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Changed(String),
    Refused(String),
    Failed(String),
    Other(String),
}

pub(crate) struct World {
    root: TempDir,
    runtime: Option<Runtime>,
    pub(crate) bench: Bench,
    hook: Arc<Mutex<Option<Swap>>>,
    pub(crate) moments: Arc<Mutex<Vec<Moment>>>,
    did: Arc<Mutex<Option<Did>>>,
}

/// What to do to the disk, and after how many moments.
struct Swap {
    after: usize,
    work: Box<dyn FnOnce() + Send>,
}

/// What the tool had from the host.
#[derive(Debug)]
enum Did {
    Looked(Tree),
    Ran(Ended),
}

impl World {
    /// `ws/src/a.txt` holds `old`; `outside/secret` holds `secret`; `outside/dir/a.txt` too.
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for dir in ["ws/src", "outside/dir", "home", "state"] {
            fs::create_dir_all(root.path().join(dir)).unwrap();
        }
        for (path, text) in [
            ("ws/src/a.txt", "old"),
            ("outside/secret", "secret"),
            ("outside/dir/a.txt", "secret"),
        ] {
            fs::write(root.path().join(path), text).unwrap();
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        Self {
            root,
            runtime: Some(runtime),
            bench: Bench::new(&[("*", "*", Action::Allow)]),
            hook: Arc::default(),
            moments: Arc::default(),
            did: Arc::default(),
        }
    }

    /// The same, under these rules behind an allow of everything.
    pub(crate) fn under(rules: &[(&str, &str, Action)]) -> Self {
        Self::new().under_rules(rules)
    }

    /// This world under such rules.
    pub(crate) fn under_rules(self, rules: &[(&str, &str, Action)]) -> Self {
        let mut all = vec![("*", "*", Action::Allow)];
        all.extend(rules);
        Self {
            bench: Bench::on(MemoryHost::with(&[]), &all),
            ..self
        }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(path)
    }

    pub(crate) fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    pub(crate) fn options(&self) -> Options {
        let (hook, moments) = (Arc::clone(&self.hook), Arc::clone(&self.moments));
        let at: Hook = Arc::new(move |moment| {
            lock(&moments).push(moment);
            let due = {
                let mut hook = lock(&hook);
                match hook.as_mut() {
                    Some(swap) if swap.after == 0 => hook.take(),
                    Some(swap) => {
                        swap.after -= 1;
                        None
                    }
                    None => None,
                }
            };
            if let Some(swap) = due {
                (swap.work)();
            }
        });
        Options {
            workspace: self.path("ws"),
            state_dir: self.path("state"),
            session_dir: self.path("state/session"),
            temp_dir: self.path("state/tmp"),
            home: Some(self.path("home")),
            path: None,
            environment: Vec::new(),
            openings: Openings::default(),
            limits: LIMITS,
            launcher: sandbox::Launcher::open_program(&supervisor()).unwrap(),
            hook: Some(at),
        }
    }

    pub(crate) fn host(&self) -> LocalHost {
        LocalHost::open(self.options()).unwrap()
    }

    pub(crate) fn host_with(&self, environment: &[(&str, &str)]) -> LocalHost {
        let pair = |(name, value): &(&str, &str)| (OsString::from(name), OsString::from(value));
        LocalHost::open(Options {
            environment: environment.iter().map(pair).collect(),
            ..self.options()
        })
        .unwrap()
    }

    pub(crate) fn open(&self, change: impl FnOnce(&mut Options)) -> Result<LocalHost, OpenError> {
        let mut options = self.options();
        change(&mut options);
        LocalHost::open(options)
    }

    /// Does something to the disk once so many moments have passed from now on.
    pub(crate) fn swap_after(&self, after: usize, work: impl FnOnce() + Send + 'static) {
        lock(&self.moments).clear();
        *lock(&self.hook) = Some(Swap {
            after,
            work: Box::new(work),
        });
    }

    pub(crate) fn has_swapped(&self) -> bool {
        lock(&self.hook).is_none()
    }

    /// Waits for all work under way.
    pub(crate) fn without_runtime(mut self) -> Self {
        drop(self.runtime.take());
        self
    }

    fn call(&self, host: &LocalHost, arguments: Value) -> Result<String, Stop> {
        let _runtime = self.runtime.as_ref().unwrap().enter();
        let tool = AnyTool::new(Act {
            did: Arc::clone(&self.did),
        });
        let done = self
            .bench
            .run_on(host, &[tool], "act", RawArguments::Json(arguments), |_| {
                yes()
            });
        done.map(|done| done.output)
            .map_err(|not_run| match not_run {
                NotRun::Stopped(Problem::Refused(Refusal::Changed(why))) => Stop::Changed(why),
                NotRun::Stopped(Problem::Refused(Refusal::Walled(why))) => Stop::Refused(why),
                NotRun::Stopped(Problem::Failed(why)) => Stop::Failed(why),
                other => Stop::Other(other.to_string()),
            })
    }

    pub(crate) fn read(&self, host: &LocalHost, path: &str) -> Result<String, Stop> {
        self.call(host, json!({ "verb": "read", "path": path }))
    }

    pub(crate) fn list(&self, host: &LocalHost, path: &str) -> Result<Vec<(String, bool)>, Stop> {
        self.call(host, json!({ "verb": "list", "path": path }))?;
        match lock(&self.did).take() {
            Some(Did::Looked(Tree::Listing(entries))) => Ok(entries
                .into_iter()
                .map(|it| (it.name, it.is_directory))
                .collect()),
            other => Err(Stop::Other(format!("{other:?}"))),
        }
    }

    /// The files that fit, with their paths below the world.
    pub(crate) fn glob(&self, host: &LocalHost, path: &str, pattern: &str) -> Result<Paths, Stop> {
        let arguments = json!({ "verb": "glob", "path": path, "text": pattern, "limit": 1_000 });
        self.call(host, arguments)?;
        match lock(&self.did).take() {
            Some(Did::Looked(Tree::Paths(mut paths))) => {
                paths.paths.iter_mut().for_each(|path| self.shorten(path));
                Ok(paths)
            }
            other => Err(Stop::Other(format!("{other:?}"))),
        }
    }

    pub(crate) fn grep(
        &self,
        host: &LocalHost,
        path: &str,
        pattern: &str,
    ) -> Result<Matches, Stop> {
        self.grep_with(
            host,
            json!({ "path": path, "text": pattern, "limit": 1_000 }),
        )
    }

    /// The lines that fit, with their paths below the world.
    pub(crate) fn grep_with(
        &self,
        host: &LocalHost,
        mut arguments: Value,
    ) -> Result<Matches, Stop> {
        arguments["verb"] = json!("grep");
        self.call(host, arguments)?;
        match lock(&self.did).take() {
            Some(Did::Looked(Tree::Matches(mut matches))) => {
                let files = matches.files.iter_mut();
                files.for_each(|file| self.shorten(&mut file.path));
                Ok(matches)
            }
            other => Err(Stop::Other(format!("{other:?}"))),
        }
    }

    fn shorten(&self, path: &mut String) {
        let below = Path::new(path).strip_prefix(self.path("")).unwrap();
        *path = below.to_str().unwrap().to_owned();
    }

    pub(crate) fn write(&self, host: &LocalHost, path: &str, text: &str) -> Result<String, Stop> {
        self.call(host, json!({ "verb": "write", "path": path, "text": text }))
    }

    /// What the tool `bash` says of a line, with every ask answered by yes, and all edits that were asked about.
    pub(crate) fn bash_with_edits(&self, host: &LocalHost, command: &str) -> (String, Vec<String>) {
        let _runtime = self.runtime.as_ref().unwrap().enter();
        let arguments = RawArguments::Json(json!({ "command": command }));
        let tools = [AnyTool::new(tools::Bash)];
        let edits = Mutex::new(Vec::new());
        let done = self
            .bench
            .run_on(host, &tools, "bash", arguments, |question| {
                let edited = question
                    .subjects
                    .iter()
                    .filter(|it| it.permission == "edit");
                lock(&edits).extend(edited.map(|it| it.canonical.clone()));
                yes()
            });
        let said = done.map_or_else(|not_run| not_run.to_string(), |done| done.output);
        (said, edits.into_inner().unwrap())
    }

    pub(crate) fn run(&self, host: &LocalHost, command: &str) -> Result<Ended, Stop> {
        self.run_for(host, command, None, 60_000)
    }

    pub(crate) fn run_for(
        &self,
        host: &LocalHost,
        command: &str,
        workdir: Option<&str>,
        timeout_ms: u64,
    ) -> Result<Ended, Stop> {
        self.call(host, json!({ "verb": "run", "text": command, "path": workdir.unwrap_or("."), "timeout_ms": timeout_ms }))?;
        match lock(&self.did).take() {
            Some(Did::Ran(ended)) => Ok(ended),
            other => Err(Stop::Other(format!("{other:?}"))),
        }
    }

    /// Every file below the whole world whose name is that of a draft.
    pub(crate) fn drafts(&self) -> Vec<PathBuf> {
        let mut found = all_below(&self.path(""));
        found.retain(|path| {
            path.file_name()
                .unwrap()
                .to_string_lossy()
                .starts_with(".tollgate")
        });
        found
    }

    /// Names and bytes of all that lies outside the workspace.
    pub(crate) fn outside(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let read = |path: PathBuf| (path.clone(), fs::read(path).unwrap_or_default());
        all_below(&self.path("outside"))
            .into_iter()
            .map(read)
            .collect()
    }
}

/// Links are names here; nothing is looked for behind them.
fn all_below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        found.push(entry.path());
        if entry.file_type().unwrap().is_dir() {
            found.extend(all_below(&entry.path()));
        }
    }
    found.sort();
    found
}

pub(crate) fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap()
}

/// Built beside the tests: `target/<profile>/examples/supervisor`.
pub(crate) fn supervisor() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests
        .ancestors()
        .nth(2)
        .unwrap()
        .join("examples/supervisor")
}

/// Does what its arguments say.
struct Act {
    did: Arc<Mutex<Option<Did>>>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    verb: String,
    path: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    timeout_ms: u64,
    #[serde(default)]
    limit: usize,
    include: Option<String>,
    #[serde(default)]
    context: usize,
}

enum Plan {
    Read(Want<ReadFile>),
    List(Want<ReadTree>),
    Write(Want<ReadFile>, Want<WriteFile>, String),
    Run(Want<Spawn>),
}

impl Tool for Act {
    type Kinds = (ReadFile, ReadTree, WriteFile, Spawn);
    type Arguments = Arguments;
    type Plan = Plan;

    fn name(&self) -> &'static str {
        "act"
    }
    fn permission(&self) -> &'static str {
        "act"
    }
    fn describe(&self) -> &'static str {
        "does what it is told"
    }

    fn prepare(
        &self,
        arguments: Arguments,
        scout: &Scout<'_>,
        asks: &mut Asks<'_, Self::Kinds>,
    ) -> Result<Plan, ArgumentFault> {
        let Arguments {
            verb,
            path,
            text,
            timeout_ms,
            limit,
            include,
            context,
        } = arguments;
        let handle = scout
            .resolve(&path)
            .map_err(|error| ArgumentFault::at_root(error.to_string()))?;
        Ok(match verb.as_str() {
            "read" => Plan::Read(asks.want(ReadFile::new(handle))),
            "list" => Plan::List(asks.want(ReadTree::list(handle))),
            "glob" => Plan::List(asks.want(ReadTree::glob(
                handle,
                GlobQuery {
                    pattern: text,
                    limit,
                },
            ))),
            "grep" => Plan::List(asks.want(ReadTree::grep(
                handle,
                GrepQuery {
                    pattern: text,
                    include,
                    context,
                    limit,
                    is_literal: false,
                    ignores_case: false,
                },
            ))),
            "write" => {
                let read = asks.want(ReadFile::new(handle.clone()));
                Plan::Write(read, asks.want(WriteFile::new(handle)), text)
            }
            _ => Plan::Run(
                asks.want(
                    Spawn::new(text)
                        .in_directory(handle)
                        .for_at_most(timeout_ms),
                ),
            ),
        })
    }

    async fn preview(&self, plan: &mut Plan, look: &mut Look<'_>) -> Result<(), Problem> {
        if let Plan::Write(read, write, text) = plan {
            let seen = look.read(read).await?;
            look.bind(write, &seen, text.clone().into_bytes())?;
        }
        Ok(())
    }

    async fn run<'call>(
        &self,
        plan: Plan,
        mut grants: Grants<'call, Self::Kinds>,
        cx: CallContext<'call>,
    ) -> Result<ToolOutput, Problem> {
        let output = match plan {
            Plan::Read(read) => {
                let seen = cx.effects.read_file(grants.take(&read)?).await?;
                match seen.bytes() {
                    Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                    None if seen.is_directory() => "(directory)".into(),
                    None => "(missing)".into(),
                }
            }
            Plan::List(list) => {
                let tree = cx.effects.read_tree(grants.take(&list)?).await?;
                *lock(&self.did) = Some(Did::Looked(tree));
                String::new()
            }
            Plan::Write(_, write, _) => {
                cx.effects.write_file(grants.take(&write)?).await?;
                "written".into()
            }
            Plan::Run(spawn) => {
                let ended = cx.effects.spawn(grants.take(&spawn)?).await?;
                *lock(&self.did) = Some(Did::Ran(ended));
                String::new()
            }
        };
        Ok(ToolOutput {
            output,
            ..ToolOutput::default()
        })
    }
}
