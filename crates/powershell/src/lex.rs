//! The words of a command, read as PowerShell reads arguments. It must not say what a command does.

use std::ops::Range;

use command::{RedirectOp, Word, WordKind};

use crate::tree::{Survey, variable_name};

/// Longest text that variables and strings of one word add up to, in bytes.
const WORD_BYTES_MAX: usize = 16 * 1024;

/// What is known of variables.
pub(crate) trait Variables {
    /// The value of the variable of that name, in lower case and without its scope.
    fn value(&self, name: &str) -> Option<String>;
}

/// One value of a word.
#[derive(Debug, Clone)]
pub(crate) struct Value {
    pub word: Word,
    /// Whether a wildcard stands in it, also in quotes.
    pub has_wildcard: bool,
    /// Whether it is written without quotes from its first character on.
    pub is_bare: bool,
    /// Whether it is a script block.
    pub is_block: bool,
}

/// One word: a value, or several with commas between them.
#[derive(Debug, Clone)]
pub(crate) struct Argument {
    pub range: Range<usize>,
    pub values: Vec<Value>,
}

/// A redirect, with a descriptor where it has one of its own.
#[derive(Debug, Clone)]
pub(crate) struct Redirected {
    pub range: Range<usize>,
    pub fd: Option<u32>,
    pub op: RedirectOp,
    pub target: Value,
}

/// A part of a command.
#[derive(Debug, Clone)]
pub(crate) enum Piece {
    Word(Argument),
    Redirect(Redirected),
    /// `--%`: the rest is handed over as it is.
    Verbatim(Range<usize>),
}

pub(crate) struct Lexer<'a> {
    pub text: &'a str,
    pub at: usize,
    pub survey: &'a Survey,
    pub variables: &'a dyn Variables,
    /// What is not understood.
    pub faults: Vec<(Range<usize>, &'static str)>,
}

/// A value in the making.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct Draft {
    start: usize,
    text: String,
    is_known: bool,
    is_literal: bool,
    has_wildcard: bool,
    has_bare_wildcard: bool,
    is_block: bool,
    is_single: bool,
}

impl Draft {
    fn new(start: usize) -> Self {
        Self {
            start,
            text: String::new(),
            is_known: true,
            is_literal: true,
            has_wildcard: false,
            has_bare_wildcard: false,
            is_block: false,
            is_single: true,
        }
    }

