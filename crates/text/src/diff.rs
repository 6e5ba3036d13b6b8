//! The unified diff a person reads before a write. Must not hide a change: what cannot be shown as
//! lines is said in words.

use crate::escape;
use similar::{Algorithm, ChangeTag, TextDiff, TextDiffConfig};
use std::fmt::Write as _;

/// Above this many characters on either side only a summary is made. The number is the one of the
/// compatible systems.
pub const CHARS_MAX: usize = 500_000;

/// The same for lines: unrelated lines of a few kinds take a quarter of a second at this many, and
/// ten times as long at the most that `CHARS_MAX` admits (measured).
pub const LINES_MAX: usize = 50_000;

const CONTEXT_LINES: usize = 3;

/// Renders what a write changes, with three lines of context; empty if it changes nothing.
/// `before` is `None` for a file that does not exist yet. Lines are compared byte for byte, so a
/// changed line ending is a changed line; their text is not escaped (see [`escape::visible`]).
pub fn unified(path: &str, before: Option<&[u8]>, after: &[u8]) -> String {
    if before == Some(after) {
        return String::new();
    }
    let header = header(path, before.is_none());
    let old_bytes = before.unwrap_or_default();
    let (Ok(old), Ok(new)) = (str::from_utf8(old_bytes), str::from_utf8(after)) else {
        let (old, new) = (old_bytes.len(), after.len());
        return format!("{header}binary content, {old} -> {new} bytes\n");
    };
    if is_too_large(old) || is_too_large(new) {
        let lines = format!("{} -> {} lines", old.lines().count(), new.lines().count());
        let bytes = format!("{} -> {} bytes", old.len(), new.len());
        return format!("{header}too large to compare, {lines}, {bytes}\n");
    }
    header + &hunks(old, new)
}

fn is_too_large(text: &str) -> bool {
    text.chars().count() > CHARS_MAX || text.lines().count() > LINES_MAX
}

fn header(path: &str, is_new: bool) -> String {
    let path = escape::visible_line(path);
    // An absolute path keeps its slash: `a//etc` would hide that it is one.
    let (old, new) = if path.starts_with('/') {
        (path.clone(), path)
    } else {
        (format!("a/{path}"), format!("b/{path}"))
    };
    if is_new {
        return format!("new file\n--- /dev/null\n+++ {new}\n");
    }
    format!("--- {old}\n+++ {new}\n")
}

fn hunks(old: &str, new: &str) -> String {
    // The crate's own splitter also ends lines at a lone CR, which would let one line of a file
    // look like two lines of the diff.
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    // This variant bounds its work by heuristics: no deadline, so the same answer every time.
    let diff: TextDiff<'_, '_, str> = TextDiffConfig::default()
        .algorithm(Algorithm::Myers)
        .diff_slices(&old, &new);
    let mut shown = String::new();
    for hunk in diff
        .unified_diff()
        .context_radius(CONTEXT_LINES)
        .iter_hunks()
    {
        // Writing to a String cannot fail.
        let _ = writeln!(shown, "{}", hunk.header());
        for change in hunk.iter_changes() {
            let line = change.value();
            shown.push(match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            });
            shown.push_str(line);
            if !line.ends_with('\n') {
                shown.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    shown
}
