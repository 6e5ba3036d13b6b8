//! The names that a shell's pattern stands for now. Must not be taken for what it will stand for when the
//! command runs: what is made meanwhile is held by the walls alone.

use globset::{GlobBuilder, GlobMatcher};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Most directory entries that are looked at for one pattern.
const ENTRIES_MAX: usize = 20_000;

/// The paths that fit an absolute pattern, at most `max`; none where nothing fits. `None`: there are
/// more, or the pattern is of a kind that is not read here (`**`, `@(a|b)`).
///
/// As in bash without options: a wildcard stands for no slash and for no dot at the start of a name.
pub(crate) fn expand(pattern: &str, max: usize) -> Option<Vec<String>> {
    if pattern.contains(['(', '\0']) || !pattern.starts_with('/') {
        return None;
    }
    let mut found = vec![PathBuf::from("/")];
    let mut entry_count = 0;
    let mut segments = pattern.split('/').filter(|it| !it.is_empty()).peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        if !is_wild(segment) {
            let name = segment.replace('\\', "");
            for path in &mut found {
                path.push(&name);
            }
            found.retain(|path| path.symlink_metadata().is_ok());
            continue;
        }
        let matcher = Matcher::of(segment)?;
        let mut next = Vec::new();
        for directory in &found {
            // What cannot be listed here cannot be listed by the command either.
            let Ok(entries) = fs::read_dir(directory) else {
                continue;
            };
            for entry in entries.flatten() {
                entry_count += 1;
                let path = entry.path();
                if entry_count > ENTRIES_MAX || next.len() > max {
                    return None;
                }
                if matcher.fits(&path) && (is_last || path.is_dir()) {
                    next.push(path);
                }
            }
        }
        found = next;
    }
    if found.len() > max {
        return None;
    }
    // A name that is no text fits no rule; nobody can say what it is.
    found
        .into_iter()
        .map(|path| path.into_os_string().into_string().ok())
        .collect()
}

/// Whether a segment has a wildcard that no backslash takes back.
fn is_wild(segment: &str) -> bool {
    let mut is_escaped = false;
    segment.chars().any(|c| {
        let is_wild = !is_escaped && matches!(c, '*' | '?' | '[');
        is_escaped = !is_escaped && c == '\\';
        is_wild
    })
}

/// One segment with wildcards.
struct Matcher {
    glob: GlobMatcher,
    takes_hidden: bool,
}

impl Matcher {
    /// `None`: it cannot be read.
    fn of(segment: &str) -> Option<Self> {
        if segment.contains("**") {
            return None;
        }
        // Braces were the shell's before; what is left of them is text.
        let text = segment.replace('{', "[{]").replace('}', "[}]");
        let glob = GlobBuilder::new(&text)
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .ok()?;
        let takes_hidden = segment.trim_start_matches('\\').starts_with('.');
        let glob = glob.compile_matcher();
        Some(Self { glob, takes_hidden })
    }

    fn fits(&self, path: &Path) -> bool {
        let Some(name) = path.file_name() else {
            return false;
        };
        let is_hidden = name.as_encoded_bytes().starts_with(b".");
        (self.takes_hidden || !is_hidden) && self.glob.is_match(Path::new(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_stands_for_what_bash_makes_of_it() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        for name in [
            "a.rs", "b.rs", ".env", ".envrc", "d/c.rs", "d/.env", "x[1]", "{y}",
        ] {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let check = |pattern: &str, want: Option<&[&str]>| {
            let full = format!("{}/{pattern}", root.display());
            let got = expand(&full, 8).map(|found| {
                let below = |it: &String| {
                    it.strip_prefix(&format!("{}/", root.display()))
                        .unwrap()
                        .to_owned()
                };
                let mut found: Vec<String> = found.iter().map(below).collect();
                found.sort();
                found
            });
            let want = want.map(|want| want.iter().map(|&it| it.to_owned()).collect());
            assert_eq!(got, want, "{pattern}");
        };
        check("*.rs", Some(&["a.rs", "b.rs"]));
        check(".e*", Some(&[".env", ".envrc"]));
        check(".env", Some(&[".env"]));
        check("?.rs", Some(&["a.rs", "b.rs"]));
        check("[!b].rs", Some(&["a.rs"]));
        check("*/*", Some(&["d/c.rs"]));
        check("*/.*", Some(&["d/.env"]));
        check("*/*.rs", Some(&["d/c.rs"]));
        check("x\\[*", Some(&["x[1]"]));
        check("{*}", Some(&["{y}"]));
        check("nosuch/*", Some(&[]));
        check("**/c.rs", None);
        check("@(a|b).rs", None);
        for number in 0..9 {
            fs::write(root.join(format!("n{number}")), "").unwrap();
        }
        check("n*", None);
    }
}
