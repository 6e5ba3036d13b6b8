//! Reading and listing.

use crate::world::{Stop, World};
use std::{
    fs,
    os::unix::{fs::symlink, net::UnixListener},
    process::Command,
};
use tollgate_host::FILE_BYTES_MAX;

fn failed(stop: Stop) -> String {
    match stop {
        Stop::Failed(why) => why,
        other => format!("not failed: {other:?}"),
    }
}

#[test]
fn a_file_a_directory_and_nothing_are_told_apart() {
    let world = World::new();
    let host = world.host();
    assert_eq!(world.read(&host, "src/a.txt").unwrap(), "old");
    assert_eq!(world.read(&host, "src").unwrap(), "(directory)");
    assert_eq!(world.read(&host, "src/none/x").unwrap(), "(missing)");
    assert_eq!(world.read(&host, "../outside/secret").unwrap(), "secret");
    assert_eq!(world.read(&host, ".").unwrap(), "(directory)");
    assert_eq!(world.read(&host, "/").unwrap(), "(directory)");
}

#[test]
fn a_fifo_a_device_and_a_socket_are_never_opened() {
    let world = World::new();
    let host = world.host();
    Command::new("mkfifo")
        .arg(world.path("ws/fifo"))
        .status()
        .unwrap();
    let _socket = UnixListener::bind(world.path("ws/socket")).unwrap();
    symlink("/dev/zero", world.path("ws/zero")).unwrap();
    for path in ["fifo", "socket", "/dev/zero", "zero"] {
        let read = failed(world.read(&host, path).unwrap_err());
        assert!(read.contains("is not a regular file"), "{path}: {read}");
        let write = failed(world.write(&host, path, "x").unwrap_err());
        assert!(write.contains("is not a regular file"), "{path}: {write}");
    }
}

#[test]
fn a_file_that_is_too_large_is_refused_with_its_size() {
    let world = World::new();
    let host = world.host();
    let file = fs::File::create(world.path("ws/large")).unwrap();
    file.set_len(FILE_BYTES_MAX + 1).unwrap();
    let why = failed(world.read(&host, "large").unwrap_err());
    assert!(
        why.contains(&(FILE_BYTES_MAX + 1).to_string()) && why.contains("take a part"),
        "{why}"
    );
}

#[test]
fn output_that_was_cut_is_kept_for_this_session_alone_and_can_be_read() {
    let world = World::new();
    let host = world.host();
    let text = "line\n".repeat(20_000);
    world.put("ws/long.txt", &text);
    let cut = world.read(&host, "long.txt").unwrap();
    assert!(cut.len() < text.len());
    let mut kept: Vec<_> = fs::read_dir(world.path("state/session"))
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect();
    assert_eq!(kept.len(), 1);
    let kept = kept.remove(0);
    assert!(cut.contains(kept.to_str().unwrap()), "{cut}");
    assert!(
        kept.file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with("tool_")
    );
    assert_eq!(crate::world::mode(&kept), 0o600);
    assert_eq!(fs::read_to_string(&kept).unwrap(), text);
    assert!(world.read(&host, kept.to_str().unwrap()).is_ok());
}

#[test]
fn a_listing_is_sorted_and_follows_links_that_stay_inside() {
    let world = World::new();
    let host = world.host();
    fs::create_dir(world.path("ws/b")).unwrap();
    world.put("ws/a", "");
    symlink("../src", world.path("ws/b/inside")).unwrap();
    symlink(world.path("outside/dir"), world.path("ws/b/outside")).unwrap();
    symlink("nothing", world.path("ws/b/nothing")).unwrap();
    let plain = |names: &[(&str, bool)]| {
        names
            .iter()
            .map(|(name, is)| ((*name).to_owned(), *is))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        world.list(&host, ".").unwrap(),
        plain(&[("a", false), ("b", true), ("src", true)])
    );
    assert_eq!(
        world.list(&host, "b").unwrap(),
        plain(&[("inside", true), ("nothing", false), ("outside", false)])
    );
    assert_eq!(
        world.list(&host, "../outside").unwrap(),
        plain(&[("dir", true), ("secret", false)])
    );
    assert!(failed(world.list(&host, "a").unwrap_err()).contains("is not a directory"));
}

#[test]
fn what_may_not_be_read_is_said_by_its_own_name() {
    let world = World::new();
    let host = world.host();
    // Root reads everything; a file that cannot be opened even so is one of the kernel's.
    let why = failed(world.read(&host, "/proc/self/mem").unwrap_err());
    assert!(
        why.starts_with("`/proc/") && !why.contains("state"),
        "{why}"
    );
}
