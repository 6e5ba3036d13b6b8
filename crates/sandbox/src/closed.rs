//! What the system's own directories hold and do not show to everyone, for a caller whom no file mode keeps out.
//! Must not look at what a file holds, nor follow a link. Systems without such modes do not have this.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

/// Where is looked, and how many levels deep. The kernel's own files are looked at where it hands out its insides.
const LOOKED_AT: &[(&str, usize)] = &[
    ("/etc", usize::MAX),
    ("/usr/local/etc", usize::MAX),
    ("/sys/firmware", 2),
    ("/sys/fs", 1),
    ("/sys/kernel", 1),
];

/// How many names are looked at; with `/etc` of a large server there are some thousands.
const NAMES_MAX: usize = 20_000;

/// The files and directories among the system's settings and the kernel's insides that modes close to everyone but
/// their owner and group, free of symbolic links and without those in another. To an ordinary user modes are walls;
/// a command of root reads past them, unless these are masked. Directories that are too many to be looked at are
/// listed too.
pub fn system_closed() -> Vec<PathBuf> {
    look(LOOKED_AT, NAMES_MAX)
}

fn look(places: &[(&str, usize)], mut names_left: usize) -> Vec<PathBuf> {
    let mut closed = BTreeSet::new();
    // In turn, so that those looked at last, for which names may not be left, lie deepest.
    let mut open: VecDeque<(PathBuf, usize)> = places
        .iter()
        .filter_map(|(place, depth)| Some((fs::canonicalize(place).ok()?, *depth)))
        .collect();
    while let Some((directory, depth)) = open.pop_front() {
        let Ok(entries) = fs::read_dir(&directory) else {
            closed.insert(directory);
            continue;
        };
        for entry in entries.flatten() {
            if names_left == 0 {
                closed.insert(directory.clone());
                break;
            }
            names_left -= 1;
            let Ok(found) = entry.metadata() else {
                closed.insert(entry.path());
                continue;
            };
            let others = found.mode() & 0o7;
            if found.is_dir() && others & 0o5 != 0o5 || found.is_file() && others & 0o4 == 0 {
                closed.insert(entry.path());
            } else if found.is_dir() && depth > 1 {
                open.push_back((entry.path(), depth - 1));
            }
        }
    }
    let outermost = |path: &&PathBuf| {
        !path
            .ancestors()
            .skip(1)
            .any(|around| closed.contains(around))
    };
    closed.iter().filter(outermost).cloned().collect()
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::Path;

    use super::*;

    fn room() -> tempfile::TempDir {
        let room = tempfile::tempdir().unwrap();
        let made = [
            ("public", 0o644),
            ("secret", 0o640),
            ("tool", 0o711),
            ("open/", 0o755),
            ("open/key", 0o600),
            ("open/deep/", 0o755),
            ("open/deep/key", 0o400),
            ("closed/", 0o750),
            ("closed/key", 0o600),
            ("listed/", 0o754),
            ("searched/", 0o711),
        ];
        for (name, mode) in made {
            let path = room.path().join(name);
            if name.ends_with('/') {
                fs::create_dir(&path).unwrap();
            } else {
                fs::write(&path, "").unwrap();
            }
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        }
        symlink("secret", room.path().join("link")).unwrap();
        symlink("closed", room.path().join("way")).unwrap();
        room
    }

    fn found(room: &Path, depth: usize, names_max: usize) -> Vec<String> {
        let root = fs::canonicalize(room).unwrap();
        let name = |path: PathBuf| {
            path.strip_prefix(&root)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned()
        };
        let found = look(
            &[(root.to_str().unwrap(), depth), ("/nowhere", 1)],
            names_max,
        );
        found.into_iter().map(name).collect()
    }

    #[test]
    fn what_others_may_not_read_is_found_and_nothing_in_it_is_listed_again() {
        let room = room();
        let all = [
            "closed",
            "listed",
            "open/deep/key",
            "open/key",
            "searched",
            "secret",
            "tool",
        ];
        assert_eq!(found(room.path(), usize::MAX, 1000), all);
        assert_eq!(
            found(room.path(), 2, 1000),
            ["closed", "listed", "open/key", "searched", "secret", "tool"]
        );
        assert_eq!(
            found(room.path(), 1, 1000),
            ["closed", "listed", "searched", "secret", "tool"]
        );
    }

    #[test]
    fn what_is_too_much_to_be_looked_at_is_closed() {
        let room = room();
        assert_eq!(found(room.path(), usize::MAX, 3), [""]);
        // The first directory has nine names, and the one in it two.
        let mut deepest = found(room.path(), usize::MAX, 10);
        deepest.retain(|path| path.starts_with("open"));
        assert_eq!(deepest, ["open"]);
    }

    #[test]
    fn the_accounts_passwords_are_found() {
        let found = system_closed();
        let path = PathBuf::from("/etc/shadow");
        assert_eq!(found.contains(&path), path.exists());
        assert!(!found.contains(&PathBuf::from("/etc/passwd")));
    }
}
