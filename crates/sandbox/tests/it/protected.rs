//! Paths that stay closed inside what is open: masks and write protection, and places held for what is missing.
//! Must not leave anything in a room: that is part of what is tested.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tollgate_sandbox::{Ended, HELD_MODE, Spawn, StartError};

use crate::kit::{Room, example, full, is_root, refused_full, run_with, succeed_full, try_start};

fn protecting(room: &Room, names: &[&str], script: &str) -> Spawn {
    let mut spawn = room.bash(script);
    spawn.walls.write_protected = names.iter().map(|name| room.inside.join(name)).collect();
    spawn
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_mask_hides_content_in_readable_and_in_writable_directories() {
    let room = Room::new();
    fs::write(room.inside.join(".env"), "SECRET\n").unwrap();
    fs::create_dir_all(room.outside.join("keys/deep")).unwrap();
    fs::write(room.outside.join("keys/deep/key"), "SECRET\n").unwrap();
    let masked = [room.inside.join(".env"), room.outside.join("keys")];
    for script in [
        "cat .env; cat $OUT/keys/deep/key; grep -r SECRET . $OUT; cp .env x && cat x; ls -A $OUT/keys; exit 1",
        "rm -f .env || exit 1",
        "mv .env y || exit 1",
        "ln .env z || exit 1",
        "echo x > .env || exit 1",
        "echo x > $OUT/keys/new || exit 1",
    ] {
        let mut spawn = room.bash(script);
        spawn.walls.readable.push(room.outside.clone());
        // Opening something in there by itself does not help either.
        spawn
            .walls
            .readable
            .push(room.outside.join("keys/deep/key"));
        spawn.walls.masked = masked.to_vec();
        let (ended, text) = run_with(full(), &spawn);
        assert_eq!(ended, Ended::Code(1), "{text}");
        assert!(
            !text.contains("SECRET") && !text.contains("deep\n"),
            "{text}"
        );
    }
    let read = fs::read_to_string(room.inside.join(".env")).unwrap();
    assert_eq!(read, "SECRET\n");
    // Root is refused too: what is empty would be taken for what the file holds.
    let mut spawn = room.bash("cat .env");
    spawn.walls.masked = masked.to_vec();
    refused_full(&spawn);
}

#[test]
fn a_missing_mask_hides_what_is_made_later() {
    let room = Room::new();
    let mut spawn = room.bash("echo x > .env; cat .env; exit 1");
    spawn.walls.masked = vec![room.inside.join(".env"), room.outside.join("not-shown")];
    let (ended, text) = run_with(full(), &spawn);
    assert_eq!(ended, Ended::Code(1));
    assert!(!text.contains("\nx"), "{text}");
    assert_eq!(names(&room.inside), [""; 0]);
    assert_eq!(names(&room.outside), ["secret"]);
}

#[test]
fn what_is_protected_can_be_read_and_not_changed_removed_or_moved() {
    let room = Room::new();
    fs::create_dir_all(room.inside.join("a/.git/hooks")).unwrap();
    fs::write(room.inside.join("a/.git/hooks/old"), "old\n").unwrap();
    fs::write(room.inside.join("AGENTS.md"), "mine\n").unwrap();
    let closed = ["a/.git/hooks", "AGENTS.md"];
    for script in [
        "echo x > a/.git/hooks/new",
        "echo x >> a/.git/hooks/old",
        "rm a/.git/hooks/old",
        "chmod 777 a/.git/hooks/old",
        "ln -s a/.git/hooks h && echo x > h/new",
        "ln a/.git/hooks/old other",
        "mv a/.git/hooks a/.git/x",
        "mv a/.git a/x",
        "mv a x",
        "rm -r a",
        "echo x > AGENTS.md",
        "sed -i s/mine/yours/ AGENTS.md",
        "rm AGENTS.md",
        "echo y > new && mv new AGENTS.md",
        "ln -sf /etc/passwd AGENTS.md",
        "touch -d 2000-01-01 AGENTS.md",
    ] {
        let mut spawn = protecting(&room, &closed, script);
        spawn.walls.writable.push(room.inside.join("a/.git/hooks"));
        let (ended, text) = run_with(full(), &spawn);
        assert!(
            ended != Ended::Code(0)
                && ["Read-only", "busy", "cross-device"]
                    .iter()
                    .any(|reason| text.contains(reason)),
            "{script}: {ended:?}: {text}"
        );
    }
    let script = "cat AGENTS.md a/.git/hooks/old; echo x > a/.git/index; echo y > a/f; mv a/f a/g; echo z > AGENTS.mdx";
    assert_eq!(
        succeed_full(&protecting(&room, &closed, script)),
        "mine\nold\n"
    );
    assert_eq!(names(&room.inside.join("a/.git/hooks")), ["old"]);
    assert_eq!(names(&room.inside.join("a")), [".git", "g"]);
}

#[test]
fn what_is_protected_and_missing_cannot_be_made_and_leaves_nothing() {
    let room = Room::new();
    fs::write(room.inside.join("file"), "").unwrap();
    let closed = [
        ".vscode/tasks.json",
        ".vscode/x/y",
        ".mcp.json",
        "a/b/c",
        "file/below",
    ];
    for script in [
        "mkdir .vscode",
        "mkdir -p .vscode/x",
        "echo x > .vscode/tasks.json",
        "echo x > .mcp.json",
        "ln -s /etc/passwd .mcp.json/x",
        "rm -r .mcp.json",
        "rmdir .mcp.json && echo x > .mcp.json",
        "mv .mcp.json x",
        "echo x > new && mv -T new .mcp.json",
        "mkdir new && mv -T new .mcp.json",
        "mkdir -p a/b",
        "rm file && mkdir file",
        "chmod 777 .mcp.json",
    ] {
        refused_full(&protecting(&room, &closed, script));
        drop(fs::remove_file(room.inside.join("new")));
        drop(fs::remove_dir(room.inside.join("new")));
        assert_eq!(names(&room.inside), ["file"], "{script}");
    }
}

#[test]
fn git_does_not_see_the_places_that_are_held() {
    let room = Room::new();
    let script = "git init -q . && git config user.email a@b && git config user.name a && echo x > f && \
        git add -A && git commit -qm first && git status --porcelain && git ls-files";
    let spawn = protecting(&room, &[".mcp.json", ".vscode/tasks.json"], script);
    assert_eq!(succeed_full(&spawn), "f\n");
    let hooks = [".git/hooks", ".git/config", ".mcp.json"];
    let script = "echo y > g && git add -A && git commit -qm second && git stash list && git checkout -q HEAD~1 && \
        git gc -q && git status --porcelain; git config user.name b";
    let (ended, text) = run_with(full(), &protecting(&room, &hooks, script));
    assert!(
        ended != Ended::Code(0) && text.contains("could not") || text.contains("busy"),
        "{text}"
    );
    assert_eq!(names(&room.inside), [".git", "f"]);
}

#[test]
fn commands_at_the_same_time_share_what_they_hold() {
    let room = Room::new();
    let closed = [".mcp.json"];
    let waiting = "echo ready; while [ ! -e go ]; do sleep 0.01; done; echo x > .mcp.json";
    let mut first = try_start(full(), &protecting(&room, &closed, waiting)).unwrap();
    assert_eq!(first.line(), "ready");
    refused_full(&protecting(&room, &closed, "echo x > .mcp.json"));
    // The first one still needs it.
    assert!(room.inside.join(".mcp.json").is_dir());
    fs::write(room.inside.join("go"), "").unwrap();
    assert!(first.rest().contains("Is a directory"));
    assert_eq!(first.child.wait().unwrap(), Ended::Code(1));
    assert_eq!(names(&room.inside), ["go"]);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..4 {
                    refused_full(&protecting(&room, &closed, "echo x > .mcp.json"));
                }
            });
        }
    });
    assert_eq!(names(&room.inside), ["go"]);
}

