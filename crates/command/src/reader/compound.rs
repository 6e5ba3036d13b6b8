//! Gets past keywords, so that the commands between them are found. It must not take any of them for understood.

use super::{Next, Reader, is_meta, is_name};

impl Reader {
    /// Gets past a keyword so that the commands after it are found.
    pub(super) fn keyword(&mut self, keyword: &str) -> Next {
        let start = self.here();
        if keyword == "[[" {
            self.test_expression();
            let range = self.since(start);
            self.unknown(range, "a test expression");
            return self.trailing_redirects();
        }
        self.skip(keyword.chars().count());
        let range = self.since(start);
        self.unknown(range, what_keyword(keyword));
        match keyword {
            "fi" | "done" => return self.trailing_redirects(),
            "esac" => {
                self.case_depth = self.case_depth.saturating_sub(1);
                return self.trailing_redirects();
            }
            "for" | "select" => {
                self.words_until(None);
                return Next::Operator;
            }
            "case" => {
                self.words_until(Some("in"));
                self.case_depth += 1;
                self.case_pattern();
            }
            "function" => {
                self.blanks();
                self.word();
                self.blanks();
                if self.look(0) == Some('(') && self.look(1) == Some(')') {
                    self.skip(2);
                }
            }
            "coproc" => self.coproc_name(),
            "time" => {
                self.blanks();
                while self.at_word("-p") || self.at_word("--") {
                    self.skip(2);
                    self.blanks();
                }
            }
            _ => {}
        }
        Next::Command
    }

    /// Skips the words of `for` or `case` to the end of the line, or past `last`.
    fn words_until(&mut self, last: Option<&str>) {
        loop {
            self.blanks();
            match self.look(0) {
                None | Some('\n' | ';' | '&' | '|' | ')') => return,
                _ => {}
            }
            let word = self.word();
            if last.is_some_and(|last| word.text == last) {
                return;
            }
        }
    }

    /// Skips the name a coprocess is given, which only a compound command may have.
    fn coproc_name(&mut self) {
        self.blanks();
        let (pos, unknown_count) = (self.pos, self.line.unknown.len());
        if self.look(0).is_none_or(is_meta) || self.at_word("{") {
            return;
        }
        let word = self.word();
        self.blanks();
        let is_name = is_name(&word.text) && (self.at_word("{") || self.look(0) == Some('('));
        if !is_name && self.line.unknown.len() == unknown_count {
            self.pos = pos;
        }
    }

    /// Takes `;;`, `;&` or `;;&` and the pattern after it.
    pub(super) fn case_break(&mut self) {
        if self.case_depth == 0 {
            return self.stray("a character that has no place here");
        }
        while matches!(self.look(0), Some(';' | '&')) {
            self.skip(1);
        }
        self.case_pattern();
    }

    /// Skips one pattern of `case` with its parenthesis.
    fn case_pattern(&mut self) {
        self.newlines();
        if self.at_word("esac") {
            return;
        }
        if self.look(0) == Some('(') {
            self.skip(1);
        }
        loop {
            self.blanks();
            match self.look(0) {
                None | Some('\n' | ';' | '&') => return,
                Some(')') => return self.skip(1),
                Some('|') => self.skip(1),
                _ => {
                    self.word();
                }
            }
        }
    }

    /// Skips `[[ ... ]]`.
    fn test_expression(&mut self) {
        self.skip(2);
        loop {
            self.newlines();
            if self.at_word("]]") {
                return self.skip(2);
            }
            match self.look(0) {
                None => return,
                Some('<' | '>') if self.look(1) != Some('(') => self.skip(1),
                Some(';' | '&' | '|' | '(' | ')') => self.skip(1),
                _ => {
                    self.word();
                }
            }
        }
    }
}

pub(super) fn is_keyword(word: &str) -> bool {
    !what_keyword(word).is_empty()
}

/// What a keyword begins; empty for other words.
fn what_keyword(word: &str) -> &'static str {
    match word {
        "if" | "then" | "elif" | "else" | "fi" | "case" | "esac" => "a branch",
        "for" | "while" | "until" | "select" | "do" | "done" => "a loop",
        "function" => "a function",
        "coproc" => "a coprocess",
        "time" => "a timed pipeline",
        "[[" => "a test expression",
        "{" | "}" | "!" | "in" | "]]" => "a keyword that is out of place",
        _ => "",
    }
}
