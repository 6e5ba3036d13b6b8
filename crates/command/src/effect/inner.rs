//! What a command runs inside: programs, shell texts, files of code. It must not look into them.

use super::apply::Applied;
use super::grammar::{Mark, Slot};
use super::parse::{Used, is_assignment, is_process};
use super::{Inner, Input, Place, place};
use crate::line::{Class, Mode, Word, WordKind};

impl Applied<'_> {
    /// A word that a program runs with arguments of its own.
    pub(super) fn program(&mut self, word: &Word) {
        self.raise(Class::Ordinary);
        if word.text.contains(char::is_whitespace) || !word.is_known() {
            return self.script(std::slice::from_ref(word), Vec::new());
        }
        self.effects.inner.push(Inner::Words {
            words: vec![word.clone()],
            extra_operands: true,
            at: self.directory.clone(),
            assignments: Vec::new(),
            place: self.reading.grammar.place,
        });
    }

    /// Shell text that stands in an option. `env -S` puts the words that follow behind it.
    pub(super) fn split_script(&mut self, word: &Word) {
        let mut words = vec![word.clone()];
        words.extend(self.reading.rest.iter().cloned());
        self.script(&words, Vec::new());
    }

    /// The words that `env -S` makes of its value, which it then reads as if they had stood there.
    pub(super) fn split(&mut self, word: &Word) {
        let parts = split_words(&word.text).filter(|_| word.is_known());
        let Some(parts) = parts else {
            return self.hide(word, "the words it makes of this are not written out");
        };
        let mut words = vec![Word::literal("env", word.range.clone())];
        words.extend(parts.into_iter().map(|text| Word {
            kind: if text.contains("${") {
                WordKind::Dynamic
            } else {
                WordKind::Literal
            },
            ..Word::literal(&text, word.range.clone())
        }));
        words.extend(self.reading.rest.iter().cloned());
        self.effects.inner.push(Inner::Words {
            words,
            extra_operands: false,
            at: self.directory.clone(),
            assignments: Vec::new(),
            place: self.reading.grammar.place,
        });
    }

    /// `NAME=value` for `make` changes what its recipes run as the environment does, and it runs what stands in
    /// `$(shell ...)` and behind `!=` itself.
    pub(super) fn target(&mut self, word: &Word) {
        if word.is_known() && word.text.contains('$') {
            return self.hide(word, "`make` expands it, and may run what stands in it");
        }
        let Some((name, value)) = word.text.split_once('=') else {
            return self.task(word);
        };
        if name.ends_with('!') {
            return self.hide(word, "`make` runs the value");
        }
        let name = name.trim_end_matches([':', '?', '+']).trim_end();
        let text = format!("{name}={}", value.trim_start());
        self.assignment(&Word {
            text,
            ..word.clone()
        });
        if name.starts_with('.') {
            self.hide(word, "it changes how `make` runs its recipes");
        }
    }

    /// A file that is written, or a command into which is written.
    pub(super) fn piped(&mut self, word: &Word) {
        if word.kind == WordKind::Dynamic && word.text.starts_with(['$', '`']) {
            return self.hide(word, "its value may be a command");
        }
        match word.text.strip_prefix(['|', '!']) {
            Some(script) => {
                self.raise(Class::Ordinary);
                let script = Word {
                    text: script.to_owned(),
                    ..word.clone()
                };
                self.script(&[script], Vec::new());
            }
            None => self.write(word),
        }
    }

    /// Shell text, which the program joins from its words.
    pub(super) fn script(&mut self, words: &[Word], arguments: Vec<Word>) {
        let (Some(first), Some(last)) = (words.first(), words.last()) else {
            return;
        };
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        self.effects.inner.push(Inner::Script {
            text: texts.join(" "),
            range: first.range.start..last.range.end.max(first.range.start),
            is_exact: words.iter().all(Word::is_known) && !self.reading.grammar.adds_operands,
            arguments,
            at: self.directory.clone(),
            place: match self.reading.grammar.place {
                // What a text runs is not named beside the program that reads it.
                Place::Named => Place::Child,
                place => place,
            },
        });
    }

    /// `find -exec`: `{}` is a file below where the search starts.
    pub(super) fn exec(&mut self, used: &Used<'_>) {
        let mut words = used.value.to_vec();
        let is_many = words.last().is_some_and(|word| word.text == "+");
        if words
            .last()
            .is_some_and(|word| matches!(word.text.as_str(), ";" | "+"))
        {
            words.pop();
        }
        self.raise(Class::Ordinary);
        let is_moved = used.word.text.ends_with("dir");
        let slots = self.reading.grammar.operands.as_deref().unwrap_or_default();
        let patterns = slots
            .iter()
            .take_while(|(slot, _)| *slot == Slot::Text)
            .count();
        let start = match self.reading.operands.get(patterns..).unwrap_or_default() {
            [] => Some("."),
            [start] if start.is_known() && !start.text.starts_with('-') => {
                Some(start.text.as_str())
            }
            _ => None,
        };
        // The words of `-execdir` are read in each directory, the files found stay below the start.
        let start = match start {
            Some(start) if is_moved => place::absolute(start, &self.at),
            start => start.map(str::to_owned),
        };
        let stands_in = start.map(|start| format!("{}/**", start.trim_end_matches('/')));
        // `fd` puts the file behind the words where nothing stands for it.
        if patterns > 0 && !words.iter().any(|word| word.text.contains('{')) {
            words.push(Word::literal("{}", used.word.range.clone()));
        }
        for word in words.iter_mut().filter(|word| word.text.contains("{}")) {
            match &stands_in {
                Some(pattern) if word.text == "{}" => {
                    word.kind = WordKind::Glob;
                    word.text.clone_from(pattern);
                }
                _ => word.kind = WordKind::Dynamic,
            }
        }
        self.effects.inner.push(Inner::Words {
            words,
            // The files stand for `{}`, which is among the words.
            extra_operands: is_many && stands_in.is_none(),
            at: is_moved.then(|| Word {
                kind: WordKind::Dynamic,
                text: "{}".to_owned(),
                ..used.word.clone()
            }),
            assignments: Vec::new(),
            place: Place::Child,
        });
    }

    /// What runs inside.
    pub(super) fn rest(&mut self) {
        let grammar = self.reading.grammar;
        let slots = grammar.operands.as_deref().unwrap_or_default();
        let (is_inline, is_input) = (self.has(Mark::Inline), self.has(Mark::Input));
        let Some((first, arguments)) = self.reading.rest.split_first() else {
            if grammar.input != Input::Data && !self.looks && !self.has(Mark::Given) {
                self.effects.input = grammar.input;
                self.raise(Class::Ordinary);
            }
            return;
        };
        let is_split = self
            .reading
            .switches
            .iter()
            .any(|used| matches!(used.switch.slot, Some(Slot::Script | Slot::Split)));
        if self.looks || is_split {
            return;
        }
        let is_file = slots.iter().any(|(slot, _)| *slot == Slot::File);
        if is_file {
            self.raise(Class::Ordinary);
            if is_inline && grammar.input == Input::Script {
                self.script(std::slice::from_ref(first), arguments.to_vec());
            } else if is_input || is_stream(first) {
                self.effects.input = grammar.input;
            } else {
                self.touch(first, Mode::Read, true);
                if !first.is_known() {
                    self.hide(first, "the file that is run is not written out");
                }
                for word in arguments {
                    self.suspect(word);
                }
                self.tasks_of_script(first, arguments);
            }
        } else if slots.iter().any(|(slot, _)| *slot == Slot::Script) {
            self.script(self.reading.rest, Vec::new());
        } else {
            self.command(grammar.adds_operands);
        }
    }

    pub(super) fn command(&mut self, adds_operands: bool) {
        let stands = self
            .reading
            .switches
            .iter()
            .filter(|used| used.switch.slot == Some(Slot::Stand));
        let stands: Vec<&str> = stands
            .map(|used| used.value.first().map_or("{}", |word| word.text.as_str()))
            .collect();
        let mut words = self.reading.rest.to_vec();
        for word in &mut words {
            if stands
                .iter()
                .any(|stand| !stand.is_empty() && word.text.contains(stand))
            {
                word.kind = WordKind::Dynamic;
            }
        }
        let assignments = self
            .reading
            .operands
            .iter()
            .filter(|word| is_assignment(&word.text));
        self.effects.inner.push(Inner::Words {
            words,
            extra_operands: adds_operands && stands.is_empty(),
            at: self.directory.clone(),
            assignments: assignments.copied().cloned().collect(),
            place: self.reading.grammar.place,
        });
    }
}