#[test]
fn what_lies_below_a_place_that_another_command_holds_stays_held_when_that_one_ends() {
    let room = Room::new();
    let closed = [".vscode/tasks.json"];
    let start = |word: &str, script: &str| {
        let spawn = protecting(&room, &closed, &when_told(word, script));
        let mut running = try_start(full(), &spawn).unwrap();
        assert_eq!(running.line(), "ready");
        running
    };
    let mut first = start("one", "mkdir .vscode/x; exit 1");
    let script = "mkdir .vscode/x || mkdir .vscode; echo x > .vscode/tasks.json";
    let mut second = start("two", script);
    for (word, running) in [("one", &mut first), ("two", &mut second)] {
        fs::write(room.inside.join(word), "").unwrap();
        let text = running.rest();
        assert_eq!(running.child.wait().unwrap(), Ended::Code(1), "{text}");
    }
    assert_eq!(names(&room.inside), [""; 0]);
}

#[test]
fn a_held_place_left_by_a_killed_supervisor_is_removed_by_the_next() {
    let room = Room::new();
    let left = room.inside.join(".mcp.json");
    fs::create_dir(&left).unwrap();
    fs::set_permissions(&left, fs::Permissions::from_mode(HELD_MODE)).unwrap();
    refused_full(&protecting(&room, &[".mcp.json"], "rmdir .mcp.json"));
    assert_eq!(names(&room.inside), [""; 0]);
}

