//! A disk without room.

use crate::child::{SAID, child};
use std::process::{Command, Stdio};

/// Mounts a file system of 1 MiB over `$1` and runs the rest there; only it and its children see it.
const ON_SMALL_DISK: &str = "mount -t tmpfs -o size=1m tmpfs \"$1\" && shift && exec \"$@\"";

#[test]
fn a_full_disk_is_said_and_leaves_the_store_whole() {
    let may = Command::new("unshare")
        .args(["-Urm", "true"])
        .stderr(Stdio::null())
        .status();
    if !may.is_ok_and(|status| status.success()) {
        println!("skipped: this system gives no namespace to mount a small disk in");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let part = child("fill the disk", folder.path(), "");
    let mut command = Command::new("unshare");
    command
        .args(["-Urm", "sh", "-c", ON_SMALL_DISK, "sh"])
        .arg(folder.path());
    command.arg(part.get_program()).args(part.get_args());
    command.envs(
        part.get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let is_done = text.lines().any(|line| line.starts_with(SAID));
    assert!(
        output.status.success() && is_done,
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
