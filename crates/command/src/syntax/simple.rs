//! Reads simple commands. It must not know programs, but for the few whose arguments may be arrays.

use super::cursor::{Parser, is_meta};
use super::tree::{Assignment, Command, CommandKind, Simple};
use super::word::Place;

/// The builtins whose arguments are read like assignments.
const DECLARING: [&str; 5] = ["declare", "export", "local", "readonly", "typeset"];

impl Parser<'_> {
    /// Whether a word stands here.
    pub(super) fn at_word(&mut self) -> bool {
        match self.peek() {
            None => false,
            Some(b'<' | b'>') => self.peek_second() == Some(b'('),
            Some(byte) => !is_meta(byte),
        }
    }

    /// Reads a simple command, or a function.
    pub(super) fn simple(&mut self) -> Command {
        let start = self.here();
        self.command_count += 1;
        let mut simple = Simple::default();
        let mut redirects = Vec::new();
        let mut is_declaring = false;
        loop {
            self.blanks();
            if self.at_redirect() {
                redirects.extend(self.redirect());
                continue;
            }
            if self.peek() == Some(b'(')
                && simple.assignments.is_empty()
                && redirects.is_empty()
                && simple.words.len() == 1
                && let Some(name) = simple.words.pop()
            {
                self.skip(1);
                self.blanks();
                self.close(start, b')');
                let kind = self.function(start, name);
                return self.finish(start, kind);
            }
            if !self.at_word() {
                break;
            }
            if !simple.words.is_empty() {
                let place = if is_declaring {
                    Place::Assignment
                } else {
                    Place::Argument
                };
                let word = self.word_at(place);
                simple.words.push(word);
                continue;
            }
            let word = self.word_at(Place::Assignment);
            match Assignment::of(self.text, word) {
                Ok(assignment) => {
                    // Most commands that have any have one.
                    if simple.assignments.is_empty() {
                        simple.assignments.reserve_exact(1);
                    }
                    simple.assignments.push(assignment);
                }
                Err(word) => {
                    let is_late = !simple.assignments.is_empty() || !redirects.is_empty();
                    if let Some(plain) = word.plain(self.text) {
                        is_declaring = DECLARING.contains(&plain.as_ref());
                        if is_late && super::list::is_keyword(&plain) {
                            // Few readers agree on what this is.
                            self.unknown(word.range.clone(), "a keyword that is out of place");
                        }
                    }
                    simple.words.push(word);
                }
            }
        }
        Command {
            range: self.since(start),
            kind: CommandKind::Simple(simple),
            redirects,
        }
    }
}
