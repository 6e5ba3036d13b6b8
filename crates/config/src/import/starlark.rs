//! The part of Starlark that files of rules are written in: calls with named, literal arguments.
//!
//! Must not evaluate anything: a statement of any other form is handed back as text.

use std::ops::Range;

/// Deeper lists are not read.
const DEPTH_MAX: usize = 8;

/// A statement at the left edge of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Statement {
    /// Its bytes in the text.
    pub(super) range: Range<usize>,
    /// `None`: it is of another form.
    pub(super) call: Option<Call>,
}

/// A call with named arguments.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) name: String,
    pub(super) arguments: Vec<(String, Value)>,
}

/// A literal argument.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Value {
    String(String),
    List(Vec<Value>),
    /// `True`, `False` or `None`, or a number.
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Word(String),
    String(String),
    Sign(char),
}

#[derive(Debug, Clone)]
struct Token {
    kind: Kind,
    range: Range<usize>,
    /// Whether nothing stands before it in its line.
    is_at_edge: bool,
}

/// The statements of a text.
///
/// # Errors
/// Where a string begins that does not end.
pub(super) fn read(text: &str) -> Result<Vec<Statement>, Range<usize>> {
    let tokens = tokens(text)?;
    let mut statements = Vec::new();
    let mut rest = tokens.as_slice();
    while let Some((first, behind)) = rest.split_first() {
        // A statement ends where the next one begins: outside brackets and at the left edge. One in a
        // block belongs to what opens the block.
        let mut depth = bracket(&first.kind, 0);
        let starts_next = |token: &Token| {
            let is_next = depth == 0 && token.is_at_edge;
            depth = bracket(&token.kind, depth);
            is_next
        };
        let length = 1 + behind.iter().position(starts_next).unwrap_or(behind.len());
        let (own, next) = rest.split_at(length);
        let end = own.last().map_or(first.range.end, |last| last.range.end);
        statements.push(Statement {
            range: first.range.start..end,
            call: call(own),
        });
        rest = next;
    }
    Ok(statements)
}

fn bracket(kind: &Kind, depth: usize) -> usize {
    match kind {
        Kind::Sign('(' | '[' | '{') => depth + 1,
        Kind::Sign(')' | ']' | '}') => depth.saturating_sub(1),
        Kind::Word(_) | Kind::String(_) | Kind::Sign(_) => depth,
    }
}

/// Reads a whole statement as a call.
fn call(tokens: &[Token]) -> Option<Call> {
    let mut rest = Rest(tokens);
    let name = rest.word()?;
    rest.sign('(')?;
    let mut arguments = Vec::new();
    while rest.sign(')').is_none() {
        let argument = rest.word()?;
        rest.sign('=')?;
        let value = rest.value(DEPTH_MAX)?;
        if arguments.iter().any(|(known, _)| *known == argument) {
            return None;
        }
        arguments.push((argument, value));
        if rest.sign(',').is_none() {
            rest.sign(')')?;
            break;
        }
    }
    rest.0.is_empty().then_some(Call { name, arguments })
}

/// Tokens that are still to be read.
struct Rest<'t>(&'t [Token]);

impl Rest<'_> {
    fn take<T>(&mut self, fits: impl FnOnce(&Kind) -> Option<T>) -> Option<T> {
        let (first, rest) = self.0.split_first()?;
        let found = fits(&first.kind)?;
        self.0 = rest;
        Some(found)
    }

    fn word(&mut self) -> Option<String> {
        self.take(|kind| match kind {
            Kind::Word(word) => Some(word.clone()),
            Kind::String(_) | Kind::Sign(_) => None,
        })
    }

    fn sign(&mut self, wanted: char) -> Option<()> {
        self.take(|kind| (*kind == Kind::Sign(wanted)).then_some(()))
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if self.sign('[').is_some() {
            let depth = depth.checked_sub(1)?;
            let mut values = Vec::new();
            while self.sign(']').is_none() {
                values.push(self.value(depth)?);
                if self.sign(',').is_none() {
                    self.sign(']')?;
                    break;
                }
            }
            return Some(Value::List(values));
        }
        self.take(|kind| match kind {
            Kind::String(text) => Some(Value::String(text.clone())),
            Kind::Word(word) => {
                let is_number = word.chars().all(|c| c.is_ascii_digit());
                let is_literal = is_number || ["True", "False", "None"].contains(&word.as_str());
                is_literal.then_some(Value::Other)
            }
            Kind::Sign(_) => None,
        })
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, Range<usize>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    let mut is_at_edge = true;
    while let Some(char) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(at..).unwrap_or_default();
        let length = match char {
            '\n' => {
                is_at_edge = true;
                at += 1;
                continue;
            }
            '#' => {
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            _ if char.is_whitespace() => {
                is_at_edge = false;
                at += char.len_utf8();
                continue;
            }
            _ => {
                let (kind, length) = if let Some(opening) = opening(rest) {
                    let (value, length) = string(rest, &opening).ok_or(at..at + 1)?;
                    (Kind::String(value), length)
                } else if is_of_word(char) {
                    let length = rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
                    let word = rest.get(..length).unwrap_or_default();
                    (Kind::Word(word.to_owned()), length)
                } else {
                    (Kind::Sign(char), char.len_utf8())
                };
                tokens.push(Token {
                    kind,
                    range: at..at + length,
                    is_at_edge,
                });
                length
            }
        };
        is_at_edge = false;
        at += length;
    }
    Ok(tokens)
}

