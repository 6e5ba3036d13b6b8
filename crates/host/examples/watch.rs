//! Measures what it costs to watch over protected files where no wall keeps a command from them: `watch [FILES]`.
//! Must not run a command: what is measured is the looking before and the comparing after.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement may stop where it stands, and speaks to whoever runs it"
)]

use conform::testkit::{Action, Bench, MemoryHost};
use gate::g3_confine::{ChildRules, ChildWrites};
use std::{
    env, fs,
    sync::Arc,
    time::{Duration, Instant},
};
use tollgate_host::{LocalHost, Openings, Options, OutputLimits, Watch};

fn main() {
    sandbox::run_if_helper();
    let files: usize = env::args()
        .nth(1)
        .and_then(|it| it.parse().ok())
        .unwrap_or(50);
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for name in ["ws/.git/hooks", "home", "state"] {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    fs::write(root.join("ws/.git/config"), "[core]\n").unwrap();
    for number in 0..files {
        // As they come: a third of them the samples that git makes, the rest two in a directory.
        let path = if number % 3 == 0 {
            root.join(format!("ws/.git/hooks/{number}.sample"))
        } else {
            root.join(format!(
                "ws/d{}/{}",
                number / 3,
                ["AGENTS.md", "CLAUDE.md"][number % 2]
            ))
        };
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x".repeat(2_000)).unwrap();
    }
    let launcher =
        sandbox::Launcher::open_up_to(&env::current_exe().unwrap(), sandbox::Tier::Partial);
    let host = LocalHost::open(Options {
        workspace: root.join("ws"),
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
        launcher: launcher.unwrap(),
        hook: None,
    });
    let host = host.unwrap();
    let bench = Bench::on(MemoryHost::with(&[]), &[("*", "*", Action::Allow)]);
    let rules = Arc::new(ChildRules::of(&bench.rules.current()));
    let spawn = host.as_a_tool_would(
        "/bin/true".as_ref(),
        Vec::new(),
        &rules,
        ChildWrites::Workspace,
    );
    let walls = spawn.unwrap().walls;

    let first = measured(&host, &walls);
    // Until the times of all files tell every later change.
    std::thread::sleep(Duration::from_millis(200));
    measured(&host, &walls);
    let mut later: Vec<[Duration; 2]> = (0..101).map(|_| measured(&host, &walls)).collect();
    later.sort_by_key(|[before, after]| *before + *after);
    println!(
        "{} paths watched, {files} files",
        walls.write_protected.len()
    );
    println!("first: {:?} before, {:?} after", first[0], first[1]);
    let [before, after] = later[later.len() / 2];
    println!(
        "then: {before:?} before, {after:?} after, {:?} together",
        before + after
    );
}

/// How long it took before and after a command.
fn measured(host: &LocalHost, walls: &sandbox::Walls) -> [Duration; 2] {
    let begin = Instant::now();
    let watch = host.watch(walls, Duration::from_secs(10)).unwrap();
    let before = begin.elapsed();
    let begin = Instant::now();
    let undone = watch.map_or(Ok(Vec::new()), Watch::end).unwrap();
    let after = begin.elapsed();
    assert!(undone.is_empty(), "{undone:?}");
    [before, after]
}