/// Says `ready`, waits for a file of this name, and does this.
fn when_told(word: &str, script: &str) -> String {
    format!("echo ready; while [ ! -e {word} ]; do sleep 0.01; done; rm {word}; {script}")
}

/// Runs a command that holds `.vscode`, and something outside while it does.
fn while_held(room: &Room, spares: Option<&Path>, outside: impl FnOnce()) {
    let mut spawn = protecting(
        room,
        &[".vscode"],
        &when_told("go", "[ ! -d .vscode ] || ls -A .vscode"),
    );
    spawn.walls.spares = spares.map(Path::to_owned);
    let mut running = try_start(full(), &spawn).unwrap();
    assert_eq!(running.line(), "ready");
    outside();
    fs::write(room.inside.join("go"), "").unwrap();
    assert_eq!(
        (running.rest(), running.child.wait().unwrap()),
        (String::new(), Ended::Code(0))
    );
}

fn spares_of(room: &Room) -> PathBuf {
    let spares = room.root.join("spares");
    fs::create_dir(&spares).unwrap();
    spares
}

fn inode(path: &Path) -> u64 {
    fs::symlink_metadata(path).unwrap().ino()
}

#[test]
fn what_somebody_outside_puts_into_a_held_place_stays_and_is_protected_next() {
    for has_spares in [false, true] {
        let room = Room::new();
        let spares = has_spares.then(|| spares_of(&room));
        let mine = room.inside.join(".vscode/mine");
        while_held(&room, spares.as_deref(), || fs::write(&mine, "").unwrap());
        assert_eq!(names(&room.inside.join(".vscode")), ["mine"]);
        let script = "ls -A .vscode; rm .vscode/mine";
        let (ended, text) = run_with(full(), &protecting(&room, &[".vscode"], script));
        assert!(ended == Ended::Code(1) && text.starts_with("mine\n"));
        assert_eq!(names(&room.inside), [".vscode"]);
        if let Some(spares) = spares {
            assert_eq!(names(&spares), [""; 0]);
        }
    }
}

#[test]
fn what_somebody_outside_puts_in_the_place_of_a_held_one_stays() {
    let room = Room::new();
    let spares = spares_of(&room);
    let (place, moved) = (room.inside.join(".vscode"), room.inside.join("moved"));
    while_held(&room, Some(&spares), || {
        fs::rename(&place, &moved).unwrap();
        fs::write(&place, "mine").unwrap();
    });
    assert_eq!(fs::read_to_string(&place).unwrap(), "mine");
    assert_eq!(names(&room.inside), [".vscode", "moved"]);
    assert_eq!(names(&spares), [""; 0]);
}

