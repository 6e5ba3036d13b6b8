//! Walls that stay out of the way: what commands leave stops no other command, what is fetched or made can be removed,
//! and a yes is worth something. In the full tier.

use crate::world::{NORMAL, World, opened};
use conform::testkit::Action::{Ask, Deny};
use gate::host::{Ended, Exit};
use proptest::prelude::*;
use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    process::Command,
};
use tollgate_host::LocalHost;

/// Runs a script, of which no word tells what it does.
fn run(world: &World, host: &LocalHost, script: &str) -> (Exit, String) {
    world.put("ws/script.sh", script);
    let Ended { exit, tail, .. } = world.run(host, "bash script.sh").unwrap();
    (exit, String::from_utf8_lossy(&tail).into_owned())
}

#[track_caller]
fn works(world: &World, host: &LocalHost, script: &str) {
    let done = run(world, host, script);
    assert_eq!(done.0, Exit::Code(0), "{script}: {done:?}");
}

#[track_caller]
fn fails(world: &World, host: &LocalHost, script: &str) {
    let (exit, said) = run(world, host, script);
    assert!(matches!(exit, Exit::Code(1..)), "{script}: {said}");
    assert!(!said.contains("did not start"), "{script}: {said}");
}

/// What the person does outside.
#[track_caller]
fn outside(world: &World, script: &str) {
    let mut bash = Command::new("/bin/bash");
    bash.args(["-ec", script]).current_dir(world.path("ws"));
    bash.env("GIT_CONFIG_GLOBAL", "/dev/null");
    for who in ["AUTHOR", "COMMITTER"] {
        bash.env(format!("GIT_{who}_NAME"), "a");
        bash.env(format!("GIT_{who}_EMAIL"), "a@example.invalid");
    }
    let done = bash.output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{script}: {said}");
}

const PACKAGES: &str = "mkdir -p node_modules/{x/.vscode,y/.git/hooks,z/node_modules/q/.claude}; \
    echo old > node_modules/x/.vscode/settings.json; echo old > node_modules/y/AGENTS.md; \
    echo old > node_modules/y/.git/config; echo old > node_modules/z/node_modules/q/.claude/a; \
    ln -s ../y/AGENTS.md node_modules/x/CLAUDE.md; echo x > node_modules/x/test.pem";

#[test]
fn packages_that_git_ignores_are_removed_with_what_others_obey_in_them() {
    for line in ["rm -rf node_modules", "bash script.sh"] {
        let world = World::under(NORMAL);
        world.put("ws/.gitignore", "node_modules/\n");
        world.put("ws/script.sh", "rm -rf node_modules");
        outside(&world, &format!("git init -q .; {PACKAGES}"));
        let host = opened(&world);
        let ended = world.run(&host, line).unwrap();
        assert_eq!(ended.exit, Exit::Code(0), "{line}: {ended:?}");
        assert!(!world.path("ws/node_modules").exists(), "{line}");
    }
}

#[test]
fn packages_that_git_does_not_ignore_are_part_of_the_project() {
    let world = World::under(NORMAL);
    outside(&world, &format!("git init -q .; {PACKAGES}"));
    let host = opened(&world);
    let write = "echo x > node_modules/y/AGENTS.md";
    fails(&world, &host, write);
    // A command may say otherwise, and is not believed.
    works(&world, &host, "echo node_modules > .gitignore");
    fails(&world, &host, write);
    fails(&world, &host, "mv node_modules other");
    assert_eq!(world.text("ws/node_modules/y/AGENTS.md"), "old\n");
}

#[test]
fn what_a_rule_closes_in_packages_stays_closed() {
    let said = [
        NORMAL,
        &[
            ("edit", "node_modules/y/*", Deny),
            ("edit", "*settings.json", Ask),
        ],
    ]
    .concat();
    let world = World::under(&said);
    world.put("ws/.gitignore", "node_modules/\n");
    outside(&world, &format!("git init -q .; {PACKAGES}"));
    let host = opened(&world);
    fails(&world, &host, "echo x > node_modules/y/AGENTS.md");
    fails(&world, &host, "rm node_modules/x/.vscode/settings.json");
    works(
        &world,
        &host,
        "rm -r node_modules/z; echo x > node_modules/x/AGENTS.md",
    );
}