    fn push(&mut self, c: char, is_bare: bool) {
        let is_wildcard = matches!(c, '*' | '?' | '[');
        self.has_wildcard |= is_wildcard;
        self.has_bare_wildcard |= is_wildcard && is_bare;
        self.text.push(c);
    }
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(
        text: &'a str,
        at: usize,
        survey: &'a Survey,
        variables: &'a dyn Variables,
    ) -> Self {
        Self {
            text,
            at,
            survey,
            variables,
            faults: Vec::new(),
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn eat(&mut self, text: &str) -> bool {
        let is_here = self.rest().starts_with(text);
        if is_here {
            self.at += text.len();
        }
        is_here
    }

    fn fault(&mut self, start: usize, what: &'static str) {
        self.faults.push((start..self.at.max(start), what));
    }

    /// Goes over blanks and continued lines.
    pub(crate) fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t') => self.at += 1,
                Some('`') if self.eat("`\r\n") || self.eat("`\n") => {}
                Some('<') if self.rest().starts_with("<#") => {
                    let end = self
                        .rest()
                        .find("#>")
                        .map_or(self.rest().len(), |it| it + 2);
                    self.at += end;
                }
                _ => return,
            }
        }
    }

    /// The parts of a command up to its end.
    pub(crate) fn pieces(&mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        loop {
            self.blanks();
            let start = self.at;
            match self.peek() {
                None | Some('\n' | '\r' | ';' | '|' | '&' | ')' | '}' | '#') => return pieces,
                Some('<') => {
                    self.at = self.text.len();
                    self.fault(start, "a redirect that the language keeps for later");
                    return pieces;
                }
                _ => {}
            }
            if self.rest().starts_with("--%") {
                let end = self
                    .rest()
                    .find(['\n', '\r', '|'])
                    .unwrap_or(self.rest().len());
                self.at += end;
                pieces.push(Piece::Verbatim(start..self.at));
                continue;
            }
            if let Some(redirect) = self.redirect() {
                pieces.push(Piece::Redirect(redirect));
                continue;
            }
            pieces.push(Piece::Word(self.argument()));
            if self.at == start {
                self.at = self.text.len();
                self.fault(start, "a word that is not understood");
                return pieces;
            }
        }
    }

    /// A redirect, where one starts here.
    pub(crate) fn redirect(&mut self) -> Option<Redirected> {
        let start = self.at;
        let is_stream = |c: char| c == '*' || ('1'..='6').contains(&c);
        let stream = self
            .peek()
            .filter(|&c| is_stream(c) && self.second() == Some('>'));
        if stream.is_some() {
            self.at += 1;
        }
        if !self.eat(">") {
            return None;
        }
        let fd = stream.and_then(|c| c.to_digit(10));
        if self.eat("&1") || self.eat("&2") {
            let end = self.at;
            let target = Value {
                word: Word::literal(
                    self.text.get(end - 1..end).unwrap_or_default(),
                    end - 1..end,
                ),
                has_wildcard: false,
                is_bare: true,
                is_block: false,
            };
            let op = RedirectOp::Duplicate;
            return Some(Redirected {
                range: start..end,
                fd,
                op,
                target,
            });
        }
        let op = match (self.eat(">"), stream) {
            (_, Some('*')) => RedirectOp::Both,
            (true, _) => RedirectOp::Append,
            (false, _) => RedirectOp::Write,
        };
        self.blanks();
        let target = self.value();
        if target.word.range.is_empty() {
            self.fault(start, "a redirect without a file");
        }
        Some(Redirected {
            range: start..self.at,
            fd,
            op,
            target,
        })
    }

    /// One word.
    pub(crate) fn argument(&mut self) -> Argument {
        let start = self.at;
        let mut values = Vec::new();
        if self.peek() == Some(',') {
            self.take();
            self.fault(start, "a comma without a value before it");
        }
        loop {
            values.push(self.value());
            let end = self.at;
            self.blanks();
            if self.peek() != Some(',') {
                self.at = end;
                return Argument {
                    range: start..end,
                    values,
                };
            }
            self.take();
            while self.peek().is_some_and(char::is_whitespace) {
                self.take();
            }
            self.blanks();
        }
    }

    /// One value.
    pub(crate) fn value(&mut self) -> Value {
        let mut draft = Draft::new(self.at);
        let first = self.peek();
        let is_bare = !matches!(first, Some('\'' | '"' | '(' | '{' | '@' | '$'));
        match first {
            Some('\'' | '"') => {
                self.quoted(&mut draft);
                self.after_value(&mut draft);
            }
            Some('@') if matches!(self.second(), Some('\'' | '"')) => {
                self.quoted(&mut draft);
                self.after_value(&mut draft);
            }
            Some('(' | '{') => {
                draft.is_block = first == Some('{');
                self.group(&mut draft, 0);
                self.after_value(&mut draft);
            }
            Some('@') if matches!(self.second(), Some('(' | '{')) => {
                self.group(&mut draft, 0);
                self.after_value(&mut draft);
            }
            Some('@') => {
                draft.is_single = false;
                draft.is_known = false;
                self.bare(&mut draft);
            }
            Some('$') if self.survey.chains.contains_key(&self.at) => self.after_value(&mut draft),
            _ => self.bare(&mut draft),
        }
        self.finish(draft, is_bare)
    }

    fn finish(&mut self, draft: Draft, is_bare: bool) -> Value {
        let range = draft.start..self.at;
        let kind = if !draft.is_known {
            WordKind::Dynamic
        } else if draft.has_bare_wildcard {
            WordKind::Glob
        } else if draft.is_literal {
            WordKind::Literal
        } else {
            WordKind::Known
        };
        let text = if draft.is_known {
            draft.text
        } else {
            self.text.get(range.clone()).unwrap_or_default().to_owned()
        };
        Value {
            word: Word {
                range,
                text,
                kind,
                is_single: draft.is_single,
            },
            has_wildcard: draft.has_wildcard,
            is_bare,
            is_block: draft.is_block,
        }
    }

    /// What may follow a value that is not written bare: members and indexes, or the end of the word.
    fn after_value(&mut self, draft: &mut Draft) {
        if let Some(&end) = self.survey.chains.get(&draft.start)
            && end >= self.at
        {
            draft.is_known = false;
            draft.is_block = false;
            draft.is_single = false;
            self.at = end;
            // The arguments of a call, which the survey has noted.
            if self.peek() == Some('(') {
                self.group(draft, 0);
            }
        }
        let is_end = self
            .peek()
            .is_none_or(|c| c.is_whitespace() || ",;|&)}>".contains(c) || c == '`');
        if !is_end {
            let start = self.at;
            self.take();
            self.fault(start, "text that follows a value without a blank");
        }
    }

    /// A group in brackets, which starts `skip` bytes behind here. The grammar knows where it ends.
    fn group(&mut self, draft: &mut Draft, skip: usize) {
        draft.is_known = false;
        draft.is_single = false;
        let start = self.at + skip;
        match self.survey.groups.get(&start) {
            Some(&end) if end > start => self.at = end,
            _ => {
                self.at = self.text.len();
                self.fault(start, "a group that is not understood");
            }
        }
    }

    /// A word up to where the next token starts.
    fn bare(&mut self, draft: &mut Draft) {
        while let Some(c) = self.peek() {
            match c {
                c if c.is_whitespace() => return,
                '(' | ')' | '{' | '}' | ';' | ',' | '|' | '&' | '>' | '<' => return,
                '`' => {
                    let start = self.at;
                    if self.rest().starts_with("`\n") || self.rest().starts_with("`\r\n") {
                        if draft.start < start {
                            self.fault(start, "a line that is continued inside a word");
                        }
                        return;
                    }
                    self.escape(draft);
                }
                '\'' | '"' => self.quoted(draft),
                '$' => self.dollar(draft),
                c => {
                    self.take();
                    draft.push(c, true);
                }
            }
            if draft.text.len() > WORD_BYTES_MAX {
                draft.is_known = false;
                draft.text.clear();
            }
        }
    }

    /// A backtick and what follows it.
    fn escape(&mut self, draft: &mut Draft) {
        let start = self.at;
        self.take();
        draft.is_literal = false;
        let c = match self.take() {
            None => return self.fault(start, "a backtick at the end"),
            Some('u') if self.peek() == Some('{') => {
                draft.is_known = false;
                return;
            }
            Some('0') => '\0',
            Some('a') => '\u{7}',
            Some('b') => '\u{8}',
            Some('e') => '\u{1b}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('v') => '\u{b}',
            Some(c @ ('*' | '?' | '[' | ']')) => {
                // Whether it is a wildcard depends on who reads it.
                draft.is_known = false;
                c
            }
            Some(c) => c,
        };
        draft.text.push(c);
    }

    /// A string of any kind.
    pub(crate) fn quoted(&mut self, draft_of: &mut impl StringSink) {
        let mut draft = Draft::new(self.at);
        let start = self.at;
        let is_here = self.eat("@");
        let quote = self.take().unwrap_or('"');
        if is_here {
            while self.peek().is_some_and(|c| matches!(c, ' ' | '\t' | '\r')) {
                self.take();
            }
            if !self.eat("\n") {
                self.fault(start, "a string that is not understood");
            }
        }
        let is_closed = loop {
            if is_here && self.is_here_end(quote) {
                self.at += 2;
                break true;
            }
            let Some(c) = self.peek() else { break false };
            match c {
                c if c == quote && !is_here => {
                    self.take();
                    if self.peek() != Some(quote) {
                        break true;
                    }
                    self.take();
                    draft.push(quote, false);
                }
                '`' if quote == '"' => {
                    if !(self.eat("`\r\n") || self.eat("`\n")) {
                        self.escape(&mut draft);
                    }
                }
                '$' if quote == '"' => self.dollar(&mut draft),
                c => {
                    self.take();
                    draft.push(c, false);
                }
            }
            if draft.text.len() > command::TEXT_BYTES_MAX {
                draft.is_known = false;
                draft.text.clear();
            }
        };
        if is_here {
            // The line break before the end is no part of the text.
            let text = draft.text.strip_suffix('\n').unwrap_or(&draft.text);
            let len = text.strip_suffix('\r').unwrap_or(text).len();
            draft.text.truncate(len);
        }
        if !is_closed {
            self.fault(start, "an unterminated string");
        }
        draft_of.add(
            &draft.text,
            draft.is_known,
            draft.is_literal,
            draft.has_wildcard,
        );
    }

    /// Whether a here-string ends here: at the start of a line.
    fn is_here_end(&self, quote: char) -> bool {
        let before = self.text.get(..self.at).unwrap_or_default();
        let mut chars = self.rest().chars();
        before.ends_with('\n') && chars.next() == Some(quote) && chars.next() == Some('@')
    }

    /// A variable, a group that gives a value, or just the character.
    fn dollar(&mut self, draft: &mut Draft) {
        let start = self.at;
        self.take();
        match self.peek() {
            Some('(') => {
                self.at = start;
                return self.group(draft, 0);
            }
            Some('{') => {
                let end = self.rest().find('}').map(|at| self.at + at + 1);
                self.at = end.unwrap_or(self.text.len());
            }
            Some('$' | '^' | '?') => {
                self.take();
            }
            Some(c) if c.is_alphanumeric() || c == '_' => {
                let is_name = |c: char| c.is_alphanumeric() || c == '_';
                let mut has_scope = false;
                while let Some(c) = self.peek() {
                    let starts_scope = c == ':' && !has_scope && self.second().is_some_and(is_name);
                    if !(is_name(c) || starts_scope) {
                        break;
                    }
                    has_scope |= starts_scope;
                    self.take();
                }
            }
            _ => return draft.push('$', false),
        }
        draft.is_literal = false;
        let text = self.text.get(start..self.at).unwrap_or_default();
        let value = variable_name(text).and_then(|name| self.variables.value(&name));
        match value {
            Some(value) if draft.is_known => {
                for c in value.chars() {
                    draft.push(c, false);
                }
            }
            _ => draft.is_known = false,
        }
        // What follows outside quotes may be a member.
        let is_bare = draft.start == start;
        if is_bare && matches!(self.peek(), Some('.' | '[')) || self.rest().starts_with("::") {
            draft.is_known = false;
        }
    }
}

/// What takes a string that was read.
pub(crate) trait StringSink {
    fn add(&mut self, text: &str, is_known: bool, is_literal: bool, has_wildcard: bool);
}

impl StringSink for Draft {
    fn add(&mut self, text: &str, is_known: bool, is_literal: bool, has_wildcard: bool) {
        self.text.push_str(text);
        self.is_known &= is_known;
        self.is_literal &= is_literal;
        self.has_wildcard |= has_wildcard;
    }
}

/// A string by itself.
#[derive(Debug, Default)]
pub(crate) struct Text {
    /// What it holds, where that is known.
    pub text: Option<String>,
}

impl StringSink for Text {
    fn add(&mut self, text: &str, is_known: bool, _: bool, _: bool) {
        self.text = is_known.then(|| text.to_owned());
    }
}
