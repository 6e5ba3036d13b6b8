//! Reads words: quotes, expansions, substitutions, here-documents. It must not expand anything.

use super::{Heredoc, Reader, is_hidden, is_meta, is_name};
use crate::{Assignment, Word, WordKind};

/// A word with what its assignment form needs.
pub(super) struct Scanned {
    pub(super) word: Word,
    /// Where in the text of the word the first quoted character stands.
    quoted_from: Option<usize>,
    /// Whether it begins as `name[`. Before a program the shell then reads on to the `]`, past blanks
    /// and operators.
    pub(super) has_subscript: bool,
}

impl Scanned {
    /// The word as `NAME=value` or `NAME+=value`, where name and sign are unquoted.
    pub(super) fn assignment(&self) -> Option<Assignment> {
        let (left, value) = self.word.text.split_once('=')?;
        let name = left.strip_suffix('+').unwrap_or(left);
        if !is_name(name) || self.quoted_from.is_some_and(|from| from <= left.len()) {
            return None;
        }
        // A value is not expanded to file names.
        let kind = match self.word.kind {
            WordKind::Glob => WordKind::Literal,
            kind => kind,
        };
        let range = self.word.range.clone();
        let value = Word {
            range: (range.start + left.len() + 1).min(range.end)..range.end,
            text: value.to_owned(),
            kind,
        };
        Some(Assignment {
            range,
            name: name.to_owned(),
            value,
        })
    }
}

/// A word while it is read.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "six claims that are independent of each other"
)]
struct Scan {
    text: String,
    quoted_from: Option<usize>,
    is_dynamic: bool,
    is_glob: bool,
    has_tilde: bool,
    has_bracket: bool,
    has_subscript: bool,
    has_brace: bool,
    /// The last character, where it was unquoted.
    last: Option<char>,
}

impl Scan {
    fn quote(&mut self) {
        self.quoted_from.get_or_insert(self.text.len());
        self.last = None;
    }

    fn quoted(&mut self, c: char) {
        self.is_dynamic |= is_hidden(c);
        self.text.push(c);
    }

    /// Adds an unquoted character. Returns whether it makes the word one with alternatives.
    fn plain(&mut self, c: char) -> bool {
        self.is_glob |= matches!(c, '*' | '?') || (c == ']' && self.has_bracket);
        self.has_bracket |= c == '[';
        self.has_subscript |= c == '[' && self.quoted_from.is_none() && is_name(&self.text);
        self.has_tilde |=
            c == '~' && (self.text.is_empty() || matches!(self.last, Some('=' | ':')));
        let is_alternative = self.has_brace && (c == ',' || (c == '.' && self.text.ends_with('.')));
        self.has_brace |= c == '{';
        self.quoted(c);
        self.last = Some(c);
        is_alternative
    }

    fn kind(&self) -> WordKind {
        if self.is_dynamic {
            WordKind::Dynamic
        } else if self.is_glob {
            WordKind::Glob
        } else if self.has_tilde {
            WordKind::Tilde
        } else {
            WordKind::Literal
        }
    }
}

impl Reader {
    pub(super) fn word(&mut self) -> Word {
        self.scan().word
    }

    /// Reads one word; at least one character is taken.
    pub(super) fn scan(&mut self) -> Scanned {
        let start = self.here();
        let (first_pos, unknown_count) = (self.pos, self.line.unknown.len());
        let mut scan = Scan::default();
        while let Some(c) = self.look(0) {
            match c {
                '\'' => {
                    scan.quote();
                    self.single_quoted(&mut scan);
                }
                '"' => {
                    scan.quote();
                    self.double_quoted(&mut scan);
                }
                '\\' => {
                    scan.quote();
                    self.bump();
                    match self.raw() {
                        Some(c) => scan.quoted(c),
                        None => self.unknown(start..self.end, "a backslash at the end"),
                    }
                }
                '$' => self.dollar(&mut scan, false),
                '`' => self.backquoted(&mut scan, false),
                '<' | '>' if self.look(1) == Some('(') => {
                    let (at, pos) = (self.here(), self.pos);
                    self.skip(2);
                    self.enclosed(at, ')', 0);
                    let range = self.since(at);
                    self.unknown(range, "a process substitution");
                    self.keep_source(&mut scan, pos);
                }
                '(' if matches!(scan.last, Some('?' | '*' | '+' | '@' | '!')) => {
                    self.parentheses(&mut scan, "an extended glob");
                }
                '(' if scan.last == Some('=') => self.parentheses(&mut scan, "an array"),
                c if is_meta(c) => break,
                c => {
                    let at = self.here();
                    self.bump();
                    if scan.plain(c) {
                        let range = self.since(at);
                        self.unknown(range, "a brace expansion");
                    }
                }
            }
        }
        if self.pos == first_pos {
            self.bump();
        }
        let range = self.since(start);
        if matches!(self.look(0), Some('<' | '>'))
            && scan.text.starts_with('{')
            && scan.last == Some('}')
            && self.look(1) != Some('(')
        {
            self.unknown(range.clone(), "a descriptor variable");
        }
        scan.is_dynamic |= self.line.unknown.len() > unknown_count;
        let word = Word {
            range,
            kind: scan.kind(),
            text: scan.text,
        };
        Scanned {
            word,
            quoted_from: scan.quoted_from,
            has_subscript: scan.has_subscript,
        }
    }

