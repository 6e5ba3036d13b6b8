//! Reads compound commands. It must not read simple ones.

use std::rc::Rc;

use super::cursor::Parser;
use super::tree::{Arm, CommandKind, ForLoop, List, Simple, Word, is_name};

impl Parser<'_> {
    /// Reads what a `(` begins.
    pub(super) fn parenthesis(&mut self, start: usize) -> CommandKind {
        if self.peek_second() == Some(b'(') {
            if self.closes_twice() {
                self.skip(2);
                let parts = self.arithmetic();
                self.not_in_sh(start, "arithmetic");
                return CommandKind::Arithmetic(parts);
            }
            self.not_in_sh(start, "a subshell that looks like arithmetic");
        }
        self.skip(1);
        let list = self.filled_list();
        self.close(start, b')');
        CommandKind::Subshell(list)
    }

    /// Reads a list that may not be empty.
    fn filled_list(&mut self) -> List {
        let start = self.here();
        let list = self.list();
        if list.is_empty() {
            self.unknown(start..start, "an empty group");
        }
        list
    }

    /// Takes the character that ends what began at `start`.
    pub(super) fn close(&mut self, start: usize, closer: u8) {
        if !self.take(closer) {
            let range = self.since(start);
            self.unknown(range, "an opener without its end");
        }
    }

    fn close_keyword(&mut self, start: usize, closer: &str) {
        if !self.take_keyword(closer) {
            let range = self.since(start);
            self.unknown(range, "an opener without its end");
        }
    }

    /// Reads the compound command that begins with `keyword`.
    pub(super) fn compound(&mut self, start: usize, keyword: &'static str) -> CommandKind {
        self.skip(keyword.len());
        match keyword {
            "{" => {
                let list = self.filled_list();
                self.close_keyword(start, "}");
                CommandKind::Group(list)
            }
            "if" => self.branches(start),
            "while" | "until" => {
                let condition = self.filled_list();
                let body = self.do_done(start);
                CommandKind::While { condition, body }
            }
            "for" => self.for_loop(start, false),
            "select" => self.for_loop(start, true),
            "case" => self.case(start),
            "[[" => {
                let operands = self.test(start);
                self.not_in_sh(start, "a test expression");
                CommandKind::Test(operands)
            }
            "function" => {
                self.blanks();
                let name = self.word();
                self.blanks();
                if self.take(b'(') {
                    self.blanks();
                    self.close(start, b')');
                }
                self.not_in_sh(start, "`function`");
                self.function(start, name)
            }
            "coproc" => self.coprocess(start),
            _ => {
                let range = self.since(start);
                self.unknown(range, "a keyword that is out of place");
                CommandKind::Simple(Simple::default())
            }
        }
    }

    fn branches(&mut self, start: usize) -> CommandKind {
        let mut branches = Vec::new();
        let mut otherwise = None;
        loop {
            let condition = self.filled_list();
            self.close_keyword(start, "then");
            branches.push((condition, self.filled_list()));
            if !self.take_keyword("elif") {
                break;
            }
        }
        if self.take_keyword("else") {
            otherwise = Some(self.filled_list());
        }
        self.close_keyword(start, "fi");
        CommandKind::If {
            branches,
            otherwise,
        }
    }

    fn do_done(&mut self, start: usize) -> List {
        self.close_keyword(start, "do");
        let body = self.filled_list();
        self.close_keyword(start, "done");
        body
    }

    /// Reads the body of a `for` or `select`, which may stand in braces.
    fn body(&mut self, start: usize) -> List {
        self.newlines();
        if self.take_keyword("{") {
            let body = self.filled_list();
            self.close_keyword(start, "}");
            self.not_in_sh(start, "a loop in braces");
            return body;
        }
        self.do_done(start)
    }

    fn for_loop(&mut self, start: usize, is_select: bool) -> CommandKind {
        self.blanks();
        if self.peek() == Some(b'(') && self.peek_second() == Some(b'(') {
            self.skip(2);
            let arithmetic = self.arithmetic();
            self.not_in_sh(start, "a counting loop");
            self.blanks();
            self.take(b';');
            let body = self.body(start);
            return CommandKind::Count { arithmetic, body };
        }
        let name = self.word();
        let text = self.text;
        let name = match name.plain(text) {
            Some(plain) if is_name(&plain) => plain.into_owned(),
            _ => {
                self.unknown(name.range, "a variable that has no plain name");
                String::new()
            }
        };
        self.blanks();
        let has_end = self.take(b';');
        self.newlines();
        let mut words = None;
        if !has_end && self.take_keyword("in") {
            words = Some(self.words());
            if self.peek() != Some(b'\n') && !self.take(b';') {
                let range = self.since(start);
                self.unknown(range, "an opener without its end");
            }
        }
        if is_select {
            self.not_in_sh(start, "`select`");
        }
        let body = self.body(start);
        CommandKind::For(ForLoop {
            name,
            words,
            is_select,
            body,
        })
    }

    /// Reads words up to the end of the line or an operator.
    fn words(&mut self) -> Vec<Word> {
        let mut words = Vec::new();
        loop {
            self.blanks();
            if !self.at_word() {
                return words;
            }
            words.push(self.word());
        }
    }

    fn case(&mut self, start: usize) -> CommandKind {
        self.blanks();
        let subject = self.word();
        self.newlines();
        self.close_keyword(start, "in");
        let mut arms = Vec::new();
        loop {
            self.newlines();
            if self.take_keyword("esac") {
                break;
            }
            let at = self.here();
            self.take(b'(');
            let mut patterns = Vec::new();
            loop {
                self.blanks();
                if !self.at_word() {
                    break;
                }
                patterns.push(self.word());
                self.blanks();
                if !self.take(b'|') {
                    break;
                }
            }
            if patterns.is_empty() || !self.take(b')') {
                let range = self.since(start);
                self.unknown(range, "an opener without its end");
                break;
            }
            let body = self.list();
            let ending = match (self.peek(), self.peek_second(), self.peek_third()) {
                (Some(b';'), Some(b';'), Some(b'&')) => Some((3, true)),
                (Some(b';'), Some(b'&'), _) => Some((2, true)),
                (Some(b';'), Some(b';'), _) => Some((2, false)),
                _ => None,
            };
            let (length, falls_through) = ending.unwrap_or_default();
            self.skip(length);
            if falls_through {
                self.not_in_sh(at, "a branch that goes on in the next");
            }
            arms.push(Arm {
                patterns,
                body,
                falls_through,
            });
            if ending.is_none() {
                self.close_keyword(start, "esac");
                break;
            }
        }
        CommandKind::Case { subject, arms }
    }

    pub(super) fn function(&mut self, start: usize, name: Word) -> CommandKind {
        self.newlines();
        let body = self.deeper(start, |it| Some(it.command()));
        let Some(body) = body else {
            return CommandKind::Simple(Simple::default());
        };
        if matches!(
            body.kind,
            CommandKind::Simple(_) | CommandKind::Function { .. } | CommandKind::Coprocess { .. }
        ) {
            let range = self.since(start);
            self.unknown(range, "a function whose body is no group");
        }
        if name.plain(self.text).is_none() {
            self.unknown(name.range.clone(), "a function that has no plain name");
        }
        CommandKind::Function {
            name,
            body: Rc::new(body),
        }
    }

    /// Reads `coproc [NAME] COMMAND`; a name may only stand before a compound command.
    fn coprocess(&mut self, start: usize) -> CommandKind {
        self.not_in_sh(start, "a coprocess");
        self.blanks();
        let name = self.coprocess_name();
        if !self.at_word() && self.peek() != Some(b'(') && !self.at_redirect() {
            let range = self.since(start);
            self.unknown(range, "a missing command");
        }
        let body = Box::new(self.command());
        CommandKind::Coprocess { name, body }
    }

    /// The plain name before a compound command.
    fn coprocess_name(&mut self) -> Option<String> {
        let start = self.here();
        let mut name = String::new();
        let mut at = start;
        while let Some(byte) = self.byte(at)
            && (byte.is_ascii_alphanumeric() || byte == b'_')
        {
            name.push(byte.into());
            at = self.fold(at + 1);
        }
        if !is_name(&name) || !matches!(self.byte(at), Some(b' ' | b'\t' | b'(')) {
            return None;
        }
        if self.keyword().is_some() {
            return None;
        }
        self.pos = at;
        self.blanks();
        if self.peek() == Some(b'(') || self.keyword().is_some() {
            return Some(name);
        }
        self.pos = start;
        None
    }
}
