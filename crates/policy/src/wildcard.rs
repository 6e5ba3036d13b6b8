//! The wildcard of rules: `*` is any run of characters, `?` is one.
//!
//! Must not: know what a pattern is for. No classes, no braces, no escapes: all else is itself.

use std::borrow::Cow;
use std::str::Chars;

/// Whose spelling of paths holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// `\` is a character like any other, and case counts.
    Unix,
    /// `\` is a character like any other, and case does not count.
    Mac,
    /// `\` equals `/`, and case does not count.
    Windows,
}

impl Platform {
    /// The platform this was built for.
    pub const HERE: Self = if cfg!(windows) {
        Self::Windows
    } else if cfg!(target_os = "macos") {
        Self::Mac
    } else {
        Self::Unix
    };

    /// The text in the spelling that all its spellings share here. Character by character, so that
    /// the beginning of a text becomes the beginning of what it is folded to.
    pub(crate) fn fold(self, text: &str) -> Cow<'_, str> {
        let one = |c| match (self, c) {
            (Self::Windows, '\\') => '/',
            _ => small(c),
        };
        match self {
            Self::Unix => Cow::Borrowed(text),
            Self::Mac | Self::Windows => Cow::Owned(text.chars().map(one).collect()),
        }
    }
}

/// A letter without its case. One that has no counterpart of one character stays as it is.
fn small(c: char) -> char {
    fn only(mut letters: impl Iterator<Item = char>, otherwise: char) -> char {
        match (letters.next(), letters.next()) {
            (Some(letter), None) => letter,
            _ => otherwise,
        }
    }
    // By way of the capital, since some letters have two small ones: `s` and the long `ſ`.
    let capital = only(c.to_uppercase(), c);
    only(capital.to_lowercase(), capital)
}

/// Whether the whole of `text` matches `pattern` on the platform this was built for. See
/// [`wildcard_on`].
#[inline]
pub fn wildcard(pattern: &str, text: &str) -> bool {
    wildcard_on(Platform::HERE, pattern, text)
}

/// Whether the whole of `text` matches `pattern` on `platform`.
///
/// `*` matches any run of characters, also none, also across `/` and line ends; `?` matches exactly one
/// Unicode character. A final ` *` may be missing from the text, space and all: `git *` matches `git`.
/// Takes at most pattern length times text length steps.
#[inline]
pub fn wildcard_on(platform: Platform, pattern: &str, text: &str) -> bool {
    if platform == Platform::Unix {
        return is_match(pattern, text);
    }
    is_match(&platform.fold(pattern), &platform.fold(text))
}

/// The same for texts that are folded.
fn is_match(pattern: &str, text: &str) -> bool {
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
    matches(pattern, text)
}

/// Two cursors and one place to go back to: a later `*` makes every earlier one settled.
fn matches(pattern: &str, text: &str) -> bool {
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
            (Some(want), Some(got)) if want == got => continue,
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
pub(crate) fn segments(platform: Platform, pattern: &str, path: &str) -> bool {
    let (pattern, path) = (platform.fold(pattern), platform.fold(path));
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
                *slot = path.get(before).is_some_and(|got| is_match(want, got));
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
    fn case_counts_on_unix_alone_and_only_windows_mixes_slashes() {
        use Platform::{Mac, Unix, Windows};
        for (pattern, text, want) in [
            ("src\\*", "src/a", [false, false, true]),
            ("src/*", "src\\a", [false, false, true]),
            ("RM *", "rm x", [false, true, true]),
            ("É", "é", [false, true, true]),
            ("\\rm", "\\rm", [true, true, true]),
            ("a", "b", [false, false, false]),
            // The long s is a small s, the sign for Kelvin a k; an I with a dot is two small characters.
            (".ssh/*", ".ſSh/id", [false, true, true]),
            ("k", "\u{212a}", [false, true, true]),
            ("?", "İ", [true, true, true]),
            ("ß", "SS", [false, false, false]),
        ] {
            let got = [Unix, Mac, Windows].map(|platform| wildcard_on(platform, pattern, text));
            assert_eq!(got, want, "{pattern} {text}");
        }
    }

    #[test]
    fn a_path_by_segments_is_read_as_the_platform_spells_it() {
        use Platform::{Mac, Unix, Windows};
        let got = [Unix, Mac, Windows].map(|platform| segments(platform, "SRC/*", "src/a"));
        assert_eq!(got, [false, true, true]);
        let got = [Unix, Mac, Windows].map(|platform| segments(platform, "src\\*", "src\\a/b"));
        assert_eq!(got, [false, false, false]);
        let got = [Unix, Mac, Windows].map(|platform| segments(platform, "src\\**", "src\\a/b"));
        assert_eq!(got, [false, false, true]);
    }
}
