//! Words to their values. It must not take for known what depends on anything outside the line.

use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;

use super::arithmetic::prints_number;
use super::brace::{Atom, Expanded, expand};
use super::field::{Field, Fields, Use};
use super::odd::{oddity, oddity_in_word};
use super::state::{State, Value};
use super::{Frame, Walker};
use crate::line::{self, Oddity, Shell, WordKind};
use crate::syntax::{Body, CommandKind, Danger, Form, Part, PartKind, Substitution, Word, is_name};

impl Walker<'_> {
    /// The words that `words` become.
    pub(super) fn words(
        &mut self,
        frame: &Rc<Frame>,
        words: &[Word],
        state: &mut State,
    ) -> Vec<line::Word> {
        let mut values = Vec::with_capacity(words.len());
        for word in words {
            let before = values.len();
            self.word(frame, word, Use::Words, state, &mut values);
            // One word for one is paid for by the command.
            let more = values.len().saturating_sub(before + 1);
            if more > 0 && !self.burn(more, &frame.range(&word.range)) {
                break;
            }
        }
        values
    }

    /// The one word that `word` stands for.
    pub(super) fn single(
        &mut self,
        frame: &Rc<Frame>,
        word: &Word,
        state: &mut State,
    ) -> line::Word {
        let mut values = Vec::with_capacity(1);
        self.word(frame, word, Use::Value, state, &mut values);
        values
            .pop()
            .unwrap_or_else(|| line::Word::literal("", frame.range(&word.range)))
    }

    /// Adds what `word` becomes.
    pub(super) fn word(
        &mut self,
        frame: &Rc<Frame>,
        word: &Word,
        usage: Use,
        state: &mut State,
        values: &mut Vec<line::Word>,
    ) {
        let range = frame.range(&word.range);
        if let [
            Part {
                range: at,
                is_quoted,
                kind: PartKind::Text,
            },
        ] = &*word.parts
            && self.line.flagged.is_empty()
        {
            let text = frame.source(at);
            let is_special = |b: u8| matches!(b, b'{' | b'~' | b'*' | b'?' | b'[' | b'=');
            if *is_quoted || !text.bytes().any(is_special) {
                values.push(line::Word::literal(text, range));
                return;
            }
        }
        if usage == Use::Words {
            match expand(&frame.text, word) {
                Expanded::Same => {}
                Expanded::TooMuch => {
                    self.parts(frame, &word.parts, state);
                    let mut field = Field::default();
                    field.push_unknown(frame.source(&word.range), false);
                    values.push(field.finish(range));
                    return;
                }
                Expanded::Words(words) => {
                    if self.shell == Shell::Sh {
                        self.unknown(range.clone(), "braces, which not every `sh` expands");
                    }
                    for atoms in words {
                        let mut fields = Fields::new(usage, self.shell);
                        self.atoms(frame, &atoms, state, &mut fields);
                        fields.finish(&range, values);
                    }
                    return;
                }
            }
        }
        let mut fields = Fields::new(usage, self.shell);
        let mut is_start = true;
        for part in word.parts.iter() {
            self.part(frame, part, is_start.then_some(word), state, &mut fields);
            is_start = false;
        }
        let last = &mut fields.last;
        if last.is_dynamic && last.text.starts_with(['<', '>']) && word.parts.len() > 1 {
            // Its text may not look like that of a process substitution, which is a harmless file.
            frame.source(&word.range).clone_into(&mut last.text);
        }
        if usage == Use::Value {
            fields.last.is_there = true;
            fields.last.has_wildcard = false;
            fields.last.is_many = false;
        }
        fields.finish(&range, values);
    }

    /// Adds the pieces of a word whose braces were expanded.
    fn atoms(
        &mut self,
        frame: &Rc<Frame>,
        atoms: &[Atom<'_>],
        state: &mut State,
        fields: &mut Fields,
    ) {
        let mut plain = String::new();
        for atom in atoms {
            match atom {
                Atom::Char(c) => plain.push(*c),
                Atom::Part(part) => {
                    fields.last.push_plain(&std::mem::take(&mut plain));
                    self.part(frame, part, None, state, fields);
                }
            }
        }
        if plain.starts_with('~') && fields.last.text.is_empty() {
            fields.last.is_dynamic = true;
        }
        fields.last.push_plain(&plain);
    }

    /// Adds one part of a word; `word` where it is the first.
    fn part(
        &mut self,
        frame: &Rc<Frame>,
        part: &Part,
        word: Option<&Word>,
        state: &mut State,
        fields: &mut Fields,
    ) {
        match &part.kind {
            PartKind::Text => {
                let text = frame.source(&part.range);
                self.check_characters(frame, part, text);
                if part.is_quoted {
                    fields.last.push_quoted(text);
                } else {
                    let is_whole = word.is_some_and(|word| word.parts.len() == 1);
                    self.plain(text, word.is_some(), is_whole, state, fields);
                }
            }
            PartKind::Decoded(text) => fields.last.push_quoted(text),
            PartKind::Parameter(parameter) => {
                let source = frame.source(&part.range);
                let is_list = matches!(parameter.name.as_str(), "@" | "*");
                if is_list
                    && matches!(parameter.form, Form::Value)
                    && let Some(words) = state.positional.clone()
                    && fields.usage == Use::Words
                    && part.is_quoted
                    && parameter.name == "@"
                {
                    return fields.push_arguments(&words);
                }
                let value = self.part_value(frame, part, state);
                fields.push(value, source, part.is_quoted, state);
            }
            PartKind::Substitution(_) | PartKind::Arithmetic(_) => {
                let value = self.part_value(frame, part, state);
                fields.push(value, frame.source(&part.range), part.is_quoted, state);
            }
            PartKind::Process(list) => {
                let mut inner = state.clone();
                self.list(frame, list, &mut inner);
                fields.last.push_unknown(frame.source(&part.range), true);
            }
            PartKind::Subscript(parts) => {
                // Only an assignment has one; here it is a pattern.
                self.arithmetic(frame, parts, state);
                fields.last.push_unknown(frame.source(&part.range), false);
            }
            PartKind::Array(words) => {
                for word in words {
                    self.word(frame, word, Use::Words, state, &mut Vec::new());
                }
                fields.last.push_unknown(frame.source(&part.range), true);
            }
            PartKind::ExtendedGlob(parts) => {
                self.parts(frame, parts, state);
                fields.last.push_unknown(frame.source(&part.range), false);
            }
        }
    }

    /// What an expansion gives.
    pub(super) fn part_value(
        &mut self,
        frame: &Rc<Frame>,
        part: &Part,
        state: &mut State,
    ) -> Value {
        match &part.kind {
            PartKind::Parameter(parameter) => {
                self.parameter(frame, &parameter.name, &parameter.form, part, state)
            }
            PartKind::Substitution(substitution) => {
                self.substitution(frame, substitution, &part.range, state)
            }
            PartKind::Arithmetic(parts) => {
                self.arithmetic(frame, parts, state);
                Value::Number
            }
            PartKind::Text
            | PartKind::Decoded(_)
            | PartKind::Process(_)
            | PartKind::Subscript(_)
            | PartKind::Array(_)
            | PartKind::ExtendedGlob(_) => Value::Unknown,
        }
    }

    /// The one word that `word` stands for, and what a variable set to it holds.
    pub(super) fn value(
        &mut self,
        frame: &Rc<Frame>,
        word: &Word,
        state: &mut State,
    ) -> (line::Word, Value) {
        let [part @ Part { kind, .. }] = &*word.parts else {
            return self.value_of_many(frame, word, state);
        };
        if !matches!(
            kind,
            PartKind::Parameter(_) | PartKind::Substitution(_) | PartKind::Arithmetic(_)
        ) {
            return self.value_of_many(frame, word, state);
        }
        let value = self.part_value(frame, part, state);
        let mut fields = Fields::new(Use::Value, self.shell);
        fields.push(value.clone(), frame.source(&part.range), true, state);
        (fields.last.finish(frame.range(&word.range)), value)
    }

    fn value_of_many(
        &mut self,
        frame: &Rc<Frame>,
        word: &Word,
        state: &mut State,
    ) -> (line::Word, Value) {
        let word = self.single(frame, word, state);
        let value = match word.kind {
            WordKind::Literal | WordKind::Known => Value::text(&word.text),
            WordKind::Glob => Value::Name(word.text.as_str().into()),
            WordKind::Dynamic => Value::Unknown,
        };
        (word, value)
    }

    /// Notes characters that do not look like what they are.
    fn check_characters(&mut self, frame: &Frame, part: &Part, text: &str) {
        if self.line.flagged.is_empty() || text.is_empty() {
            return;
        }
        for (at, c) in text.char_indices() {
            let odd = if part.is_quoted {
                oddity(c).filter(|odd| *odd == Oddity::Control)
            } else {
                oddity_in_word(c)
            };
            if odd.is_some() {
                let start = part.range.start + at;
                let range = frame.range(&(start..start + c.len_utf8()));
                self.unknown(range, "a character that does not look like what it is");
            }
        }
    }

    /// Adds unquoted text, with the home directories in it.
    fn plain(
        &mut self,
        text: &str,
        is_start: bool,
        is_whole: bool,
        state: &State,
        fields: &mut Fields,
    ) {
        if !is_start || !text.contains(['~', '=']) {
            return fields.last.push_plain(text);
        }
        if self.shell == Shell::Zsh && text.starts_with('=') && text.len() > 1 {
            return fields.last.push_unknown(text, true);
        }
        // In a value, and in a word that looks like an assignment, a home may stand behind `=` and `:`.
        let (head, rest) = match text.split_once('=') {
            Some((name, _)) if is_name(name) && fields.usage == Use::Words => {
                text.split_at_checked(name.len() + 1).unwrap_or((text, ""))
            }
            _ => ("", text),
        };
        fields.last.push_plain(head);
        let is_list = !head.is_empty() || fields.usage == Use::Value;
        if !head.is_empty() && self.shell == Shell::Sh && rest.contains('~') {
            return fields.last.push_unknown(rest, true);
        }
        let mut pieces: Vec<&str> = vec![rest];
        if is_list && rest.contains(":~") {
            pieces = rest.split_inclusive(':').collect();
        }
        let count = pieces.len();
        for (index, piece) in pieces.into_iter().enumerate() {
            let is_last = index + 1 == count;
            let end = piece.find(['/', ':']).unwrap_or(piece.len());
            let (prefix, tail) = piece.split_at_checked(end).unwrap_or((piece, ""));
            if !prefix.starts_with('~') || (is_last && tail.is_empty() && !is_whole) {
                fields.last.push_plain(piece);
                continue;
            }
            match self.home(prefix, state) {
                Some(home) => {
                    fields.last.is_known = true;
                    fields.last.push_quoted(&home);
                    fields.last.push_plain(tail);
                }
                None => fields.last.push_unknown(piece, true),
            }
        }
    }

    fn parameter(
        &mut self,
        frame: &Rc<Frame>,
        name: &str,
        form: &Form,
        part: &Part,
        state: &mut State,
    ) -> Value {
        match form {
            Form::Value => self.variable(name, state),
            Form::Default { assigns, operand } => {
                let value = self.variable(name, state);
                self.parts(frame, operand, state);
                match value {
                    Value::Text(text) if !text.is_empty() => Value::Text(text),
                    Value::Number => Value::Number,
                    _ => {
                        if *assigns {
                            let range = frame.range(&part.range);
                            self.set(name, Value::Unknown, &range, state);
                        }
                        Value::Unknown
                    }
                }
            }
            Form::Other { parts, danger } => {
                match danger {
                    Danger::None => self.parts(frame, parts, state),
                    Danger::Arithmetic => self.arithmetic(frame, parts, state),
                    Danger::Value => {
                        self.parts(frame, parts, state);
                        let range = frame.range(&part.range);
                        self.unknown(range, "an expansion of what a variable holds");
                    }
                }
                let source = frame.source(&part.range);
                let is_length = source.starts_with("${#");
                let behind = source
                    .strip_prefix("${")
                    .and_then(|it| it.strip_prefix(name));
                if behind.is_some_and(shows_in_message) {
                    let range = frame.range(&part.range);
                    self.unknown(range, "a message that shows what a variable holds");
                }
                if is_length {
                    Value::Number
                } else {
                    Value::Unknown
                }
            }
        }
    }

    /// Follows what stands in `parts`, whatever its value.
    pub(super) fn parts(&mut self, frame: &Rc<Frame>, parts: &[Part], state: &mut State) {
        let mut fields = Fields::new(Use::Value, self.shell);
        for part in parts {
            self.part(frame, part, None, state, &mut fields);
            fields.last.text.clear();
            fields.last.quoted.clear();
        }
    }

    /// The text of `parts`, where all of it is known.
    pub(super) fn text_of(
        &mut self,
        frame: &Rc<Frame>,
        parts: &[Part],
        state: &mut State,
    ) -> Option<String> {
        let mut fields = Fields::new(Use::Value, self.shell);
        for part in parts {
            self.part(frame, part, None, state, &mut fields);
        }
        let field = fields.last;
        (!field.is_dynamic && !field.has_name).then_some(field.text)
    }

    /// Follows a substitution and tells what it prints, where that is plain.
    fn substitution(
        &mut self,
        frame: &Rc<Frame>,
        substitution: &Substitution,
        range: &Range<usize>,
        state: &mut State,
    ) -> Value {
        let (frame, list) = match &substitution.body {
            Body::List(list) => (Cow::Borrowed(frame), list),
            Body::Script(script) => {
                let inner = frame.nested(script, range);
                (Cow::Owned(inner), &script.list)
            }
        };
        let mut inner = state.clone();
        let first = self.line.commands.len();
        self.list(&frame, list, &mut inner);
        if substitution.is_here {
            // Only newer versions run it at all.
            state.merge(&inner);
        }
        let [and_or] = list.as_slice() else {
            return Value::Unknown;
        };
        if !and_or.rest.is_empty() {
            return Value::Unknown;
        }
        let pipeline = &and_or.first;
        let is_alone = pipeline.commands.len() == 1;
        let Some(command) = pipeline.commands.last() else {
            return Value::Unknown;
        };
        let CommandKind::Simple(simple) = &command.kind else {
            return Value::Unknown;
        };
        let words: Option<Vec<Cow<'_, str>>> = simple
            .words
            .iter()
            .map(|word| word.plain(&frame.text))
            .collect();
        let words = words.unwrap_or_default();
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        if prints_number(&words) && self.is_program(words.first().copied().unwrap_or_default()) {
            return Value::Number;
        }
        if is_alone && let Some(text) = self.output(command, first, state) {
            return Value::text(text.trim_end_matches('\n'));
        }
        Value::Unknown
    }
}

/// Whether what stands behind the name of a parameter is a message with a variable in it: `:?$x`.
fn shows_in_message(behind: &str) -> bool {
    let message = behind.strip_prefix(':').unwrap_or(behind).strip_prefix('?');
    let mut pieces = message.unwrap_or_default().split('$').skip(1);
    pieces.any(|piece| !piece.starts_with('('))
}