#[test]
fn a_directory_that_held_a_place_is_kept_for_that_place_and_no_other() {
    let room = Room::new();
    let spares = spares_of(&room);
    let place = room.inside.join(".vscode");
    let mut first = 0;
    while_held(&room, Some(&spares), || first = inode(&place));
    let kept = names(&spares);
    assert_eq!((names(&room.inside), kept.len()), (Vec::new(), 1));
    assert_eq!(inode(&spares.join(&kept[0])), first);
    while_held(&room, Some(&spares), || {
        assert_eq!(inode(&place), first);
        assert_eq!(names(&spares), [""; 0]);
        // A command meanwhile that holds another place does not get it, and one that holds the same shares it.
        for name in [".vscode", ".other"] {
            let mut spawn = protecting(&room, &[name], &format!("echo x > {name}"));
            spawn.walls.spares = Some(spares.clone());
            refused_full(&spawn);
            assert_eq!(inode(&place), first);
        }
        let [other] = names(&spares).try_into().unwrap();
        assert!(other.ends_with("other"));
    });
    assert_eq!(names(&room.inside), [""; 0]);
    assert_eq!(names(&spares).len(), 2);
}

#[test]
fn many_commands_at_once_take_and_keep_and_leave_nothing() {
    let room = Room::new();
    let spares = spares_of(&room);
    let closed = [".a", ".b/c", ".d"];
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..8 {
                    let script = "ls -A .a .b .d; echo x > .a";
                    let mut spawn = protecting(&room, &closed, script);
                    spawn.walls.spares = Some(spares.clone());
                    refused_full(&spawn);
                }
            });
        }
    });
    assert_eq!(names(&room.inside), [""; 0]);
    for kept in names(&spares) {
        let kept = spares.join(kept);
        assert_eq!(names(&kept), [""; 0]);
        assert_eq!(kept.metadata().unwrap().mode() & 0o7777, HELD_MODE);
    }
    assert!(names(&spares).len() <= closed.len());
}

#[test]
fn a_spare_that_is_not_as_it_was_kept_is_neither_used_nor_removed() {
    let room = Room::new();
    let spares = spares_of(&room);
    while_held(&room, Some(&spares), || ());
    let spare = spares.join(&names(&spares)[0]);
    let is_left = |spare: &Path, is_fine: &dyn Fn() -> bool| {
        let before = inode(spare);
        while_held(&room, Some(&spares), || {
            assert_ne!(inode(&room.inside.join(".vscode")), before);
        });
        assert_eq!((inode(spare), names(&room.inside)), (before, Vec::new()));
        assert!(is_fine());
    };
    let file = spare.join("x");
    fs::write(&file, "").unwrap();
    is_left(&spare, &|| file.exists());
    fs::remove_file(&file).unwrap();
    fs::set_permissions(&spare, fs::Permissions::from_mode(0o700)).unwrap();
    is_left(&spare, &|| spare.is_dir());
    fs::remove_dir(&spare).unwrap();
    symlink(&room.outside, &spare).unwrap();
    is_left(&spare, &|| spare.is_symlink());
}

#[test]
fn where_nothing_can_be_kept_all_is_as_without() {
    let room = Room::new();
    let elsewhere = tempfile::tempdir_in("/dev/shm").unwrap();
    let link = room.root.join("link");
    symlink(&room.outside, &link).unwrap();
    let not_there = room.root.join("missing");
    for spares in [elsewhere.path(), &link, &not_there] {
        while_held(&room, Some(spares), || ());
        assert_eq!(names(&room.inside), [""; 0]);
    }
    assert_eq!(names(elsewhere.path()), [""; 0]);
    assert_eq!(names(&room.outside), ["secret"]);
}

