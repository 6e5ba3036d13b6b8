//! What other systems' patterns are in ours. Must not know a system, or say less than was said without
//! telling.

/// A foreign pattern in our words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Spelled {
    /// Patterns that together match the same.
    Same(Vec<String>),
    /// Patterns that together match more; why.
    More(Vec<String>, &'static str),
    /// Nothing like it; why.
    No(&'static str),
}

/// How much stricter than wanted a pattern may become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Toward {
    /// It is about what is allowed: it may match less.
    Less,
    /// It is about what is asked or denied: it may match more.
    More,
}

const NO_LITERAL: &str = "`*` and `?` always stand for other characters here";

/// A wildcard in which `*` means what it does here; `escapes` says whether a `\` takes its meaning away.
pub(super) fn wildcard(text: &str, escapes: bool) -> Spelled {
    let mut written = String::with_capacity(text.len());
    let mut is_same = true;
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\\' if escapes && matches!(chars.peek(), Some('*' | '\\')) => {
                let escaped = chars.next().unwrap_or_default();
                is_same &= escaped != '*';
                written.push(escaped);
            }
            '?' => {
                is_same = false;
                written.push(char);
            }
            _ => written.push(char),
        }
    }
    plain(written, is_same)
}

/// A text without wildcards.
pub(super) fn literal(text: &str) -> Spelled {
    plain(text.to_owned(), !text.contains(['*', '?']))
}

/// Takes special meanings away that the text has only here.
fn plain(mut text: String, mut is_same: bool) -> Spelled {
    for opening in ["{env:", "{file:"] {
        if text.contains(opening) {
            text = text.replace(opening, &opening.replace('{', "?"));
            is_same = false;
        }
    }
    if text.starts_with("path:") || text.starts_with("arg:") {
        text.replace_range(..1, "?");
        is_same = false;
    }
    // The home directory is put in for these, and what was typed may still hold them.
    let typed = ["~", "$HOME"].iter().find_map(|short| {
        let rest = text.strip_prefix(short)?;
        let is_home = rest.is_empty() || rest.starts_with('/');
        is_home.then(|| format!("?{}{rest}", short.get(1..).unwrap_or_default()))
    });
    match typed {
        Some(typed) => Spelled::More(vec![text, typed], "a home directory in a command"),
        None if is_same => Spelled::Same(vec![text]),
        None => Spelled::More(vec![text], NO_LITERAL),
    }
}

impl Spelled {
    /// The same patterns, each with something behind it.
    pub(super) fn then(self, end: &str) -> Self {
        let add = |patterns: Vec<String>| patterns.into_iter().map(|it| it + end).collect();
        match self {
            Self::Same(patterns) => Self::Same(add(patterns)),
            Self::More(patterns, why) => Self::More(add(patterns), why),
            Self::No(why) => Self::No(why),
        }
    }
}

/// A path as in a `.gitignore`, the folder of that file being the workspace: it is about a file, and about
/// all below a folder. `//` opens an absolute path and `~/` one in the home directory.
pub(super) fn ignored(text: &str, toward: Toward) -> Spelled {
    if text.starts_with('!') {
        return Spelled::No("an exception from other patterns");
    }
    if text.split('/').any(|segment| segment == "..") {
        return Spelled::No("a path out of the workspace that is not absolute");
    }
    let (text, is_literal) = without_classes(text);
    let (text, is_folder) = match text.strip_suffix('/') {
        Some(folder) => (folder, true),
        None => (text.as_str(), false),
    };
    let absolute = text.strip_prefix('/').filter(|it| it.starts_with('/'));
    let is_at_home = text == "~" || text.starts_with("~/");
    let wholes = match absolute {
        // Of `//` alone the last slash is gone.
        _ if text == "/" && is_folder => vec!["/**".to_owned()],
        Some(absolute) => vec![absolute.to_owned()],
        None if is_at_home => vec![text.to_owned()],
        None => in_workspace(text, toward),
    };
    let mut patterns = Vec::new();
    for whole in wholes {
        let is_all_below = whole == "**" || whole.ends_with("/**");
        if !is_folder || is_all_below {
            patterns.push(format!("path:{whole}"));
        }
        if !is_all_below {
            patterns.push(format!("path:{whole}/**"));
        }
    }
    if is_literal {
        Spelled::Same(patterns)
    } else {
        Spelled::More(patterns, "a choice of characters")
    }
}

/// A path below the workspace, as patterns. Where they may match less they match no absolute path: its
/// first segment is empty, and `?*` stands for none that is.
fn in_workspace(text: &str, toward: Toward) -> Vec<String> {
    let at_top = text.strip_prefix('/');
    // Whether `./x` is about the top or about any depth depends on the version.
    let near = text.strip_prefix("./").filter(|_| at_top.is_none());
    let mut path = at_top.or(near).unwrap_or(text);
    let is_near_top = near.is_some() && toward == Toward::Less;
    let mut is_anchored = at_top.is_some() || path.contains('/') || is_near_top;
    while let Some(rest) = path.strip_prefix("**/") {
        path = rest;
        is_anchored = rest.starts_with("**/");
    }
    let is_everything = matches!(path, "" | "." | "**") || (path == "*" && !is_anchored);
    match (is_everything, toward, is_anchored) {
        (true, Toward::More, _) => vec!["**".to_owned()],
        (true, Toward::Less, _) => vec!["?*".to_owned()],
        (false, Toward::More, true) => vec![path.to_owned()],
        (false, Toward::More, false) => vec![format!("**/{path}")],
        (false, Toward::Less, true) => vec![not_absolute(path)],
        (false, Toward::Less, false) => vec![not_absolute(path), format!("?*/**/{path}")],
    }
}

