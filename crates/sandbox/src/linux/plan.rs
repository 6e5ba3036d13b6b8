//! Which paths a file tree of its own shows and how, from walls that may overlap.
//! Must not look at any file: what exists is found out by whoever builds the tree.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use rustix::io::Errno;

use super::walls::WallError;
use crate::Walls;

/// How a path is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Can be read.
    Read,
    /// Can be connected to, being a socket.
    Socket,
    /// Can be read and written.
    Write,
    /// Can be read and written below, but stays where it is: it holds a path that must.
    Fixed,
    /// Can be read inside a directory that can be written.
    Protected,
    /// Nothing of its content can be read.
    Masked,
}

impl Kind {
    /// Whether something can be written there.
    pub(crate) fn is_writable(self) -> bool {
        matches!(self, Self::Write | Self::Fixed)
    }

    /// Whether it takes something away from the walls around it.
    pub(crate) fn is_closed(self) -> bool {
        matches!(self, Self::Protected | Self::Masked)
    }
}

/// One path of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
    /// Which wall it comes from, for failures.
    pub(crate) index: u16,
    /// Nothing is there, and an empty directory holds the place.
    pub(crate) is_held: bool,
}

/// Directories that the tree has of its own, whatever the walls say of those outside.
const OWN: &[&str] = &["/dev", "/proc"];
/// Directories that are empty, even where the whole root is shown, but for what is listed by itself.
const EMPTY: &[&str] = &["/dev/shm", "/run", "/tmp"];

/// The paths of the tree, each after those around it.
///
/// What is closed wins over what is open, wherever the one lies in the other.
///
/// # Errors
/// When a path goes up (`..`).
pub(crate) fn places(walls: &Walls) -> Result<Vec<Place>, WallError> {
    let kinds = [
        (&walls.writable, Kind::Write),
        (&walls.readable, Kind::Read),
        (&walls.masked, Kind::Masked),
        (&walls.write_protected, Kind::Protected),
        (&walls.sockets, Kind::Socket),
    ];
    let mut found: BTreeMap<&Path, (Kind, u16)> = BTreeMap::new();
    let listed = kinds
        .into_iter()
        .flat_map(|(paths, kind)| paths.iter().map(move |path| (path.as_path(), kind)));
    for (index, (path, kind)) in listed.enumerate() {
        let index = u16::try_from(index).map_err(|_| Errno::TOOBIG)?;
        if path.components().any(|part| part == Component::ParentDir) {
            return Err(WallError {
                index: Some(index),
                errno: Errno::INVAL,
            });
        }
        if lies_in(path, OWN) && !lies_in(path, EMPTY) {
            continue;
        }
        let entry = found.entry(path).or_insert((kind, index));
        if rank(kind) > rank(entry.0) {
            *entry = (kind, index);
        }
    }
    // A map of paths has each one right after those around it.
    let mut kept: BTreeMap<&Path, (Kind, u16)> = BTreeMap::new();
    for (path, (kind, index)) in found {
        let around = path
            .ancestors()
            .skip(1)
            .filter(|above| *above != Path::new("/") || !lies_in(path, EMPTY))
            .find_map(|above| Some((above, *kept.get(above)?)));
        if !is_needed(kind, around.map(|(_, (kind, _))| kind)) {
            continue;
        }
        if let Some((around, (above, _))) = around
            && kind.is_closed()
            && above.is_writable()
        {
            let between = path.ancestors().skip(1).take_while(|at| *at != around);
            for at in between {
                kept.insert(at, (Kind::Fixed, index));
            }
        }
        kept.insert(path, (kind, index));
    }
    let place = |(path, (kind, index)): (&Path, (Kind, u16))| Place {
        path: path.to_owned(),
        kind,
        index,
        is_held: false,
    };
    Ok(kept.into_iter().map(place).collect())
}

fn lies_in(path: &Path, directories: &[&str]) -> bool {
    directories
        .iter()
        .any(|directory| path.starts_with(directory))
}

/// Which kind wins where one path is listed twice.
fn rank(kind: Kind) -> u8 {
    match kind {
        Kind::Read | Kind::Socket => 0,
        Kind::Fixed => 1,
        Kind::Write => 2,
        Kind::Protected => 3,
        Kind::Masked => 4,
    }
}

