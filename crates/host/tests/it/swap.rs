//! Somebody changes the disk while we work: each kind of change at each moment. Nothing outside may be
//! touched or told, nothing of ours may be left, and what somebody else wrote must not be lost.

use crate::world::{Stop, World, lock};
use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};
use tollgate_host::Moment;

type Change = fn(&Path);

/// To a file that is there.
const CHANGES: [(&str, Change); 10] = [
    ("a link instead of the file", |root| {
        fs::remove_file(root.join("ws/src/a.txt")).unwrap();
        symlink(root.join("outside/secret"), root.join("ws/src/a.txt")).unwrap();
    }),
    ("another file renamed over it", |root| {
        fs::write(root.join("ws/other"), "other").unwrap();
        fs::rename(root.join("ws/other"), root.join("ws/src/a.txt")).unwrap();
    }),
    ("the secret by a hard link", |root| {
        fs::remove_file(root.join("ws/src/a.txt")).unwrap();
        fs::hard_link(root.join("outside/secret"), root.join("ws/src/a.txt")).unwrap();
    }),
    ("a second name", |root| {
        fs::hard_link(root.join("ws/src/a.txt"), root.join("ws/second")).unwrap();
    }),
    ("a link instead of the directory", |root| {
        fs::rename(root.join("ws/src"), root.join("ws/was")).unwrap();
        symlink(root.join("outside/dir"), root.join("ws/src")).unwrap();
    }),
    ("the directory moved out", |root| {
        fs::rename(root.join("ws/src"), root.join("outside/moved")).unwrap();
    }),
    ("the directory moved out and a link to it", |root| {
        fs::rename(root.join("ws/src"), root.join("outside/moved")).unwrap();
        symlink(root.join("outside/moved"), root.join("ws/src")).unwrap();
    }),
    ("another directory with a copy", |root| {
        fs::rename(root.join("ws/src"), root.join("ws/was")).unwrap();
        fs::create_dir(root.join("ws/src")).unwrap();
        fs::write(root.join("ws/src/a.txt"), "old").unwrap();
    }),
    ("the file removed", |root| {
        fs::remove_file(root.join("ws/src/a.txt")).unwrap();
    }),
    ("a FIFO instead of the file", |root| {
        fs::remove_file(root.join("ws/src/a.txt")).unwrap();
        std::process::Command::new("mkfifo")
            .arg(root.join("ws/src/a.txt"))
            .status()
            .unwrap();
    }),
];

/// To `src/new/b.txt`, of which only `src` is there.
const CHANGES_OF_NEW: [(&str, Change); 7] = [
    ("a link instead of the new directory", |root| {
        let _gone = fs::remove_dir_all(root.join("ws/src/new"));
        symlink(root.join("outside/dir"), root.join("ws/src/new")).unwrap();
    }),
    ("a directory with the file in it", |root| {
        fs::create_dir_all(root.join("ws/src/new")).unwrap();
        fs::write(root.join("ws/src/new/b.txt"), "other").unwrap();
    }),
    ("a directory with a link in it", |root| {
        fs::create_dir_all(root.join("ws/src/new")).unwrap();
        let _gone = fs::remove_file(root.join("ws/src/new/b.txt"));
        symlink(root.join("outside/secret"), root.join("ws/src/new/b.txt")).unwrap();
    }),
    ("a link instead of the directory above", |root| {
        fs::rename(root.join("ws/src"), root.join("ws/was")).unwrap();
        symlink(root.join("outside/dir"), root.join("ws/src")).unwrap();
    }),
    ("the directory above moved out", |root| {
        fs::rename(root.join("ws/src"), root.join("outside/moved")).unwrap();
    }),
    ("another directory in its place", |root| {
        fs::rename(root.join("ws/src"), root.join("ws/was")).unwrap();
        fs::create_dir_all(root.join("ws/src/new")).unwrap();
    }),
    ("another directory above", |root| {
        fs::rename(root.join("ws/src"), root.join("ws/was")).unwrap();
        fs::create_dir(root.join("ws/src")).unwrap();
    }),
];

/// What lies outside, but for what the change itself put there.
fn outside(world: &World) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = world.outside();
    all.retain(|(path, _)| !path.starts_with(world.path("outside/moved")));
    all
}

/// Acts once for each moment there is, with the change made there; gives the number of moments.
fn at_each_moment(
    change: Change,
    check: impl Fn(&World, &[Moment], Result<String, Stop>),
    act: impl Fn(&World) -> Result<String, Stop>,
) -> usize {
    let mut after = 0;
    loop {
        let world = World::new();
        let root = world.path("");
        let before = outside(&world);
        world.swap_after(after, move || change(&root));
        let done = act(&world);
        if !world.has_swapped() {
            assert!(done.is_ok(), "undisturbed: {done:?}");
            return after;
        }
        assert_eq!(outside(&world), before, "outside was touched");
        assert_eq!(world.drafts(), Vec::<PathBuf>::new(), "something was left");
        let passed = lock(&world.moments)[..=after].to_vec();
        check(&world, &passed, done);
        after += 1;
    }
}

