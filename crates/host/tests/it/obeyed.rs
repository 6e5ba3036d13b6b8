//! What others obey by another name: links, repositories that are found by a link or a file, what git's settings name,
//! and linked work trees. Held whoever runs the tests, root or not.

use crate::world::{NORMAL, World, opened};
use conform::testkit::Action::Deny;
use gate::host::{Ended, Exit};
use std::{fs, os::unix::fs::symlink, process::Command};
use tollgate_host::LocalHost;

fn text(ended: &Ended) -> String {
    String::from_utf8_lossy(&ended.tail).into_owned()
}

/// Runs a script, of which no word tells what it does.
fn run(world: &World, host: &LocalHost, script: &str) -> Ended {
    world.put("ws/script.sh", script);
    world.run(host, "bash script.sh").unwrap()
}

#[track_caller]
fn works(world: &World, host: &LocalHost, script: &str) -> String {
    let ended = run(world, host, script);
    let said = text(&ended);
    assert_eq!(ended.exit, Exit::Code(0), "{script}\n{said}");
    said
}

#[track_caller]
fn fail(world: &World, host: &LocalHost, scripts: &[&str]) {
    for script in scripts {
        world.put("ws/free", "free");
        let ended = run(world, host, script);
        let said = text(&ended);
        assert!(matches!(ended.exit, Exit::Code(1..)), "{script}: {said}");
        assert!(!said.contains("did not start"), "{script}: {said}");
    }
}

/// Git as the person runs it, outside.
#[track_caller]
fn git(world: &World, at: &str, line: &str) -> String {
    let mut git = Command::new("git");
    git.arg("-C").arg(world.path(at));
    git.args(["-c", "user.name=a", "-c", "user.email=a@example.invalid"]);
    let done = git.args(line.split(' ')).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{line}: {said}");
    String::from_utf8(done.stdout).unwrap()
}

/// Adds to the settings of the repository in the workspace.
fn set(world: &World, settings: &str) {
    let config = world.text("ws/.git/config");
    world.put("ws/.git/config", format!("{config}{settings}"));
}

const NAMED: &str = "git config user.name a && git config user.email a@example.invalid";

#[test]
fn a_link_by_a_protected_name_stays_and_what_it_leads_to_is_not_changed() {
    let world = World::under(NORMAL);
    for name in ["notes.md", "docs/rules.md", "agents/one.md", "deep/end.md"] {
        world.put(&format!("ws/{name}"), "old");
    }
    for (target, name) in [
        ("notes.md", "CLAUDE.md"),
        ("../docs/rules.md", "src/AGENTS.md"),
        ("agents/", ".claude"),
        ("../outside", ".vscode"),
        ("hop", "GEMINI.md"),
        ("deep/end.md", "hop"),
        ("later.md", "AGENTS.md"),
    ] {
        symlink(target, world.path("ws").join(name)).unwrap();
    }
    let host = opened(&world);
    let read = "cat CLAUDE.md src/AGENTS.md .claude/one.md GEMINI.md; readlink .vscode";
    assert_eq!(works(&world, &host, read), "oldoldoldold../outside\n");
    let scripts = [
        "rm CLAUDE.md",
        "mv CLAUDE.md x",
        "ln -sfn free CLAUDE.md",
        "mv free CLAUDE.md",
        "echo x > CLAUDE.md",
        "echo x > notes.md",
        "mv notes.md x",
        "mv free notes.md",
        "rm src/AGENTS.md",
        "mv src x",
        "echo x > docs/rules.md",
        "mv docs x",
        "rm .claude",
        "ln -sfn src .claude",
        "echo x > .claude/new",
        "echo x > agents/new",
        "rm agents/one.md",
        "mv agents x",
        "rm .vscode",
        "mkdir free.d && mv -T free.d .vscode",
        "rm hop",
        "ln -sfn free hop",
        "echo x > deep/end.md",
        "echo x > later.md",
        "echo x > AGENTS.md",
    ];
    fail(&world, &host, &scripts);
    for name in ["notes.md", "docs/rules.md", "agents/one.md", "deep/end.md"] {
        assert_eq!(world.text(&format!("ws/{name}")), "old", "{name}");
    }
    assert!(!world.path("ws/later.md").exists());
    works(
        &world,
        &host,
        "echo new > docs/other.md; echo x > deep/x; ln -s free mine; rm mine",
    );
}

