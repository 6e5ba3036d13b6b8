//! Writing without anybody in between.

use crate::world::{Stop, World, lock, mode};
use gate::host::Host as _;
use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink},
    sync::{Arc, Barrier},
};
use tollgate_host::Moment;

#[test]
fn a_replaced_file_keeps_its_mode_and_a_new_one_is_plain() {
    let world = World::new();
    let host = world.host();
    fs::set_permissions(
        world.path("ws/src/a.txt"),
        fs::Permissions::from_mode(0o4751),
    )
    .unwrap();
    world.write(&host, "src/a.txt", "new").unwrap();
    assert_eq!(world.text("ws/src/a.txt"), "new");
    assert_eq!(
        mode(&world.path("ws/src/a.txt")),
        0o751,
        "the mode, without the right to run as somebody else"
    );
    world.write(&host, "src/b.txt", "new").unwrap();
    assert_eq!(mode(&world.path("ws/src/b.txt")) & !0o022, 0o644 & !0o022);
    assert!(world.drafts().is_empty());
}

#[test]
fn a_file_of_somebody_else_stays_theirs_where_root_writes() {
    let world = World::new();
    let host = world.host();
    let path = world.path("ws/src/a.txt");
    if std::os::unix::fs::chown(&path, Some(1234), Some(1234)).is_err() {
        return;
    }
    world.write(&host, "src/a.txt", "new").unwrap();
    let meta = fs::metadata(&path).unwrap();
    assert_eq!((meta.uid(), meta.gid()), (1234, 1234));
}

#[test]
fn missing_directories_are_made() {
    let world = World::new();
    let host = world.host();
    world.write(&host, "new/deep/b.txt", "new").unwrap();
    assert_eq!(world.text("ws/new/deep/b.txt"), "new");
}

#[test]
fn a_link_is_followed_once_and_stays_a_link() {
    let world = World::new();
    symlink("a.txt", world.path("ws/src/link")).unwrap();
    let host = world.host();
    world.write(&host, "src/link", "new").unwrap();
    assert_eq!(world.text("ws/src/a.txt"), "new");
    assert!(
        fs::symlink_metadata(world.path("ws/src/link"))
            .unwrap()
            .is_symlink()
    );
}

#[test]
fn other_names_of_a_file_keep_the_old_bytes() {
    let world = World::new();
    fs::hard_link(world.path("outside/secret"), world.path("ws/inside")).unwrap();
    let host = world.host();
    world.write(&host, "inside", "new").unwrap();
    assert_eq!(
        (world.text("ws/inside"), world.text("outside/secret")),
        ("new".into(), "secret".into())
    );
}

#[test]
fn a_directory_is_not_replaced() {
    let world = World::new();
    let host = world.host();
    assert!(world.write(&host, "src", "new").is_err());
    assert_eq!(world.text("ws/src/a.txt"), "old");
}

#[test]
fn work_that_breaks_off_before_the_rename_leaves_the_old_file() {
    let world = World::new();
    let host = world.host();
    world.read(&host, "src/a.txt").unwrap();
    world.write(&host, "src/a.txt", "old").unwrap();
    let before_rename = lock(&world.moments)
        .iter()
        .rposition(|it| *it == Moment::BeforeRename)
        .unwrap();
    // The same again, from a fresh count: without the moments of the read.
    world.swap_after(before_rename - 3, || {
        std::panic::resume_unwind(Box::new("broken off"))
    });
    let stop = world.write(&host, "src/a.txt", "new").unwrap_err();
    assert_eq!(lock(&world.moments).last(), Some(&Moment::BeforeRename));
    assert_eq!(stop, Stop::Failed("the work was broken off".into()));
    assert_eq!(world.text("ws/src/a.txt"), "old");
    assert!(world.drafts().is_empty());
    // The lock of the writers survives it.
    world.write(&host, "src/a.txt", "new").unwrap();
}

#[test]
fn a_write_whose_call_ends_before_the_rename_takes_no_effect() {
    let world = World::new();
    let host = world.host();
    let cancel = world.bench.cancel.clone();
    let (done, is_done) = std::sync::mpsc::channel();
    world.swap_after(5, move || {
        cancel.cancel();
        // The gate closes the call as soon as it hears of it, and then the test goes on.
        is_done.recv().unwrap();
    });
    assert!(matches!(
        world.write(&host, "src/a.txt", "new"),
        Err(Stop::Other(_))
    ));
    assert_eq!(lock(&world.moments).last(), Some(&Moment::BeforeRename));
    done.send(()).unwrap();
    // Dropping the runtime waits for the work that goes on by itself.
    let world = world.without_runtime();
    assert_eq!(world.text("ws/src/a.txt"), "old");
    assert!(world.drafts().is_empty());
}

#[test]
fn of_two_writers_exactly_one_wins() {
    for _ in 0..20 {
        let (one, other) = (World::new(), World::new());
        // Both stand on the first world's workspace, and on one host each.
        let (ws, state) = (one.path("ws"), other.path("state"));
        let first = one.host();
        let second = other.open(move |options| {
            options.workspace = ws;
            options.state_dir = state;
        });
        let second = second.unwrap();
        let both = Arc::new(Barrier::new(2));
        // Read, read again and compare: the next moment is that before the rename, where both meet.
        for world in [&one, &other] {
            let both = Arc::clone(&both);
            world.swap_after(5, move || {
                both.wait();
            });
        }
        let (a, b) = std::thread::scope(|scope| {
            let a = scope.spawn(|| one.write(&first, "src/a.txt", "one"));
            let b = scope.spawn(|| other.write(&second, "src/a.txt", "two"));
            (a.join().unwrap(), b.join().unwrap())
        });
        let text = one.text("ws/src/a.txt");
        match (&a, &b) {
            (Ok(_), Err(Stop::Changed(_))) => assert_eq!(text, "one"),
            (Err(Stop::Changed(_)), Ok(_)) => assert_eq!(text, "two"),
            _ => panic!("{a:?} {b:?}"),
        }
        assert!(one.drafts().is_empty());
        assert_eq!(first.workspace(), second.workspace());
    }
}

#[test]
fn a_file_whose_mode_forbids_writing_is_not_replaced() {
    let world = World::new();
    let path = world.path("ws/src/a.txt");
    let before = fs::read(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let Err(Stop::Failed(why)) = world.write(&world.host(), "src/a.txt", "new") else {
        panic!("it was written")
    };
    assert!(why.contains("read-only"), "{why}");
    assert_eq!(fs::read(&path).unwrap(), before);
    assert!(world.drafts().is_empty());
}