    /// Adds the text from `pos` to here as it is written.
    fn keep_source(&self, scan: &mut Scan, pos: usize) {
        scan.is_dynamic = true;
        scan.last = None;
        scan.text.extend(
            self.chars
                .get(pos..self.pos)
                .unwrap_or_default()
                .iter()
                .map(|&(_, c)| c),
        );
    }

    fn single_quoted(&mut self, scan: &mut Scan) {
        let start = self.here();
        self.bump();
        loop {
            match self.raw() {
                Some('\'') => return,
                Some(c) => scan.quoted(c),
                None => return self.unknown(start..self.end, "an unterminated quote"),
            }
        }
    }

    fn double_quoted(&mut self, scan: &mut Scan) {
        let start = self.here();
        self.bump();
        loop {
            match self.look(0) {
                None => return self.unknown(start..self.end, "an unterminated quote"),
                Some('"') => return self.skip(1),
                Some('$') => self.dollar(scan, true),
                Some('`') => self.backquoted(scan, true),
                Some('\\') => {
                    self.bump();
                    match self.raw() {
                        Some(c @ ('$' | '`' | '"' | '\\')) => scan.quoted(c),
                        Some(c) => {
                            scan.quoted('\\');
                            scan.quoted(c);
                        }
                        None => {}
                    }
                }
                Some(c) => {
                    self.bump();
                    scan.quoted(c);
                }
            }
        }
    }

    /// Reads what a `$` begins.
    fn dollar(&mut self, scan: &mut Scan, is_quoted: bool) {
        let start = self.here();
        let pos = self.pos;
        let what = match self.look(1) {
            Some('(') => {
                self.skip(1);
                if self.look(1) == Some('(') && self.closes_twice() {
                    self.skip(2);
                    self.skip_balanced(Some('('), ')', is_quoted);
                    self.skip(1);
                    "arithmetic"
                } else {
                    self.skip(1);
                    self.enclosed(start, ')', 0);
                    "a command substitution"
                }
            }
            Some('{') => {
                self.skip(2);
                if matches!(self.look(0), Some(' ' | '\t' | '\n' | '|')) {
                    if self.look(0) == Some('|') {
                        self.skip(1);
                    }
                    self.enclosed(start, '}', 0);
                    "a command substitution"
                } else {
                    self.skip_balanced(None, '}', is_quoted);
                    "a parameter expansion"
                }
            }
            Some('[') => {
                self.skip(2);
                self.skip_balanced(Some('['), ']', is_quoted);
                "arithmetic"
            }
            Some('\'') if !is_quoted => {
                self.skip(2);
                self.escaped_string();
                "a string with escapes"
            }
            Some('"') if !is_quoted => {
                self.skip(1);
                "a translated string"
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                self.skip(2);
                while self
                    .look(0)
                    .is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
                {
                    self.skip(1);
                }
                "a parameter expansion"
            }
            Some(c)
                if c.is_ascii_digit() || matches!(c, '@' | '*' | '#' | '?' | '-' | '$' | '!') =>
            {
                self.skip(2);
                "a parameter expansion"
            }
            _ => {
                self.skip(1);
                if is_quoted {
                    scan.quoted('$');
                } else {
                    scan.plain('$');
                }
                return;
            }
        };
        let range = self.since(start);
        self.unknown(range, what);
        self.keep_source(scan, pos);
    }

    /// Skips the rest of a `$'...'`.
    fn escaped_string(&mut self) {
        while let Some(c) = self.raw() {
            match c {
                '\'' => return,
                '\\' => {
                    self.raw();
                }
                _ => {}
            }
        }
        self.unknown(self.end..self.end, "an unterminated quote");
    }

    /// Reads a substitution in backquotes. A backslash in it is taken off before the text is read.
    fn backquoted(&mut self, scan: &mut Scan, is_quoted: bool) {
        let start = self.here();
        let pos = self.pos;
        self.bump();
        let mut inner = Vec::new();
        let mut end = None;
        while let Some(&(at, c)) = self.chars.get(self.pos) {
            self.pos += 1;
            if c == '`' {
                end = Some(at);
                break;
            }
            let next = self.chars.get(self.pos).copied();
            match next {
                Some((at, next))
                    if c == '\\'
                        && (matches!(next, '$' | '`' | '\\') || (next == '"' && is_quoted)) =>
                {
                    self.pos += 1;
                    inner.push((at, next));
                }
                _ => inner.push((at, c)),
            }
        }
        let range = self.since(start);
        self.unknown(range.clone(), "a command substitution");
        if end.is_none() {
            self.unknown(range.clone(), "an unterminated quote");
        }
        if self.depth >= super::DEPTH_MAX {
            self.unknown(range, "nesting that is too deep");
        } else {
            let line = std::mem::take(&mut self.line);
            let mut reader = Reader::new(inner, end.unwrap_or(self.end), self.depth + 1, line);
            reader.list(None);
            self.line = reader.line;
        }
        self.keep_source(scan, pos);
    }

