//! Reads here-documents. It must not take their text for commands.

use super::cursor::{Parser, Pending};
use super::tree::{Heredoc, Part, PartKind, Redirect, Target};
use crate::line::RedirectOp;

impl Parser<'_> {
    /// Takes the operator and the delimiter of a here-document; the body follows later.
    pub(super) fn heredoc(
        &mut self,
        start: usize,
        fd: Option<u32>,
        variable: Option<String>,
    ) -> Option<Redirect> {
        self.skip(2);
        let strips_tabs = self.take(b'-');
        self.blanks();
        if !self.at_word() {
            let range = self.since(start);
            self.unknown(range, "a redirect without a target");
            return None;
        }
        let word = self.word();
        let mut delimiter = String::new();
        let mut is_plain = !word.parts.is_empty();
        for part in word.parts.iter() {
            is_plain &= matches!(part.kind, PartKind::Text);
            delimiter.push_str(self.text.get(part.range.clone()).unwrap_or_default());
        }
        if !is_plain || delimiter.contains(['\n', '\r']) {
            self.unknown(word.range.clone(), "a delimiter that is not plain");
        }
        let index = self.heredocs.len();
        self.heredocs.push(Heredoc::default());
        self.pending.push(Pending {
            index,
            delimiter,
            is_quoted: word.range.len() != self.plain_length(&word),
            strips_tabs,
        });
        Some(Redirect {
            range: self.since(start),
            fd,
            variable,
            op: RedirectOp::Text,
            target: Target::Heredoc(index, word),
        })
    }

    /// How many bytes of a word are neither quotes nor in quotes.
    fn plain_length(&self, word: &super::tree::Word) -> usize {
        let folded = self.text.get(word.range.clone()).unwrap_or_default();
        let folds = 2 * folded.matches("\\\n").count();
        let plain = word.parts.iter().filter(|part| !part.is_quoted);
        plain.map(|part| part.range.len()).sum::<usize>() + folds
    }

    /// Reads the bodies that start here.
    pub(super) fn heredoc_bodies(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            let start = self.pos;
            let parts = self.heredoc_body(&pending);
            if let Some(heredoc) = self.heredocs.get_mut(pending.index) {
                *heredoc = Heredoc {
                    range: start..self.pos,
                    parts,
                };
            }
        }
    }

    /// The end of the line that starts at `at`, before its newline, and whether it is the delimiter.
    fn heredoc_line(&self, pending: &Pending, mut at: usize) -> (usize, bool) {
        let mut rest = pending.delimiter.as_bytes().iter();
        let mut is_delimiter = true;
        let mut is_start = true;
        loop {
            if !pending.is_quoted {
                at = self.fold(at);
            }
            match self.byte(at) {
                None | Some(b'\n') => break,
                Some(b'\t') if is_start && pending.strips_tabs => {}
                Some(byte) => {
                    is_start = false;
                    is_delimiter &= rest.next() == Some(&byte);
                    if byte == b'\\' && !pending.is_quoted && self.byte(at + 1).is_some() {
                        at += 1;
                        is_delimiter &= rest.next() == self.text.as_bytes().get(at);
                    }
                }
            }
            at += 1;
        }
        (at, is_delimiter && rest.next().is_none())
    }

    /// Takes the body of a here-document and the line of its delimiter, but not the newline behind that.
    fn heredoc_body(&mut self, pending: &Pending) -> Vec<Part> {
        let start = self.pos;
        let mut parts = Vec::new();
        let mut line = start;
        loop {
            let (end, is_delimiter) = self.heredoc_line(pending, line);
            let is_last = self.byte(end).is_none();
            if is_delimiter || is_last {
                let body_end = if is_delimiter { line } else { end };
                if pending.is_quoted {
                    parts.push(Part {
                        range: start..body_end,
                        is_quoted: true,
                        kind: PartKind::Text,
                    });
                } else {
                    let outer = self.stop_at(body_end);
                    self.pos = start;
                    parts = self.deeper(start, Self::heredoc_text);
                    self.stop_at(outer);
                }
                if !is_delimiter {
                    self.unknown(start..end, "a here-document without its end");
                }
                self.jump(end);
                return parts;
            }
            let source = self.text.get(line..end).unwrap_or_default();
            if self.depth > 0
                && source
                    .trim_start_matches('\t')
                    .strip_prefix(pending.delimiter.as_str())
                    .is_some_and(|rest| rest.contains([')', '`']))
            {
                self.unknown(line..end, "a line that may end a here-document");
            }
            line = end + 1;
        }
    }

    /// Reads the expansions of a body up to its end.
    fn heredoc_text(&mut self) -> Vec<Part> {
        let mut parts = Vec::new();
        while let Some(byte) = self.peek() {
            match byte {
                b'$' => self.dollar(&mut parts, true),
                b'`' => self.backquoted(&mut parts, true),
                b'\\' => {
                    let start = self.pos;
                    self.raw();
                    let is_escape = matches!(self.byte(self.pos), Some(b'$' | b'`' | b'\\'));
                    let start = if is_escape { self.pos } else { start };
                    self.raw();
                    parts.push(Part {
                        range: start..self.pos,
                        is_quoted: true,
                        kind: PartKind::Text,
                    });
                }
                _ => {
                    let start = self.pos;
                    let rest = self.text.get(start..self.end).unwrap_or_default();
                    let length = rest.find(['$', '`', '\\']).unwrap_or(rest.len());
                    self.jump(start + length);
                    parts.push(Part {
                        range: start..start + length,
                        is_quoted: true,
                        kind: PartKind::Text,
                    });
                }
            }
        }
        parts
    }
}
