//! Measures what the walls of one command cost on a tree of files: `walls [FILES [PER_DIRECTORY]]`.
//! Must not measure anything but through the gate, as a tool's command runs.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement may stop where it stands, and speaks to whoever runs it"
)]

use conform::testkit::{Action, Bench, MemoryHost, yes};
use gate::{
    g1_decode::RawArguments,
    g3_confine::{ChildRules, ChildWrites},
    tool::AnyTool,
};
use serde_json::json;
use std::{
    env, fs,
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};
use tollgate_host::{LocalHost, Openings, Options, OutputLimits};

const RULES: &[(&str, &str, Action)] = &[
    ("*", "*", Action::Ask),
    ("read", "*", Action::Allow),
    ("read", "*.env", Action::Ask),
    ("read", "*.pem", Action::Ask),
    ("edit", "*", Action::Ask),
    ("bash", "*", Action::Allow),
    ("edit.new", "*", Action::Allow),
    ("edit.command", "*", Action::Allow),
    ("edit", "*.git/*", Action::Ask),
];

fn main() {
    sandbox::run_if_helper();
    let mut arguments = env::args().skip(1).filter_map(|it| it.parse().ok());
    let files: usize = arguments.next().unwrap_or(5_000);
    let per_directory: usize = arguments.next().unwrap_or(10);
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for name in ["ws", "home", "state"] {
        fs::create_dir(root.join(name)).unwrap();
    }
    let workspace = root.join("ws");
    for number in 0..files {
        let around = workspace.join(format!("d{}", number / per_directory));
        fs::create_dir_all(&around).unwrap();
        fs::write(around.join(format!("f{number}.rs")), format!("{number}\n")).unwrap();
    }
    fs::write(workspace.join("d0/.env"), "x").unwrap();
    git(&workspace, &["init", "-q"]);
    git(&workspace, &["add", "-A"]);
    git(
        &workspace,
        &[
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.invalid",
            "commit",
            "-qm",
            "a",
        ],
    );
    std::thread::sleep(Duration::from_secs(1));
    git(&workspace, &["status"]);

    let host = LocalHost::open(Options {
        workspace: workspace.clone(),
        state_dir: root.join("state"),
        session_dir: root.join("state/session"),
        temp_dir: root.join("tmp"),
        home: Some(root.join("home")),
        path: None,
        environment: Vec::new(),
        openings: Openings::default(),
        limits: OutputLimits {
            lines_max: 100,
            bytes_max: 10_000,
        },
        launcher: sandbox::Launcher::open().unwrap(),
        hook: None,
    });
    let host = host.unwrap();
    let bench = Bench::on(MemoryHost::with(&[]), RULES);
    let rules = Arc::new(ChildRules::of(&bench.rules.current()));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build();
    let runtime = runtime.unwrap();
    let _inside = runtime.enter();

    let mut walls = Vec::new();
    for _ in 0..8 {
        let begin = Instant::now();
        let program = Path::new("/bin/true");
        let found = host.as_a_tool_would(program, Vec::new(), &rules, ChildWrites::Workspace);
        let found = found.unwrap().walls;
        walls.push(begin.elapsed());
        std::hint::black_box(found);
    }
    println!("{files} files, {per_directory} a directory");
    let later = median(walls.split_off(1));
    println!("walls: first {walls:?}, then {later:?}");
    for command in ["true", "git status --short"] {
        let mut plain = Vec::new();
        let mut walled = Vec::new();
        for _ in 0..21 {
            let begin = Instant::now();
            let mut bash = Command::new("/bin/bash");
            let bash = bash
                .args(["--noprofile", "--norc", "-c", command])
                .current_dir(&workspace);
            assert!(bash.stdout(Stdio::null()).status().unwrap().success());
            plain.push(begin.elapsed());
            let begin = Instant::now();
            let tool = AnyTool::new(tools::Bash);
            let arguments = RawArguments::Json(json!({ "command": command }));
            let done = bench.run_on(&host, &[tool], "bash", arguments, |_| yes());
            walled.push(begin.elapsed());
            assert!(done.is_ok(), "{done:?}");
        }
        let (plain, walled) = (median(plain), median(walled));
        println!(
            "{command}: plain {plain:?}, walled {walled:?}, {:.2} x",
            walled.as_secs_f64() / plain.as_secs_f64()
        );
    }
}

fn git(workspace: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    let git = git
        .args(arguments)
        .current_dir(workspace)
        .stdout(Stdio::null());
    assert!(git.status().unwrap().success());
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