#[test]
fn a_call_that_may_change_what_a_link_leads_to_may_replace_the_link() {
    let world = World::under(NORMAL);
    world.put("ws/AGENTS.md", "old");
    symlink("AGENTS.md", world.path("ws/CLAUDE.md")).unwrap();
    let host = opened(&world);
    let done = |line: &str| {
        let ended = world.run(&host, line).unwrap();
        assert_eq!(ended.exit, Exit::Code(0), "{}", text(&ended));
    };
    done("echo new > CLAUDE.md");
    assert_eq!(world.text("ws/AGENTS.md"), "new\n");
    done("rm CLAUDE.md");
    assert!(world.path("ws/CLAUDE.md").symlink_metadata().is_err());
}

#[test]
fn a_path_that_others_obey_is_not_opened_by_a_name_that_nobody_asks_about() {
    let world = World::under(NORMAL);
    for name in [
        "notes.md",
        "agents/one.md",
        "my-hooks/pre-commit",
        ".githooks/pre-push",
    ] {
        world.put(&format!("ws/{name}"), "old");
    }
    symlink("notes.md", world.path("ws/CLAUDE.md")).unwrap();
    symlink("agents", world.path("ws/.claude")).unwrap();
    git(&world, "ws", "init -q -b main");
    set(
        &world,
        "[core]\n\thooksPath = my-hooks\n\thooksPath = .githooks\n",
    );
    let host = opened(&world);
    for line in [
        "echo x > notes.md",
        "rm notes.md",
        "echo x > agents/one.md",
        "echo x > agents/new.md",
        "echo x > my-hooks/pre-commit",
        "echo x > my-hooks/new",
    ] {
        let ended = world.run(&host, line).unwrap();
        assert!(matches!(ended.exit, Exit::Code(1..)), "{line}");
    }
    // This name asks, and somebody said yes to it and to no other.
    let line = "echo new > .githooks/pre-push; bash script.sh";
    world.put("ws/.githooks/pre-commit", "old");
    world.put("ws/script.sh", "echo x > .githooks/pre-commit");
    let ended = world.run(&host, line).unwrap();
    assert!(matches!(ended.exit, Exit::Code(1..)), "{}", text(&ended));
    assert_eq!(world.text("ws/.githooks/pre-push"), "new\n");
    assert_eq!(world.text("ws/.githooks/pre-commit"), "old");
}

#[test]
fn a_link_of_a_name_that_a_rule_closes_stays_and_what_it_leads_to_is_free() {
    let world = World::under(&[("edit", "pinned", Deny)]);
    world.put("ws/lib/a.txt", "old");
    symlink("lib", world.path("ws/pinned")).unwrap();
    let host = opened(&world);
    fail(&world, &host, &["rm pinned", "mv pinned x"]);
    works(&world, &host, "echo new > lib/a.txt");
}

#[test]
fn links_in_circles_and_links_to_the_workspace_itself_let_commands_work() {
    let world = World::under(NORMAL);
    for (target, name) in [
        (".", ".claude"),
        ("..", ".vscode"),
        ("AGENTS.md", "AGENTS.md"),
        ("/", ".idea"),
    ] {
        symlink(target, world.path("ws").join(name)).unwrap();
    }
    let host = opened(&world);
    works(&world, &host, "echo x > new; rm new");
    fail(
        &world,
        &host,
        &["rm .claude", "rm .vscode", "rm AGENTS.md", "rm .idea"],
    );
}

#[test]
fn a_repository_that_a_link_or_a_file_leads_to_is_protected_as_one() {
    for is_link in [true, false] {
        let world = World::under(NORMAL);
        git(&world, "ws", "init -q -b main");
        fs::rename(world.path("ws/.git"), world.path("ws/store")).unwrap();
        if is_link {
            symlink("store", world.path("ws/.git")).unwrap();
        } else {
            world.put("ws/.git", "gitdir: store\n");
        }
        git(&world, "ws", "config user.name a");
        git(&world, "ws", "config user.email a@example.invalid");
        let host = opened(&world);
        works(
            &world,
            &host,
            "git add src && git commit -qm one && git branch other && git stash list",
        );
        let scripts = [
            "echo x > store/hooks/pre-commit",
            "rm -r store/hooks",
            "echo x >> store/config",
            "git config core.fsmonitor x",
            "echo '* filter=x' > store/info/attributes",
            "mv store x",
            "rm .git",
            "mv .git x",
            "mv -T free .git",
            "ln -sfn src .git",
        ];
        fail(&world, &host, &scripts);
        assert_eq!(git(&world, "ws", "log --format=%s"), "one\n");
        run(&world, &host, "echo ../src > store/commondir");
        assert!(!world.path("ws/store/commondir").exists());
    }
}

