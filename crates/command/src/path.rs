//! Paths as text. It must not ask whether anything exists.

/// `path` as a shell sees it that changes its directory: without `.`, `..` and doubled slashes. Where a name
/// before `..` is a link, the system goes elsewhere; see [`reached`].
pub(crate) fn join(directory: &str, path: &str) -> String {
    joined(directory, path, Above::ByName)
}

/// `path` as the system is given it: without `.`, doubled slashes and `..` at the root. Behind a name `..`
/// stays, as that name may be a link.
pub(crate) fn reached(directory: &str, path: &str) -> String {
    joined(directory, path, Above::BySystem)
}

/// An absolute path without `..`, as if no name in it were a link.
pub fn by_name(path: &str) -> String {
    join("/", path)
}

/// Who says what is above a directory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Above {
    ByName,
    BySystem,
}

fn joined(directory: &str, path: &str, above: Above) -> String {
    let mut joined = String::with_capacity(directory.len() + 1 + path.len());
    if is_normal(path) && directory.strip_prefix('/').is_some_and(is_normal) {
        joined.push_str(directory);
        joined.push('/');
        joined.push_str(path);
        return joined;
    }
    let start = if path.starts_with('/') { "" } else { directory };
    for segment in start.split('/').chain(path.split('/')) {
        match segment {
            "" | "." => {}
            ".." if joined.is_empty() => {}
            ".." if above == Above::ByName => joined.truncate(joined.rfind('/').unwrap_or(0)),
            segment => {
                joined.push('/');
                joined.push_str(segment);
            }
        }
    }
    if joined.is_empty() {
        joined.push('/');
    }
    joined
}

/// Whether the path is relative and surely has no `.`, `..` and doubled slash in it, nor a slash at its end.
fn is_normal(path: &str) -> bool {
    // As if a slash stood before it.
    let mut is_behind_slash = true;
    for byte in path.bytes() {
        if is_behind_slash && matches!(byte, b'/' | b'.') {
            return false;
        }
        is_behind_slash = byte == b'/';
    }
    !is_behind_slash
}

/// Whether nothing can be learned from a file or harmed in it.
pub(crate) fn is_neutral(path: &str) -> bool {
    matches!(
        path,
        "/dev/null" | "/dev/zero" | "/dev/full" | "/dev/stdin" | "/dev/stdout" | "/dev/stderr"
    ) || path
        .strip_prefix("/dev/fd/")
        .is_some_and(|fd| fd.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The part of an absolute pattern before the first segment with a wildcard.
pub(crate) fn before_wildcard(pattern: &str) -> String {
    let plain = pattern
        .split('/')
        .take_while(|segment| !segment.contains(['*', '?', '[', '\\']));
    let directory = plain.collect::<Vec<_>>().join("/");
    reached("/", &directory)
}

/// The machine and port of a `/dev/tcp/HOST/PORT`.
pub(crate) fn peer(path: &str) -> Option<(&str, Option<u16>)> {
    let rest = path
        .strip_prefix("/dev/tcp/")
        .or_else(|| path.strip_prefix("/dev/udp/"))?;
    let (host, port) = rest.split_once('/').unwrap_or((rest, ""));
    Some((host, port.parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_joined_and_made_normal() {
        for (directory, path, joined) in [
            ("/a/b", "c", "/a/b/c"),
            ("/a/b", "../c/./d//", "/a/c/d"),
            ("/a", "/x/../y", "/y"),
            ("/", "../..", "/"),
            ("/a", "", "/a"),
            ("/a/b", "c/d", "/a/b/c/d"),
            ("/", "c", "/c"),
            ("/a/../b", "c", "/b/c"),
            ("a", "b", "/a/b"),
        ] {
            assert_eq!(join(directory, path), joined);
        }
    }

    #[test]
    fn behind_a_name_the_system_says_what_is_above() {
        for (directory, path, joined) in [
            ("/a/b", "../c/./d//", "/a/b/../c/d"),
            ("/a", "/x/../y", "/x/../y"),
            ("/", "../../y", "/y"),
            ("/a/../b", "c/.", "/a/../b/c"),
            ("/a", "", "/a"),
            ("/a/b", "c/d", "/a/b/c/d"),
        ] {
            assert_eq!(reached(directory, path), joined);
            assert_eq!(by_name(joined), join(directory, path));
        }
    }

    #[test]
    fn the_directory_of_a_pattern_ends_before_its_first_wildcard() {
        assert_eq!(before_wildcard("/a/b*/c"), "/a");
        assert_eq!(before_wildcard("/*"), "/");
    }
}
