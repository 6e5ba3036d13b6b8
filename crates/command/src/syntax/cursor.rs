//! The place in the text while it is read. It must not know the grammar.

use std::borrow::Cow;
use std::ops::Range;

use super::tree::{Heredoc, Part};
use crate::line::{Shell, Unknown};

/// A here-document whose body starts after the next newline.
#[derive(Debug)]
pub(super) struct Pending {
    pub index: usize,
    pub delimiter: String,
    pub is_quoted: bool,
    pub strips_tabs: bool,
}

#[derive(Debug)]
pub(super) struct Parser<'t> {
    pub text: &'t str,
    /// The part of the text that is read.
    bytes: &'t [u8],
    pub shell: Shell,
    pub depth: usize,
    pub heredocs: Vec<Heredoc>,
    pub pending: Vec<Pending>,
    pub unknown: Vec<Unknown>,
    /// Empty, with room for the parts of the next word.
    pub spare: Vec<Part>,
    /// The keyword that was last looked for, and where.
    pub looked_for: Option<(usize, Option<&'static str>)>,
    /// How many simple commands were read.
    pub command_count: usize,
    pub pos: usize,
    /// Where the part of the text that is read ends.
    pub end: usize,
    /// The end of the last character taken.
    last: usize,
}

/// Whether `byte` ends an unquoted word.
pub(super) fn is_meta(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')'
    )
}

// Outside single quotes and comments a backslash before a newline is nothing at all, even inside an
// operator, so `peek` and `bump` see the text without such pairs and `raw` sees it with them.
impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str, shell: Shell, depth: usize) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            shell,
            depth,
            heredocs: Vec::new(),
            pending: Vec::new(),
            unknown: Vec::new(),
            spare: Vec::new(),
            looked_for: None,
            command_count: 0,
            pos: 0,
            end: text.len(),
            last: 0,
        }
    }

    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    /// What is left of the part that is read.
    pub(super) fn rest(&self) -> &'t [u8] {
        self.bytes.get(self.pos..).unwrap_or_default()
    }

    /// Reads no further than `end`. Returns where it would have read to.
    pub(super) fn stop_at(&mut self, end: usize) -> usize {
        self.bytes = self.text.as_bytes().get(..end).unwrap_or_default();
        self.looked_for = None;
        std::mem::replace(&mut self.end, end)
    }

    /// The first place from `at` on that is no continuation of a line.
    pub(super) fn fold(&self, mut at: usize) -> usize {
        while self.byte(at) == Some(b'\\') && self.byte(at + 1) == Some(b'\n') {
            at += 2;
        }
        at
    }

    /// The next byte.
    pub(super) fn peek(&mut self) -> Option<u8> {
        let byte = self.byte(self.pos)?;
        if byte != b'\\' {
            return Some(byte);
        }
        self.pos = self.fold(self.pos);
        self.byte(self.pos)
    }

    /// The byte after the next.
    pub(super) fn peek_second(&mut self) -> Option<u8> {
        self.peek()?;
        self.byte(self.fold(self.pos + 1))
    }

    pub(super) fn peek_third(&mut self) -> Option<u8> {
        self.peek()?;
        let second = self.fold(self.pos + 1);
        self.byte(self.fold(second + 1))
    }

    /// Takes the next character.
    pub(super) fn bump(&mut self) -> Option<u8> {
        self.peek()?;
        self.raw()
    }

    /// Takes the next character as it stands.
    pub(super) fn raw(&mut self) -> Option<u8> {
        let byte = self.byte(self.pos)?;
        self.pos += match byte {
            0..0xc0 => 1,
            0xc0..0xe0 => 2,
            0xe0..0xf0 => 3,
            0xf0.. => 4,
        };
        self.last = self.pos;
        Some(byte)
    }

    pub(super) fn skip(&mut self, count: usize) {
        for _ in 0..count {
            self.bump();
        }
    }

    /// Takes everything up to `at`.
    pub(super) fn jump(&mut self, at: usize) {
        self.pos = at;
        self.last = at;
    }

    /// Takes the next character if it is `byte`.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        if is_next {
            self.raw();
        }
        is_next
    }

    /// The offset of the next character.
    pub(super) fn here(&mut self) -> usize {
        self.peek();
        self.pos
    }

    /// From `start` to the end of the last character taken.
    pub(super) fn since(&self, start: usize) -> Range<usize> {
        start..self.last.max(start)
    }

    pub(super) fn unknown(&mut self, range: Range<usize>, what: impl Into<Cow<'static, str>>) {
        self.unknown.push(Unknown {
            range,
            what: what.into(),
        });
    }

    /// Notes that what was read since `start` means something else to another shell.
    pub(super) fn not_in_sh(&mut self, start: usize, what: &'static str) {
        if self.shell == Shell::Sh {
            let range = self.since(start);
            self.unknown(
                range,
                format!("{what}, which not every `sh` reads the same way"),
            );
        }
    }

    /// Takes one character that has no place here.
    pub(super) fn stray(&mut self, what: &'static str) {
        let start = self.here();
        self.bump();
        let range = self.since(start);
        self.unknown(range, what);
    }

    /// Skips blanks and a comment.
    pub(super) fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.pos += 1,
                Some(b'#') => break,
                _ => return,
            }
        }
        let rest = self.text.get(self.pos..self.end).unwrap_or_default();
        self.pos = rest.find('\n').map_or(self.end, |at| self.pos + at);
    }

    /// Skips blanks, comments and newlines, and the here-documents that start after those.
    pub(super) fn newlines(&mut self) {
        self.blanks();
        while self.peek() == Some(b'\n') {
            self.pos += 1;
            self.heredoc_bodies();
            self.blanks();
        }
    }

    /// Reads something that is nested in what began at `start`, unless it is too deep.
    pub(super) fn deeper<T: Default>(
        &mut self,
        start: usize,
        read: impl FnOnce(&mut Self) -> T,
    ) -> T {
        if self.depth >= super::DEPTH_MAX {
            self.jump(self.end);
            self.unknown(start..self.end, "nesting that is too deep");
            return T::default();
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }
}
