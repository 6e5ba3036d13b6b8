//! Where paths lead.

use crate::world::{Stop, World};
use gate::host::{FileKind, Host as _, Place};
use std::{fs, os::unix::fs::symlink};

#[test]
fn a_path_inside_is_told_by_every_name_it_has() {
    let world = World::new();
    symlink("src", world.path("ws/link")).unwrap();
    let host = world.host();
    let plain = host.resolve("src/a.txt").unwrap();
    assert_eq!(
        (plain.place, plain.real.as_str()),
        (Place::Inside, "src/a.txt")
    );
    assert_eq!(plain.absolute, world.path("ws/src/a.txt").to_str().unwrap());
    assert!(plain.named.is_empty());
    let found = plain.found.unwrap();
    assert_eq!((found.links, found.kind), (1, FileKind::File));

    let linked = host.resolve("./link//a.txt").unwrap();
    assert_eq!(
        (linked.real.as_str(), linked.found),
        ("src/a.txt", plain.found)
    );
    assert_eq!(
        linked.named,
        [
            "link/a.txt".to_owned(),
            world.path("ws/link/a.txt").to_str().unwrap().to_owned()
        ]
    );

    let absolute = host
        .resolve(world.path("ws/src/a.txt").to_str().unwrap())
        .unwrap();
    assert_eq!(absolute, plain);
    let itself = host.resolve(".").unwrap();
    assert_eq!(
        (itself.real.as_str(), itself.found.unwrap().kind),
        (".", FileKind::Directory)
    );
}

#[test]
fn a_link_or_a_way_up_that_leaves_is_outside() {
    let world = World::new();
    symlink(world.path("outside"), world.path("ws/out")).unwrap();
    let host = world.host();
    for path in [
        "out/secret",
        "../outside/secret",
        "src/../../outside/secret",
        "out/dir/../secret",
    ] {
        let it = host.resolve(path).unwrap();
        assert_eq!(
            (it.place, it.real.as_str()),
            (
                Place::Outside,
                world.path("outside/secret").to_str().unwrap()
            ),
            "{path}"
        );
    }
    let back = host.resolve("../outside/../ws/src/a.txt").unwrap();
    assert_eq!(
        (back.place, back.real.as_str()),
        (Place::Inside, "src/a.txt")
    );
}

#[test]
fn a_directory_whose_name_begins_like_the_workspace_is_outside() {
    let world = World::new();
    world.put("ws-evil/x", "x");
    assert_eq!(
        world.host().resolve("../ws-evil/x").unwrap().place,
        Place::Outside
    );
}

#[test]
fn what_does_not_exist_is_resolved_as_far_as_it_does() {
    let world = World::new();
    symlink(world.path("outside"), world.path("ws/out")).unwrap();
    let host = world.host();
    let missing = host.resolve("src/new/deep/b.txt").unwrap();
    assert_eq!(
        (missing.real.as_str(), missing.found),
        ("src/new/deep/b.txt", None)
    );
    assert_eq!(
        missing.above,
        host.resolve("src").unwrap().found.unwrap().id
    );
    let outside = host.resolve("out/new.txt").unwrap();
    assert_eq!((outside.place, outside.found), (Place::Outside, None));
    assert!(host.resolve("new/../../outside/secret").is_err());
    assert!(host.resolve("src/new/../a.txt").is_err());
}

#[test]
fn a_link_to_nothing_leads_where_a_write_would_go() {
    let world = World::new();
    symlink("nothing", world.path("ws/dangling")).unwrap();
    symlink("dangling", world.path("ws/twice")).unwrap();
    symlink("../outside/new", world.path("ws/out")).unwrap();
    let host = world.host();
    for (asked, place, real) in [
        ("dangling", Place::Inside, "nothing".to_owned()),
        ("twice", Place::Inside, "nothing".to_owned()),
        ("dangling/x", Place::Inside, "nothing/x".to_owned()),
        (
            "out",
            Place::Outside,
            world.path("outside/new").to_str().unwrap().to_owned(),
        ),
    ] {
        let resolved = host.resolve(asked).unwrap();
        assert_eq!((resolved.place, resolved.real), (place, real), "{asked}");
        assert!(resolved.found.is_none(), "{asked}");
    }
}

