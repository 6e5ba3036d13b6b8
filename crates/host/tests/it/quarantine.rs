//! What no wall keeps a command from changing is found when it has ended, moved away, and put back.

use crate::world::{Stop, World, mode, supervisor};
use conform::testkit::Action::{self, Allow, Ask, Deny};
use gate::{
    cancel::Cancel,
    g3_confine::{ChildRules, ChildWrites, Confinement},
    host::{Ended, Exit, Host as _},
};
use std::{
    fs,
    os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};
use tollgate_host::{LocalHost, Moment};

type Rules<'a> = &'a [(&'a str, &'a str, Action)];

/// A host in this world whose sandbox tells no paths apart in a directory that is open.
fn partial(world: &World) -> LocalHost {
    let host = world.open(|options| {
        options.launcher =
            sandbox::Launcher::open_up_to(&supervisor(), sandbox::Tier::Partial).unwrap();
    });
    let host = host.unwrap();
    assert!(matches!(host.confinement(), Confinement::Partial { .. }));
    host
}

/// A world with a repository and what agents and editors obey, and a host on it.
fn watched(rules: Rules<'_>) -> (World, LocalHost) {
    let world = World::under(rules);
    for (path, text) in [
        (".git/HEAD", "ref: refs/heads/main\n"),
        (".git/config", "[core]\n"),
        (".git/hooks/pre-push", "#!/bin/sh\n"),
        (".vscode/settings.json", "{}\n"),
        ("AGENTS.md", "good\n"),
        ("sub/AGENTS.md", "good\n"),
    ] {
        world.put(&format!("ws/{path}"), text);
    }
    let host = partial(&world);
    (world, host)
}

/// Runs a script, of which no word tells what it does.
fn run(world: &World, host: &LocalHost, script: &str) -> Result<Ended, Stop> {
    world.put("ws/script.sh", script);
    world.run(host, "bash script.sh")
}

/// Runs a script that works, and tells what was undone.
#[track_caller]
fn undone(world: &World, host: &LocalHost, script: &str) -> Vec<String> {
    let ended = run(world, host, script).unwrap();
    assert_eq!(ended.exit, Exit::Code(0), "{script}: {ended:?}");
    ended.undone
}