fn is_of_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// How a string begins.
struct Opening {
    quote: &'static str,
    /// Where its text begins.
    start: usize,
    is_raw: bool,
}

fn opening(text: &str) -> Option<Opening> {
    let (rest, is_raw) = match text.strip_prefix('r') {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let quotes = ["\"\"\"", "'''", "\"", "'"];
    let quote = quotes.into_iter().find(|quote| rest.starts_with(quote))?;
    let start = text.len() - rest.len() + quote.len();
    Some(Opening {
        quote,
        start,
        is_raw,
    })
}

/// The string that a text begins with, and its length there. `None`: it does not end.
fn string(text: &str, opening: &Opening) -> Option<(String, usize)> {
    let Opening {
        quote,
        start,
        is_raw,
    } = *opening;
    let body = text.get(start..).unwrap_or_default();
    let mut value = String::new();
    let mut chars = body.char_indices();
    while let Some((at, char)) = chars.next() {
        if body.get(at..).is_some_and(|rest| rest.starts_with(quote)) {
            return Some((value, start + at + quote.len()));
        }
        match char {
            '\n' if quote.len() == 1 => return None,
            '\\' => {
                let (_, next) = chars.next()?;
                match (is_raw, next) {
                    (false, 'n') => value.push('\n'),
                    (false, 't') => value.push('\t'),
                    (false, 'r') => value.push('\r'),
                    (false, '\\' | '"' | '\'') => value.push(next),
                    (false, '\n') => {}
                    _ => value.extend(['\\', next]),
                }
            }
            _ => value.push(char),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::String(text.to_owned())
    }

    fn calls(written: &str) -> Vec<Option<Call>> {
        let statements = read(written).unwrap();
        statements.into_iter().map(|it| it.call).collect()
    }

    #[test]
    fn calls_with_literal_arguments_are_read() {
        let written =
            "# a comment\nf(\n  a = ['x', [\"y\", r'z\\n']], # more\n  b = True,\n)\ng()\n";
        let list = Value::List(vec![text("x"), Value::List(vec![text("y"), text("z\\n")])]);
        let first = Call {
            name: "f".to_owned(),
            arguments: vec![("a".to_owned(), list), ("b".to_owned(), Value::Other)],
        };
        let second = Call {
            name: "g".to_owned(),
            arguments: Vec::new(),
        };
        assert_eq!(calls(written), [Some(first), Some(second)]);
    }

    #[test]
    fn any_other_statement_is_handed_back_whole() {
        for written in [
            "A = ['x']",
            "f('x')",
            "f(a = B)",
            "f(a = 'x' + 'y')",
            "f(a = 'x' 'y')",
            "f(a = 'x', a = 'y')",
            "f(a = ['x'",
            "f(a = 'x') if True else None",
            "def g():\n    f(a = 'x')\n\n    f(a = 'y')",
            "[f(a = x)\nfor x in []]",
            ")",
        ] {
            assert_eq!(calls(written), [None], "{written}");
            assert_eq!(read(written).unwrap()[0].range, 0..written.len());
        }
    }

    #[test]
    fn strings_end_where_they_end() {
        for (written, want) in [
            (r#""a\"b""#, "a\"b"),
            (r"'a\\'", "a\\"),
            (r"'\d'", r"\d"),
            ("'''a\n'b'''", "a\n'b"),
            ("''", ""),
            ("'#'", "#"),
        ] {
            let got = calls(&format!("f(a = {written})"));
            let Some(Call { arguments, .. }) = &got[0] else {
                panic!("{written}")
            };
            assert_eq!(arguments[0].1, text(want), "{written}");
        }
        for written in ["'a", "'a\nb'", "'''a'", r"'a\"] {
            assert!(read(written).is_err(), "{written}");
        }
    }
}
