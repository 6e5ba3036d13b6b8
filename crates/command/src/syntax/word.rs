//! Reads words and their quotes. It must not expand anything.

use super::cursor::{Parser, is_meta};
use super::tree::{Part, PartKind, Parts, Word, is_name};

/// Where a word stands, as far as that changes how it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Where it may be an assignment.
    Assignment,
    Argument,
    /// Behind `=~`.
    Expression,
}

/// Whether `byte` stands for itself in an unquoted word.
fn is_plain(byte: u8) -> bool {
    !is_meta(byte) && !matches!(byte, b'\'' | b'"' | b'\\' | b'$' | b'`')
}

impl Parser<'_> {
    pub(super) fn word(&mut self) -> Word {
        self.word_at(Place::Argument)
    }

    /// Reads one word.
    pub(super) fn word_at(&mut self, place: Place) -> Word {
        let start = self.here();
        if let Some(word) = self.plain_word(place) {
            return word;
        }
        let mut parts = std::mem::take(&mut self.spare);
        let mut level = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'\'' => self.single_quoted(&mut parts),
                b'"' => self.double_quoted(&mut parts),
                b'\\' => self.escaped(start, &mut parts),
                b'$' => self.dollar(&mut parts, false),
                b'`' => self.backquoted(&mut parts, false),
                b'<' | b'>' if self.peek_second() == Some(b'(') => self.process(&mut parts),
                b'(' if self.ends_with(start, b"?*+@!") && place != Place::Expression => {
                    self.extended_glob(&mut parts);
                }
                b'(' if self.ends_with(start, b"=")
                    && place == Place::Assignment
                    && self.is_before_value(&parts) =>
                {
                    self.array(&mut parts);
                }
                b'(' | b')' | b'|' | b' ' | b'\t'
                    if place == Place::Expression && (level > 0 || matches!(byte, b'(' | b'|')) =>
                {
                    level += usize::from(byte == b'(');
                    level = level.saturating_sub(usize::from(byte == b')'));
                    self.push_text(&mut parts, 1);
                }
                byte if is_meta(byte) => break,
                _ => self.plain(start, &mut parts, place),
            }
        }
        let word = Word {
            range: self.since(start),
            parts: Parts::drained(&mut parts),
        };
        self.spare = parts;
        word
    }

    /// Reads a word whose characters all stand for themselves, as most do; `None` where it is not surely one.
    fn plain_word(&mut self, place: Place) -> Option<Word> {
        let is_bracket = |byte: u8| byte == b'[' && place == Place::Assignment;
        let rest = self.rest();
        let is_part = |byte: &&u8| is_plain(**byte) && !is_bracket(**byte);
        let length = rest.iter().take_while(is_part).count();
        let is_whole = match rest.get(length) {
            None | Some(b' ' | b'\t' | b'\n' | b';' | b'&') => true,
            Some(b'|' | b')') => place != Place::Expression,
            Some(_) => false,
        };
        if length == 0 || !is_whole {
            return None;
        }
        let range = self.pos..self.pos + length;
        self.jump(range.end);
        let part = Part {
            range: range.clone(),
            is_quoted: false,
            kind: PartKind::Text,
        };
        Some(Word {
            range,
            parts: Parts::One(part),
        })
    }

    /// Whether the character before this one is unquoted, of this word and one of `any`.
    fn ends_with(&self, start: usize, any: &[u8]) -> bool {
        let before = |at: usize| at.checked_sub(1).and_then(|at| self.byte(at));
        self.pos > start
            && before(self.pos).is_some_and(|byte| any.contains(&byte))
            && before(self.pos - 1) != Some(b'\\')
    }

    /// Whether the word so far is `name=`, perhaps with a subscript or a `+`.
    fn is_before_value(&self, parts: &[Part]) -> bool {
        let mut text = String::new();
        for part in parts {
            match part.kind {
                PartKind::Text if !part.is_quoted => {
                    text.push_str(self.text.get(part.range.clone()).unwrap_or_default());
                }
                PartKind::Subscript(_) => {}
                _ => return false,
            }
        }
        text.strip_suffix('=')
            .map(|text| text.strip_suffix('+').unwrap_or(text))
            .is_some_and(is_name)
    }

    /// Adds the next `length` bytes as they stand.
    fn push_text(&mut self, parts: &mut Vec<Part>, length: usize) {
        let start = self.pos;
        self.jump(start + length);
        parts.push(Part {
            range: start..start + length,
            is_quoted: false,
            kind: PartKind::Text,
        });
    }

    /// Reads unquoted characters that stand for themselves, and a subscript.
    fn plain(&mut self, start: usize, parts: &mut Vec<Part>, place: Place) {
        let rest = self.text.get(self.pos..self.end).unwrap_or_default();
        let length = rest.bytes().take_while(|&byte| is_plain(byte)).count();
        let run = rest.get(..length).unwrap_or_default();
        if place == Place::Assignment
            && self.pos == start
            && let Some(at) = run.find('[')
            && run.get(..at).is_some_and(is_name)
        {
            self.push_text(parts, at);
            let open = self.pos;
            self.skip(1);
            let inner = self.balanced(Some(b'['), b']', false);
            parts.push(Part {
                range: self.since(open),
                is_quoted: false,
                kind: PartKind::Subscript(inner),
            });
            self.not_in_sh(open, "a subscript");
            return;
        }
        self.push_text(parts, length);
    }

    fn escaped(&mut self, word_start: usize, parts: &mut Vec<Part>) {
        self.raw();
        let start = self.pos;
        if self.raw().is_none() {
            self.unknown(word_start..self.end, "a backslash at the end");
        }
        parts.push(Part {
            range: start..self.pos,
            is_quoted: true,
            kind: PartKind::Text,
        });
    }

    pub(super) fn single_quoted(&mut self, parts: &mut Vec<Part>) {
        let open = self.here();
        self.raw();
        let start = self.pos;
        let rest = self.text.get(start..self.end).unwrap_or_default();
        let end = rest.find('\'').map(|at| start + at);
        parts.push(Part {
            range: start..end.unwrap_or(self.end),
            is_quoted: true,
            kind: PartKind::Text,
        });
        self.jump(end.map_or(self.end, |end| end + 1));
        if end.is_none() {
            self.unknown(open..self.end, "an unterminated quote");
        }
    }

    pub(super) fn double_quoted(&mut self, parts: &mut Vec<Part>) {
        let open = self.here();
        self.skip(1);
        let mut is_empty = true;
        loop {
            match self.peek() {
                None => {
                    self.unknown(open..self.end, "an unterminated quote");
                    break;
                }
                Some(b'"') => {
                    if is_empty {
                        parts.push(Part {
                            range: self.pos..self.pos,
                            is_quoted: true,
                            kind: PartKind::Text,
                        });
                    }
                    self.skip(1);
                    break;
                }
                Some(b'$') => self.dollar(parts, true),
                Some(b'`') => self.backquoted(parts, true),
                Some(b'\\') => {
                    let start = self.pos;
                    self.raw();
                    let is_escape = matches!(self.byte(self.pos), Some(b'$' | b'`' | b'"' | b'\\'));
                    let start = if is_escape { self.pos } else { start };
                    self.raw();
                    parts.push(Part {
                        range: start..self.pos,
                        is_quoted: true,
                        kind: PartKind::Text,
                    });
                }
                Some(_) => {
                    let start = self.pos;
                    let rest = self.text.get(start..self.end).unwrap_or_default();
                    let length = rest.find(['"', '$', '`', '\\']).unwrap_or(rest.len());
                    self.jump(start + length);
                    parts.push(Part {
                        range: start..start + length,
                        is_quoted: true,
                        kind: PartKind::Text,
                    });
                }
            }
            is_empty = false;
        }
    }

    fn process(&mut self, parts: &mut Vec<Part>) {
        let start = self.here();
        self.skip(2);
        let stashed = std::mem::take(&mut self.pending);
        let list = self.deeper(start, Self::list);
        self.close(start, b')');
        self.restore(start, stashed);
        self.not_in_sh(start, "a process substitution");
        parts.push(Part {
            range: self.since(start),
            is_quoted: false,
            kind: PartKind::Process(list),
        });
    }

    /// Puts back the here-documents that wait outside a substitution. One inside it whose body has not
    /// come by now is not understood.
    pub(super) fn restore(&mut self, start: usize, stashed: Vec<super::cursor::Pending>) {
        if !self.pending.is_empty() {
            let range = self.since(start);
            self.unknown(range, "a here-document without its body");
        }
        self.pending = stashed;
    }

    fn extended_glob(&mut self, parts: &mut Vec<Part>) {
        let start = self.here();
        self.skip(1);
        let inner = self.balanced(Some(b'('), b')', false);
        self.not_in_sh(start, "an extended pattern");
        let range = self.since(start);
        if self.shell == crate::line::Shell::Zsh {
            self.unknown(range.clone(), "a pattern that zsh may read otherwise");
        }
        parts.push(Part {
            range,
            is_quoted: false,
            kind: PartKind::ExtendedGlob(inner),
        });
    }

    fn array(&mut self, parts: &mut Vec<Part>) {
        let start = self.here();
        self.skip(1);
        let words = self.deeper(start, |it| {
            let mut words = Vec::new();
            loop {
                it.newlines();
                if !it.at_word() {
                    return words;
                }
                words.push(it.word_at(Place::Assignment));
            }
        });
        self.close(start, b')');
        self.not_in_sh(start, "an array");
        parts.push(Part {
            range: self.since(start),
            is_quoted: false,
            kind: PartKind::Array(words),
        });
    }
}