#[test]
fn a_read_brings_the_judged_bytes_or_none() {
    for (what, change) in CHANGES {
        let moments = at_each_moment(
            change,
            |_, passed, done| match done {
                Ok(text) => {
                    assert_eq!(text, "old", "{what} at {passed:?}");
                    assert!(passed.len() > 1, "{what} at {passed:?}");
                }
                Err(stop) => assert!(
                    matches!(stop, Stop::Changed(_)),
                    "{what} at {passed:?}: {stop:?}"
                ),
            },
            |world| world.read(&world.host(), "src/a.txt"),
        );
        assert_eq!(moments, 3, "{what}");
    }
}

#[test]
fn a_write_replaces_the_judged_file_or_nothing() {
    for (what, change) in CHANGES {
        let moments = at_each_moment(
            change,
            |world, passed, done| {
                let is_in_place = passed.contains(&Moment::AfterRename);
                match done {
                    Ok(_) => assert!(is_in_place, "{what} at {passed:?}"),
                    Err(stop) => assert!(
                        matches!(stop, Stop::Changed(_)),
                        "{what} at {passed:?}: {stop:?}"
                    ),
                }
                // What was moved away is as it was, even if the new bytes had been in place.
                for moved in ["outside/moved/a.txt", "ws/was/a.txt"] {
                    if world.path(moved).exists() {
                        assert_eq!(world.text(moved), "old", "{what} at {passed:?}");
                    }
                }
                if what == "another file renamed over it" {
                    assert_eq!(world.text("ws/src/a.txt"), "other", "{what} at {passed:?}");
                }
                if what == "a second name" && !is_in_place {
                    assert_eq!(world.text("ws/second"), "old");
                }
            },
            |world| world.write(&world.host(), "src/a.txt", "new"),
        );
        assert_eq!(moments, 9, "{what}");
    }
}

#[test]
fn a_change_of_the_bytes_alone_is_noticed_until_the_rename() {
    let change: Change = |root| fs::write(root.join("ws/src/a.txt"), "by hand").unwrap();
    at_each_moment(
        change,
        |world, passed, done| match passed {
            // Not yet seen: the change is what was shown.
            [Moment::Resolved, ..] if passed.len() <= 3 => {
                done.unwrap();
                assert_eq!(world.text("ws/src/a.txt"), "new");
            }
            _ if passed.contains(&Moment::AfterRename) => {
                assert_eq!(world.text("ws/src/a.txt"), "by hand", "{passed:?}");
            }
            _ => {
                assert!(
                    matches!(done, Err(Stop::Changed(_))),
                    "{passed:?}: {done:?}"
                );
                assert_eq!(world.text("ws/src/a.txt"), "by hand", "{passed:?}");
            }
        },
        |world| world.write(&world.host(), "src/a.txt", "new"),
    );
}

#[test]
fn a_new_file_lands_where_it_was_judged_or_nowhere() {
    for (what, change) in CHANGES_OF_NEW {
        let moments = at_each_moment(
            change,
            |world, passed, done| {
                let is_in_place = passed.contains(&Moment::AfterRename);
                match done {
                    Ok(_) => assert!(is_in_place, "{what} at {passed:?}"),
                    Err(stop) => assert!(
                        matches!(stop, Stop::Changed(_)),
                        "{what} at {passed:?}: {stop:?}"
                    ),
                }
                assert!(
                    !world.path("outside/moved/new/b.txt").exists(),
                    "{what} at {passed:?}"
                );
                assert!(!world.path("ws/was/new").exists(), "{what} at {passed:?}");
                assert!(
                    !world.path("outside/dir/b.txt").exists(),
                    "{what} at {passed:?}"
                );
                if what == "a directory with the file in it" {
                    assert_eq!(
                        world.text("ws/src/new/b.txt"),
                        "other",
                        "{what} at {passed:?}"
                    );
                }
            },
            |world| world.write(&world.host(), "src/new/b.txt", "new"),
        );
        assert_eq!(moments, 3, "{what}");
    }
}

#[test]
fn a_listing_is_of_the_judged_directory_or_of_none() {
    let swaps: [(&str, Change); 2] = [CHANGES[4], CHANGES[6]];
    for (what, change) in swaps {
        at_each_moment(
            change,
            |_, passed, done| {
                assert!(done.is_err() || passed.len() > 1, "{what} at {passed:?}");
            },
            |world| {
                world.list(&world.host(), "src").map(|names| {
                    assert_eq!(names, [("a.txt".to_owned(), false)]);
                    String::new()
                })
            },
        );
    }
}
