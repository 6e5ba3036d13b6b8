//! Named sets of openings that let real work pass: caches, registries, agents that sign.
//! Must not open what the table does not name, nor follow a link that something planted.

use crate::Openings;
use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs::DirBuilder,
    io,
    os::unix::fs::{DirBuilderExt as _, FileTypeExt as _},
    path::{Path, PathBuf},
    sync::LazyLock,
};

/// See the head of the file.
const TABLE: &str = include_str!("../data/bundles.tsv");

/// One set of openings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bundle {
    /// What it is for, in a line.
    pub about: String,
    /// The machines it needs, as rules name them.
    pub hosts: Vec<String>,
    read: Vec<String>,
    write: Vec<String>,
    sockets: Vec<String>,
    variables: Vec<String>,
    /// Other names that people know it by.
    also: Vec<String>,
}

/// The bundle of this name, or of one that people know it by, with its usual name.
pub fn bundle(name: &str) -> Option<(&'static str, &'static Bundle)> {
    let is_called = |known: &str, it: &Bundle| known == name || it.also.iter().any(|it| it == name);
    let mut all = bundles().iter();
    let (known, bundle) = all.find(|(known, it)| is_called(known, it))?;
    Some((known, bundle))
}

/// All there are, by name.
pub fn bundles() -> &'static BTreeMap<String, Bundle> {
    static BUNDLES: LazyLock<BTreeMap<String, Bundle>> = LazyLock::new(|| read(TABLE));
    &BUNDLES
}