#[test]
fn an_empty_directory_of_ones_own_is_not_removed() {
    let room = Room::new();
    fs::create_dir(room.inside.join(".vscode")).unwrap();
    refused_full(&protecting(&room, &[".vscode"], "echo x > .vscode/x"));
    assert_eq!(names(&room.inside), [".vscode"]);
}

#[test]
fn a_link_on_the_way_to_a_protected_path_refuses_the_start_and_leaves_nothing() {
    let room = Room::new();
    symlink(".other", room.inside.join(".kilo")).unwrap();
    let spawn = protecting(&room, &[".a", ".b/c", ".kilo/x"], "true");
    match try_start(full(), &spawn).map(drop) {
        Err(StartError::Wall { path, source }) => {
            let expected: PathBuf = room.inside.join(".kilo/x");
            assert_eq!((path, source.raw_os_error()), (expected, Some(40))); // ELOOP
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(names(&room.inside), [".kilo"]);
}

#[test]
fn dropping_a_command_releases_what_it_held() {
    let room = Room::new();
    let spawn = protecting(&room, &[".mcp.json"], "echo ready; sleep 1000");
    let mut running = try_start(full(), &spawn).unwrap();
    assert_eq!(running.line(), "ready");
    drop(running.child);
    assert_eq!(
        std::io::Read::read(&mut running.output, &mut [0]).unwrap(),
        0
    );
    // The end of the output comes a moment before the supervisor's own.
    while room.inside.join(".mcp.json").exists() {
        std::thread::yield_now();
    }
}

/// What git and others make of a repository with a closed directory, and what must stay as it was.
const ROUND_A_CLOSED_DIRECTORY: &str = "
export HOME=/tmp && git config --global safe.directory '*' && git config --global user.email a@b && git config --global user.name a
ls .env && echo LISTED
ls -d .env || echo GONE
cat .env/key && echo READ
stat .env/key && echo SEEN
echo x > .env/new && echo MADE
find . -name key
rm -r .env; mv .env other; rmdir .env; chmod 777 .env
echo y >> open && git add -A; git status --porcelain; git diff --cached --name-status
git stash -q; git stash pop -q; git add -A; git commit -qam second
git ls-files; git diff --name-status HEAD~ HEAD
echo end";

#[test]
fn a_closed_directory_is_closed_and_not_empty_to_root_and_to_others() {
    for user in [None, Some(65_534)]
        .into_iter()
        .take(if is_root() { 2 } else { 1 })
    {
        let room = Room::new();
        fs::create_dir(room.inside.join(".env")).unwrap();
        fs::write(room.inside.join(".env/key"), "SECRET\n").unwrap();
        fs::write(room.inside.join("open"), "x\n").unwrap();
        let script = "git init -q . && git add . && \
            git -c user.email=a@b -c user.name=a commit -qm first && chmod -R a+rwX .";
        succeed_full(&room.bash(script));
        let program = room.root.join("enclose");
        fs::copy(example("enclose"), &program).unwrap();
        let mut command = Command::new(&program);
        command.current_dir(&room.inside);
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        let output = command
            .args(["--", "/bin/bash", "-c", ROUND_A_CLOSED_DIRECTORY])
            .output()
            .unwrap();
        let text = String::from_utf8([output.stderr, output.stdout].concat()).unwrap();
        assert!(text.ends_with("\n.env/key\nopen\nM\topen\nend\n"), "{text}");
        for said in [
            "LISTED", "GONE", "READ", "SEEN", "MADE", "SECRET", "deleted",
        ] {
            assert!(!text.contains(said), "{user:?}: {said}: {text}");
        }
        assert!(
            !text.lines().any(|line| line.trim_start().starts_with("D ")),
            "{text}"
        );
        let key = fs::read_to_string(room.inside.join(".env/key"));
        assert_eq!(key.unwrap(), "SECRET\n");
    }
}
