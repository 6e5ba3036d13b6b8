//! Diffs as a person reads them. Must not time them: bounded work is tested by size alone.

use crate::text::diff::{CHARS_MAX, LINES_MAX, unified};
use proptest::prelude::*;

#[test]
fn a_change_is_shown_with_three_lines_of_context() {
    let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let after = before.replace("5\n", "five\nand\n");
    let expected =
        "--- a/src/x\n+++ b/src/x\n@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n+and\n 6\n 7\n 8\n";
    assert_eq!(
        unified("src/x", Some(before.as_bytes()), after.as_bytes()),
        expected
    );
}

#[test]
fn distant_changes_are_two_hunks() {
    let before = (1..=20)
        .map(|n| n.to_string())
        .collect::<Vec<_>>()
        .join("\n")
        + "\n";
    let after = before.replacen("1\n", "one\n", 1).replace("20\n", "");
    let diff = unified("x", Some(before.as_bytes()), after.as_bytes());
    assert_eq!(diff.matches("@@ -").count(), 2);
    assert!(diff.contains("@@ -17,4 +17,3 @@\n 17\n 18\n 19\n-20\n"));
}

#[test]
fn diffs_read_as_the_table_says() {
    type Row = (
        &'static str,
        Option<&'static [u8]>,
        &'static [u8],
        &'static str,
    );
    let rows: [Row; 12] = [
        ("x", Some(b"a\n"), b"a\n", ""),
        (
            "x",
            None,
            b"a\nb\n",
            "new file\n--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n",
        ),
        ("x", None, b"", "new file\n--- /dev/null\n+++ b/x\n"),
        (
            "x",
            Some(b""),
            b"a\n",
            "--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+a\n",
        ),
        (
            "x",
            Some(b"a\n"),
            b"",
            "--- a/x\n+++ b/x\n@@ -1 +0,0 @@\n-a\n",
        ),
        (
            "x",
            Some(b"a\n"),
            b"a",
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n",
        ),
        (
            "x",
            Some(b"a"),
            b"b",
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n",
        ),
        // A changed line ending is a change, and a lone CR does not begin a line.
        (
            "x",
            Some(b"a\n"),
            b"a\r\n",
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+a\r\n",
        ),
        (
            "x",
            Some(b"a\r-b\n"),
            b"a\r+c\n",
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\r-b\n+a\r+c\n",
        ),
        (
            "x",
            Some(b"a\xff"),
            b"text",
            "--- a/x\n+++ b/x\nbinary content, 2 -> 4 bytes\n",
        ),
        (
            "x",
            None,
            b"\xff\xfe",
            "new file\n--- /dev/null\n+++ b/x\nbinary content, 0 -> 2 bytes\n",
        ),
        (
            "/etc/a\nb",
            Some(b""),
            b"\xff",
            "--- /etc/a\\u{a}b\n+++ /etc/a\\u{a}b\nbinary content, 0 -> 1 bytes\n",
        ),
    ];
    for (path, before, after, expected) in rows {
        assert_eq!(unified(path, before, after), expected);
    }
}

#[test]
fn a_huge_side_is_only_summed_up() {
    let line = "x".repeat(CHARS_MAX);
    let lines = "\n".repeat(LINES_MAX);
    let unified =
        |before: &str, after: &str| unified("x", Some(before.as_bytes()), after.as_bytes());
    assert!(unified(&line, &lines).contains("@@"));
    assert_eq!(
        unified("", &(line + "\n")),
        "--- a/x\n+++ b/x\ntoo large to compare, 0 -> 1 lines, 0 -> 500001 bytes\n"
    );
    assert_eq!(
        unified(&(lines + "\n"), "a\n"),
        "--- a/x\n+++ b/x\ntoo large to compare, 50001 -> 1 lines, 50001 -> 2 bytes\n"
    );
}

/// As many short lines as the limit admits, of 16 kinds in no order: the hard case of comparing.
fn shuffled_lines(mut seed: u32) -> String {
    let mut text = String::new();
    for _ in 0..LINES_MAX {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        text.extend([char::from(b'a' + (seed >> 28) as u8), '\n']);
    }
    text
}

#[test]
fn the_largest_unrelated_texts_still_give_a_diff() {
    let (before, after) = (shuffled_lines(1), shuffled_lines(2));
    let diff = unified("x", Some(before.as_bytes()), after.as_bytes());
    assert_eq!(
        apply(diff.strip_prefix("--- a/x\n+++ b/x\n").unwrap(), &before),
        after
    );
}

/// Applies a diff the slow and obvious way.
fn apply(diff: &str, before: &str) -> String {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let (mut new, mut at) = (String::new(), 0);
    let mut lines = diff.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let mut body = line[1..].to_owned();
        if lines.next_if(|next| next.starts_with('\\')).is_some() {
            body.pop();
        }
        match line.as_bytes()[0] {
            b'@' => {
                let range = line.split(['-', ' ']).nth(2).unwrap();
                let (start, len) = range.split_once(',').unwrap_or((range, "1"));
                let start: usize = start.parse::<usize>().unwrap() - usize::from(len != "0");
                new.extend(old[at..start].iter().copied());
                at = start;
            }
            b'-' => at += 1,
            b'+' => new.push_str(&body),
            _ => {
                assert_eq!(old[at], body);
                new.push_str(&body);
                at += 1;
            }
        }
    }
    new.extend(old[at..].iter().copied());
    new
}

proptest! {
    #[test]
    fn a_diff_applied_gives_the_text_after(
        before in "([a-c\r]{0,2}\n){0,30}[a-c]{0,2}", after in "([a-c\r]{0,2}\n){0,30}[a-c]{0,2}",
    ) {
        let diff = unified("x", Some(before.as_bytes()), after.as_bytes());
        let hunks = diff.strip_prefix("--- a/x\n+++ b/x\n").unwrap_or(&diff);
        prop_assert_eq!(apply(hunks, &before), after);
    }
}
