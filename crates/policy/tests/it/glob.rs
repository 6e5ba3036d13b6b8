//! Patterns by their definition: one recursive call for each thing a star may swallow. Must not share
//! code with the engine.

use std::borrow::Cow;

use tollgate_policy as policy;

use policy::{Pattern, Platform};

/// Whether a pattern that is about no arguments matches the whole of a text.
pub(crate) fn matches(platform: Platform, pattern: &Pattern, text: &str) -> bool {
    if pattern.is_exact() {
        return pattern.text() == text;
    }
    let Some(path) = pattern.text().strip_prefix("path:") else {
        return glob(platform, pattern.text(), text);
    };
    let (path, text) = (folded(platform, path), folded(platform, text));
    let (path, text): (Vec<_>, Vec<_>) = (path.split('/').collect(), text.split('/').collect());
    segments(&path, &text)
}

pub(crate) fn glob(platform: Platform, pattern: &str, text: &str) -> bool {
    let (pattern, text) = (folded(platform, pattern), folded(platform, text));
    let stem = pattern.strip_suffix(" *");
    plain(&pattern, &text) || stem.is_some_and(|stem| plain(stem, &text))
}

fn plain(pattern: &str, text: &str) -> bool {
    let Some(want) = pattern.chars().next() else {
        return text.is_empty();
    };
    let rest = &pattern[want.len_utf8()..];
    if want == '*' {
        let mut starts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
        return starts.any(|at| plain(rest, &text[at..]));
    }
    let Some(got) = text.chars().next() else {
        return false;
    };
    (want == '?' || want == got) && plain(rest, &text[got.len_utf8()..])
}

fn segments(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        (["**"], _) => !path.is_empty(),
        (["**", rest @ ..], _) => (0..=path.len()).any(|at| segments(rest, &path[at..])),
        ([want, rest @ ..], [got, path @ ..]) => {
            glob(Platform::Unix, want, got) && segments(rest, path)
        }
        ([], [_, ..]) | ([_, ..], []) => false,
    }
}

pub(crate) fn folded(platform: Platform, text: &str) -> Cow<'_, str> {
    match platform {
        Platform::Unix => Cow::Borrowed(text),
        Platform::Mac => Cow::Owned(text.to_lowercase()),
        Platform::Windows => Cow::Owned(text.to_lowercase().replace('\\', "/")),
    }
}