#[test]
fn a_repository_is_removed_whole_with_a_yes() {
    let world = World::under(NORMAL);
    outside(
        &world,
        "git init -q cl; echo x > cl/AGENTS.md; echo x > cl/file",
    );
    let host = opened(&world);
    fails(&world, &host, "rm -rf cl");
    outside(
        &world,
        "rm -rf cl; git init -q cl; echo x > cl/AGENTS.md; echo x > cl/file",
    );
    let (said, edits) = world.bash_with_edits(&host, "rm -rf cl/.git cl/AGENTS.md cl");
    assert!(!world.path("ws/cl").exists(), "{edits:?}: {said}");
    assert_eq!(edits, ["cl/.git", "cl/AGENTS.md", "cl"]);
    // Where the rules ask about the directory, the yes is for what lies in it.
    let world = World::under(&[("edit", "cl*", Ask)]);
    outside(
        &world,
        "git init -q cl; mkdir cl/a; echo x > cl/a/AGENTS.md; echo x > cl/file; echo x > clone",
    );
    let host = opened(&world);
    world.put("ws/script.sh", "echo x > clone");
    let (said, edits) = world.bash_with_edits(&host, "rm -rf cl; bash script.sh");
    assert!(
        !world.path("ws/cl").exists() && said.contains("clone: Read-only"),
        "{edits:?}: {said}"
    );
    assert_eq!(edits, ["cl"]);
}

#[test]
fn a_work_tree_is_removed_with_a_yes() {
    let world = World::under(NORMAL);
    outside(
        &world,
        "git init -q .; git add src; git commit -qm a; git worktree add -q wt",
    );
    outside(&world, "git worktree add -q other");
    let host = opened(&world);
    fails(&world, &host, "echo x > .git/worktrees/wt/commondir");
    let line = "rm -rf wt/.git wt && git worktree prune";
    let (said, edits) = world.bash_with_edits(&host, line);
    assert_eq!(edits, ["wt/.git", "wt"], "{said}");
    assert!(!world.path("ws/wt").exists(), "{edits:?}: {said}");
    assert!(
        !world.path("ws/.git/worktrees/wt").exists(),
        "{edits:?}: {said}"
    );
    fails(&world, &host, "echo x > .git/worktrees/other/commondir");
}

#[test]
fn a_yes_to_one_hook_lets_it_be_written_and_no_other() {
    let world = World::under(NORMAL);
    outside(
        &world,
        "git init -q .; rm -f .git/hooks/*; echo old > .git/hooks/mine",
    );
    let host = opened(&world);
    for (script, is_written) in [
        ("true", true),
        ("echo x > .git/hooks/post-commit", false),
        ("echo x > .git/hooks/mine", false),
        ("mv .git/hooks .git/h", false),
        ("echo x > .git/config", false),
    ] {
        world.put("ws/script.sh", script);
        let line = "echo new > .git/hooks/pre-commit && bash script.sh";
        let (said, _) = world.bash_with_edits(&host, line);
        assert_eq!(world.text("ws/.git/hooks/pre-commit"), "new\n", "{said}");
        assert_eq!(!said.contains("exit code"), is_written, "{script}: {said}");
        assert_eq!(world.text("ws/.git/hooks/mine"), "old\n", "{script}");
        let names = fs::read_dir(world.path("ws/.git/hooks")).unwrap().count();
        assert_eq!(names, 2, "{script}");
    }
}

#[test]
fn hooks_that_are_looked_for_in_another_project_leave_its_files_alone() {
    let world = World::under(NORMAL);
    world.put("ws/v/.git/config", "[core]\nhooksPath = ../src\n");
    world.put("ws/v/.git/HEAD", "ref: refs/heads/main\n");
    let host = opened(&world);
    works(
        &world,
        &host,
        "echo x > src/a.txt; echo x > src/new; rm src/new",
    );
    fails(&world, &host, "echo x > src/pre-commit");
}

