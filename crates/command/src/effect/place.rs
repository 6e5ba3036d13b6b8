//! Words as paths and hosts. It must not look at the machine.

use crate::line::{Directory, Host, TouchedPath, Word, WordKind};

use super::parse::is_process;
use crate::path::reached;

/// Devices that hold nothing and keep nothing.
const NEUTRAL: &[&str] = &[
    "/dev/full",
    "/dev/null",
    "/dev/stderr",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/tty",
    "/dev/zero",
    "/dev/random",
    "/dev/urandom",
];

/// The file a word names for a program that runs in `at`; `None` where it names none, or one that does
/// not matter.
pub(super) fn path(word: &Word, at: &Directory) -> Option<TouchedPath> {
    let text = word.text.as_str();
    match word.kind {
        WordKind::Dynamic if is_process(word) => None,
        WordKind::Dynamic => Some(TouchedPath::Unknown(format!(
            "the value of `{text}` is not known"
        ))),
        _ if text.is_empty() || text == "-" => None,
        WordKind::Glob => Some(below(text, at)),
        WordKind::Literal | WordKind::Known => match absolute(text, at) {
            Some(path) if NEUTRAL.contains(&path.as_str()) || is_descriptor(&path) => None,
            Some(path) => Some(TouchedPath::Exact(path)),
            None => Some(from_nowhere(text)),
        },
    }
}

fn from_nowhere(text: &str) -> TouchedPath {
    TouchedPath::Unknown(format!("`{text}` depends on a directory that is not known"))
}

fn is_descriptor(path: &str) -> bool {
    path.strip_prefix("/dev/fd/")
        .is_some_and(|fd| fd.bytes().all(|byte| byte.is_ascii_digit()))
}

fn below(text: &str, at: &Directory) -> TouchedPath {
    let first = text.find(['*', '?', '[', '{', '(']).unwrap_or(text.len());
    let head = text.get(..first).unwrap_or_default();
    let cut = head.rfind('/').map_or(0, |slash| slash + 1);
    let (start, rest) = text.split_at_checked(cut).unwrap_or(("", text));
    let start = if start.is_empty() { "." } else { start };
    // What follows a wildcard may climb out again.
    if rest.split('/').any(|part| part == "..") {
        return TouchedPath::Unknown(format!("`{text}` climbs out of what it matches"));
    }
    match absolute(&start.replace('\\', ""), at) {
        Some(directory) => {
            let pattern = format!("{}/{rest}", directory.trim_end_matches('/'));
            TouchedPath::Below { directory, pattern }
        }
        None => from_nowhere(text),
    }
}

/// The absolute form of a path as the system is given it, see [`reached`]; `None` where it depends on a
/// directory that is not known.
pub(super) fn absolute(text: &str, at: &Directory) -> Option<String> {
    let base = match at {
        _ if text.starts_with('/') => "",
        Directory::Known(base) => base,
        Directory::Unknown => return None,
    };
    Some(reached(base, text))
}

/// Where a program is that was told to work in the directory `word`.
pub(super) fn moved(word: &Word, at: &Directory) -> Directory {
    if !word.is_known() {
        return Directory::Unknown;
    }
    absolute(&word.text, at).map_or(Directory::Unknown, |path| Directory::Known(path.into()))
}