#[test]
fn circles_and_files_on_the_way_are_errors_in_the_same_words() {
    let world = World::new();
    symlink("circle", world.path("ws/circle")).unwrap();
    symlink("round", world.path("ws/about")).unwrap();
    symlink("about", world.path("ws/round")).unwrap();
    let host = world.host();
    let said: Vec<String> = ["circle", "about", "circle/x", "src/a.txt/x"]
        .iter()
        .map(|path| {
            host.resolve(path)
                .unwrap_err()
                .to_string()
                .replacen(path, "", 1)
        })
        .collect();
    assert!(
        said.iter()
            .all(|it| *it == said[0] && it.starts_with("`` cannot be resolved")),
        "{said:?}"
    );
    for path in ["", "a\0b"] {
        assert!(host.resolve(path).is_err());
    }
}

#[test]
fn outside_what_cannot_be_reached_is_judged_like_what_is_not_there() {
    let world = World::new();
    symlink("nothing", world.path("outside/dangling")).unwrap();
    symlink("../outside", world.path("ws/out")).unwrap();
    let host = world.host();
    for path in [
        "../outside/secret/x",
        "../outside/dangling",
        "../outside/nothing/x",
        "out/secret/x",
        "/proc/self/root/etc/passwd",
        "/proc/self/cwd/x",
    ] {
        let resolved = host.resolve(path).unwrap();
        assert_eq!(
            (resolved.place, resolved.found),
            (Place::Outside, None),
            "{path}"
        );
    }
    let Err(Stop::Failed(why)) = world.read(&host, "../outside/secret/x") else {
        panic!("read")
    };
    assert!(why.contains("cannot be reached"), "{why}");
    let Err(Stop::Failed(why)) = world.read(&host, "/proc/self/root/etc/passwd") else {
        panic!("read")
    };
    assert!(why.contains("cannot be reached"), "{why}");
}

#[test]
fn a_home_is_not_expanded() {
    let world = World::new();
    assert_eq!(world.host().resolve("~/x").unwrap().real, "~/x");
}

#[test]
fn names_that_are_not_utf_8_cannot_be_reached() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new();
    let odd = world.path("ws").join(std::ffi::OsStr::from_bytes(b"\xff"));
    fs::create_dir(&odd).unwrap();
    symlink(&odd, world.path("ws/link")).unwrap();
    assert!(world.host().resolve("link").is_err());
    assert_eq!(world.list(&world.host(), ".").unwrap()[2].0, "\u{fffd}");
}

#[test]
fn our_own_directory_is_out_of_reach_but_for_kept_output() {
    let world = World::new();
    world.put("state/tollgate.db", "x");
    symlink(world.path("state"), world.path("ws/state")).unwrap();
    let host = world.host();
    for path in [
        "../state/tollgate.db",
        "state/tollgate.db",
        "state",
        "../state/new",
    ] {
        let error = host.resolve(path).unwrap_err().to_string();
        assert!(error.contains("belongs to Tollgate"), "{path}: {error}");
    }
    assert!(host.resolve("../state/session/tool_1").is_ok());
    let write = world
        .write(&host, "../state/session/tool_1", "x")
        .unwrap_err();
    assert!(matches!(write, crate::world::Stop::Refused(_)), "{write:?}");
}

#[test]
fn a_file_with_two_names_says_so() {
    let world = World::new();
    fs::hard_link(world.path("outside/secret"), world.path("ws/inside")).unwrap();
    let host = world.host();
    assert_eq!(host.resolve("inside").unwrap().found.unwrap().links, 2);
    assert_eq!(host.resolve(".").unwrap().found.unwrap().links, 1);
}

#[test]
fn a_workspace_that_is_gone_or_another_is_said_each_time() {
    let world = World::new();
    let host = world.host();
    fs::rename(world.path("ws"), world.path("moved")).unwrap();
    assert!(
        host.resolve("src/a.txt")
            .unwrap_err()
            .to_string()
            .contains("was removed or moved")
    );
    fs::create_dir(world.path("ws")).unwrap();
    assert!(
        host.resolve("x")
            .unwrap_err()
            .to_string()
            .contains("was removed or moved")
    );
    let world = World::new();
    let host = world.host();
    let ws = world.path("ws");
    world.swap_after(0, move || fs::remove_dir_all(ws).unwrap());
    let run = world.run(&host, "true").unwrap_err();
    assert!(
        matches!(&run, crate::world::Stop::Failed(why) if why.contains("was removed or moved")),
        "{run:?}"
    );
}
