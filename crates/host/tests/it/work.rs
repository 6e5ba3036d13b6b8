//! Ordinary work inside the walls, with the real programs, under rules like those of the preset `normal`. A program
//! that is missing fails here: `.ci/run` installs them.

use crate::world::{World, with_toolchains};
use conform::testkit::Action::{self, Allow, Ask};
use gate::host::{Ended, Exit};
use tollgate_host::LocalHost;

/// As the preset has them where all walls hold.
const NORMAL: &[(&str, &str, Action)] = &[
    ("*", "*", Ask),
    ("read", "*", Allow),
    ("read", "*.env", Ask),
    ("read", "*.git/config", Ask),
    ("edit", "*", Ask),
    ("bash", "*", Allow),
    ("edit.new", "*", Allow),
    ("edit.command", "*", Allow),
    ("edit", "*.git/*", Ask),
    ("edit", "*AGENTS.md", Ask),
    ("edit", "*.vscode/*", Ask),
];

/// A world with the toolchains of whoever runs the tests.
fn workshop() -> (World, LocalHost) {
    let world = World::under(NORMAL);
    let host = with_toolchains(&world);
    (world, host)
}

fn text(ended: &Ended) -> String {
    String::from_utf8_lossy(&ended.tail).into_owned()
}

#[track_caller]
fn works(world: &World, host: &LocalHost, command: &str) -> String {
    let ended = world.run_for(host, command, None, 300_000).unwrap();
    let said = text(&ended);
    assert_eq!(ended.exit, Exit::Code(0), "{command}\n{said}");
    said
}