/// Where the only thing that was moved away is now.
#[track_caller]
fn kept(world: &World, said: &[String]) -> PathBuf {
    assert_eq!(said.len(), 1, "{said:?}");
    let said = &said[0];
    let at = said.split("moved to `").nth(1).unwrap();
    let path = PathBuf::from(at.split('`').next().unwrap());
    assert!(
        path.starts_with(world.path("state/session/quarantine")),
        "{said}"
    );
    path
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

#[test]
fn what_a_command_makes_by_a_name_that_is_obeyed_is_moved_away() {
    let (world, host) = watched(&[]);
    for (name, script) in [
        (".git/hooks/pre-commit", "echo evil > .git/hooks/pre-commit"),
        (".git/commondir", "echo evil > .git/commondir"),
        ("CLAUDE.md", "echo evil > CLAUDE.md"),
        (".mcp.json", "ln -s src/a.txt .mcp.json"),
        (".envrc", "mkfifo .envrc"),
        (".cursor", "mkdir -p .cursor/a; chmod 0 .cursor"),
    ] {
        let said = undone(&world, &host, script);
        assert!(
            said[0].starts_with(&format!(
                "`{}` was made",
                world.path("ws").join(name).display()
            )),
            "{said:?}"
        );
        assert!(!is_there(&world.path("ws").join(name)), "{name}");
        let kept = kept(&world, &said);
        let what = fs::symlink_metadata(&kept).unwrap().file_type();
        match name {
            ".mcp.json" => assert!(what.is_symlink()),
            ".envrc" => assert!(what.is_fifo()),
            ".cursor" => assert!(kept.join("a").is_dir()),
            _ => assert_eq!(fs::read_to_string(&kept).unwrap(), "evil\n"),
        }
    }
    assert_eq!(undone(&world, &host, "echo x > src/b.txt"), [""; 0]);
}

#[test]
fn the_model_is_told_what_was_undone() {
    let (world, host) = watched(&[]);
    world.put("ws/script.sh", "echo done; echo evil > AGENTS.md");
    let (said, _) = world.bash_with_edits(&host, "bash script.sh");
    assert!(said.starts_with("done\n"), "{said}");
    let line = said.lines().find(|line| line.starts_with("- `")).unwrap();
    assert!(
        line.contains("AGENTS.md` was changed while the command ran")
            && line.contains("moved to `"),
        "{said}"
    );
    let (said, _) = world.bash_with_edits(&host, "bash script.sh; echo x > AGENTS.md");
    assert_eq!(said, "done\n");
}

#[test]
fn what_a_command_changes_is_as_it_was() {
    let (world, host) = watched(&[]);
    let file = world.path("ws/AGENTS.md");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let times = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
    let before = times(&file);
    for script in [
        "echo evil > AGENTS.md",
        "echo evil > x; mv x AGENTS.md",
        "rm AGENTS.md; mkdir AGENTS.md",
        "ln AGENTS.md other; echo evil > other",
        "mv AGENTS.md gone; ln -s gone AGENTS.md",
        "chmod 0 AGENTS.md; rm AGENTS.md; mkfifo AGENTS.md",
        // As a file may be written without changing its length or what it says of its time.
        "printf 'evil\\n' | dd of=AGENTS.md conv=notrunc; touch -d @0 AGENTS.md",
    ] {
        let said = undone(&world, &host, script);
        assert!(said[0].contains("AGENTS.md` was changed"), "{said:?}");
        assert!(is_there(&kept(&world, &said)), "{script}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "good\n", "{script}");
        assert_eq!((mode(&file), times(&file)), (0o640, before), "{script}");
    }
    assert_eq!(undone(&world, &host, "cat AGENTS.md"), [""; 0]);
}

#[test]
fn what_a_command_removes_is_put_back() {
    let (world, host) = watched(&[]);
    symlink("../src", world.path("ws/.vscode/src")).unwrap();
    for (script, count) in [
        ("rm .vscode/settings.json", 1),
        ("rm -r .vscode", 1),
        ("rm -r sub; mkdir sub", 1),
        ("mv .git elsewhere", 2),
        ("mv .git elsewhere; ln -s elsewhere .git", 3),
        ("mv sub gone; touch sub", 2),
    ] {
        let said = undone(&world, &host, script);
        assert!(said.len() >= count, "{script}: {said:?}");
        for (path, text) in [
            (".git/config", "[core]\n"),
            (".git/hooks/pre-push", "#!/bin/sh\n"),
            (".vscode/settings.json", "{}\n"),
            ("sub/AGENTS.md", "good\n"),
        ] {
            assert_eq!(
                world.text(&format!("ws/{path}")),
                text,
                "{script}: {said:?}"
            );
        }
        assert!(!world.path("ws/.git").is_symlink());
        let link = world.path("ws/.vscode/src");
        // A link there is no file that rules close; it goes with its directory alone.
        if !is_there(&link) {
            symlink("../src", link).unwrap();
        }
        for left in ["elsewhere", "gone"] {
            drop(fs::remove_dir_all(world.path("ws").join(left)));
        }
    }
}

#[test]
fn rights_are_given_back() {
    let (world, host) = watched(&[("edit", "closed/*", Deny)]);
    world.put("ws/closed/a", "good\n");
    let file = world.path("ws/closed/a");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    for (script, name) in [
        ("chmod 777 closed/a", "closed/a"),
        ("chmod 0 closed/a", "closed/a"),
        ("chmod 0 closed", "closed"),
        ("chmod 1644 closed/a", "closed/a"),
    ] {
        let before = mode(&world.path("ws").join(name));
        let said = undone(&world, &host, script);
        assert!(said[0].contains("was given other rights"), "{said:?}");
        assert_eq!(mode(&world.path("ws").join(name)), before, "{script}");
    }
    // What lies in a directory that the command closed is found all the same.
    let said = undone(
        &world,
        &host,
        "echo evil > .git/commondir; echo evil > AGENTS.md; chmod 0 .git",
    );
    assert_eq!(said.len(), 2, "{said:?}");
    assert_eq!(world.text("ws/AGENTS.md"), "good\n");
    assert!(!is_there(&world.path("ws/.git/commondir")));
    let said = undone(&world, &host, "echo evil > AGENTS.md; chmod 0 .");
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(world.text("ws/AGENTS.md"), "good\n");
}

#[test]
fn a_directory_that_the_rules_close_whole_is_kept_whole() {
    let (world, host) = watched(&[("edit", "closed/*", Deny)]);
    for path in ["a", "deep/er/b", "deep/c"] {
        world.put(&format!("ws/closed/{path}"), path);
    }
    symlink("deep/c", world.path("ws/closed/link")).unwrap();
    let script = "echo evil > closed/a; rm closed/deep/er/b; mkdir -p closed/new/new; rm closed/link; \
                  ln -s a closed/link; rmdir closed/deep/er";
    let said = undone(&world, &host, script);
    assert_eq!(said.len(), 4, "{said:?}");
    for path in ["a", "deep/er/b", "deep/c"] {
        assert_eq!(world.text(&format!("ws/closed/{path}")), path);
    }
    assert!(!is_there(&world.path("ws/closed/new")));
    let link = fs::read_link(world.path("ws/closed/link")).unwrap();
    assert_eq!(link, Path::new("deep/c"));
    let said = undone(&world, &host, "touch $'closed/\\nours: \\e[2J'");
    assert!(
        said[0].contains("/closed/\\nours: \\u{1b}[2J` was made") && !said[0].contains('\n'),
        "{said:?}"
    );
    let said = undone(&world, &host, "rm -r closed");
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(world.text("ws/closed/deep/er/b"), "deep/er/b");
    let said = undone(
        &world,
        &host,
        "for n in $(seq 30); do touch closed/$n; done",
    );
    assert_eq!(said.len(), 11, "{said:?}");
    assert_eq!(said[10], "and 20 more in the same way");
    assert_eq!(fs::read_dir(world.path("ws/closed")).unwrap().count(), 3);
}

#[test]
fn a_file_that_is_too_large_to_be_kept_is_moved_away_and_told() {
    let (world, host) = watched(&[("edit", "data/*", Deny)]);
    world.put("ws/data/large", vec![7; 4_000_000]);
    world.put("ws/data/small", "good\n");
    let script = "printf x | dd of=data/large conv=notrunc; echo evil > data/small";
    let said = undone(&world, &host, script);
    assert!(said[0].contains("could not be put back"), "{said:?}");
    assert!(said[1].contains("is there again"), "{said:?}");
    assert_eq!(world.text("ws/data/small"), "good\n");
    assert!(!is_there(&world.path("ws/data/large")));
    let kept = kept(&world, &said[..1]);
    assert_eq!(fs::metadata(kept).unwrap().len(), 4_000_000);
    // Looked at and left alone, it stays.
    world.put("ws/data/large", vec![7; 4_000_000]);
    assert_eq!(undone(&world, &host, "cat data/large > /dev/null"), [""; 0]);
}

#[test]
fn what_this_call_may_change_is_left_as_the_command_made_it() {
    let (world, host) = watched(&[("edit", "closed/*", Deny), ("edit", "closed/open", Allow)]);
    world.put("ws/closed/a", "good\n");
    let ended = world.run(&host, "echo new > AGENTS.md").unwrap();
    assert_eq!((ended.exit, ended.undone), (Exit::Code(0), vec![]));
    assert_eq!(world.text("ws/AGENTS.md"), "new\n");
    let ended = world.run(&host, "rm sub/AGENTS.md").unwrap();
    assert_eq!((ended.exit, ended.undone), (Exit::Code(0), vec![]));
    assert!(!is_there(&world.path("ws/sub/AGENTS.md")));
    let ended = world
        .run(
            &host,
            "mkdir .claude && echo new > .claude/settings.json && echo x > CLAUDE.md",
        )
        .unwrap();
    assert_eq!((ended.exit, ended.undone), (Exit::Code(0), vec![]));
    assert_eq!(world.text("ws/.claude/settings.json"), "new\n");
    // It was for that call.
    let said = undone(&world, &host, "echo evil > AGENTS.md");
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(world.text("ws/AGENTS.md"), "new\n");
}

#[test]
fn a_process_that_would_outlive_the_command_changes_nothing() {
    let (world, host) = watched(&[]);
    let word = format!("{}.75", 500_000 + std::process::id());
    let script = format!(
        "(setsid bash -c 'while :; do echo evil > AGENTS.md; done; sleep {word}' &) ; \
         while grep -q good AGENTS.md; do :; done"
    );
    let said = undone(&world, &host, &script);
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(world.text("ws/AGENTS.md"), "good\n");
    let said = undone(&world, &host, "true");
    assert_eq!(said, [""; 0]);
}

#[test]
fn a_command_that_is_cut_off_is_undone_too_and_the_next_one_tells() {
    let (mut world, host) = watched(&[]);
    let cancel = world.bench.cancel.clone();
    let file = world.path("ws/AGENTS.md");
    let stop = thread::scope(|scope| {
        scope.spawn(|| {
            while fs::read_to_string(&file).is_ok_and(|text| text != "evil\n") {
                thread::yield_now();
            }
            cancel.cancel();
        });
        let script = "while :; do echo evil > AGENTS.md; sleep 0.01; done";
        run(&world, &host, script).unwrap_err()
    });
    assert!(matches!(stop, Stop::Other(_)), "{stop:?}");
    world.bench.cancel = Cancel::default();
    let said = undone(&world, &host, "grep -q good AGENTS.md");
    assert!(said[0].contains("AGENTS.md` was changed"), "{said:?}");

    world.put(
        "ws/script.sh",
        "echo evil > AGENTS.md; trap '' TERM; while :; do sleep 1; done",
    );
    let ended = world.run_for(&host, "bash script.sh", None, 500).unwrap();
    assert_eq!((ended.exit, ended.undone.len()), (Exit::TimedOut, 1));
    assert_eq!(world.text("ws/AGENTS.md"), "good\n");
}

#[test]
fn what_somebody_else_changes_meanwhile_is_kept_and_told() {
    let (world, host) = watched(&[]);
    let [begun, go] = ["begun", "go"].map(|name| world.path("ws").join(name));
    let said = thread::scope(|scope| {
        scope.spawn(|| {
            while !begun.exists() {
                thread::yield_now();
            }
            fs::write(world.path("ws/AGENTS.md"), "written by hand\n").unwrap();
            fs::write(&go, "").unwrap();
        });
        undone(
            &world,
            &host,
            "touch begun; while [ ! -e go ]; do sleep 0.01; done",
        )
    });
    let kept = fs::read_to_string(kept(&world, &said)).unwrap();
    assert_eq!(kept, "written by hand\n");
    assert_eq!(world.text("ws/AGENTS.md"), "good\n");
    // Between two commands it is nobody's but theirs.
    world.put("ws/AGENTS.md", "written by hand\n");
    assert_eq!(undone(&world, &host, "true"), [""; 0]);
    assert_eq!(world.text("ws/AGENTS.md"), "written by hand\n");
}

#[test]
fn two_sessions_in_one_workspace_take_turns_and_undo_nothing_of_each_other() {
    let (world, one) = watched(&[]);
    let other = world
        .open(|options| {
            options.session_dir = options.state_dir.join("other");
            options.temp_dir = options.state_dir.join("other-tmp");
            options.launcher =
                sandbox::Launcher::open_up_to(&supervisor(), sandbox::Tier::Partial).unwrap();
        })
        .unwrap();
    let begun = world.path("ws/begun");
    thread::scope(|scope| {
        let first = scope.spawn(|| {
            let script =
                "echo evil > AGENTS.md; touch begun; while [ ! -e go ]; do sleep 0.01; done";
            undone(&world, &one, script)
        });
        while !begun.exists() {
            thread::yield_now();
        }
        let driver = World::new();
        world.put("ws/other.sh", "echo x > src/b.txt");
        // It may look meanwhile, but its turn to write comes when the first has ended.
        let second = driver.run_for(&other, "bash other.sh", None, 200);
        assert!(
            matches!(&second, Err(Stop::Refused(why)) if why.contains("another one is running")),
            "{second:?}"
        );
        assert_eq!(driver.run(&other, "cat AGENTS.md").unwrap().tail, b"evil\n");
        fs::write(world.path("ws/go"), "").unwrap();
        assert_eq!(first.join().unwrap().len(), 1);
    });
    let ended = world
        .run(&other, "cat AGENTS.md; echo new > AGENTS.md")
        .unwrap();
    assert_eq!(
        (ended.tail.as_slice(), ended.undone),
        (&b"good\n"[..], vec![])
    );
    assert_eq!(undone(&world, &one, "true"), [""; 0]);
    assert_eq!(world.text("ws/AGENTS.md"), "new\n");
}

#[test]
fn where_nothing_can_be_kept_elsewhere_it_stays_beside_its_place_under_another_name() {
    let (world, host) = watched(&[]);
    fs::write(world.path("state/session/quarantine"), "").unwrap();
    for number in ["", "-2"] {
        let said = undone(&world, &host, "echo evil > AGENTS.md");
        let name = format!("AGENTS.md.set-aside{number}");
        assert!(said[0].contains(&format!("{name}`")), "{said:?}");
        assert_eq!(world.text(&format!("ws/{name}")), "evil\n");
        assert_eq!(world.text("ws/AGENTS.md"), "good\n");
    }
    let long = "x".repeat(255);
    let said = undone(&world, &host, &format!("echo evil > .git/hooks/{long}"));
    assert!(said[0].contains(".set-aside`"), "{said:?}");
}

#[test]
fn what_cannot_be_put_back_is_said_and_keeps_the_next_command_from_starting() {
    let (world, _) = watched(&[]);
    let file = world.path("ws/AGENTS.md");
    let is_in_the_way = Arc::new(AtomicBool::new(true));
    let host = world.open(|options| {
        options.launcher =
            sandbox::Launcher::open_up_to(&supervisor(), sandbox::Tier::Partial).unwrap();
        let (file, is_in_the_way) = (file.clone(), Arc::clone(&is_in_the_way));
        options.hook = Some(Arc::new(move |moment| {
            if moment == Moment::BeforePutBack && is_in_the_way.load(Ordering::SeqCst) {
                fs::write(&file, "written by hand\n").unwrap();
            }
        }));
    });
    let host = host.unwrap();
    for wanted in ["could not be undone", "did not start"] {
        let stop = run(&world, &host, "echo evil > AGENTS.md; echo ran >> ran").unwrap_err();
        assert!(
            matches!(&stop, Stop::Failed(why) if why.contains(wanted) && why.contains("AGENTS.md`")),
            "{stop:?}"
        );
        assert_eq!(world.text("ws/AGENTS.md"), "written by hand\n");
    }
    assert_eq!(world.text("ws/ran"), "ran\n");
    is_in_the_way.store(false, Ordering::SeqCst);
    let said = undone(&world, &host, "cat AGENTS.md");
    assert_eq!(world.text("ws/AGENTS.md"), "good\n");
    let texts: Vec<String> = said
        .iter()
        .map(|it| fs::read_to_string(kept(&world, std::slice::from_ref(it))).unwrap())
        .collect();
    assert!(texts.contains(&"written by hand\n".to_owned()), "{said:?}");
}

#[test]
fn a_link_on_the_way_to_what_is_watched_stays_as_it_is() {
    let (world, host) = watched(&[]);
    fs::create_dir(world.path("ws/infos")).unwrap();
    let link = world.path("ws/.git/info");
    symlink("../infos", &link).unwrap();
    assert_eq!(undone(&world, &host, "echo x > infos/exclude"), [""; 0]);
    let said = undone(&world, &host, "rm .git/info; ln -s ../src .git/info");
    assert!(said[0].contains(".git/info` was changed"), "{said:?}");
    assert_eq!(fs::read_link(&link).unwrap(), Path::new("../infos"));
    fs::remove_file(&link).unwrap();
    let said = undone(
        &world,
        &host,
        "echo evil > src/attributes; ln -s ../src .git/info",
    );
    assert!(said[0].contains(".git/info` was put in place"), "{said:?}");
    assert!(!is_there(&link));
}

#[test]
fn what_is_kept_is_out_of_reach_of_tools_and_commands() {
    let (world, host) = watched(&[("read", ".env", Ask)]);
    let said = undone(&world, &host, "echo evil > AGENTS.md");
    let kept = kept(&world, &said);
    let path = kept.to_str().unwrap();
    assert!(world.read(&host, path).is_err());
    let ended = world.run(&host, &format!("cat {path}"));
    assert!(
        !ended.as_ref().is_ok_and(|it| it.tail.starts_with(b"evil")),
        "{ended:?}"
    );
    assert_eq!(fs::metadata(&kept).unwrap().nlink(), 1);
    let dir = world.path("state/session/quarantine");
    assert_eq!(mode(&dir), 0o700);
}

#[test]
fn in_the_full_tier_what_git_would_obey_elsewhere_is_moved_away() {
    let world = World::new();
    let host = world.host();
    assert_eq!(host.confinement(), Confinement::Full);
    world.run(&host, "git init -q .").unwrap();
    let script = "echo ../build > .git/commondir; echo x > .git/config.worktree";
    let said = undone(&world, &host, script);
    assert_eq!(said.len(), 2, "{said:?}");
    for name in ["commondir", "config.worktree"] {
        assert!(!is_there(&world.path("ws/.git").join(name)), "{name}");
    }
    let text =
        |said: &String| fs::read_to_string(kept(&world, std::slice::from_ref(said))).unwrap();
    assert_eq!(text(&said[0]), "../build\n");
    // What was there before stays, and cannot be changed.
    world.put("ws/.git/config.worktree", "[user]\n");
    let ended = run(&world, &host, "echo y > .git/config.worktree").unwrap();
    assert!(matches!(ended.exit, Exit::Code(1..)) && ended.undone.is_empty());
}

/// The file on which commands wait for each other.
fn turn(world: &World) -> fs::File {
    let path = turn_path(world);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    options.open(path).unwrap()
}

fn turn_path(world: &World) -> PathBuf {
    let found = fs::metadata(world.path("ws")).unwrap();
    let name = format!("{}-{}", found.dev(), found.ino());
    world.path("state/turns").join(name)
}

#[test]
fn a_lock_on_the_workspace_keeps_no_command_from_starting() {
    let (world, host) = watched(&[]);
    let lock = fs::File::open(world.path("ws")).unwrap();
    lock.lock().unwrap();
    assert_eq!(undone(&world, &host, "echo x > src/b.txt"), [""; 0]);
    let lock = turn(&world);
    lock.lock().unwrap();
    fs::write(turn_path(&world), "12 other\n").unwrap();
    world.put("ws/script.sh", "echo x > src/b.txt");
    let stop = world
        .run_for(&host, "bash script.sh", None, 200)
        .unwrap_err();
    assert!(
        matches!(&stop, Stop::Refused(why) if why.contains("(process 12, session other)")),
        "{stop:?}"
    );
}

#[test]
fn a_command_without_a_place_to_write_waits_for_nobody() {
    let (world, host) = watched(&[("edit", "*", Deny)]);
    world.put("ws/script.sh", "cat AGENTS.md; echo x > \"$TMPDIR/x\"");
    let lock = turn(&world);
    lock.lock().unwrap();
    let ended = world.run_for(&host, "bash script.sh", None, 5_000).unwrap();
    assert_eq!((ended.exit, ended.undone), (Exit::Code(0), vec![]));
}

#[test]
fn what_went_with_all_that_was_around_it_stays_gone_and_comes_back_only_as_it_was() {
    let (world, host) = watched(&[("edit", "kept/AGENTS.md", Deny)]);
    for path in [
        "kept/AGENTS.md",
        "cl/.git/config",
        "cl/.git/hooks/post-merge",
    ] {
        world.put(&format!("ws/{path}"), "good\n");
    }
    assert_eq!(undone(&world, &host, "rm -r cl sub"), [""; 0]);
    for name in ["cl", "sub"] {
        assert!(!is_there(&world.path("ws").join(name)), "{name}");
    }
    // Its own name is not needed for it to be watched.
    assert_eq!(undone(&world, &host, "mkdir sub"), [""; 0]);
    assert_eq!(undone(&world, &host, "echo good > sub/AGENTS.md"), [""; 0]);
    let said = undone(
        &world,
        &host,
        "rm -r sub; mkdir sub; echo evil > sub/AGENTS.md",
    );
    assert!(said[0].contains("sub/AGENTS.md` was changed"), "{said:?}");
    assert_eq!(undone(&world, &host, "rm -r sub"), [""; 0]);
    let said = undone(
        &world,
        &host,
        "mkdir -p sub; echo evil > sub/AGENTS.md; chmod 0 sub",
    );
    assert!(said[0].contains("sub/AGENTS.md` was changed"), "{said:?}");
    assert_eq!(mode(&world.path("ws/sub")), 0);
    fs::set_permissions(world.path("ws/sub"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(world.text("ws/sub/AGENTS.md"), "good\n");
    // What somebody made between two commands is theirs.
    assert_eq!(undone(&world, &host, "rm -r sub"), [""; 0]);
    world.put("ws/sub/AGENTS.md", "new\n");
    assert_eq!(undone(&world, &host, "true"), [""; 0]);
    assert_eq!(world.text("ws/sub/AGENTS.md"), "new\n");
    // A rule of one's own holds.
    let said = undone(&world, &host, "rm -r kept");
    assert!(said[0].contains("kept/AGENTS.md` was removed"), "{said:?}");
    assert_eq!(world.text("ws/kept/AGENTS.md"), "good\n");
}

#[test]
fn what_a_tool_writes_while_a_command_runs_stays_as_the_tool_wrote_it() {
    let (world, host) = watched(&[]);
    let driver = World::new();
    for (path, then) in [
        ("AGENTS.md", "echo evil > AGENTS.md"),
        ("AGENTS.md", "rm AGENTS.md"),
        ("AGENTS.md", "true"),
        (".claude/settings.json", "rm -r .claude"),
        (".claude/settings.json", "echo evil > .claude/settings.json"),
        (".vscode/new.json", "rm .vscode/new.json"),
    ] {
        for name in ["begun", "go"] {
            drop(fs::remove_file(world.path("ws").join(name)));
        }
        let [begun, go] = ["begun", "go"].map(|name| world.path("ws").join(name));
        let said = thread::scope(|scope| {
            scope.spawn(|| {
                while !begun.exists() {
                    thread::yield_now();
                }
                driver.write(&host, path, "by hand\n").unwrap();
                fs::write(&go, "").unwrap();
            });
            let script = format!("touch begun; while [ ! -e go ]; do sleep 0.01; done; {then}");
            undone(&world, &host, &script)
        });
        assert_eq!(
            said.len(),
            usize::from(then != "true"),
            "{path} {then}: {said:?}"
        );
        assert_eq!(world.text(&format!("ws/{path}")), "by hand\n", "{then}");
    }
}

/// Does something as if this thread were not root's: no rights but those that modes give.
fn without_override<T>(work: impl FnOnce() -> T) -> T {
    use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};
    let before = capabilities(None).unwrap();
    let over = CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH;
    let effective = before.effective - over;
    set_capabilities(
        None,
        CapabilitySets {
            effective,
            ..before
        },
    )
    .unwrap();
    let done = work();
    set_capabilities(None, before).unwrap();
    done
}

#[test]
fn a_directory_that_the_command_closed_is_opened_for_the_undo_and_closed_again() {
    let (world, host) = watched(&[]);
    let rules = Arc::new(ChildRules::of(&world.bench.rules.current()));
    let program = Path::new("/bin/true");
    let path = |name: &str| world.path("ws").join(name);
    let close = |name: &str, mode: u32| {
        fs::set_permissions(path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    for (name, bits) in [
        ("sub", 0o555),
        ("sub", 0o000),
        ("sub", 0o311),
        (".git", 0o555),
        (".git", 0o000),
        (".git/hooks", 0o555),
        (".", 0o555),
    ] {
        let walls = host.as_a_tool_would(program, vec![], &rules, ChildWrites::Workspace);
        let watch = host.watch(&walls.unwrap().walls, Duration::ZERO).unwrap();
        let before = mode(&path(name));
        let said = without_override(|| {
            fs::write(path("sub/AGENTS.md"), "evil\n").unwrap();
            fs::remove_file(path("AGENTS.md")).unwrap();
            fs::write(path(".git/config"), "evil\n").unwrap();
            fs::write(path(".git/commondir"), "evil\n").unwrap();
            fs::write(path(".git/hooks/pre-commit"), "evil\n").unwrap();
            close(name, bits);
            let is_closed = fs::write(path(name).join("new"), "").is_err();
            assert!(
                is_closed || fs::read_dir(path(name)).is_err(),
                "{name} {bits:o}"
            );
            watch.unwrap().end().unwrap()
        });
        // The workspace and what is watched have what they had, and what is the command's own stays as it made it.
        let is_watched = [".git/hooks", "."].contains(&name);
        let want = if is_watched { before } else { bits };
        assert_eq!(mode(&path(name)), want, "{name} {bits:o}: {said:?}");
        close(name, before);
        for (file, text) in [
            ("sub/AGENTS.md", "good\n"),
            ("AGENTS.md", "good\n"),
            (".git/config", "[core]\n"),
        ] {
            assert_eq!(
                world.text(&format!("ws/{file}")),
                text,
                "{name} {bits:o}: {said:?}"
            );
        }
        for file in [".git/commondir", ".git/hooks/pre-commit"] {
            assert!(!is_there(&path(file)), "{name} {bits:o}: {said:?}");
        }
    }
}

#[test]
fn in_the_full_tier_calls_with_permits_and_the_person_do_not_undo_each_other() {
    let world = World::new();
    let host = world.host();
    assert_eq!(host.confinement(), Confinement::Full);
    for name in ["settings.json", "own.json"] {
        world.put(&format!("ws/.vscode/{name}"), "{}\n");
    }
    let begun = world.path("ws/begun");
    let said = thread::scope(|scope| {
        let first = scope.spawn(|| {
            let line = "touch begun; while [ ! -e go ]; do sleep 0.01; done; echo b > .vscode/b.json; \
                        echo evil > .vscode/.hidden-$$";
            world.run(&host, line).unwrap().undone
        });
        while !begun.exists() {
            thread::yield_now();
        }
        let driver = World::new();
        let ended = driver.run(&host, "echo c > .vscode/c.json").unwrap();
        assert_eq!((ended.exit, ended.undone), (Exit::Code(0), vec![]));
        world.put("ws/.vscode/settings.json", "by hand\n");
        fs::remove_file(world.path("ws/.vscode/own.json")).unwrap();
        fs::write(world.path("ws/go"), "").unwrap();
        first.join().unwrap()
    });
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains(".vscode/.hidden-"), "{said:?}");
    for (name, text) in [("b", "b\n"), ("c", "c\n"), ("settings", "by hand\n")] {
        assert_eq!(world.text(&format!("ws/.vscode/{name}.json")), text);
    }
    assert!(!is_there(&world.path("ws/.vscode/own.json")));
}

#[test]
fn settings_of_a_work_tree_that_run_nothing_stay_whoever_made_them() {
    for (text, is_left) in [
        (
            "[core]\n\tsparseCheckout = true\n\tsparseCheckoutCone = true\n",
            true,
        ),
        ("[core]\n\tfsmonitor = ./x\n", false),
        ("[core]\n\tworktree = ../..\n", false),
        ("[core]\n\tattributesFile = x\n", false),
        ("[include]\n\tpath = x\n", false),
        ("x\n", false),
    ] {
        let world = World::new();
        let host = world.host();
        world.run(&host, "git init -q .").unwrap();
        world.put("ws/text", text);
        let file = world.path("ws/.git/config.worktree");
        // By another name it could be changed later.
        let said = undone(
            &world,
            &host,
            "cp text .git/x; ln .git/x .git/config.worktree",
        );
        assert_eq!(
            (is_there(&file), said.len()),
            (false, 1),
            "{text}: {said:?}"
        );
        world.put("ws/text", text);
        let said = undone(&world, &host, "cp text .git/config.worktree");
        assert_eq!(
            (is_there(&file), said.is_empty()),
            (is_left, is_left),
            "{text}: {said:?}"
        );
    }
}