/// Whether a path changes anything where its nearest path around is shown like this.
fn is_needed(kind: Kind, around: Option<Kind>) -> bool {
    match (kind, around) {
        (_, Some(Kind::Masked | Kind::Socket))
        | (Kind::Read | Kind::Socket, Some(_))
        | (Kind::Write, Some(Kind::Write | Kind::Fixed | Kind::Protected))
        | (Kind::Protected, None | Some(Kind::Read | Kind::Protected))
        | (Kind::Masked, None) => false,
        (Kind::Read | Kind::Socket | Kind::Write, None)
        | (Kind::Write, Some(Kind::Read))
        | (Kind::Protected, Some(Kind::Write | Kind::Fixed))
        | (Kind::Masked, Some(_))
        | (Kind::Fixed, _) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(walls: &Walls) -> Vec<(String, Kind)> {
        let places = places(walls).unwrap();
        let text = |place: Place| (place.path.to_str().unwrap().to_owned(), place.kind);
        places.into_iter().map(text).collect()
    }

    fn paths(paths: &[&str]) -> Vec<PathBuf> {
        paths.iter().map(PathBuf::from).collect()
    }

    fn shown(expected: &[(&str, Kind)]) -> Vec<(String, Kind)> {
        expected
            .iter()
            .map(|(path, kind)| ((*path).to_owned(), *kind))
            .collect()
    }

    #[test]
    fn paths_that_change_nothing_are_left_out() {
        let walls = Walls {
            readable: paths(&["/usr", "/usr/lib", "/w/a", "/w", "/proc", "/dev/pts"]),
            writable: paths(&["/w", "/w/b/c", "/usr/src"]),
            write_protected: paths(&["/usr/bin", "/nowhere"]),
            masked: paths(&["/elsewhere"]),
            ..Walls::default()
        };
        let expected = [
            ("/usr", Kind::Read),
            ("/usr/src", Kind::Write),
            ("/w", Kind::Write),
        ];
        assert_eq!(plan(&walls), shown(&expected));
    }

    #[test]
    fn what_is_closed_wins_over_what_is_open_below_it() {
        let walls = Walls {
            readable: paths(&["/h/.ssh/known_hosts", "/h"]),
            writable: paths(&["/w", "/w/.git/hooks/mine", "/h/.ssh"]),
            write_protected: paths(&["/w/.git/hooks"]),
            masked: paths(&["/h/.ssh", "/w/.git/hooks/secret", "/w/.git/hooks"]),
            ..Walls::default()
        };
        let expected = [
            ("/h", Kind::Read),
            ("/h/.ssh", Kind::Masked),
            ("/w", Kind::Write),
            ("/w/.git", Kind::Fixed),
            ("/w/.git/hooks", Kind::Masked),
        ];
        assert_eq!(plan(&walls), shown(&expected));
    }

    #[test]
    fn directories_between_a_writable_one_and_a_closed_path_are_fixed() {
        let walls = Walls {
            readable: paths(&["/r"]),
            writable: paths(&["/w"]),
            write_protected: paths(&["/w/a/b/c", "/w/a/d"]),
            masked: paths(&["/w/a/b/c/d/e", "/r/x/y"]),
            ..Walls::default()
        };
        let expected = [
            ("/r", Kind::Read),
            ("/r/x/y", Kind::Masked),
            ("/w", Kind::Write),
            ("/w/a", Kind::Fixed),
            ("/w/a/b", Kind::Fixed),
            ("/w/a/b/c", Kind::Protected),
            ("/w/a/b/c/d/e", Kind::Masked),
            ("/w/a/d", Kind::Protected),
        ];
        assert_eq!(plan(&walls), shown(&expected));
    }

    #[test]
    fn what_the_whole_root_does_not_show_is_shown_by_itself() {
        let walls = Walls {
            readable: paths(&["/", "/usr", "/tmp/a", "/tmp/a/b", "/run/user", "/dev/shm/a"]),
            masked: paths(&["/tmp/b", "/tmp/a/c", "/home/u/.ssh"]),
            ..Walls::default()
        };
        let expected = [
            ("/", Kind::Read),
            ("/dev/shm/a", Kind::Read),
            ("/home/u/.ssh", Kind::Masked),
            ("/run/user", Kind::Read),
            ("/tmp/a", Kind::Read),
            ("/tmp/a/c", Kind::Masked),
        ];
        assert_eq!(plan(&walls), shown(&expected));
    }

    #[test]
    fn a_socket_is_shown_where_nothing_around_it_is() {
        let walls = Walls {
            readable: paths(&["/usr"]),
            writable: paths(&["/w"]),
            masked: paths(&["/w/keys"]),
            sockets: paths(&["/run/user/1/agent", "/w/own", "/w/keys/agent", "/usr/s"]),
            ..Walls::default()
        };
        let expected = [
            ("/run/user/1/agent", Kind::Socket),
            ("/usr", Kind::Read),
            ("/w", Kind::Write),
            ("/w/keys", Kind::Masked),
        ];
        assert_eq!(plan(&walls), shown(&expected));
    }

    #[test]
    fn a_path_that_goes_up_is_refused() {
        let walls = Walls {
            readable: paths(&["/usr"]),
            writable: paths(&["/w/../etc"]),
            ..Walls::default()
        };
        assert_eq!(places(&walls).unwrap_err().index, Some(0));
    }
}