#[test]
fn a_file_that_leads_to_a_repository_is_not_changed_and_a_new_one_can_be_made() {
    let world = World::under(NORMAL);
    git(&world, "ws", "init -q -b main");
    git(&world, "ws", "add src");
    git(&world, "ws", "commit -qm one");
    git(&world, "ws", "worktree add -q tree -b tree");
    let host = opened(&world);
    let before = world.text("ws/tree/.git");
    fail(
        &world,
        &host,
        &[
            "rm tree/.git",
            "echo x > tree/.git",
            "mv free tree/.git",
            "mv tree x",
        ],
    );
    assert_eq!(world.text("ws/tree/.git"), before);
    works(
        &world,
        &host,
        "git -C tree status --short; git worktree add -q more -b more; cat more/.git",
    );
}

#[test]
fn hooks_and_attributes_behind_a_link_are_kept_and_git_works() {
    let world = World::under(NORMAL);
    git(&world, "ws", "init -q -b main");
    git(&world, "ws", "config user.name a");
    git(&world, "ws", "config user.email a@example.invalid");
    for name in ["hooks", "info"] {
        drop(fs::remove_dir_all(world.path(&format!("ws/.git/{name}"))));
        symlink(
            format!("../my-{name}"),
            world.path(&format!("ws/.git/{name}")),
        )
        .unwrap();
    }
    world.put("ws/my-hooks/pre-commit", "old");
    world.put("ws/my-info/attributes", "old");
    let host = opened(&world);
    works(
        &world,
        &host,
        "git add src && git commit -qm one && git status --short",
    );
    let scripts = [
        "rm .git/hooks",
        "ln -sfn ../src .git/hooks",
        "rm .git/info",
        "echo x > my-hooks/pre-commit",
        "echo x > my-hooks/pre-push",
        "mv my-hooks x",
        "echo x > my-info/attributes",
        "mv my-info x",
    ];
    fail(&world, &host, &scripts);
}

#[test]
fn what_the_settings_of_git_name_is_not_changed() {
    let world = World::under(NORMAL);
    git(&world, "ws", "init -q -b main");
    for name in [
        "tools/hooks/pre-commit",
        "team.cfg",
        "more.cfg",
        "conf/attrs",
        "watch.sh",
        "bin/conv.py",
        "ssh/config",
        "own.sh",
        "linked.cfg",
    ] {
        world.put(&format!("ws/{name}"), "");
    }
    world.put(
        "ws/team.cfg",
        "[include]\n\tpath = more.cfg\n\tpath = link.cfg\n",
    );
    world.put(
        "ws/more.cfg",
        "[alias]\n\tx = \"!./own.sh now\"\n\ty = log watch.md\n",
    );
    symlink("linked.cfg", world.path("ws/link.cfg")).unwrap();
    world.put("ws/watch.md", "");
    let settings = "[core]\n\thooksPath = tools/hooks\n\tattributesFile = conf/attrs\n\tfsmonitor = ./watch.sh\n\
        \tsshCommand = ssh -F ssh/config -o X=src/a.txt\n\
        [diff \"x\"]\n\ttextconv = python3 bin/conv.py --cache bin/cache src\n\
        [includeIf \"gitdir:/nowhere/\"]\n\tpath = \"../team.cfg\" ; theirs\n\
        [include]\n\tpath = ../missing.cfg\n\tpath = ../.git/config\n\tpath = ../nowhere/x\n";
    set(&world, settings);
    world.put("ws/.git/config.worktree", "[core]\n\teditor = ./own.sh\n");
    let host = opened(&world);
    let scripts = [
        "echo x > tools/hooks/pre-commit",
        "echo x > tools/hooks/pre-push",
        "mv tools x",
        "echo x >> team.cfg",
        "echo x >> more.cfg",
        "rm link.cfg",
        "echo x >> linked.cfg",
        "mv free conf/attrs",
        "mv free watch.sh",
        "chmod +x watch.sh",
        "echo x > bin/conv.py",
        "echo x > ssh/config",
        "echo x > own.sh",
        "echo x > missing.cfg",
        "echo x > .git/config.worktree",
    ];
    fail(&world, &host, &scripts);
    let free = "echo x > watch.md && echo x > bin/cache && echo x > src/new && mkdir nowhere && echo x > tools/new";
    works(&world, &host, free);
}

