//! Measures looking for files and lines against `rg --sort path` on a tree of 100,000 files: the sets
//! must be equal, and the medians of interleaved runs are printed. `rg` is found on the `PATH`.
//!
//! Run it with `cargo run --release -p tollgate-host --example search -- DIRECTORY`; the directory is
//! filled if it is empty, and must lie outside any work tree of git.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement, run by hand"
)]

use conform::testkit::{
    Action::{Allow, Ask},
    Bench, MemoryHost, yes,
};
use gate::{
    Problem,
    access::{GlobQuery, GrepQuery, ReadTree},
    g1_decode::{ArgumentFault, Asks, RawArguments, Scout, Want},
    g2_admit::Grants,
    g3_confine::CallContext,
    host::Tree,
    output::ToolOutput,
    tool::{AnyTool, Tool},
};
use serde_json::json;
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};
use tollgate_host::{LocalHost, Openings, Options, OutputLimits};

const RUNS: usize = 11;
const FILES: usize = 100_000;
const FILES_IN_DIRECTORY: usize = 40;

/// As many and such patterns as a preset has.
const SECRETS: [&str; 28] = [
    "*.env",
    "*.env.*",
    "*.env-*",
    "*.envrc",
    "*.ssh/*",
    "*.gnupg/*",
    "*id_rsa*",
    "*id_dsa*",
    "*id_ecdsa*",
    "*id_ed25519*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.kdbx",
    "*credentials",
    "*credentials.*",
    "*.netrc",
    "*.pgpass",
    "*.npmrc",
    "*.pypirc",
    "*.htpasswd",
    "*.git/config",
    "*.docker/config.json",
    "*.kube/config",
    "*.aws/*",
    "*.azure/*",
    "*gcloud/*",
];

fn main() {
    // The host starts this very program to see what walls it can have; without this line each start
    // would start another.
    sandbox::run_if_helper();
    let root = PathBuf::from(env::args().nth(1).unwrap());
    let workspace = root.join("ws");
    if !workspace.exists() {
        fill(&workspace);
    }
    let workspace = workspace.canonicalize().unwrap();
    fs::create_dir_all(root.join("state")).unwrap();
    let host = LocalHost::open(Options {
        workspace: workspace.clone(),
        state_dir: root.join("state"),
        session_dir: root.join("state/session"),
        temp_dir: root.join("state/tmp"),
        home: None,
        path: None,
        environment: Vec::new(),
        openings: Openings::default(),
        limits: OutputLimits {
            lines_max: 100,
            bytes_max: 10_000,
        },
        launcher: sandbox::Launcher::open_program(&env::current_exe().unwrap()).unwrap(),
        hook: None,
    })
    .unwrap();

    for (name, asked, arguments) in [
        ("every file", glob("*"), &["--files"][..]),
        ("files by name", glob("*.rs"), &["--files", "-g*.rs"]),
        (
            "a rare word",
            grep("needle", 0),
            &["-n", "--hidden", "-g!.git", "needle"],
        ),
        (
            "a common word",
            grep("lorem", 0),
            &["-n", "--hidden", "-g!.git", "lorem"],
        ),
        (
            "an expression",
            grep(r"\b[a-z]+dle [0-9]{2,}", 0),
            &["-n", "--hidden", "-g!.git", r"\b[a-z]+dle [0-9]{2,}"],
        ),
    ] {
        compare(name, &host, &workspace, &asked, arguments);
    }
}

fn glob(pattern: &str) -> Asked {
    Asked::Glob(GlobQuery {
        pattern: pattern.to_owned(),
        limit: usize::MAX,
    })
}

fn grep(pattern: &str, context: usize) -> Asked {
    Asked::Grep(GrepQuery {
        pattern: pattern.to_owned(),
        include: None,
        context,
        limit: usize::MAX,
        is_literal: false,
        ignores_case: false,
    })
}

