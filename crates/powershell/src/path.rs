//! Paths and hosts as text. It must not ask whether anything exists.

use std::ops::Range;

use command::{Host, TouchedPath};

/// Where a path is seen from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    /// The directory, where it is known.
    pub directory: Option<&'a str>,
    pub home: Option<&'a str>,
}

/// Files that hold nothing and keep nothing.
const NEUTRAL: [&str; 6] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
];

/// The path as it is written here: with `/`, and a drive in upper case.
pub(crate) fn slashed(text: &str) -> String {
    let text = text.replace('\\', "/");
    match drive(&text) {
        Some((letter, rest)) if letter.len() == 1 => {
            format!("{}:{rest}", letter.to_ascii_uppercase())
        }
        _ => text,
    }
}

/// The name of the drive a path starts with, and what follows its colon.
fn drive(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once(':')?;
    (!name.is_empty() && !name.contains('/')).then_some((name, rest))
}

/// The file that `text` names; `None` where it names none, or one that does not matter.
pub(crate) fn path(text: &str, is_pattern: bool, view: View<'_>) -> Option<TouchedPath> {
    if text.is_empty() {
        return None;
    }
    let unknown = |why: &str| Some(TouchedPath::Unknown(format!("`{text}` {why}")));
    let path = slashed(text);
    if path.contains("::") || path.starts_with("//?") || path.starts_with("//.") {
        return unknown("is a name of another kind");
    }
    let is_odd = |segment: &str| {
        let is_short = segment.split_once('~').is_some_and(|(head, end)| {
            !head.is_empty() && end.starts_with(|c: char| c.is_ascii_digit())
        });
        let is_dots = segment.trim_end_matches('.').is_empty() && segment.len() <= 2;
        is_short || !is_dots && segment.ends_with(['.', ' '])
    };
    if path.split('/').any(is_odd) {
        return unknown("may be another name of a file");
    }
    let (root, rest) = match (drive(&path), path.as_str()) {
        (Some((letter, rest)), _)
            if letter.len() == 1 && letter.bytes().all(|it| it.is_ascii_alphabetic()) =>
        {
            if !rest.starts_with('/') {
                return unknown("depends on the directory of a drive");
            }
            (format!("{letter}:"), rest.to_owned())
        }
        (Some(_), _) => return unknown("is on a drive of PowerShell"),
        (None, "~") => match view.home {
            Some(home) => (String::new(), slashed(home)),
            None => return unknown("depends on a home that is not known"),
        },
        (None, it) if it.starts_with("~/") => match view.home {
            Some(home) => (
                String::new(),
                format!("{}{}", slashed(home), it.trim_start_matches('~')),
            ),
            None => return unknown("depends on a home that is not known"),
        },
        (None, it) if it.starts_with("//") => ("/".to_owned(), it.to_owned()),
        (None, it) => {
            let base = view.directory.map(slashed);
            match (it.starts_with('/'), base) {
                // The root is that of the drive the shell stands in.
                (true, base) => {
                    let base = base.unwrap_or_default();
                    let letter = drive(&base).map(|(letter, _)| format!("{letter}:"));
                    (letter.unwrap_or_default(), it.to_owned())
                }
                (false, Some(base)) => (String::new(), format!("{base}/{it}")),
                (false, None) => return unknown("depends on a directory that is not known"),
            }
        }
    };
    // What a directory or a home starts with is a root of its own.
    let (root, rest) = match drive(&rest) {
        Some((letter, below)) if root.is_empty() => (format!("{letter}:"), below.to_owned()),
        _ => (root, rest),
    };
    let first = rest.find(['*', '?', '[']).filter(|_| is_pattern);
    let Some(first) = first else {
        let path = normal(&root, &rest);
        return (!NEUTRAL.contains(&path.as_str())).then_some(TouchedPath::Exact(path));
    };
    let cut = rest
        .get(..first)
        .and_then(|head| head.rfind('/'))
        .unwrap_or(0);
    let (start, end) = rest.split_at_checked(cut).unwrap_or(("", &rest));
    if end.split('/').any(|part| part == "..") {
        return unknown("climbs out of what it matches");
    }
    let directory = normal(&root, start);
    let pattern = format!(
        "{}/{}",
        directory.trim_end_matches('/'),
        end.trim_start_matches('/')
    );
    Some(TouchedPath::Below { directory, pattern })
}