#[test]
fn settings_that_name_the_work_tree_itself_close_no_more_than_hooks() {
    for value in [".", "..", ".git", "/"] {
        let world = World::under(NORMAL);
        git(&world, "ws", "init -q -b main");
        set(
            &world,
            &format!("[core]\n\thooksPath = {value}\n\tattributesFile = {value}\n"),
        );
        let host = opened(&world);
        works(
            &world,
            &host,
            &format!("{NAMED}; git add src && git status --short && echo x > new"),
        );
        if value == "." {
            fail(
                &world,
                &host,
                &["echo x > pre-commit", "mkdir post-checkout"],
            );
            assert!(!world.path("ws/pre-commit").exists());
        }
    }
}

#[test]
fn what_the_settings_of_the_person_name_in_a_work_tree_is_not_changed() {
    let world = World::under(NORMAL);
    git(&world, "ws", "init -q -b main");
    world.put("home/.gitconfig", "[core]\n\thooksPath = team-hooks\n");
    world.put("ws/team-hooks/pre-commit", "");
    let host = opened(&world);
    fail(
        &world,
        &host,
        &[
            "echo x > team-hooks/pre-commit",
            "echo x > team-hooks/pre-push",
        ],
    );
}

/// A workspace that is a linked work tree of a repository outside, which has another one too.
fn linked(world: &World) {
    fs::remove_dir_all(world.path("ws")).unwrap();
    world.put("main/a.txt", "one\n");
    git(world, "main", "init -q -b main");
    git(world, "main", "config user.name a");
    git(world, "main", "config user.email a@example.invalid");
    git(world, "main", "add a.txt");
    git(world, "main", "commit -qm one");
    for name in ["ws", "other"] {
        let path = world.path(name);
        git(
            world,
            "main",
            &format!("worktree add -q {} -b {name}", path.display()),
        );
    }
}

#[test]
fn git_works_in_a_linked_work_tree_and_reaches_no_more_of_the_repository() {
    let world = World::under(NORMAL);
    linked(&world);
    let host = opened(&world);
    let root = world.path("");
    let root = root.to_str().unwrap().trim_end_matches('/');
    works(&world, &host, "git status --short && git log --oneline");
    works(
        &world,
        &host,
        "echo two >> a.txt && git add a.txt && git commit -qm two && git branch side",
    );
    works(
        &world,
        &host,
        "echo three >> a.txt && git stash && git stash pop && git checkout -q a.txt",
    );
    works(
        &world,
        &host,
        "git checkout -q side && git merge -q ws && git tag v1",
    );
    let ended = world.run(&host, "git log --format=%s -1").unwrap();
    assert_eq!(text(&ended), "two\n", "a command that only looks");
    assert_eq!(git(&world, "main", "log --format=%s ws"), "two\none\n");
    let common = format!("{root}/main/.git");
    let scripts = [
        format!("echo x > {common}/hooks/pre-commit"),
        format!("rm -r {common}/hooks"),
        format!("echo x >> {common}/config"),
        format!("echo '* filter=x' > {common}/info/attributes"),
        format!("echo 'ref: refs/heads/ws' > {common}/HEAD"),
        format!("echo x > {common}/index"),
        format!("echo x > {common}/worktrees/other/HEAD"),
        format!("echo x > {common}/worktrees/ws/gitdir"),
        format!("echo x > {common}/worktrees/ws/commondir"),
        format!("mv {common}/worktrees/ws {common}/x"),
        format!("mv {common} {root}/main/x"),
        format!("cat {root}/main/a.txt"),
        "echo x > .git".to_owned(),
        "rm .git".to_owned(),
    ];
    fail(&world, &host, &scripts.each_ref().map(String::as_str));
    assert_eq!(git(&world, "main", "status --short"), "");
    // What is not shown is made in the memory of the command.
    run(&world, &host, &format!("echo x > {root}/main/new"));
    assert!(!world.path("main/new").exists());
    run(&world, &host, &format!("echo x > {common}/commondir"));
    assert!(!world.path("main/.git/commondir").exists());
    run(
        &world,
        &host,
        &format!("echo x > {common}/worktrees/ws/config.worktree"),
    );
    assert!(
        !world
            .path("main/.git/worktrees/ws/config.worktree")
            .exists()
    );
}