    /// Skips the parentheses of an array or an extended glob.
    fn parentheses(&mut self, scan: &mut Scan, what: &'static str) {
        let start = self.here();
        let pos = self.pos;
        self.skip(1);
        self.skip_balanced(Some('('), ')', false);
        let range = self.since(start);
        self.unknown(range, what);
        self.keep_source(scan, pos);
    }

    /// Skips to the `close` that belongs to an opener already taken, and finds the substitutions on
    /// the way. Where `open` is given, it nests.
    pub(super) fn skip_balanced(&mut self, open: Option<char>, close: char, is_quoted: bool) {
        let mut level = 1_usize;
        let mut scrap = Scan::default();
        if self.depth >= super::DEPTH_MAX {
            let start = self.here();
            self.pos = self.chars.len();
            return self.unknown(start..self.end, "nesting that is too deep");
        }
        self.depth += 1;
        while let Some(c) = self.look(0) {
            match c {
                '\\' => {
                    self.bump();
                    self.raw();
                }
                '\'' if !is_quoted => self.single_quoted(&mut scrap),
                '"' => self.double_quoted(&mut scrap),
                '$' => self.dollar(&mut scrap, is_quoted),
                '`' => self.backquoted(&mut scrap, is_quoted),
                '<' | '>' if self.look(1) == Some('(') => {
                    let start = self.here();
                    self.skip(2);
                    self.enclosed(start, ')', 0);
                }
                c => {
                    self.bump();
                    level += usize::from(open == Some(c));
                    level -= usize::from(c == close);
                    if level == 0 {
                        break;
                    }
                }
            }
        }
        self.depth -= 1;
        if level > 0 {
            self.unknown(self.end..self.end, "an opener without its end");
        }
    }

    /// Whether the `((` that stands here ends with `))`, as arithmetic does and nested subshells do not.
    pub(super) fn closes_twice(&self) -> bool {
        let mut level = 0_usize;
        let mut quote = None;
        let mut is_escaped = false;
        let mut chars = self.chars.iter().skip(self.pos).map(|&(_, c)| c).peekable();
        while let Some(c) = chars.next() {
            if std::mem::take(&mut is_escaped) {
                continue;
            }
            match (quote, c) {
                (None | Some('"'), '\\') => is_escaped = true,
                (None, '\'' | '"') => quote = Some(c),
                (Some(open), c) if open == c => quote = None,
                (None, '(') => level += 1,
                (None, ')') => {
                    level = level.saturating_sub(1);
                    if level <= 1 {
                        return level == 1 && chars.peek() == Some(&')');
                    }
                }
                _ => {}
            }
        }
        false
    }

    /// Takes the operator and the delimiter of a here-document; the body follows later.
    pub(super) fn heredoc(&mut self, start: usize, tabs_stripped: bool) {
        self.skip(if tabs_stripped { 3 } else { 2 });
        self.blanks();
        if !self.look(0).is_none_or(is_meta) {
            let scanned = self.scan();
            let quoted = scanned.quoted_from.is_some();
            self.heredocs.push(Heredoc {
                delimiter: scanned.word.text,
                quoted,
                tabs_stripped,
            });
        }
        let range = self.since(start);
        self.unknown(range, "a here-document");
    }

    /// Takes the body of a here-document and finds the substitutions in it.
    pub(super) fn heredoc_body(&mut self, heredoc: &Heredoc) {
        let mut scrap = Scan::default();
        while self.pos < self.chars.len() {
            let rest = self.chars.iter().skip(self.pos).map(|&(_, c)| c);
            let tabs = if heredoc.tabs_stripped {
                rest.clone().take_while(|&c| c == '\t').count()
            } else {
                0
            };
            let line: String = rest.skip(tabs).take_while(|&c| c != '\n').collect();
            if line == heredoc.delimiter {
                self.pos += tabs + line.chars().count();
                // The newline after the delimiter ends the command line as any other does.
                return;
            }
            loop {
                match self.char_at(self.pos) {
                    None => return,
                    Some('\n') => {
                        self.pos += 1;
                        break;
                    }
                    Some('\\') if !heredoc.quoted => {
                        self.raw();
                        self.raw();
                    }
                    Some('$') if !heredoc.quoted => self.dollar(&mut scrap, true),
                    Some('`') if !heredoc.quoted => self.backquoted(&mut scrap, true),
                    Some(_) => self.pos += 1,
                }
            }
        }
    }
}
