//! Git over files that commands may not change: what is left behind, what is said of it, and the command that
//! brings them up to date once a person says yes.

use crate::world::World;
use conform::testkit::Action::{self, Allow, Ask};
use gate::{g3_confine::Confinement, host::Host as _};
use std::{env, process::Command};
use tollgate_host::LocalHost;

/// As the preset `normal` has them where all walls hold, without its classes of commands.
const NORMAL: &[(&str, &str, Action)] = &[
    ("edit", "*", Ask),
    ("edit.new", "*", Allow),
    ("edit.command", "*", Allow),
    ("edit", "*AGENTS.md", Ask),
    ("edit", "*CLAUDE.md", Ask),
    ("edit", "*.mcp.json", Ask),
    ("edit", "*.claude/*", Ask),
    ("edit", "*.vscode/*", Ask),
];

/// Branch `side` differs from `main` in two protected files, has one more below a protected directory, and lacks one.
fn repository() -> (World, LocalHost) {
    let world = World::under(NORMAL);
    let host = world.open(|options| options.path = env::var_os("PATH"));
    let host = host.unwrap();
    assert_eq!(host.confinement(), Confinement::Full);
    for (name, text) in [
        ("a.txt", "one\n"),
        ("AGENTS.md", "one\n"),
        (".mcp.json", "{}\n"),
        (".claude/settings.json", "one\n"),
        (".vscode/settings.json", "one\n"),
    ] {
        world.put(&format!("ws/{name}"), text);
    }
    git(&world, "init -q -b main");
    git(&world, "config user.name A");
    git(&world, "config user.email a@example.invalid");
    git(&world, "add -A");
    git(&world, "commit -q -m one");
    git(&world, "checkout -q -b side");
    for name in [
        "a.txt",
        "AGENTS.md",
        ".claude/settings.json",
        ".claude/new.md",
    ] {
        world.put(&format!("ws/{name}"), "two\n");
    }
    git(&world, "rm -q .mcp.json");
    git(&world, "add -A");
    git(&world, "commit -q -m two");
    git(&world, "checkout -q main");
    (world, host)
}

/// Git outside the sandbox, as the person runs it.
#[track_caller]
fn git(world: &World, line: &str) -> String {
    let done = Command::new("git")
        .args(line.split(' '))
        .current_dir(world.path("ws"))
        .output()
        .unwrap();
    let said = String::from_utf8(done.stdout).unwrap();
    assert!(done.status.success(), "{line}: {said}");
    said
}

/// Runs a command that leaves protected files behind, and then the one that the footer names.
#[track_caller]
fn follow(world: &World, host: &LocalHost, command: &str, prepare: &str) -> (String, Vec<String>) {
    let (said, _) = world.bash_with_edits(host, command);
    let behind = said.split_once("at the top of the repository: `");
    assert!(behind.is_some(), "{command}: {said}");
    let (_, behind) = behind.unwrap();
    let (named, _) = behind.split_once('`').unwrap();
    if !prepare.is_empty() {
        git(world, prepare);
    }
    let (said, edits) = world.bash_with_edits(host, named);
    assert!(!said.contains("shell_metadata"), "{named}: {said}");
    (named.to_owned(), edits)
}

#[track_caller]
fn is_like_side(world: &World) {
    assert_eq!(git(world, "diff --stat side"), "");
    assert_eq!(git(world, "status --short"), "");
}

const FILES: [&str; 4] = [
    ".claude/new.md",
    ".claude/settings.json",
    "AGENTS.md",
    ".mcp.json",
];

#[test]
fn what_a_checkout_leaves_is_brought_up_to_date_by_the_command_that_is_named() {
    let (world, host) = repository();
    let (named, edits) = follow(&world, &host, "git checkout -q side", "");
    assert_eq!(
        named,
        "git restore .claude/new.md .claude/settings.json AGENTS.md; rm .mcp.json"
    );
    assert_eq!(edits, FILES);
    is_like_side(&world);
}

#[test]
fn a_merge_a_reset_and_a_stash_work_by_the_command_that_is_named() {
    for line in ["git merge -q side", "git reset -q --hard side"] {
        let (world, host) = repository();
        let (named, edits) = follow(&world, &host, line, "restore a.txt");
        assert_eq!(named, format!("touch -c {} && {line}", FILES.join(" ")));
        assert_eq!(edits, FILES);
        is_like_side(&world);
    }
    let (world, host) = repository();
    world.put("ws/AGENTS.md", "mine\n");
    git(&world, "stash -q");
    let (_, edits) = follow(&world, &host, "git stash pop -q", "");
    assert_eq!(edits, ["AGENTS.md"]);
    assert_eq!(world.text("ws/AGENTS.md"), "mine\n");
}

#[test]
fn a_name_that_commands_may_not_make_is_made_by_the_command_that_is_named() {
    let (world, host) = repository();
    git(&world, "checkout -q -b more");
    world.put("ws/CLAUDE.md", "two\n");
    git(&world, "add -A");
    git(&world, "commit -q -m three");
    git(&world, "checkout -q main");
    let (named, edits) = follow(&world, &host, "git checkout -q more", "");
    assert_eq!(named, "touch -c CLAUDE.md && git checkout -q more");
    assert_eq!(edits, ["CLAUDE.md"]);
    assert_eq!(git(&world, "diff --stat more"), "");
    assert_eq!(world.text("ws/CLAUDE.md"), "two\n");
}

#[test]
fn a_permit_for_a_file_lets_its_directory_hold_no_other() {
    let (world, host) = repository();
    let line = "echo x > .claude/settings.json; bash plant.sh";
    world.put(
        "ws/plant.sh",
        "echo evil > .claude/hooks.json; echo evil > .claude/new/x || mkdir .claude/new",
    );
    world.bash_with_edits(&host, line);
    assert_eq!(world.text("ws/.claude/settings.json"), "x\n");
    assert!(!world.path("ws/.claude/hooks.json").exists());
    assert!(!world.path("ws/.claude/new").exists());
    world.bash_with_edits(
        &host,
        "mkdir -p .cursor && echo x > .cursor/rules; echo evil > .cursor/mcp.json.tmp",
    );
    assert_eq!(world.text("ws/.cursor/rules"), "x\n");
}

#[test]
fn a_protected_file_is_made_by_a_command_that_names_it() {
    let (world, host) = repository();
    world.bash_with_edits(&host, "echo x > CLAUDE.md");
    assert_eq!(world.text("ws/CLAUDE.md"), "x\n");
    world.bash_with_edits(&host, "rm CLAUDE.md");
    assert!(!world.path("ws/CLAUDE.md").exists());
}
