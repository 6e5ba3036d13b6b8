//! Harmless tries to get out of a cage. Every driver makes them before it does anything else, and goes
//! no further if one succeeds.

use std::collections::BTreeSet;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, fs};

use anyhow::{Context, Result, ensure};
use rustix::fs::{StatVfsMountFlags, statvfs};

/// What a cage has of its own.
const NAMESPACES: [&str; 6] = ["user", "mnt", "net", "pid", "ipc", "uts"];

/// An address that is nobody's (RFC 5737).
const NOWHERE: &str = "192.0.2.1:9";

/// The namespaces this process is in, as one word.
///
/// # Errors
/// There is no `/proc`.
pub(crate) fn namespaces() -> Result<String> {
    let name = |kind: &str| -> Result<String> {
        let link = fs::read_link(format!("/proc/self/ns/{kind}"))?;
        Ok(link.display().to_string())
    };
    let names: Result<Vec<String>> = NAMESPACES.into_iter().map(name).collect();
    Ok(names?.join(","))
}

/// Whether this is a cage: `outside` are the namespaces it was made in, `stage` is its directory.
///
/// # Errors
/// It is none, and why.
pub(crate) fn try_all(outside: &str, stage: &Path) -> Result<()> {
    let inside = namespaces()?;
    for (inside, outside) in inside.split(',').zip(outside.split(',')) {
        ensure!(inside != outside, "it shares {inside}");
    }
    ensure!(
        outside.split(',').count() == NAMESPACES.len(),
        "`{outside}` are no namespaces"
    );
    powerless()?;
    let lab = stage.join("lab");
    read_only(&lab)?;
    alone()?;
    let file = lab.join("canary");
    fs::write(&file, "").context("its lab cannot be written")?;
    fs::remove_file(&file)?;
    // To what it is: even where it worked it would change nothing.
    ensure!(
        !succeeds(Command::new("date").arg("--set=now"))?,
        "it may set the clock"
    );
    let device = lab.join("device");
    let is_made = succeeds(Command::new("mknod").arg(&device).args(["c", "1", "3"]))?;
    ensure!(!is_made, "it may make devices");
    Ok(())
}

/// No root, no capability, and no way to gain one by executing a program.
fn powerless() -> Result<()> {
    ensure!(!rustix::process::getuid().is_root(), "its user is root");
    let status = fs::read_to_string("/proc/self/status")?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.map(str::trim)
            .with_context(|| format!("no {name} in /proc/self/status"))
    };
    for name in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
        let set = field(name)?;
        ensure!(
            set.bytes().all(|byte| byte == b'0'),
            "it has capabilities: {name} {set}"
        );
    }
    ensure!(field("NoNewPrivs:")? == "1", "it may gain privileges");
    Ok(())
}

/// Every place that can be reached is read-only but the lab, and `/proc`, which holds no files.
fn read_only(lab: &Path) -> Result<()> {
    let mounts = fs::read_to_string("/proc/self/mountinfo")?;
    let places = mounts.lines().filter_map(|line| line.split(' ').nth(4));
    let places: BTreeSet<PathBuf> = places.map(|place| PathBuf::from(plain(place))).collect();
    ensure!(places.contains(lab), "its lab is no file system of its own");
    for place in places.iter().filter(|place| place.as_path() != lab) {
        // Covered by another mount, or not to be seen by this user.
        let Ok(about) = statvfs(place) else { continue };
        let is_closed = about.f_flag.contains(StatVfsMountFlags::RDONLY);
        ensure!(
            is_closed || place == Path::new("/proc"),
            "{} can be written",
            place.display()
        );
    }
    let home = env::var_os("HOME").map(PathBuf::from);
    let others = ["/", "/tmp", "/var/tmp", "/dev", "/dev/shm", "/run", "/etc"].map(PathBuf::from);
    for dir in others
        .into_iter()
        .chain(home)
        .chain(lab.parent().map(Path::to_path_buf))
    {
        let file = dir.join("tollgate-canary");
        let is_made = fs::File::create_new(&file).is_ok();
        ensure!(!is_made, "{} was made", file.display());
    }
    Ok(())
}

/// Undoes the octal escapes of mountinfo.
fn plain(place: &str) -> String {
    let escapes = [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ];
    let undo = |text: String, (escape, char): &(&str, &str)| text.replace(escape, char);
    escapes.iter().fold(place.to_owned(), undo)
}

/// Loopback is the whole network.
fn alone() -> Result<()> {
    let devices = fs::read_to_string("/proc/net/dev")?;
    let names = devices.lines().filter_map(|line| line.split_once(':'));
    for (name, _) in names {
        ensure!(name.trim() == "lo", "it has a network: {}", name.trim());
    }
    let limit = Duration::from_secs(1);
    let is_reached = TcpStream::connect_timeout(&NOWHERE.parse()?, limit);
    let kind = is_reached.err().map(|error| error.kind());
    ensure!(
        kind == Some(std::io::ErrorKind::NetworkUnreachable),
        "it has a way out: {kind:?}"
    );
    Ok(())
}

fn succeeds(command: &mut Command) -> Result<bool> {
    let command = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let status = command
        .status()
        .with_context(|| format!("cannot try {command:?}"))?;
    Ok(status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_runs_in_no_cage() {
        let here = namespaces().unwrap();
        let why = try_all(&here, Path::new("/nowhere")).unwrap_err();
        assert!(why.to_string().starts_with("it shares user:"), "{why}");
        let why = try_all("", Path::new("/nowhere")).unwrap_err();
        assert!(why.to_string().contains("no namespaces"), "{why}");
    }

    #[test]
    fn a_place_is_read_as_it_is_spelled() {
        assert_eq!(plain("/a\\040b\\134c"), "/a b\\c");
    }
}
