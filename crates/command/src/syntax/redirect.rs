//! Reads redirects. It must not read the bodies of here-documents.

use super::cursor::Parser;
use super::tree::{Redirect, Target, Word};
use crate::line::RedirectOp;

impl Parser<'_> {
    /// Whether a redirect stands here.
    pub(super) fn at_redirect(&mut self) -> bool {
        match self.peek() {
            Some(b'<' | b'>') => self.peek_second() != Some(b'('),
            Some(b'&') => self.peek_second() == Some(b'>'),
            Some(b'0'..=b'9') => self.after_prefix(|byte| byte.is_ascii_digit(), self.pos),
            Some(b'{') => {
                let first = self.fold(self.pos + 1);
                self.byte(first)
                    .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
                    && self.after_prefix(|byte| byte.is_ascii_alphanumeric() || byte == b'_', first)
            }
            _ => false,
        }
    }

    /// Whether a redirect operator stands behind what is a descriptor, or a variable for one.
    fn after_prefix(&self, is_part: impl Fn(u8) -> bool, mut at: usize) -> bool {
        let is_variable = self.byte(self.pos) == Some(b'{');
        while self.byte(at).is_some_and(&is_part) {
            at = self.fold(at + 1);
        }
        if is_variable {
            if self.byte(at) != Some(b'}') {
                return false;
            }
            at = self.fold(at + 1);
        }
        let second = self.byte(self.fold(at + 1));
        matches!(self.byte(at), Some(b'<' | b'>')) && second != Some(b'(')
    }

    /// Reads the redirect that stands here; `None` where its target is missing.
    pub(super) fn redirect(&mut self) -> Option<Redirect> {
        let start = self.here();
        let (fd, variable) = self.descriptor(start);
        let op_start = self.here();
        let op = self.redirect_operator(op_start);
        let Some(op) = op else {
            return self.heredoc(start, fd, variable);
        };
        self.blanks();
        if !self.at_word() {
            let range = self.since(start);
            self.unknown(range, "a redirect without a target");
            return None;
        }
        let word = self.word();
        self.check_target(op, fd, &word);
        Some(Redirect {
            range: self.since(start),
            fd,
            variable,
            op,
            target: Target::Word(word),
        })
    }

    /// Takes the descriptor before the operator, or the variable that is to hold one.
    fn descriptor(&mut self, start: usize) -> (Option<u32>, Option<String>) {
        let mut digits = String::new();
        if self.take(b'{') {
            while let Some(byte) = self.peek()
                && byte != b'}'
            {
                digits.push(byte.into());
                self.skip(1);
            }
            self.skip(1);
            self.not_in_sh(start, "a descriptor variable");
            return (None, Some(digits));
        }
        while let Some(byte @ b'0'..=b'9') = self.peek() {
            digits.push(byte.into());
            self.skip(1);
        }
        let fd = digits.parse().ok();
        if !digits.is_empty() && fd.is_none_or(|fd: u32| fd > 9999) {
            let range = self.since(start);
            self.unknown(range, "a descriptor number");
        }
        (fd, None)
    }

    /// Takes the operator; `None` for a here-document, whose operator is left.
    fn redirect_operator(&mut self, start: usize) -> Option<RedirectOp> {
        let (op, length) = match (self.peek(), self.peek_second(), self.peek_third()) {
            (Some(b'<'), Some(b'<'), Some(b'<')) => (RedirectOp::Text, 3),
            (Some(b'<'), Some(b'<'), _) => return None,
            (Some(b'<'), Some(b'>'), _) => (RedirectOp::ReadWrite, 2),
            (_, Some(b'&'), _) => (RedirectOp::Duplicate, 2),
            (Some(b'<'), _, _) => (RedirectOp::Read, 1),
            (Some(b'&'), _, Some(b'>')) => (RedirectOp::Both, 3),
            (Some(b'&'), _, _) => (RedirectOp::Both, 2),
            (_, Some(b'>'), _) => (RedirectOp::Append, 2),
            (_, Some(b'|'), _) => (RedirectOp::Clobber, 2),
            _ => (RedirectOp::Write, 1),
        };
        self.skip(length);
        match op {
            RedirectOp::Both => self.not_in_sh(start, "`&>`"),
            RedirectOp::Text => self.not_in_sh(start, "a here-string"),
            _ => {}
        }
        Some(op)
    }

    /// Notes targets on which shells do not agree.
    fn check_target(&mut self, op: RedirectOp, fd: Option<u32>, word: &Word) {
        let text = self.text;
        let Some(plain) = word.plain(text) else {
            return;
        };
        let is_number = plain.bytes().all(|byte| byte.is_ascii_digit());
        if is_number && matches!(self.peek(), Some(b'<' | b'>')) {
            self.unknown(word.range.clone(), "a descriptor number");
        }
        let is_descriptor = plain
            .strip_suffix('-')
            .unwrap_or(&plain)
            .bytes()
            .all(|byte| byte.is_ascii_digit());
        let source = text.get(..word.range.start).unwrap_or_default();
        let reads = source.trim_end().ends_with("<&");
        if op == RedirectOp::Duplicate && !is_descriptor && (reads || fd.is_some_and(|fd| fd != 1))
        {
            self.unknown(word.range.clone(), "a descriptor that is no number");
        }
        if op == RedirectOp::Duplicate && !is_descriptor {
            self.not_in_sh(word.range.start, "`>&` with a file");
        }
        let is_zsh = self.shell == crate::line::Shell::Zsh;
        if is_zsh
            && (plain.starts_with(['!', '|']) || (op == RedirectOp::Read && plain.contains('-')))
        {
            self.unknown(word.range.clone(), "a redirect that zsh may read otherwise");
        }
    }
}
