//! Reads `[[ ]]`. It must not evaluate it.

use super::cursor::Parser;
use super::tree::{Operand, Word};
use super::word::Place;

/// Operators between two operands that read both as arithmetic.
const COMPARING: [&str; 6] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

/// Other operators between two operands that are words.
const MATCHING: [&str; 7] = ["=", "==", "!=", "=~", "-nt", "-ot", "-ef"];

impl Parser<'_> {
    /// Reads the rest of `[[` up to its end.
    pub(super) fn test(&mut self, start: usize) -> Vec<Operand> {
        let mut operands = Vec::new();
        let is_whole = self.alternatives(&mut operands);
        self.newlines();
        if !self.take_keyword("]]") {
            if is_whole {
                let range = self.since(start);
                self.unknown(range, "an opener without its end");
            }
            self.rest_of_test(&mut operands);
        }
        operands
    }

    /// Gets past what is not understood, up to the end of the test or of the line.
    fn rest_of_test(&mut self, operands: &mut Vec<Operand>) {
        let start = self.here();
        self.unknown(start..start, "a test expression that is not understood");
        loop {
            self.blanks();
            match self.peek() {
                None | Some(b'\n' | b';') => return,
                Some(_) if self.take_keyword("]]") => return,
                Some(_) if self.at_word() => {
                    let word = self.word();
                    operands.push(Operand {
                        word,
                        is_arithmetic: true,
                    });
                }
                Some(_) => {
                    self.bump();
                }
            }
        }
    }

    /// Reads terms joined by `&&` and `||`. Returns whether they were whole.
    fn alternatives(&mut self, operands: &mut Vec<Operand>) -> bool {
        loop {
            self.newlines();
            while self.take_keyword("!") {
                self.newlines();
            }
            let is_whole = if self.peek() == Some(b'(') {
                let start = self.here();
                self.skip(1);
                let is_whole = self.deeper(start, |it| it.alternatives(operands));
                self.newlines();
                self.take(b')') && is_whole
            } else {
                self.term(operands)
            };
            if !is_whole {
                return false;
            }
            self.newlines();
            match (self.peek(), self.peek_second()) {
                (Some(b'&'), Some(b'&')) | (Some(b'|'), Some(b'|')) => self.skip(2),
                _ => return true,
            }
        }
    }

    /// The word that stands here, unless it is the end of the test.
    fn operand(&mut self) -> Option<Word> {
        self.blanks();
        if !self.at_word() || self.keyword() == Some("]]") {
            return None;
        }
        Some(self.word())
    }

    /// Reads one operand or an operator with its operands.
    fn term(&mut self, operands: &mut Vec<Operand>) -> bool {
        let Some(first) = self.operand() else {
            return false;
        };
        let text = self.text;
        self.blanks();
        if matches!(self.peek(), Some(b'<' | b'>')) && self.peek_second() != Some(b'(') {
            self.skip(1);
            let second = self.operand();
            let is_whole = second.is_some();
            let words = std::iter::once(first).chain(second);
            operands.extend(words.map(|word| Operand {
                word,
                is_arithmetic: false,
            }));
            return is_whole;
        }
        let Some(second) = self.operand() else {
            operands.push(Operand {
                word: first,
                is_arithmetic: false,
            });
            return true;
        };
        let operator = second.plain(text).unwrap_or_default();
        if COMPARING.contains(&operator.as_ref()) || MATCHING.contains(&operator.as_ref()) {
            let is_arithmetic = COMPARING.contains(&operator.as_ref());
            self.blanks();
            let third = if operator == "=~" && self.peek().is_some_and(|byte| byte != b'\n') {
                Some(self.word_at(Place::Expression))
            } else {
                self.operand()
            };
            let is_whole = third.as_ref().is_some_and(|word| !word.range.is_empty());
            let words = std::iter::once(first).chain(third);
            operands.extend(words.map(|word| Operand {
                word,
                is_arithmetic,
            }));
            return is_whole;
        }
        // One operator before one operand. Some name a variable, whose subscript is arithmetic.
        let operator = first.plain(text).unwrap_or_default();
        let is_operator = operator.len() == 2 && operator.starts_with('-');
        let is_arithmetic = matches!(operator.as_ref(), "-v" | "-R");
        operands.push(Operand {
            word: second,
            is_arithmetic,
        });
        is_operator
    }
}
