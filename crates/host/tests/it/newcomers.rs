//! What a command leaves for the git of whoever works there next is found when it has ended: the git that is run here
//! beside the host is the person's own, outside of any wall.

use crate::world::{World, supervisor};
use gate::host::Exit;
use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};
use tollgate_host::LocalHost;

/// Who commits, for git in commands and outside.
const WHO: &str =
    "[user]\n\tname = nobody\n\temail = n@example.invalid\n[init]\n\tdefaultBranch = main\n";

/// A workspace that is the person's own repository with a commit, and a host on it for each tier.
fn worlds() -> Vec<(World, LocalHost)> {
    let tiers = [sandbox::Tier::Full, sandbox::Tier::Partial];
    tiers.into_iter().map(world).collect()
}

fn world(tier: sandbox::Tier) -> (World, LocalHost) {
    let world = World::under(&[]);
    world.put("home/.gitconfig", WHO);
    git(&world, "", &["init", "-q"]);
    git(&world, "", &["add", "."]);
    git(&world, "", &["commit", "-qm", "first"]);
    let host = world.open(|options| {
        options.launcher = sandbox::Launcher::open_up_to(&supervisor(), tier).unwrap();
    });
    (world, host.unwrap())
}

/// What the person's own git says in a directory of the workspace.
#[track_caller]
fn git(world: &World, below: &str, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(arguments)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap());
    git.env("HOME", world.path("home"))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .current_dir(world.path("ws").join(below));
    let done = git.output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {done:?}");
    String::from_utf8(done.stdout).unwrap()
}

/// Runs a script, of which no word tells what it does, and gives back what was told.
#[track_caller]
fn told(world: &World, host: &LocalHost, script: &str) -> Vec<String> {
    world.put("ws/script.sh", format!("set -e\n{script}"));
    let ended = world.run(host, "bash script.sh").unwrap();
    let said = String::from_utf8_lossy(&ended.tail).into_owned();
    assert_eq!(ended.exit, Exit::Code(0), "{script}: {said}");
    ended.undone
}