/// The words in a text as `env -S` splits it; `None` where it would refuse.
fn split_words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut open: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(c) = letters.next() {
        match c {
            '\'' | '"' if quote == Some(c) => quote = None,
            '\'' | '"' if quote.is_none() => {
                open.get_or_insert_default();
                quote = Some(c);
            }
            ' ' | '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' if quote.is_none() => {
                words.extend(open.take());
            }
            '#' if quote.is_none() && open.is_none() => break,
            '\\' => match letters.next()? {
                c @ ('\'' | '\\') => open.get_or_insert_default().push(c),
                other if quote == Some('\'') => open.get_or_insert_default().extend(['\\', other]),
                'c' if quote.is_none() => break,
                '_' | 't' | 'n' | 'v' | 'f' | 'r' if quote.is_none() => words.extend(open.take()),
                '_' => open.get_or_insert_default().push(' '),
                't' => open.get_or_insert_default().push('\t'),
                'n' => open.get_or_insert_default().push('\n'),
                'v' => open.get_or_insert_default().push('\u{b}'),
                'f' => open.get_or_insert_default().push('\u{c}'),
                'r' => open.get_or_insert_default().push('\r'),
                c @ ('"' | '#' | '$') => open.get_or_insert_default().push(c),
                _ => return None,
            },
            c => open.get_or_insert_default().push(c),
        }
    }
    words.extend(open.take());
    quote.is_none().then_some(words)
}

/// Whether a file that is run is the standard input.
pub(super) fn is_stream(word: &Word) -> bool {
    let text = word.text.as_str();
    text == "-" || text.starts_with("/dev/") || text.starts_with("/proc/") || is_process(word)
}