#[test]
fn cargo_builds_and_runs_a_crate() {
    let (world, host) = workshop();
    world.put(
        "ws/Cargo.toml",
        "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    );
    world.put("ws/src/main.rs", "fn main() { println!(\"built\"); }\n");
    assert!(works(&world, &host, "cargo run --offline 2>&1").ends_with("built\n"));
    assert!(works(&world, &host, "cargo test --offline 2>&1").contains("test result: ok"));
}

#[test]
fn npm_runs_a_script() {
    let (world, host) = workshop();
    world.put(
        "ws/package.json",
        r#"{"name": "small", "version": "1.0.0", "scripts": {"build": "node build.js"}}"#,
    );
    world.put(
        "ws/build.js",
        "require('fs').mkdirSync('dist'); console.log('built');\n",
    );
    assert!(works(&world, &host, "npm run build").ends_with("built\n"));
    assert!(world.path("ws/dist").is_dir());
}

#[test]
fn python_makes_an_environment_and_runs_a_script_in_it() {
    let (world, host) = workshop();
    world.put(
        "ws/script.py",
        "import sys, sqlite3, ssl, json; print(sys.prefix)\n",
    );
    let said = works(
        &world,
        &host,
        "python3 -m venv --without-pip venv && venv/bin/python script.py",
    );
    assert_eq!(said.trim(), world.path("ws/venv").to_str().unwrap());
}

#[test]
fn make_builds_in_parallel() {
    let (world, host) = workshop();
    world.put(
        "ws/Makefile",
        "all: $(foreach n,1 2 3 4 5 6 7 8,out$(n))\nout%:\n\t@sleep 0.01; echo $* > $@\n",
    );
    works(&world, &host, "make -j8 && cat out1 out8");
}

#[test]
fn a_server_and_its_client_meet_on_loopback() {
    let (world, host) = workshop();
    world.put("ws/index.html", "served");
    let command = "python3 -m http.server --bind 127.0.0.1 8123 >/dev/null 2>&1 & \
        for i in $(seq 100); do \
        python3 -c 'import urllib.request as u; print(u.urlopen(\"http://127.0.0.1:8123/index.html\").read().decode())' \
        2>/dev/null && exit 0; done; exit 1";
    assert_eq!(works(&world, &host, command), "served\n");
}

#[test]
fn two_hundred_megabytes_of_output_are_kept() {
    let (world, host) = workshop();
    let ended = world
        .run(&host, "head -c 200000000 /dev/zero | tr '\\0' x")
        .unwrap();
    assert_eq!(
        (ended.exit, ended.bytes_total),
        (Exit::Code(0), 200_000_000)
    );
    assert_eq!(
        std::fs::metadata(ended.kept_at.unwrap()).unwrap().len(),
        200_000_000
    );
}

/// A repository with protected files and a secret in it, and two branches.
fn repository() -> (World, LocalHost) {
    let (world, host) = workshop();
    for (name, text) in [
        ("a.txt", "one\n"),
        ("AGENTS.md", "one\n"),
        (".env", "hunter2\n"),
        (".gitignore", ".env\n"),
    ] {
        world.put(&format!("ws/{name}"), text);
    }
    let mut environment = std::process::Command::new("git");
    let git = environment
        .args(["init", "-q", "-b", "main"])
        .current_dir(world.path("ws"));
    assert!(git.status().unwrap().success());
    let git = world.path("ws/.git/config");
    let user = "[user]\n\tname = A\n\temail = a@example.invalid\n";
    std::fs::write(&git, std::fs::read_to_string(&git).unwrap() + user).unwrap();
    works(&world, &host, "git add -A && git commit -q -m one");
    (world, host)
}

#[test]
fn git_adds_commits_branches_stashes_and_merges() {
    let (world, host) = repository();
    assert_eq!(works(&world, &host, "git status --short"), "");
    works(
        &world,
        &host,
        "git checkout -q -b side && echo two >> a.txt && git commit -qam two",
    );
    works(
        &world,
        &host,
        "echo three >> a.txt && git stash && git stash pop && git checkout -q a.txt",
    );
    works(
        &world,
        &host,
        "echo new > new && git stash -u && git stash pop && rm new",
    );
    works(
        &world,
        &host,
        "git checkout -q main && git merge -q side && git tag v1 && git gc -q && git fsck",
    );
    assert_eq!(
        works(&world, &host, "git log --format=%s; cat a.txt"),
        "two\none\none\ntwo\n"
    );
    works(
        &world,
        &host,
        "git worktree add -q tree -b tree && cat tree/a.txt && git worktree remove tree",
    );
    works(
        &world,
        &host,
        "git clone -q . copy && cat copy/AGENTS.md && git clean -fdq && ls",
    );
}

#[test]
fn git_changes_nothing_that_it_executes() {
    let (world, host) = repository();
    let before = world.text("ws/.git/config");
    for script in [
        "git config core.fsmonitor ./evil",
        "git remote add origin https://example.invalid/x",
        "echo x > .git/hooks/pre-commit",
        "rm -rf .git/hooks",
        "mv .git/hooks .git/gone",
        "mv .git gone && mkdir .git",
        "echo '* filter=x' > .git/info/attributes",
        "echo x > .git/config.new && mv .git/config.new .git/config",
    ] {
        world.put("ws/script.sh", script);
        let ended = world.run(&host, "bash script.sh").unwrap();
        assert!(
            matches!(ended.exit, Exit::Code(1..)),
            "{script}: {}",
            text(&ended)
        );
    }
    assert_eq!(world.text("ws/.git/config"), before);
}

#[test]
fn what_a_repository_would_have_git_run_does_not_run() {
    let (world, host) = repository();
    let evil = world.path("ws/evil.sh");
    world.put("ws/evil.sh", "#!/bin/sh\ntouch ran\n");
    let hook = world.path("ws/.git/hooks/pre-commit");
    std::fs::copy(&evil, &hook).unwrap();
    for path in [&evil, &hook] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(path, mode).unwrap();
    }
    let config =
        world.text("ws/.git/config") + "[core]\n\tfsmonitor = ./evil.sh\n\thooksPath = .\n";
    world.put("ws/.git/config", config);
    works(
        &world,
        &host,
        "git status && echo x >> a.txt && git commit -qam x",
    );
    assert!(!world.path("ws/ran").exists());
    let ended = world
        .run(&host, "git init -q --bare bare && cd bare && git log")
        .unwrap();
    assert!(
        text(&ended).contains("safe.bareRepository"),
        "{}",
        text(&ended)
    );
}

#[test]
fn two_hundred_processes_that_hide_are_gone_at_the_end_and_at_a_timeout() {
    let (world, host) = workshop();
    let word = format!("{}.25", 600_000 + std::process::id());
    let many = format!(
        "for i in $(seq 100); do setsid sleep {word} & (sleep {word} &) ; done; sleep 0; echo $(pgrep -c sleep)"
    );
    assert_eq!(works(&world, &host, &many), "200\n");
    assert_eq!(count_of(&word), 0);
    let ended = world
        .run_for(&host, &format!("{many}; sleep {word}"), None, 3_000)
        .unwrap();
    assert_eq!(
        (ended.exit, text(&ended).as_str()),
        (Exit::TimedOut, "200\n")
    );
    assert_eq!(count_of(&word), 0);
}

/// How many processes have this word among their arguments.
fn count_of(word: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let is_there = |line: &Vec<u8>| {
        line.split(|byte| *byte == 0)
            .any(|arg| arg == word.as_bytes())
    };
    lines.filter(is_there).count()
}