fn compare(name: &str, host: &LocalHost, workspace: &Path, asked: &Asked, arguments: &[&str]) {
    let mut times = [Vec::new(), Vec::new()];
    let mut count = 0;
    for run in 0..=RUNS {
        let start = Instant::now();
        let tree = look(host, asked);
        let ours = start.elapsed();
        let start = Instant::now();
        let theirs = Command::new("rg")
            .current_dir(workspace)
            .args([
                "--no-config",
                "--no-messages",
                "--sort=path",
                "--no-heading",
            ])
            .args(arguments)
            .output()
            .unwrap();
        let other = start.elapsed();
        if run == 0 {
            // Warms the caches; its results are compared instead.
            let ours = shown(&tree, workspace);
            let text = String::from_utf8(theirs.stdout).unwrap();
            let mut theirs: Vec<String> = text.lines().map(str::to_owned).collect();
            theirs.sort();
            count = ours.len();
            assert!(ours == theirs, "{name}: {count} and {}", theirs.len());
            continue;
        }
        times[0].push(ours);
        times[1].push(other);
    }
    let [ours, theirs] = times.map(median);
    println!(
        "{name:15} {count:7} results, equal sets; ours {:7.1} ms, rg {:7.1} ms, ratio {:.2}",
        ours.as_secs_f64() * 1e3,
        theirs.as_secs_f64() * 1e3,
        ours.as_secs_f64() / theirs.as_secs_f64()
    );
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// As `rg` prints it, sorted.
fn shown(tree: &Tree, workspace: &Path) -> Vec<String> {
    let below = |path: &str| {
        let path = Path::new(path).strip_prefix(workspace).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let mut shown: Vec<String> = match tree {
        Tree::Listing(_) => Vec::new(),
        Tree::Paths(paths) => paths.paths.iter().map(|path| below(path)).collect(),
        Tree::Matches(matches) => matches
            .files
            .iter()
            .flat_map(|file| {
                let path = below(&file.path);
                let line =
                    move |line: &gate::host::Line| format!("{path}:{}:{}", line.number, line.text);
                file.lines.iter().map(line)
            })
            .collect(),
    };
    shown.sort();
    shown
}

/// A tree like that of a large project, with what git ignores and what is hidden.
fn fill(workspace: &Path) {
    let put = |path: PathBuf, text: &str| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put(workspace.join(".git/HEAD"), "ref: refs/heads/main\n");
    put(workspace.join(".gitignore"), "target/\n*.log\n!keep.log\n");
    for number in 0..FILES {
        let directory = number / FILES_IN_DIRECTORY;
        let (a, b) = (directory % 50, directory / 50);
        let end = ["rs", "ts", "md", "toml"][number % 4];
        let needle = if number % 50 == 0 {
            "needle 4242"
        } else {
            "hay 17"
        };
        let line = |at: usize| format!("line {at} of file {number}: lorem ipsum dolor sit amet\n");
        let mut text: String = (0..20 + number % 40).map(line).collect();
        text.push_str(needle);
        text.push('\n');
        let path = format!("package-{a:02}/src/module_{b:02}/file_{number:06}.{end}");
        put(workspace.join(path), &text);
    }
    for number in 0..2_000 {
        let package = number % 50;
        put(
            workspace.join(format!("package-{package:02}/target/debug/{number}.rs")),
            "needle 99\n",
        );
        put(
            workspace.join(format!("package-{package:02}/{number}.log")),
            "needle 99\n",
        );
    }
    for package in 0..50 {
        let here = workspace.join(format!("package-{package:02}"));
        put(here.join(".gitignore"), "/generated\n*.tmp\n");
        put(here.join("generated/a.rs"), "needle 1\n");
        put(here.join("src/a.tmp"), "needle 1\n");
        put(here.join("keep.log"), "needle 1\n");
        put(here.join(".hidden/a.rs"), "needle 12\n");
        put(here.join("src/binary.rs"), "needle 12\0\n");
    }
}

#[derive(Clone)]
enum Asked {
    Glob(GlobQuery),
    Grep(GrepQuery),
}

fn look(host: &LocalHost, asked: &Asked) -> Tree {
    let mut rules = vec![("*", "*", Allow)];
    rules.extend(SECRETS.map(|pattern| ("read", pattern, Ask)));
    let bench = Bench::on(MemoryHost::with(&[]), &rules);
    let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
    let _runtime = runtime.enter();
    let tree = Arc::default();
    let tool = AnyTool::new(Look {
        asked: asked.clone(),
        tree: Arc::clone(&tree),
    });
    let arguments = RawArguments::Json(json!({}));
    bench
        .run_on(host, &[tool], "look", arguments, |_| yes())
        .unwrap();
    tree.lock().unwrap().take().unwrap()
}

/// Looks for what it was made with.
struct Look {
    asked: Asked,
    tree: Arc<Mutex<Option<Tree>>>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

impl Tool for Look {
    type Kinds = (ReadTree,);
    type Arguments = Nothing;
    type Plan = Want<ReadTree>;

    fn name(&self) -> &'static str {
        "look"
    }
    fn permission(&self) -> &'static str {
        "look"
    }
    fn describe(&self) -> &'static str {
        "looks"
    }
    fn prepare(
        &self,
        _: Nothing,
        scout: &Scout<'_>,
        asks: &mut Asks<'_, Self::Kinds>,
    ) -> Result<Self::Plan, ArgumentFault> {
        let top = scout.resolve(".").unwrap();
        Ok(asks.want(match self.asked.clone() {
            Asked::Glob(query) => ReadTree::glob(top, query),
            Asked::Grep(query) => ReadTree::grep(top, query),
        }))
    }
    async fn run<'call>(
        &self,
        want: Self::Plan,
        mut grants: Grants<'call, Self::Kinds>,
        cx: CallContext<'call>,
    ) -> Result<ToolOutput, Problem> {
        let tree = cx.effects.read_tree(grants.take(&want)?).await?;
        *self.tree.lock().unwrap() = Some(tree);
        Ok(ToolOutput::default())
    }
}