#[test]
fn hooks_in_the_repository_of_a_linked_work_tree_are_kept_by_whatever_way_git_finds_them() {
    let world = World::under(NORMAL);
    linked(&world);
    world.put("main/.git/own/post-checkout", "old");
    git(&world, "main", "config core.attributesFile .git/none");
    let own = world.path("main/.git/own");
    git(
        &world,
        "main",
        &format!("config core.hooksPath {}", own.display()),
    );
    fs::remove_dir_all(world.path("main/.git/hooks")).unwrap();
    fs::create_dir(world.path("main/.git/real")).unwrap();
    symlink("real", world.path("main/.git/hooks")).unwrap();
    let host = opened(&world);
    works(
        &world,
        &host,
        "git status --short && git commit --allow-empty -qm two",
    );
    let common = world.path("main/.git");
    let scripts = [
        "rm own/post-checkout",
        "echo x > own/pre-commit",
        "mv own x",
        "rm hooks",
        "echo x > real/pre-commit",
    ];
    let scripts = scripts.map(|script| format!("cd {} && {script}", common.display()));
    fail(&world, &host, &scripts.each_ref().map(String::as_str));
}

#[test]
fn git_works_in_a_submodule_whose_repository_names_it() {
    let world = World::under(NORMAL);
    fs::remove_dir_all(world.path("ws")).unwrap();
    git(&world, "", "init -q -b main ws");
    git(&world, "ws", "commit -q --allow-empty -m one");
    fs::create_dir_all(world.path("main/modules")).unwrap();
    let store = world.path("main/modules/ws");
    fs::rename(world.path("ws/.git"), &store).unwrap();
    world.put("ws/.git", "gitdir: ../main/modules/ws\n");
    let host = opened(&world);
    fail(&world, &host, &["git log"]);
    world.put("main/modules/other/config", "");
    git(
        &world,
        "main/modules/ws",
        "config core.worktree ../../../ws",
    );
    works(
        &world,
        &host,
        &format!("{NAMED} || git log && git status --short"),
    );
    let write = |name: &str| format!("echo x > {}/{name}", store.display());
    fail(
        &world,
        &host,
        &[
            &write("config"),
            &write("hooks/pre-commit"),
            &write("../other/config"),
        ],
    );
    works(&world, &host, &write("description"));
}

#[test]
fn a_repository_that_does_not_name_the_workspace_stays_closed() {
    let swaps: [fn(&World); 4] = [
        |world| world.put("main/.git/worktrees/ws/gitdir", "/nowhere/.git\n"),
        |world| fs::remove_file(world.path("main/.git/worktrees/ws/gitdir")).unwrap(),
        |world| world.put("main/.git/worktrees/ws/commondir", "../../../../outside\n"),
        |world| {
            let main = world.path("main/.git");
            world.put("ws/.git", format!("gitdir: {}\n", main.display()));
        },
    ];
    for swap in swaps {
        let world = World::under(NORMAL);
        linked(&world);
        swap(&world);
        let host = opened(&world);
        fail(
            &world,
            &host,
            &[
                "git log",
                "cat ../main/.git/config",
                "cat ../outside/secret",
            ],
        );
    }
}

#[test]
fn a_deny_outside_closes_the_repository_of_a_linked_work_tree() {
    let world = World::new();
    let denied = format!("{}/*", world.path("main").display());
    let rules = [NORMAL, &[("external_directory", denied.as_str(), Deny)]].concat();
    let world = world.under_rules(&rules);
    linked(&world);
    fail(&world, &opened(&world), &["git log"]);
}

#[test]
fn a_file_deeper_in_the_workspace_opens_no_repository_outside() {
    let world = World::under(NORMAL);
    linked(&world);
    fs::remove_dir_all(world.path("ws")).unwrap();
    let other = world.path("main/.git/worktrees/other");
    world.put("ws/sub/.git", format!("gitdir: {}\n", other.display()));
    let back = world.path("ws/sub/.git");
    world.put("main/.git/worktrees/other/gitdir", back.to_str().unwrap());
    git(&world, "ws/sub", "log");
    fail(
        &world,
        &opened(&world),
        &["git -C sub log", "cat ../main/.git/HEAD"],
    );
}
