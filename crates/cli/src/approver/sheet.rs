//! Lines for a terminal, in which what others wrote cannot pass for ours: each line of theirs, also one that the
//! terminal would have wrapped, stands behind a mark at the left. Must not know what is asked.

use std::{collections::VecDeque, fmt::Write as _};
use text::escape::{spelled, spelled_line, visible};

/// Before a line of others.
const LINE: &str = "    | ";

/// Before what did not fit on the line above.
const CONTINUED: &str = "    : ";

/// What is folded is never narrower, in columns: marks and nothing else would be no help.
const COLUMNS_MIN: usize = 20;

/// Text that grows downwards.
#[derive(Debug)]
pub(super) struct Sheet {
    text: String,
    columns: usize,
}

impl Sheet {
    /// For a terminal of so many columns.
    pub(super) fn new(columns: usize) -> Self {
        Self {
            text: String::new(),
            columns: columns.max(COLUMNS_MIN),
        }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    /// A line of our own words.
    pub(super) fn ours(&mut self, line: &str) {
        // Writing to a string cannot fail.
        let _ok = writeln!(self.text, "{line}");
    }

    /// Words of others behind ours, as one line that is folded.
    pub(super) fn item(&mut self, ours: &str, theirs: &str) {
        for line in self.folded(ours, &spelled_line(theirs)) {
            self.ours(&line);
        }
    }

    /// All lines of a text.
    pub(super) fn whole(&mut self, text: &str) {
        for line in self.lines(&spelled(text)) {
            self.ours(&line);
        }
    }

    /// All lines of a change, in the letters of the file.
    pub(super) fn diff(&mut self, text: &str) {
        for line in self.lines(&visible(text)) {
            self.ours(&line);
        }
    }

    /// The first lines of a text, and how many are left out.
    pub(super) fn start(&mut self, text: &str, count_max: usize) {
        let mut lines = self.lines(&spelled(text));
        let left_out = lines.len().saturating_sub(count_max);
        lines.truncate(count_max);
        for line in lines {
            self.ours(&line);
        }
        if left_out > 0 {
            self.ours(&format!("    ({left_out} more lines are left out)"));
        }
    }

    /// How many lines are left out, and the last ones of a text.
    pub(super) fn end(&mut self, text: &str, count_max: usize) {
        let lines = self.lines(&spelled(text));
        let left_out = lines.len().saturating_sub(count_max);
        if left_out > 0 {
            self.ours(&format!("    ({left_out} lines before are left out)"));
        }
        for line in lines.iter().skip(left_out) {
            self.ours(line);
        }
    }

    fn lines(&self, text: &str) -> VecDeque<String> {
        text.lines()
            .flat_map(|line| self.folded(LINE, line))
            .collect()
    }

    /// One line as those of the terminal, none of which it wraps.
    fn folded(&self, start: &str, line: &str) -> Vec<String> {
        let mut folded = Vec::new();
        let mut now = start.to_owned();
        let mut width = start.chars().count();
        for c in line.chars() {
            let wide = columns_of(c);
            if width + wide > self.columns && width > CONTINUED.len() {
                folded.push(std::mem::replace(&mut now, CONTINUED.to_owned()));
                width = CONTINUED.len();
            }
            now.push(c);
            width += wide;
        }
        folded.push(now);
        folded
    }
}

/// Words of others behind ours, folded, for a prompt that goes on behind them.
pub(super) fn folded(ours: &str, theirs: &str, columns: usize) -> String {
    let sheet = Sheet::new(columns);
    sheet.folded(ours, &spelled_line(theirs)).join("\n")
}

/// The columns that a character takes at most.
fn columns_of(c: char) -> usize {
    match c {
        '\t' => 8,
        _ if c.is_ascii() => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_would_be_wrapped_is_folded_behind_a_mark() {
        let mut sheet = Sheet::new(20);
        sheet.whole("0123456789abcdef\n\n\u{4f60}\u{597d}\u{4f60}\u{597d}\tx");
        sheet.item("  because ", "of this and that");
        let want = "    | 0123456789abcd\n    : ef\n    | \n    | \u{4f60}\u{597d}\u{4f60}\u{597d}\n    : \tx\n  \
                    because of this an\n    : d that\n";
        assert_eq!(sheet.finish(), want);
    }

    #[test]
    fn what_is_left_out_is_counted_in_words_of_ours() {
        let text = "0\n1\n2\n3\n4\n5\n6\n7\n8\n";
        let mut sheet = Sheet::new(80);
        sheet.start(text, 2);
        sheet.end(text, 2);
        let want = "    | 0\n    | 1\n    (7 more lines are left out)\n    (7 lines before are left out)\n    \
                    | 7\n    | 8\n";
        assert_eq!(sheet.finish(), want);
    }

    /// Texts that would be lines of ours, or push some away.
    fn hostile() -> Vec<String> {
        let spaces = " ".repeat(74);
        vec![
            format!("x{spaces}  the command:{spaces}  ls"),
            "\u{4f60}".repeat(500),
            "\t\t\t\t\t\t\t\t\t\t\t\tx".into(),
            "\u{1b}[2J\u{5d0}\u{336}\r\n  WARNING\n\n? bash wants leave to".into(),
            "-".repeat(3_000),
        ]
    }

    #[test]
    fn no_line_of_others_is_wrapped_or_stands_without_a_mark() {
        for text in hostile() {
            for columns in [0, 1, 20, 21, 22, 79, 80, 81, 200] {
                let mut sheet = Sheet::new(columns);
                sheet.whole(&text);
                sheet.diff(&text);
                for line in sheet.finish().lines() {
                    let is_marked = line.starts_with(LINE) || line.starts_with(CONTINUED);
                    assert!(is_marked, "{line:?}");
                    let width: usize = line.chars().map(columns_of).sum();
                    assert!(width <= columns.max(COLUMNS_MIN), "{columns} {line:?}");
                }
            }
        }
    }

    #[test]
    fn folding_leaves_nothing_out() {
        for text in hostile() {
            let mut sheet = Sheet::new(33);
            sheet.whole(&text);
            let unfolded = sheet.finish().replace("\n    : ", "");
            let want = spelled(&text).lines().collect::<Vec<_>>().join("\n    | ");
            assert_eq!(unfolded, format!("    | {want}\n"));
        }
    }
}