/// The only thing that was told is of this path, and says where it was moved to.
#[track_caller]
fn moved(world: &World, told: &[String], path: &str) -> PathBuf {
    assert_eq!(told.len(), 1, "{told:?}");
    let path = match path.strip_prefix("../") {
        Some(beside) => world.path(beside),
        None => world.path("ws").join(path),
    };
    let begin = format!("`{}` ", path.display());
    assert!(told[0].starts_with(&begin), "{told:?}");
    let at = told[0].split("moved to `").nth(1).unwrap();
    assert!(!is_there(&path), "{told:?}");
    let kept = PathBuf::from(at.split('`').next().unwrap());
    assert!(is_there(&kept), "{told:?}");
    kept
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// A program that leaves a mark where it runs.
const MON: &str = "printf '#!/bin/sh\\ntouch %s/ran\\n' \"$PWD\" > mon; chmod +x mon\n";

/// A repository in the workspace that git enters from the one around.
const NESTED: &str = "git init -q n\n\
    git -C n commit -q --allow-empty -m x\n\
    git update-index --add --cacheinfo 160000,$(git -C n rev-parse HEAD),n\n";

#[test]
fn the_persons_git_runs_nothing_of_a_repository_that_a_command_made() {
    for (world, host) in worlds() {
        let script = format!("{MON}{NESTED}git -C n config core.fsmonitor $PWD/mon");
        let told = told(&world, &host, &script);
        let kept = moved(&world, &told, "n/.git/config");
        assert!(told[0].contains("core.fsmonitor"), "{told:?}");
        git(&world, "", &["status"]);
        assert!(!world.path("ws/ran").exists());
        // It would have.
        fs::copy(kept, world.path("ws/n/.git/config")).unwrap();
        git(&world, "", &["status"]);
        assert!(world.path("ws/ran").exists());
    }
}

#[test]
fn what_git_makes_by_itself_stays() {
    for (world, host) in worlds() {
        for script in [
            "git init -q a",
            "git clone -q . b",
            "git clone -q --bare . c.git",
            "git worktree add -q d",
            "git -c protocol.file.allow=always submodule add -q ./a e || true",
            "git init -q --separate-git-dir=store f",
            "git init -q g; git -C g config user.name x; git -C g config core.fsmonitor false",
            "git init -q h; echo plain > h/.git/hooks/pre-commit",
            "git checkout -q -b other; git commit -q --allow-empty -m y; git rebase -q main",
        ] {
            let told = told(&world, &host, script);
            assert_eq!(told, [""; 0], "{script}");
        }
        git(&world, "b", &["status"]);
        git(&world, "d", &["status"]);
    }
}

#[test]
fn every_kind_of_repository_is_looked_at() {
    for (world, host) in worlds() {
        let settings = "[core]\\n\\tsshCommand = x\\n";
        for (path, script) in [
            ("a/.git/config", "git init -q a; git -C a config alias.x '!x'".to_owned()),
            ("b.git/config", format!("git init -q --bare b.git; printf '{settings}' >> b.git/config")),
            ("c/.git/config", "git init -q c; git -C c config include.path ../x".to_owned()),
            ("d/.git/config", "git init -q d; mv d/.git/config x; ln -s ../../x d/.git/config".to_owned()),
            ("e/.git/config.worktree", format!("git init -q e; git -C e config extensions.worktreeConfig true; printf '{settings}' > e/.git/config.worktree")),
            ("store/config", format!("git init -q --separate-git-dir=store f; printf '{settings}' >> store/config")),
            (".git/modules/g/config", format!("git init -q --bare .git/modules/g; printf '{settings}' >> .git/modules/g/config")),
            ("h/.git/hooks/pre-commit", "git init -q h; printf '#!/bin/sh\\n' > h/.git/hooks/pre-commit; chmod +x h/.git/hooks/pre-commit".to_owned()),
            ("i/.git/hooks", "git init -q i; rm -r i/.git/hooks; mkdir k; ln -s ../../k i/.git/hooks".to_owned()),
            ("j/.git/hooks", "git init -q j; cd j/.git/hooks; for i in $(seq 99); do echo > $i; chmod +x $i; done".to_owned()),
            ("l/.git", format!("git init -q --separate-git-dir=$TMPDIR/l l; printf '{settings}' >> $TMPDIR/l/config")),
        ] {
            let told = told(&world, &host, &script);
            moved(&world, &told, path);
        }
        assert_eq!(told(&world, &host, "true"), [""; 0]);
    }
}

#[test]
fn a_repository_where_no_index_looks_is_found() {
    for (world, host) in worlds() {
        for (place, script) in [
            (
                "deep",
                "d=deep$(printf '/%.0sd' $(seq 300)); mkdir -p $d; cd $d",
            ),
            ("x", "d=x/$(printf '\\377'); mkdir -p $d; cd $d"),
        ] {
            let script = format!("{script}; git init -q n; git -C n config core.pager x");
            let said = told(&world, &host, &script);
            assert!(
                said.len() == 1 && said[0].contains("core.pager"),
                "{place}: {said:?}"
            );
            fs::remove_dir_all(world.path("ws").join(place)).unwrap();
        }
    }
}

#[test]
fn folders_that_the_person_opened_are_looked_at_too() {
    for tier in [sandbox::Tier::Full, sandbox::Tier::Partial] {
        let (world, _) = world(tier);
        git(&world, "../outside/dir", &["init", "-q", "mine"]);
        git(
            &world,
            "../outside/dir/mine",
            &["config", "core.pager", "x"],
        );
        let host = world.open(|options| {
            options.openings.writable = vec![world.path("outside/dir")];
            options.launcher = sandbox::Launcher::open_up_to(&supervisor(), tier).unwrap();
        });
        let host = host.unwrap();
        let said = told(
            &world,
            &host,
            "cd ../outside/dir; git init -q new; git init -q n",
        );
        assert_eq!(said, [""; 0]);
        let script = "cd ../outside/dir; git init -q other; git -C other config core.pager x";
        let said = told(&world, &host, script);
        moved(&world, &said, "../outside/dir/other/.git/config");
    }
}

#[test]
fn a_bare_repository_that_was_there_is_looked_at_as_well() {
    for (world, host) in worlds() {
        assert_eq!(told(&world, &host, "git init -q --bare b.git"), [""; 0]);
        assert_eq!(
            told(&world, &host, "git --git-dir=b.git config core.bare true"),
            [""; 0]
        );
        let told = told(
            &world,
            &host,
            "git --git-dir=b.git config core.fsmonitor ./x",
        );
        moved(&world, &told, "b.git/config");
    }
}

#[test]
fn what_the_person_has_there_stays() {
    for (world, host) in worlds() {
        for name in ["n", "b.git"] {
            let bare: &[&str] = if name == "n" { &[] } else { &["--bare"] };
            git(&world, "", &[&["init", "-q"], bare, &[name]].concat());
            git(&world, name, &["config", "core.sshCommand", "mine"]);
        }
        let hook = world.path("ws/b.git/hooks/update");
        fs::write(&hook, "").unwrap();
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
        for script in [
            "true",
            "git init -q other",
            "git --git-dir=b.git config a.b c",
        ] {
            assert_eq!(told(&world, &host, script), [""; 0]);
        }
        assert!(hook.exists());
        assert_eq!(
            git(&world, "b.git", &["config", "core.sshCommand"]),
            "mine\n"
        );
        assert_eq!(git(&world, "n", &["config", "core.sshCommand"]), "mine\n");
    }
}

#[test]
fn what_a_person_has_said_yes_to_stays() {
    for (world, host) in worlds() {
        let line = "git init -q n; printf '[core]\\n\\tpager = x\\n' >> n/.git/config";
        let (said, edits) = world.bash_with_edits(&host, line);
        assert!(edits.iter().any(|it| it == "n/.git/config"), "{edits:?}");
        assert!(!said.contains("moved to"), "{said}");
        assert_eq!(git(&world, "n", &["config", "core.pager"]), "x\n");
    }
}

#[test]
fn lines_that_a_rebase_would_run_are_told_and_left() {
    for (world, host) in worlds() {
        let script = "mkdir .git/rebase-merge; cd .git/rebase-merge\n\
            printf 'pick 1\\nx touch ran\\n' > git-rebase-todo";
        let said = told(&world, &host, script);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(
            said[0].contains("rebase-merge/git-rebase-todo` ") && said[0].contains("`x touch ran`"),
            "{said:?}"
        );
        assert!(world.path("ws/.git/rebase-merge/git-rebase-todo").exists());
        assert_eq!(told(&world, &host, "true"), [""; 0]);
    }
}

#[test]
fn the_model_is_told_what_would_have_run() {
    let (world, host) = world(sandbox::Tier::Full);
    world.put(
        "ws/script.sh",
        "git init -q n; git -C n config core.pager x",
    );
    let (said, _) = world.bash_with_edits(&host, "bash script.sh");
    let line = said.lines().find(|line| line.starts_with("- `")).unwrap();
    assert!(
        line.contains("core.pager") && line.contains("moved to `"),
        "{said}"
    );
}
