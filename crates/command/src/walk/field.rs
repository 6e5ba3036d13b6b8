//! Words in the making. It must not follow what stands in them.

use std::ops::Range;

use super::state::{State, Value};
use crate::line::{self, Shell, WordKind};

/// Most words that one word may become.
const FIELDS_MAX: usize = 1024;

/// What happens to the value of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It is split and matched against file names.
    Words,
    /// It stays one word: a value, a pattern, a here-string.
    Value,
}

/// One word in the making.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact about the text, and any may hold"
)]
pub(super) struct Field {
    pub text: String,
    /// It exists even if it is empty.
    pub is_there: bool,
    /// A part of it was written otherwise.
    pub is_known: bool,
    pub is_dynamic: bool,
    /// It may become any number of words.
    pub is_many: bool,
    /// An unquoted wildcard stands in it.
    pub has_wildcard: bool,
    has_bracket: bool,
    /// A part of it is a name that fits a pattern.
    pub has_name: bool,
    /// The places of quoted wildcards.
    pub quoted: Vec<usize>,
}

impl Field {
    pub(super) fn push_quoted(&mut self, text: &str) {
        self.is_there = true;
        let start = self.text.len();
        let is_wildcard = |c: char| matches!(c, '*' | '?' | '[' | ']' | '\\');
        self.quoted
            .extend(text.match_indices(is_wildcard).map(|(at, _)| start + at));
        self.text.push_str(text);
    }

    pub(super) fn push_plain(&mut self, text: &str) {
        self.is_there |= !text.is_empty();
        for c in text.chars() {
            self.has_wildcard |= matches!(c, '*' | '?') || (c == ']' && self.has_bracket);
            self.has_bracket |= c == '[';
        }
        self.text.push_str(text);
    }

    /// Adds what cannot be told, as it is written.
    pub(super) fn push_unknown(&mut self, source: &str, is_quoted: bool) {
        self.text.push_str(source);
        self.is_there = true;
        self.is_dynamic = true;
        self.is_many |= !is_quoted;
    }

    /// Adds the name of a file that fits a pattern.
    fn push_name(&mut self, pattern: &str) {
        self.is_there = true;
        self.has_name = true;
        self.is_known = true;
        self.text.push_str(pattern);
    }

    pub(super) fn finish(mut self, range: Range<usize>) -> line::Word {
        let is_glob = self.has_wildcard || self.has_name;
        let kind = if self.is_dynamic {
            WordKind::Dynamic
        } else if is_glob {
            WordKind::Glob
        } else if self.is_known {
            WordKind::Known
        } else {
            WordKind::Literal
        };
        if kind == WordKind::Glob {
            for at in self.quoted.into_iter().rev() {
                self.text.insert(at, '\\');
            }
        }
        line::Word {
            range,
            text: self.text,
            kind,
            is_single: !self.is_many && !self.has_wildcard,
        }
    }
}

/// The words one word becomes.
pub(super) struct Fields {
    done: Vec<Field>,
    pub last: Field,
    pub usage: Use,
    shell: Shell,
}

impl Fields {
    pub(super) fn new(usage: Use, shell: Shell) -> Self {
        Self {
            done: Vec::new(),
            last: Field::default(),
            usage,
            shell,
        }
    }

    fn next(&mut self) {
        let field = std::mem::take(&mut self.last);
        if !field.is_there {
            return;
        }
        if self.done.len() < FIELDS_MAX {
            self.done.push(field);
        } else {
            self.last.push_unknown("", false);
        }
    }

    /// Adds a value that stood in a variable.
    fn push_text(&mut self, text: &str, is_quoted: bool) {
        self.last.is_known = true;
        if is_quoted || self.usage == Use::Value {
            return self.last.push_quoted(text);
        }
        if self.shell == Shell::Zsh {
            // It is neither split nor matched, but gone when it is empty.
            if !text.is_empty() {
                self.last.push_quoted(text);
            }
            return;
        }
        if text.contains('\\') {
            // Whether it quotes a wildcard depends on the version.
            return self.last.push_unknown(text, false);
        }
        let is_blank = |c: char| matches!(c, ' ' | '\t' | '\n');
        for (index, piece) in text.split(is_blank).enumerate() {
            if self.done.len() >= FIELDS_MAX {
                return self.last.push_unknown("", false);
            }
            if index > 0 {
                self.next();
                self.last.is_known = true;
            }
            self.last.push_plain(piece);
        }
    }

    /// Adds a value, or as it is written what cannot be told.
    pub(super) fn push(&mut self, value: Value, source: &str, is_quoted: bool, state: &State) {
        match value {
            Value::Text(text) if is_quoted || state.splits_at_blanks() => {
                self.push_text(&text, is_quoted);
            }
            // It has no blank and no wildcard in it.
            Value::Number => self.last.push_unknown(source, true),
            Value::Name(pattern) if is_quoted || self.usage == Use::Value => {
                self.last.push_name(&pattern);
            }
            Value::Text(_) | Value::Name(_) | Value::Outer | Value::Unknown => {
                self.last.push_unknown(source, is_quoted);
            }
        }
    }

    /// Adds the positional parameters as `"$@"` does.
    pub(super) fn push_arguments(&mut self, words: &[line::Word]) {
        for (index, word) in words.iter().enumerate() {
            if index > 0 {
                self.next();
            }
            self.last.is_known = true;
            match word.kind {
                WordKind::Literal | WordKind::Known => self.last.push_quoted(&word.text),
                WordKind::Glob => {
                    self.last.push_name(&word.text);
                    self.last.is_many |= !word.is_single;
                }
                WordKind::Dynamic => self.last.push_unknown(&word.text, word.is_single),
            }
        }
    }

    /// Adds the words to `values`.
    pub(super) fn finish(mut self, range: &Range<usize>, values: &mut Vec<line::Word>) {
        if self.last.is_there && self.done.len() == FIELDS_MAX {
            self.last = Field::default();
            self.last.push_unknown("", false);
        }
        let last = Some(self.last).filter(|it| it.is_there);
        for field in self.done.into_iter().chain(last) {
            if values.len() < FIELDS_MAX * 16 {
                values.push(field.finish(range.clone()));
            }
        }
    }
}