/// The path without `.`, `..` and doubled slashes.
fn normal(root: &str, rest: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("{root}/{}", parts.join("/"))
}

/// The machine of a path that starts with `\\machine`.
pub(crate) fn machine(text: &str) -> Option<String> {
    let path = slashed(text);
    let name = path.strip_prefix("//")?.split('/').next()?;
    let is_name = !name.is_empty() && !matches!(name, "?" | ".");
    is_name.then(|| name.to_ascii_lowercase())
}

/// The host of a URL, or of a name with or without a port.
pub(crate) fn host(text: &str, is_known: bool, range: &Range<usize>) -> Host {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let bare = authority.rsplit('@').next().unwrap_or_default();
    let (name, port) = match bare.strip_prefix('[').and_then(|it| it.split_once(']')) {
        Some((name, rest)) => (name, rest.strip_prefix(':')),
        None => match bare.split_once(':') {
            Some((name, port)) if !port.contains(':') => (name, Some(port)),
            _ => (bare, None),
        },
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._:".contains(c);
    Host {
        name: name.trim_end_matches('.').to_ascii_lowercase(),
        port: port.and_then(|it| it.parse().ok()),
        is_known: is_known && !name.is_empty() && name.chars().all(is_plain),
        is_of_program: false,
        range: range.clone(),
        by: None,
    }
}

/// Whether a word of a command of which nothing is known looks like a path.
pub(crate) fn looks_like_path(text: &str) -> bool {
    text.contains(['/', '\\', '*'])
        || text.starts_with(['.', '~'])
        || text
            .split_once('.')
            .is_some_and(|(_, end)| end.starts_with(|c: char| c.is_ascii_alphabetic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str, is_pattern: bool, directory: &str) -> String {
        let view = View {
            directory: Some(directory),
            home: Some("/home/u"),
        };
        match path(text, is_pattern, view) {
            None => "-".to_owned(),
            Some(TouchedPath::Exact(path)) => path,
            Some(TouchedPath::Below { pattern, directory }) => format!("{directory} {pattern}"),
            Some(TouchedPath::Unknown(_)) => "unknown".to_owned(),
        }
    }

    #[test]
    fn a_path_is_absolute_and_normal_with_either_separator() {
        for (text, path) in [
            (r"a\..\b\c", "/w/b/c"),
            ("./a//b", "/w/a/b"),
            (r"..\..\..\x", "/x"),
            (r"c:\x\..\y", "C:/y"),
            ("c:x", "unknown"),
            ("env:PATH", "unknown"),
            ("HKLM:/x", "unknown"),
            ("a::b", "unknown"),
            ("~/x", "/home/u/x"),
            ("~", "/home/u"),
            (r"\\srv\share\x", "//srv/share/x"),
            (r"\\?\C:\x", "unknown"),
            ("/dev/null", "-"),
            (".env.", "unknown"),
            ("PROGRA~1/x", "unknown"),
            ("", "-"),
        ] {
            assert_eq!(seen(text, false, "/w"), path, "{text}");
        }
        assert_eq!(seen("x", false, r"C:\w"), "C:/w/x");
        assert_eq!(seen("/x", false, "C:/w"), "C:/x");
        assert_eq!(seen("a*", false, "/w"), "/w/a*");
        assert_eq!(seen(r"a\*.log", true, "/w"), "/w/a /w/a/*.log");
        assert_eq!(seen("a*/../x", true, "/w"), "unknown");
    }

    #[test]
    fn the_host_of_a_url_is_what_a_client_would_reach() {
        let of = |text| {
            let host = host(text, true, &(0..0));
            (host.name, host.port, host.is_known)
        };
        assert_eq!(
            of("https://good@Evil.org:81/x"),
            ("evil.org".into(), Some(81), true)
        );
        assert_eq!(of("a.b"), ("a.b".into(), None, true));
        assert_eq!(of("https://$x/"), ("$x".into(), None, false));
    }
}
