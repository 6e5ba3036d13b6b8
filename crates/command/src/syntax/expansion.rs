//! Reads what a `$` or a backquote begins. It must not work out any value.

use super::cursor::Parser;
use super::tree::{Body, Danger, Form, Parameter, Part, PartKind, Substitution, is_name};
use crate::line::Shell;

impl Parser<'_> {
    fn push(&self, parts: &mut Vec<Part>, start: usize, is_quoted: bool, kind: PartKind) {
        parts.push(Part {
            range: self.since(start),
            is_quoted,
            kind,
        });
    }

    /// Reads what a `$` begins.
    pub(super) fn dollar(&mut self, parts: &mut Vec<Part>, is_quoted: bool) {
        let start = self.here();
        let kind = match self.peek_second() {
            Some(b'(') => {
                self.skip(1);
                if self.peek_second() == Some(b'(') && self.closes_twice() {
                    self.skip(2);
                    PartKind::Arithmetic(self.arithmetic())
                } else {
                    self.skip(1);
                    self.substitution(start, b')')
                }
            }
            Some(b'{') => {
                self.skip(2);
                if matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'|')) {
                    self.take(b'|');
                    self.not_in_sh(start, "a command substitution in braces");
                    self.substitution(start, b'}')
                } else {
                    self.parameter(start, is_quoted)
                }
            }
            Some(b'[') => {
                self.skip(2);
                let inner = self.balanced(Some(b'['), b']', true);
                self.not_in_sh(start, "arithmetic in brackets");
                PartKind::Arithmetic(inner)
            }
            Some(b'\'') if !is_quoted => {
                self.skip(2);
                let text = self.escaped_string(start);
                self.not_in_sh(start, "a string with escapes");
                return self.push(parts, start, true, PartKind::Decoded(text));
            }
            Some(b'"') if !is_quoted => {
                self.skip(1);
                self.double_quoted(parts);
                let range = self.since(start);
                return self.unknown(range, "a translated string");
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                self.skip(1);
                let name = self.name();
                if self.shell == Shell::Zsh && matches!(self.peek(), Some(b'[' | b':')) {
                    let range = self.since(start);
                    self.unknown(range, "an expansion that zsh reads otherwise");
                }
                value(name)
            }
            Some(byte @ (b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')) => {
                self.skip(2);
                value(char::from(byte).to_string())
            }
            next => {
                self.skip(1);
                if self.shell == Shell::Zsh && matches!(next, Some(b'+' | b'=' | b'~' | b'^')) {
                    let range = self.since(start);
                    self.unknown(range, "an expansion that zsh reads otherwise");
                }
                PartKind::Text
            }
        };
        self.push(parts, start, is_quoted, kind);
    }

    fn name(&mut self) -> String {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let mut name = String::new();
        while self.peek().is_some_and(|byte| is_part(&byte)) {
            let rest = self.text.get(self.pos..self.end).unwrap_or_default();
            let length = rest.bytes().take_while(is_part).count();
            name.push_str(rest.get(..length).unwrap_or_default());
            self.jump(self.pos + length);
        }
        name
    }

    /// Reads the list of a substitution that began at `start`, and its end.
    fn substitution(&mut self, start: usize, closer: u8) -> PartKind {
        let stashed = std::mem::take(&mut self.pending);
        let list = self.deeper(start, Self::list);
        let is_here = closer == b'}';
        if is_here {
            if !self.take_keyword("}") && !self.take(b'}') {
                let range = self.since(start);
                self.unknown(range, "an opener without its end");
            }
        } else {
            self.close(start, closer);
        }
        self.restore(start, stashed);
        PartKind::Substitution(Box::new(Substitution {
            body: Body::List(list),
            is_here,
        }))
    }

    /// Reads a substitution in backquotes. A backslash in it is taken off before the text is read.
    pub(super) fn backquoted(&mut self, parts: &mut Vec<Part>, is_quoted: bool) {
        let start = self.here();
        self.raw();
        let open = self.pos;
        let mut inner: Option<String> = None;
        let mut copied = open;
        let mut close = None;
        while let Some(byte) = self.byte(self.pos) {
            if byte == b'`' {
                close = Some(self.pos);
                break;
            }
            self.raw();
            if byte != b'\\' {
                continue;
            }
            let is_escape = match self.byte(self.pos) {
                Some(b'$' | b'`' | b'\\') => true,
                Some(b'"') => is_quoted,
                _ => false,
            };
            if is_escape {
                let text = inner.get_or_insert_default();
                text.push_str(self.text.get(copied..self.pos - 1).unwrap_or_default());
                copied = self.pos;
                self.raw();
            }
        }
        let end = close.unwrap_or(self.end);
        let body = if let Some(mut text) = inner {
            text.push_str(self.text.get(copied..end).unwrap_or_default());
            let range = start..end;
            self.deeper(start, |it| {
                let script = super::parse_nested(&text, it.shell, it.depth);
                for unknown in &script.unknown {
                    it.unknown(range.clone(), unknown.what.clone());
                }
                Some(Body::Script(script))
            })
        } else {
            let outer = self.stop_at(end);
            let stashed = std::mem::take(&mut self.pending);
            self.pos = open;
            let list = self.deeper(start, Self::script);
            self.pending = stashed;
            self.stop_at(outer);
            Some(Body::List(list))
        };
        self.jump(close.map_or(self.end, |close| close + 1));
        if close.is_none() {
            let range = self.since(start);
            self.unknown(range, "an unterminated quote");
        }
        if let Some(body) = body {
            let substitution = Substitution {
                body,
                is_here: false,
            };
            let kind = PartKind::Substitution(Box::new(substitution));
            self.push(parts, start, is_quoted, kind);
        }
    }

    /// Reads the rest of `$((` or `((` up to its end.
    pub(super) fn arithmetic(&mut self) -> Vec<Part> {
        let start = self.here();
        let parts = self.balanced(Some(b'('), b')', true);
        self.close(start, b')');
        parts
    }

    /// Reads up to the `close` that belongs to an opener already taken. Where `open` is given, it nests.
    pub(super) fn balanced(&mut self, open: Option<u8>, close: u8, is_quoted: bool) -> Vec<Part> {
        let start = self.here();
        self.deeper(start, |it| {
            let mut parts = Vec::new();
            it.balanced_parts(&mut parts, open, close, is_quoted);
            parts
        })
    }

    fn balanced_parts(
        &mut self,
        parts: &mut Vec<Part>,
        open: Option<u8>,
        close: u8,
        is_quoted: bool,
    ) {
        let mut level = 1_usize;
        while let Some(byte) = self.peek() {
            let start = self.pos;
            match byte {
                b'\\' => {
                    self.raw();
                    self.raw();
                    self.push(parts, start + 1, true, PartKind::Text);
                }
                b'\'' if !is_quoted => self.single_quoted(parts),
                b'"' => self.double_quoted(parts),
                b'$' => self.dollar(parts, is_quoted),
                b'`' => self.backquoted(parts, is_quoted),
                b'<' | b'>' if !is_quoted && self.peek_second() == Some(b'(') => {
                    self.skip(2);
                    let stashed = std::mem::take(&mut self.pending);
                    let list = self.deeper(start, Self::list);
                    self.close(start, b')');
                    self.restore(start, stashed);
                    self.push(parts, start, false, PartKind::Process(list));
                }
                byte => {
                    self.bump();
                    if byte == b'\'' {
                        // Whether it quotes anything depends on the shell and on what is expanded.
                        self.unknown(start..start + 1, "a quote inside a quoted expansion");
                    }
                    level += usize::from(open == Some(byte));
                    level -= usize::from(close == byte);
                    if level == 0 {
                        return;
                    }
                    match parts.last_mut() {
                        Some(Part {
                            range,
                            is_quoted: was_quoted,
                            kind: PartKind::Text,
                        }) if range.end == start && *was_quoted == is_quoted => {
                            range.end = self.pos;
                        }
                        _ => self.push(parts, start, is_quoted, PartKind::Text),
                    }
                }
            }
        }
        self.unknown(self.end..self.end, "an opener without its end");
    }

    /// Whether the `((` that stands here ends with `))`, as arithmetic does and nested subshells do not.
    pub(super) fn closes_twice(&self) -> bool {
        let mut level = 0_usize;
        let mut quote = None;
        let mut is_escaped = false;
        let rest = self.text.get(self.pos..self.end).unwrap_or_default();
        let mut bytes = rest.bytes().peekable();
        while let Some(byte) = bytes.next() {
            if std::mem::take(&mut is_escaped) {
                continue;
            }
            match (quote, byte) {
                (None | Some(b'"'), b'\\') => is_escaped = true,
                (None, b'\'' | b'"') => quote = Some(byte),
                (Some(open), byte) if open == byte => quote = None,
                (None, b'(') => level += 1,
                (None, b')') => {
                    level = level.saturating_sub(1);
                    if level <= 1 {
                        return level == 1 && bytes.peek() == Some(&b')');
                    }
                }
                _ => {}
            }
        }
        false
    }

    /// Reads the rest of `${` up to its end.
    fn parameter(&mut self, start: usize, is_quoted: bool) -> PartKind {
        let is_length = self.peek() == Some(b'#')
            && self.peek_second().is_some_and(|byte| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'@' | b'*')
            });
        let is_indirect = !is_length
            && self.peek() == Some(b'!')
            && self.peek_second().is_some_and(|byte| byte != b'}');
        if is_length || is_indirect {
            self.skip(1);
        }
        let mut name = self.name();
        if !name.is_empty() && !is_name(&name) && name.bytes().any(|byte| !byte.is_ascii_digit()) {
            let range = self.since(start);
            self.unknown(range, "an expansion that is not understood");
        }
        if name.is_empty()
            && let Some(byte @ (b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')) = self.peek()
        {
            self.skip(1);
            name.push(byte.into());
        }
        if name.is_empty() {
            let range = self.since(start);
            self.unknown(range, "an expansion that is not understood");
        }
        let mut parts = Vec::new();
        let mut danger = if is_indirect {
            Danger::Value
        } else {
            Danger::None
        };
        let mut is_plain = !is_length && !is_indirect;
        if self.take(b'[') {
            parts = self.balanced(Some(b'['), b']', true);
            is_plain = false;
            // Of a whole array `!` gives the subscripts.
            danger = if self.is_whole_array(&parts) {
                Danger::None
            } else {
                danger.max(Danger::Arithmetic)
            };
            self.not_in_sh(start, "a subscript");
        }
        let has_colon = self.peek() == Some(b':');
        let operator = if has_colon {
            self.peek_second()
        } else {
            self.peek()
        };
        match operator {
            Some(b'}') if !has_colon => {
                self.skip(1);
                if is_plain {
                    return value(name);
                }
            }
            Some(byte @ (b'-' | b'=')) => {
                self.skip(1 + usize::from(has_colon));
                let operand = self.balanced(None, b'}', is_quoted);
                if is_plain {
                    let assigns = byte == b'=';
                    let form = Form::Default { assigns, operand };
                    return PartKind::Parameter(Box::new(Parameter { name, form }));
                }
                parts.extend(operand);
            }
            Some(b'+' | b'?') => {
                self.skip(1 + usize::from(has_colon));
                parts.extend(self.balanced(None, b'}', is_quoted));
            }
            Some(_) if has_colon => {
                self.skip(1);
                parts.extend(self.balanced(None, b'}', true));
                danger = danger.max(Danger::Arithmetic);
                self.not_in_sh(start, "a substring");
            }
            Some(b'@') => {
                self.skip(1);
                if self.peek() == Some(b'P') {
                    danger = Danger::Value;
                }
                parts.extend(self.balanced(None, b'}', true));
            }
            Some(byte @ (b'#' | b'%' | b'/' | b'^' | b',')) => {
                if matches!(byte, b'/' | b'^' | b',') {
                    self.not_in_sh(start, "an expansion");
                }
                parts.extend(self.balanced(None, b'}', is_quoted));
            }
            _ => {
                let range = self.since(start);
                self.unknown(range, "an expansion that is not understood");
                parts.extend(self.balanced(None, b'}', is_quoted));
            }
        }
        let form = Form::Other { parts, danger };
        PartKind::Parameter(Box::new(Parameter { name, form }))
    }

    /// Whether a subscript is `@` or `*`.
    fn is_whole_array(&self, subscript: &[Part]) -> bool {
        match subscript {
            [part] => matches!(self.text.get(part.range.clone()), Some("@" | "*")),
            _ => false,
        }
    }
}

fn value(name: String) -> PartKind {
    PartKind::Parameter(Box::new(Parameter {
        name,
        form: Form::Value,
    }))
}