#[test]
fn hundreds_of_nested_repositories_stop_no_command() {
    let world = World::under(NORMAL);
    outside(
        &world,
        "for n in $(seq 400); do mkdir -p j/$n/.git/hooks; echo x > j/$n/.git/config; done",
    );
    let host = opened(&world);
    works(&world, &host, "true");
    for script in [
        "echo x > j/399/.git/config",
        "echo x > j/399/.git/hooks/pre-commit",
        "mkdir .vscode",
        "mkdir j/1/.vscode",
    ] {
        fails(&world, &host, script);
    }
}

/// What a command may leave.
const LEFT: &[&str] = &[
    "for i in $(seq 20); do d=$(printf 'd%.0s' $(seq 250)); mkdir -p $d; cd $d; done; echo x > AGENTS.md",
    "mkdir -p deep; cd deep; for i in $(seq 270); do mkdir -p e; cd e; done; echo x > .envrc",
    "mkdir -p f; mkfifo f/AGENTS.md f/.envrc f/.env",
    "mkdir -p g/sub; echo x > g/.env; echo x > g/sub/AGENTS.md; chmod 444 g",
    "mkdir -p h/.vscode; echo x > h/.vscode/a; chmod 0 h/.vscode",
    "mkdir -p i; ln -sfn /dev/full i/.git; mkdir -p i2; ln -sfn /dev/ptmx i2/.git",
    "mkdir -p k/.git; printf '[core]\\nhooksPath = %s\\n' $(printf 'h%.0s' $(seq 300)) > k/.git/config",
    "mkdir -p l/.git; printf '[core]\\nhooksPath = ..\\n[include]\\npath = /dev/zero\\n' > l/.git/config",
    "mkdir -p m; ln -sfn m m/AGENTS.md; ln -sfn round m/round; ln -sfn round m/.mcp.json",
    "mkdir -p n; mkfifo n/.git; mkdir -p n2/.git; mkfifo n2/.git/config n2/.git/hooks n2/.git/commondir",
    "mkdir -p $'o\\xff/.git' $'o\\n'; echo x > $'o\\xff/AGENTS.md'; echo x > $'o\\n/AGENTS.md'",
    "mkdir -p p/.git; echo 'gitdir: ../p' > p/.git/commondir; ln -sfn . p/.git/hooks",
    "mkdir -p q; echo 'gitdir: q2' > q/.git; mkdir -p q/q2/info; mkfifo q/q2/config",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn whatever_a_command_leaves_others_start(
        left in prop::sample::subsequence(LEFT, 1..=LEFT.len()),
    ) {
        let world = World::under(NORMAL);
        for script in &left {
            outside(&world, &format!("({script})"));
        }
        let host = opened(&world);
        works(&world, &host, "true");
        works(&world, &host, "echo x > src/new");
        outside(&world, "find . -type d -exec chmod u+rwx {} + 2>/dev/null || true");
    }
}

#[test]
fn each_of_what_a_command_may_leave_lets_others_start_where_paths_are_compared() {
    for script in LEFT {
        let world = World::under(NORMAL);
        outside(&world, &format!("({script})"));
        let program = crate::world::supervisor();
        let launcher = sandbox::Launcher::open_up_to(&program, sandbox::Tier::Partial).unwrap();
        let host = world.open(|options| options.launcher = launcher).unwrap();
        works(&world, &host, "true");
    }
}

#[test]
fn each_of_what_a_command_may_leave_lets_others_start() {
    for script in LEFT {
        let world = World::under(NORMAL);
        outside(&world, &format!("({script})"));
        let host = opened(&world);
        works(&world, &host, "true");
        works(&world, &host, "echo x > src/new");
    }
    // As somebody whom modes keep out.
    let world = World::under(NORMAL);
    world.put("ws/h/AGENTS.md", "x");
    symlink("h", world.path("ws/link")).unwrap();
    fs::set_permissions(world.path("ws/h"), fs::Permissions::from_mode(0o444)).unwrap();
    works(&world, &opened(&world), "true");
}
