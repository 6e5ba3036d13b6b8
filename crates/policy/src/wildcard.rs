//! The wildcard of rules: `*` is any run of characters, `?` is one.
//!
//! Must not: know what a pattern is for. No classes, no braces, no escapes: all else is itself.

use std::str::Chars;

/// Whose spelling of paths holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// `\` is a character like any other, and case counts.
    Unix,
    /// `\` equals `/`, and case does not count.
    Windows,
}

impl Platform {
    /// The platform this was built for.
    pub const HERE: Self = if cfg!(windows) {
        Self::Windows
    } else {
        Self::Unix
    };

    /// Whether two characters are the same character here.
    fn same(self, a: char, b: char) -> bool {
        if a == b {
            return true;
        }
        if self == Self::Unix {
            return false;
        }
        let is_slash = |c| matches!(c, '/' | '\\');
        (is_slash(a) && is_slash(b)) || a.to_lowercase().eq(b.to_lowercase())
    }
}

/// Whether the whole of `text` matches `pattern` on this platform. See [`wildcard_on`].
#[inline]
pub fn wildcard(pattern: &str, text: &str) -> bool {
    wildcard_on(Platform::HERE, pattern, text)
}

/// Whether the whole of `text` matches `pattern` on `platform`.
///
/// `*` matches any run of characters, also none, also across `/` and line ends; `?` matches exactly one
/// Unicode character. A final ` *` may be missing from the text, space and all: `git *` matches `git`.
/// Takes at most pattern length times text length steps and constant memory.
#[inline]
pub fn wildcard_on(platform: Platform, pattern: &str, text: &str) -> bool {
    if platform == Platform::Windows {
        return matches(platform, pattern, text);
    }
    // Most patterns part from most texts before their first wildcard: find that out cheaply.
    let is_shared = |(want, got): &(u8, u8)| want == got && !matches!(want, b'*' | b'?');
    let shared = pattern
        .bytes()
        .zip(text.bytes())
        .take_while(is_shared)
        .count();
    match (pattern.get(shared..), text.get(shared..)) {
        (Some("" | " *"), Some("")) => true,
        (Some(rest), Some(text)) if rest.starts_with(['*', '?']) => from_wildcard(rest, text),
        _ => false,
    }
}

/// The same for a pattern that begins with a wildcard; the two forms that people write most are a search
/// for bytes.
fn from_wildcard(pattern: &str, text: &str) -> bool {
    let is_plain = |part: &str| !part.contains(['*', '?']);
    if let Some(end) = pattern.strip_prefix('*') {
        if is_plain(end) {
            return text.ends_with(end);
        }
        // With a space before it the last star may be missing, which is not a search.
        if let Some(middle) = end.strip_suffix('*')
            && is_plain(middle)
            && !middle.ends_with(' ')
        {
            return text.contains(middle);
        }
    }
    matches(Platform::Unix, pattern, text)
}

/// Two cursors and one place to go back to: a later `*` makes every earlier one settled.
fn matches(platform: Platform, pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    let mut retry: Option<(Chars<'_>, Chars<'_>)> = None;
    loop {
        let here = text.clone();
        match (pattern.next(), text.next()) {
            (None, None) => return true,
            (Some('*'), _) if pattern.as_str().is_empty() => return true,
            (Some('*'), _) => {
                text = here;
                retry = Some((pattern.clone(), text.clone()));
                continue;
            }
            (Some('?'), Some(_)) => continue,
            (Some(want), Some(got)) if platform.same(want, got) => continue,
            (Some(' '), None) if pattern.as_str() == "*" => return true,
            // What is left of the text is too short, and would be shorter at a later start.
            (_, None) => return false,
            (_, Some(_)) => {}
        }
        // The last star swallows one character more.
        let Some((after_star, rest)) = &mut retry else {
            return false;
        };
        rest.next();
        (pattern, text) = (after_star.clone(), rest.clone());
    }
}

/// Whether the whole of a path matches a pattern by segments: `*` and `?` stay between two slashes, a
/// segment that is `**` stands for any number of segments, also none; at the end for at least one.
pub(crate) fn segments(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = pattern.split('/').collect();
    let path: Vec<&str> = path.split('/').collect();
    // `reached` holds for how many segments of the path the pattern so far can stand.
    let mut reached = vec![false; path.len() + 1];
    if let Some(start) = reached.first_mut() {
        *start = true;
    }
    let last = pattern.len() - 1;
    for (at, want) in pattern.iter().enumerate() {
        let mut next = vec![false; path.len() + 1];
        let mut is_open = false;
        for (count, slot) in next.iter_mut().enumerate() {
            let is_reached = |count: usize| reached.get(count).copied().unwrap_or(false);
            let before = count.checked_sub(1);
            if *want == "**" {
                is_open |= if at == last {
                    before.is_some_and(is_reached)
                } else {
                    is_reached(count)
                };
                *slot = is_open;
            } else if let Some(before) = before.filter(|before| is_reached(*before)) {
                *slot = path.get(before).is_some_and(|got| wildcard(want, got));
            }
        }
        reached = next;
    }
    reached.last().copied().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_texts() {
        for (pattern, text, want) in [
            ("*", "", true),
            ("*", "a/b\nc", true),
            ("", "", true),
            ("", "a", false),
            ("?", "", false),
            ("a*", "a", true),
            ("git *", "git", true),
            ("git *", "git ", true),
            ("git *", "git status", true),
            ("git *", "gitk", false),
            ("git *", "git\tstatus", false),
            ("git *", "git  status", true),
            ("git push *", "git  push origin", false),
            ("git status*", "git statusx", true),
            ("rm **", "rm", false),
            ("rm **", "rm x", true),
            ("* *", "x", true),
            (" *", "", true),
            ("ls", "ls -la", false),
            ("src/*", "src/a/b.ts", true),
            ("src/**/x.ts", "src/x.ts", false),
            ("*.env", ".env", true),
            ("*.env", "a/.env", true),
            ("*.env", "envrc", false),
            ("*.env.*", ".envrc", false),
            ("*.env.*", ".env.local", true),
            ("?at", "cat", true),
            ("?at", "at", false),
            ("a.b", "axb", false),
            ("a+b", "a+b", true),
            ("[ab]", "a", false),
            ("{a,b}", "a", false),
            ("$HOME", "$HOME", true),
            ("mcp_*", "mcp_server_tool", true),
            ("*ab*ab", "abab", true),
            ("*ab*ab", "ab", false),
            ("a*a", "a", false),
            ("*aab", "aaaab", true),
        ] {
            assert_eq!(
                wildcard_on(Platform::Unix, pattern, text),
                want,
                "{pattern:?} {text:?}"
            );
        }
    }

    #[test]
    fn a_question_mark_is_one_character_and_not_one_code_unit() {
        assert!(wildcard_on(Platform::Unix, "?", "😀"));
        assert!(!wildcard_on(Platform::Unix, "??", "😀"));
        assert!(wildcard_on(Platform::Unix, "*?é", "aéé"));
    }

    #[test]
    fn only_windows_mixes_slashes_and_case() {
        for (pattern, text) in [
            ("src\\*", "src/a"),
            ("src/*", "src\\a"),
            ("RM *", "rm x"),
            ("É", "é"),
        ] {
            assert!(
                wildcard_on(Platform::Windows, pattern, text),
                "{pattern} {text}"
            );
            assert!(
                !wildcard_on(Platform::Unix, pattern, text),
                "{pattern} {text}"
            );
        }
        assert!(!wildcard_on(Platform::Windows, "a", "b"));
        assert!(wildcard_on(Platform::Unix, "\\rm", "\\rm"));
    }
}
