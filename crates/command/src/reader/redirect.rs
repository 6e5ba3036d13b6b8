//! Reads redirects. It must not say where a target lies.

use super::{Next, Reader, is_meta};
use crate::{Redirect, RedirectOp, Word, WordKind};

impl Reader {
    /// Reads the redirects of a group or subshell.
    pub(super) fn trailing_redirects(&mut self) -> Next {
        loop {
            self.blanks();
            if !self.is_redirect() {
                return Next::Operator;
            }
            if let Some(redirect) = self.redirect() {
                self.line.redirects.push(redirect);
            }
        }
    }

    pub(super) fn is_process_substitution(&self) -> bool {
        matches!(self.look(0), Some('<' | '>')) && self.look(1) == Some('(')
    }

    /// How many digits stand here.
    fn digit_count(&self) -> usize {
        (0..)
            .take_while(|&i| self.look(i).is_some_and(|c| c.is_ascii_digit()))
            .take(11)
            .count()
    }

    pub(super) fn is_redirect(&self) -> bool {
        let count = self.digit_count();
        match self.look(count) {
            Some('<' | '>') => self.look(count + 1) != Some('('),
            Some('&') => count == 0 && self.look(1) == Some('>'),
            _ => false,
        }
    }

    /// Reads a redirect; `None` where it is none of a file or descriptor, which is then unknown.
    pub(super) fn redirect(&mut self) -> Option<Redirect> {
        let start = self.here();
        let digits: String = (0..self.digit_count())
            .filter_map(|_| self.bump())
            .collect();
        let fd = digits.parse::<u16>().ok().map(u32::from);
        let op = self.redirect_op(start)?;
        if fd.is_none() && !digits.is_empty() {
            let range = self.since(start);
            self.unknown(range, "a descriptor number");
        }
        self.blanks();
        if self.look(0).is_none_or(is_meta) && !self.is_process_substitution() {
            let range = self.since(start);
            self.unknown(range, "a redirect without a target");
            return None;
        }
        let target = self.word();
        if op != RedirectOp::Duplicate
            && matches!(self.look(0), Some('<' | '>'))
            && target.text.chars().all(|c| c.is_ascii_digit())
        {
            // These digits belong to the next redirect, and this one is left without a target.
            self.unknown(target.range.clone(), "a descriptor number");
        }
        let mut redirect = Redirect {
            range: self.since(start),
            fd,
            op,
            target,
        };
        if redirect.op == RedirectOp::Duplicate && !is_descriptor(&redirect.target) {
            // `>& file` is `&> file`; with any other descriptor shells disagree.
            let is_both = self.is_output(start) && fd.is_none_or(|fd| fd == 1);
            redirect.op = RedirectOp::Both;
            if !is_both {
                self.unknown(redirect.range.clone(), "a descriptor that is no number");
            }
        }
        Some(redirect)
    }

    /// Whether the redirect that began at `start` is one of `>`.
    fn is_output(&self, start: usize) -> bool {
        let from = self.chars.partition_point(|&(at, _)| at < start);
        self.chars
            .iter()
            .skip(from)
            .map(|&(_, c)| c)
            .find(|c| matches!(c, '<' | '>'))
            == Some('>')
    }

    /// Takes the operator; here-documents and here-strings are taken whole.
    fn redirect_op(&mut self, start: usize) -> Option<RedirectOp> {
        let (count, op) = match (self.look(0), self.look(1), self.look(2)) {
            (Some('&'), _, Some('>')) => (3, RedirectOp::Both),
            (Some('&'), _, _) => (2, RedirectOp::Both),
            (Some('<'), Some('<'), Some('<')) => {
                self.skip(3);
                self.blanks();
                self.word();
                let range = self.since(start);
                self.unknown(range, "a here-string");
                return None;
            }
            (Some('<'), Some('<'), next) => {
                self.heredoc(start, next == Some('-'));
                return None;
            }
            (Some('<'), Some('>'), _) => (2, RedirectOp::ReadWrite),
            (_, Some('&'), _) => (2, RedirectOp::Duplicate),
            (Some('<'), _, _) => (1, RedirectOp::Read),
            (_, Some('>'), _) => (2, RedirectOp::Append),
            (_, Some('|'), _) => (2, RedirectOp::Clobber),
            _ => (1, RedirectOp::Write),
        };
        self.skip(count);
        Some(op)
    }
}

/// Whether the target of `>&` or `<&` is a descriptor, a move of one, or `-`.
fn is_descriptor(word: &Word) -> bool {
    let digits = word.text.strip_suffix('-').unwrap_or(&word.text);
    word.kind == WordKind::Literal
        && !word.text.is_empty()
        && digits.chars().all(|c| c.is_ascii_digit())
}