fn read(table: &str) -> BTreeMap<String, Bundle> {
    let mut bundles: BTreeMap<String, Bundle> = BTreeMap::new();
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    for line in lines.skip(1) {
        let mut fields = line.split('\t').map(str::to_owned);
        let (Some(name), Some(what), Some(value)) = (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let bundle = bundles.entry(name).or_default();
        match what.as_str() {
            "about" => bundle.about = value,
            "also" => bundle.also.push(value),
            "host" => bundle.hosts.push(value),
            "read" => bundle.read.push(value),
            "socket" => bundle.sockets.push(value),
            "variable" => bundle.variables.push(value),
            "write" => bundle.write.push(value),
            // A test holds the table to these.
            _ => {}
        }
    }
    bundles
}

impl Bundle {
    /// Adds it to what is opened: what exists of what may be read, and what may be written, made if it is missing.
    ///
    /// # Errors
    /// A directory to write is missing and cannot be made, or leads elsewhere by a link; it is named.
    pub fn open(
        &self,
        home: &Path,
        variable: &dyn Fn(&str) -> Option<OsString>,
        openings: &mut Openings,
    ) -> Result<(), (PathBuf, io::Error)> {
        let place = |written: &String| place(written, home, variable);
        for path in self.read.iter().filter_map(place) {
            // One that is a link was put there to lead somewhere; it is left out as one that is missing.
            openings.readable.extend(real(&path, home).ok());
        }
        for path in self.write.iter().filter_map(place) {
            let made = make(&path, home).and_then(|()| real(&path, home));
            openings.caches.push(made.map_err(|error| (path, error))?);
        }
        for path in self.sockets.iter().filter_map(place) {
            let is_socket = |path: &PathBuf| {
                let found = path.symlink_metadata();
                found.is_ok_and(|it| it.file_type().is_socket())
            };
            let found = path.canonicalize().ok().filter(is_socket);
            openings.sockets.extend(found);
        }
        for name in &self.variables {
            let Some(value) = variable(name) else {
                continue;
            };
            openings.variables.push((name.into(), value));
        }
        Ok(())
    }
}

/// Where a path of the table lies; `None` if a variable in it is not set.
fn place(
    written: &str,
    home: &Path,
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> Option<PathBuf> {
    if let Some(below) = written.strip_prefix("~/") {
        return Some(home.join(below));
    }
    let name = written.strip_prefix('$')?;
    let path = match name.split_once('/') {
        Some((name, below)) => PathBuf::from(variable(name)?).join(below),
        None => PathBuf::from(variable(name)?),
    };
    path.is_absolute().then_some(path)
}

/// The path free of links. Home, and the first directory below it, may be moved to another disk; what lies
/// deeper may not, or a link planted in a cache could open anything.
fn real(path: &Path, home: &Path) -> io::Result<PathBuf> {
    let below = path.strip_prefix(home).unwrap_or(path);
    let mut parts = below.components();
    let first = parts
        .next()
        .map_or_else(|| home.to_owned(), |first| home.join(first));
    let expected: PathBuf = first
        .canonicalize()?
        .join(parts.as_path())
        .components()
        .collect();
    let found = expected.canonicalize()?;
    if found == expected {
        return Ok(found);
    }
    Err(io::Error::other("a link leads elsewhere"))
}

fn make(path: &Path, home: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    // Its parents are looked at before anything is made in what they may lead to.
    let existing = path.ancestors().find(|it| it.symlink_metadata().is_ok());
    if let Some(existing) = existing.filter(|it| *it != home && it.starts_with(home)) {
        real(existing, home)?;
    }
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::symlink, os::unix::net::UnixListener};

    fn home() -> (tempfile::TempDir, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let real = home.path().canonicalize().unwrap();
        (home, real)
    }

    #[test]
    fn the_table_is_whole_and_sorted() {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#')).skip(1);
        let rows: Vec<Vec<&str>> = lines.map(|line| line.split('\t').collect()).collect();
        assert!(rows.is_sorted_by_key(|row| row[0]));
        for row in &rows {
            let [_, what, value] = row.as_slice() else {
                panic!("{row:?}");
            };
            let is_below_home = value.starts_with("~/") && !value.contains("..");
            let is_fit = match *what {
                "about" => !value.is_empty(),
                "also" => !bundles().contains_key(*value),
                "host" => value
                    .split_once(':')
                    .is_some_and(|(_, port)| port.parse::<u16>().is_ok()),
                "read" | "write" => is_below_home,
                "socket" => is_below_home || value.starts_with('$'),
                "variable" => value
                    .bytes()
                    .all(|it| it.is_ascii_uppercase() || it == b'_'),
                _ => false,
            };
            assert!(is_fit, "{row:?}");
        }
        assert_eq!(bundles().len(), 7);
        assert!(bundles().values().all(|it| !it.about.is_empty()));
    }

    #[test]
    fn each_tool_has_its_bundle_by_a_name_of_its_own_and_what_commands_the_machine_has_none() {
        for (name, want) in [
            ("cargo", "cargo"),
            ("gpg-agent", "git"),
            ("go", "go"),
            ("maven", "maven"),
            ("npm", "npm"),
            ("pip", "python"),
            ("pnpm", "npm"),
            ("ssh-agent", "ssh"),
            ("uv", "python"),
            ("yarn", "npm"),
        ] {
            assert_eq!(bundle(name).unwrap().0, want);
        }
        for name in ["docker", "dbus", "podman", "", "Cargo"] {
            assert_eq!(bundle(name), None, "{name}");
        }
        let sockets = bundles().values().flat_map(|it| &it.sockets);
        let is_agent = |it: &&String| {
            ["SSH_AUTH_SOCK", "gpg-agent"]
                .iter()
                .any(|end| it.ends_with(end))
        };
        assert!(sockets.clone().count() > 0);
        assert!(sockets.clone().all(|it| is_agent(&it)));
        let mut names: Vec<&str> = bundles().keys().map(String::as_str).collect();
        names.extend(
            bundles()
                .values()
                .flat_map(|it| it.also.iter().map(String::as_str)),
        );
        names.sort_unstable();
        assert!(names.windows(2).all(|two| two[0] != two[1]), "{names:?}");
    }

    #[test]
    fn nothing_that_holds_a_key_or_a_login_is_opened() {
        let secrets = [
            "~/.cargo/credentials.toml",
            "~/.config/gh",
            "~/.git-credentials",
            "~/.gnupg/private-keys-v1.d",
            "~/.m2/settings.xml",
            "~/.npmrc",
            "~/.pypirc",
            "~/.ssh/id_rsa",
        ];
        for bundle in bundles().values() {
            for path in bundle.read.iter().chain(&bundle.write) {
                let opens = |secret: &&str| Path::new(secret).starts_with(path);
                assert!(!secrets.iter().any(opens), "{path}");
            }
        }
    }

    #[test]
    fn what_may_be_written_is_made_in_a_fresh_home() {
        let (_kept, home) = home();
        for bundle in bundles().values() {
            let mut openings = Openings::default();
            bundle.open(&home, &|_| None, &mut openings).unwrap();
            let caches = std::mem::take(&mut openings.caches);
            assert_eq!(caches.len(), bundle.write.len());
            assert!(caches.iter().all(|it| it.is_dir() && it.starts_with(&home)));
            assert_eq!(openings, Openings::default());
        }
    }

    #[test]
    fn a_tools_own_directory_may_be_a_link_and_nothing_below_it() {
        let ((_kept, home), (_other, disk)) = (home(), home());
        let cargo = &bundles()["cargo"];
        symlink(&disk, home.join(".cargo")).unwrap();
        let mut openings = Openings::default();
        cargo.open(&home, &|_| None, &mut openings).unwrap();
        let moved = ["git", "registry"].map(|name| disk.join(name));
        assert_eq!(openings.caches, moved);

        fs::remove_dir(disk.join("registry")).unwrap();
        fs::create_dir(home.join(".ssh")).unwrap();
        symlink(home.join(".ssh"), disk.join("registry")).unwrap();
        let (path, _) = cargo
            .open(&home, &|_| None, &mut Openings::default())
            .unwrap_err();
        assert_eq!(path, home.join(".cargo/registry"));

        let go = &bundles()["go"];
        symlink(home.join(".ssh"), home.join("go")).unwrap();
        fs::create_dir(home.join(".cache")).unwrap();
        symlink(home.join(".ssh"), home.join(".cache/go-build")).unwrap();
        assert!(go.open(&home, &|_| None, &mut Openings::default()).is_err());
        assert_eq!(fs::read_dir(home.join(".ssh")).unwrap().count(), 0);
    }

    #[test]
    fn an_agent_is_reached_by_its_socket_alone() {
        let (_kept, home) = home();
        let socket = home.join("agent");
        let _listening = UnixListener::bind(&socket).unwrap();
        let file = home.join("file");
        fs::write(&file, "").unwrap();
        let ssh = &bundles()["ssh"];
        for (value, want) in [
            (&socket, vec![socket.clone()]),
            (&file, vec![]),
            (&home, vec![]),
        ] {
            let mut openings = Openings::default();
            let known = OsString::from("SSH_AUTH_SOCK");
            let variable = |name: &str| (name == "SSH_AUTH_SOCK").then(|| value.clone().into());
            ssh.open(&home, &variable, &mut openings).unwrap();
            assert_eq!(openings.sockets, want);
            let mut environment = vec![(known.clone(), "old".into())];
            openings.set_variables(&mut environment);
            assert_eq!(environment, [(known, value.clone().into())]);
        }
    }
}