/// Whether a word of a program of which nothing is known looks like a path.
pub(super) fn looks_like_path(word: &Word) -> bool {
    let text = word.text.as_str();
    word.kind != WordKind::Literal
        || text.contains('/')
        || text.starts_with('.')
        || text
            .split_once('.')
            .is_some_and(|(_, end)| end.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// The host in a URL, where the word is one.
pub(super) fn url(word: &Word) -> Option<Host> {
    let (scheme, rest) = word.text.split_once("://")?;
    if scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    Some(host(
        rest.split(['/', '?', '#', '\\']).next().unwrap_or_default(),
        word,
    ))
}

/// The file that a URL names, where it is one of this machine.
pub(super) fn local(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    // Behind two slashes stands a machine, which is this one.
    let path = match path.strip_prefix("//") {
        Some(path) => path
            .find('/')
            .map_or(path, |at| path.get(at..).unwrap_or_default()),
        None => path,
    };
    Some(decoded(path))
}

/// The text with what stands behind `%` decoded.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.split('%');
    bytes.extend(parts.next().unwrap_or_default().bytes());
    for part in parts {
        let code = part
            .get(..2)
            .and_then(|code| u8::from_str_radix(code, 16).ok());
        if let Some(code) = code {
            bytes.push(code);
            bytes.extend(part.bytes().skip(2));
        } else {
            bytes.push(b'%');
            bytes.extend(part.bytes());
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The host of `host:path`, as `scp` and git take it; `None` for a path here.
pub(super) fn remote(word: &Word) -> Option<Host> {
    if word.text.contains("://") {
        return url(word);
    }
    let (name, _) = word.text.split_once(':')?;
    (!name.is_empty() && !name.contains('/')).then(|| host(name, word))
}

/// The host `[user@]name[:port]`.
pub(super) fn host(text: &str, word: &Word) -> Host {
    let bare = text.rsplit('@').next().unwrap_or_default();
    let (name, port) = match bare.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((name, rest)) => (name, rest.strip_prefix(':')),
        None => match bare.split_once(':') {
            Some((name, port)) if !port.contains(':') => (name, Some(port)),
            _ => (bare, None),
        },
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._:".contains(c);
    Host {
        is_of_program: false,
        name: name.trim_end_matches('.').to_ascii_lowercase(),
        port: port.and_then(|port| port.parse().ok()),
        is_known: word.is_known() && !name.is_empty() && name.chars().all(is_plain),
        range: word.range.clone(),
        by: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> String {
        let host = url(&Word::literal(text, 0..0)).unwrap();
        format!("{} {:?} {}", host.name, host.port, host.is_known)
    }

    #[test]
    fn the_host_of_a_url_is_what_a_client_would_reach() {
        assert_eq!(named("https://Example.com/a@b:1"), "example.com None true");
        assert_eq!(
            named("https://good.com@evil.org:81/x"),
            "evil.org Some(81) true"
        );
        assert_eq!(named("http://[::1]:80/"), "::1 Some(80) true");
        assert_eq!(named("http://a.b./?x"), "a.b None true");
        assert_eq!(
            named("http://ex\u{430}mple.com"),
            "ex\u{430}mple.com None false"
        );
        assert!(url(&Word::literal("file:///etc/passwd", 0..0)).is_none());
        for (url, file) in [
            ("file:///a/%2eb", "/a/.b"),
            ("file://localhost/a", "/a"),
            ("FILE:/a/b#c", "/a/b"),
            ("file:a%", "a%"),
        ] {
            assert_eq!(local(url).as_deref(), Some(file));
        }
        assert!(remote(&Word::literal("./a:b", 0..0)).is_none());
        assert_eq!(
            remote(&Word::literal("git@host.io:o/r.git", 0..0))
                .unwrap()
                .name,
            "host.io"
        );
    }

    #[test]
    fn a_path_is_absolute_and_keeps_what_may_follow_a_link() {
        let at = Directory::Known("/p/sub".into());
        assert_eq!(absolute("../a/./b//c", &at).unwrap(), "/p/sub/../a/b/c");
        assert_eq!(absolute("/../x", &at).unwrap(), "/x");
        assert_eq!(absolute("./l/..", &at).unwrap(), "/p/sub/l/..");
        assert_eq!(absolute("x", &Directory::Unknown), None);
    }

    #[test]
    fn a_pattern_is_below_the_directory_before_its_first_wildcard() {
        let at = Directory::Known("/p".into());
        let glob = |text: &str| {
            path(
                &Word {
                    kind: WordKind::Glob,
                    ..Word::literal(text, 0..0)
                },
                &at,
            )
            .unwrap()
        };
        let below = |directory: &str, pattern: &str| TouchedPath::Below {
            directory: directory.to_owned(),
            pattern: pattern.to_owned(),
        };
        assert_eq!(glob(".e*"), below("/p", "/p/.e*"));
        assert_eq!(glob("../o/a?b/c"), below("/p/../o", "/p/../o/a?b/c"));
        assert_eq!(glob("/*"), below("/", "/*"));
        assert!(matches!(glob("a*/../../x"), TouchedPath::Unknown(_)));
    }
}