fn not_absolute(path: &str) -> String {
    let first = path.split('/').next().unwrap_or_default();
    if first.chars().all(|char| char == '*') {
        return format!("?{path}");
    }
    path.to_owned()
}

/// A path with `?` for every choice of characters and every escaped one; whether there were none.
fn without_classes(text: &str) -> (String, bool) {
    let mut written = String::with_capacity(text.len());
    let mut is_literal = true;
    let mut rest = text;
    while let Some(at) = rest.find(['[', '\\', '{']) {
        let (before, from) = rest.split_at(at);
        written.push_str(before);
        let class_end = from.strip_prefix('[').and_then(|it| it.find(']'));
        let length = match (class_end, from.starts_with('\\')) {
            (Some(end), _) => end + 2,
            (None, true) => 1 + from.chars().nth(1).map_or(0, char::len_utf8),
            (None, false) => 1,
        };
        // A brace is itself there, and here as well unless it opens a reference.
        let is_brace = from.starts_with('{') && !crate::text::refers(from);
        written.push_str(if is_brace { "{" } else { "?" });
        is_literal &= is_brace;
        rest = from.get(length..).unwrap_or_default();
    }
    written.push_str(rest);
    (written, is_literal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(patterns: &[&str]) -> Spelled {
        Spelled::Same(patterns.iter().map(|&it| it.to_owned()).collect())
    }

    fn more(spelled: &Spelled) -> Option<Vec<&str>> {
        match spelled {
            Spelled::More(patterns, _) => Some(patterns.iter().map(String::as_str).collect()),
            Spelled::Same(_) | Spelled::No(_) => None,
        }
    }

    #[test]
    fn wildcards_that_mean_the_same_are_kept() {
        assert_eq!(wildcard("git log *", true), same(&["git log *"]));
        assert_eq!(wildcard(r"a\\b", true), same(&[r"a\b"]));
        assert_eq!(wildcard(r"a\*b", false), same(&[r"a\*b"]));
        assert_eq!(literal("git log").then(" *"), same(&["git log *"]));
    }

    #[test]
    fn what_would_mean_more_here_is_said_to() {
        for (spelled, want) in [
            (wildcard(r"echo \*", true), vec!["echo *"]),
            (wildcard("a?b", true), vec!["a?b"]),
            (literal("a*"), vec!["a*"]),
            (literal("{env:A}"), vec!["?env:A}"]),
            (literal("path:x"), vec!["?ath:x"]),
            (literal("~/bin/x"), vec!["~/bin/x", "?/bin/x"]),
        ] {
            assert_eq!(more(&spelled), Some(want));
        }
        assert_eq!(literal("~user/x"), same(&["~user/x"]));
    }

    #[test]
    fn paths_are_read_as_in_a_gitignore() {
        for (text, want) in [
            (".env", &["path:**/.env", "path:**/.env/**"][..]),
            ("src/**", &["path:src/**"]),
            ("/src/x", &["path:src/x", "path:src/x/**"]),
            ("//etc/x", &["path:/etc/x", "path:/etc/x/**"]),
            ("//", &["path:/**"]),
            ("~/.zshrc", &["path:~/.zshrc", "path:~/.zshrc/**"]),
            ("~/", &["path:~/**"]),
            ("secrets/", &["path:**/secrets/**"]),
            ("/", &["path:**"]),
            ("./", &["path:**"]),
            ("./a", &["path:**/a", "path:**/a/**"]),
            ("**/a/b", &["path:**/a/b", "path:**/a/b/**"]),
            ("**/x.{a}", &["path:**/x.{a}", "path:**/x.{a}/**"]),
        ] {
            assert_eq!(ignored(text, Toward::More), same(want), "{text}");
        }
        for (text, want) in [
            ("./a", &["path:a", "path:a/**"][..]),
            ("/", &["path:?*/**"]),
            ("**", &["path:?*", "path:?*/**"]),
            ("*/a", &["path:?*/a", "path:?*/a/**"]),
            ("a/", &["path:a/**", "path:?*/**/a/**"]),
            (
                "**/*.md",
                &[
                    "path:*.md",
                    "path:*.md/**",
                    "path:?*/**/*.md",
                    "path:?*/**/*.md/**",
                ],
            ),
        ] {
            assert_eq!(ignored(text, Toward::Less), same(want), "{text}");
        }
        let class = ignored("*.[ch]", Toward::More);
        assert_eq!(more(&class), Some(vec!["path:**/*.?", "path:**/*.?/**"]));
        let escaped = ignored(r"a\[b", Toward::More);
        assert_eq!(more(&escaped), Some(vec!["path:**/a?b", "path:**/a?b/**"]));
        for text in ["!x", "../x", "a/../b"] {
            assert!(
                matches!(ignored(text, Toward::More), Spelled::No(_)),
                "{text}"
            );
        }
    }
}
