//! What one reading of a command means: touches, hosts, what runs inside, its class. It must not read options.

use std::borrow::Cow;

use super::git::pathspec;
use super::grammar::{Mark, Slot};
use super::parse::{Reading, Used};
use super::{Effects, place};
use crate::line::{Class, Directory, Host, Mode, Opaque, Touch, TouchedPath, Word, WordKind};

/// What a reading of a command that runs in `at` does.
pub(super) fn apply<'r>(reading: &'r Reading<'r>, words: &[Word], at: &'r Directory) -> Effects {
    let mut applied = Applied::new(reading, at);
    applied.options();
    applied.operands();
    applied.rest();
    applied.leftovers(words);
    applied.effects.is_told = applied.is_told(words);
    applied.effects.runs_project = reading.grammar.runs_project;
    applied.effects
}

pub(super) struct Applied<'r> {
    pub(super) reading: &'r Reading<'r>,
    pub(super) effects: Effects,
    /// Where the command works.
    pub(super) at: Cow<'r, Directory>,
    /// Where it was called.
    pub(super) called_at: &'r Directory,
    /// The word that moves the command to another directory.
    pub(super) directory: Option<Word>,
    pub(super) looks: bool,
    /// Whether it does something that its words do not tell.
    pub(super) is_untold: bool,
}

impl<'r> Applied<'r> {
    fn new(reading: &'r Reading<'r>, at: &'r Directory) -> Self {
        let grammar = reading.grammar;
        let looks = reading.looks();
        let is_bare = reading.operands.is_empty() && reading.rest.is_empty();
        let mut effects = Effects::ordinary();
        let is_mild = reading.is_listed
            && reading
                .switches
                .iter()
                .any(|used| used.switch.has(Mark::Mild));
        effects.class = match grammar.bare {
            _ if looks => Class::ReadOnly,
            _ if is_mild => Class::Ordinary,
            Some(class) if is_bare => class,
            _ => grammar.class,
        };
        let mut applied = Self {
            reading,
            effects,
            at: Cow::Borrowed(at),
            called_at: at,
            directory: None,
            looks,
            is_untold: false,
        };
        let moves = |used: &&Used<'_>| used.switch.slot == Some(Slot::Directory);
        for used in reading.switches.iter().filter(moves) {
            if let Some(word) = used.value.first() {
                applied.touch(word, Mode::Read, true);
                applied.at = Cow::Owned(place::moved(word, &applied.at));
                applied.directory = Some(word.clone());
            }
        }
        applied
    }

    pub(super) fn has(&self, mark: Mark) -> bool {
        self.reading.marks.has(mark)
    }

    pub(super) fn raise(&mut self, class: Class) {
        self.effects.class = self.effects.class.max(class);
    }

    pub(super) fn hide(&mut self, word: &Word, why: impl Into<String>) {
        self.raise(Class::Ordinary);
        let opaque = Opaque {
            range: word.range.clone(),
            why: why.into(),
        };
        self.effects.opaque.get_or_insert(opaque);
    }

    pub(super) fn touch(&mut self, word: &Word, mode: Mode, is_certain: bool) -> bool {
        let Some(path) = place::path(word, &self.at) else {
            return false;
        };
        self.effects.touches.push(Touch {
            path,
            mode,
            is_certain,
            range: word.range.clone(),
            by: None,
        });
        true
    }

    pub(super) fn write(&mut self, word: &Word) {
        if self.touch(word, Mode::Write, true) {
            self.raise(Class::Ordinary);
        }
    }

    /// `@file` may be the file.
    pub(super) fn behind_at(&mut self, word: &Word) {
        if let Some(file) = word.text.strip_prefix('@').filter(|file| !file.is_empty()) {
            let file = Word {
                text: file.to_owned(),
                ..word.clone()
            };
            self.touch(&file, Mode::Read, false);
        }
    }

    /// A word that may be a file, for all that is known.
    pub(super) fn suspect(&mut self, word: &Word) {
        self.behind_at(word);
        let is_of_git = self.reading.grammar.name.starts_with("git");
        let found = is_of_git.then(|| pathspec(word));
        for word in found.as_deref().unwrap_or(std::slice::from_ref(word)) {
            if place::looks_like_path(word) {
                self.touch(word, Mode::Read, false);
                self.touch(word, Mode::Write, false);
            }
        }
    }

    pub(super) fn options(&mut self) {
        for used in &self.reading.switches {
            let switch = used.switch;
            let is_neutral = matches!(switch.slot, Some(Slot::Write | Slot::Out))
                && used
                    .value
                    .iter()
                    .all(|word| place::path(word, &self.at).is_none());
            for mark in switch.marks.iter().filter(|_| !is_neutral) {
                match mark {
                    Mark::Writes | Mark::InPlace | Mark::Packs => self.raise(Class::Ordinary),
                    Mark::Irreversible => self.raise(Class::Irreversible),
                    Mark::Publish => self.raise(Class::Publish),
                    Mark::Opaque => {
                        let why = format!("`{}` can run another program", used.word.text);
                        self.hide(used.word, why);
                    }
                    Mark::Here => self.here(used.word),
                    Mark::Reaches => self.reach_some(used.word),
                    Mark::Names => {
                        self.touch_unknown(
                            used.word,
                            Mode::Read,
                            "the files are not named in its words",
                        );
                    }
                    Mark::Settings => {
                        self.touch(&named(".git/config", used.word), Mode::Read, true);
                    }
                    Mark::Looks
                    | Mark::Mild
                    | Mark::Told
                    | Mark::Untold
                    | Mark::Soft
                    | Mark::Target
                    | Mark::Given
                    | Mark::Inline
                    | Mark::Input
                    | Mark::Last
                    | Mark::Pair
                    | Mark::Named
                    | Mark::Only
                    | Mark::Below => {}
                }
            }
            match switch.slot {
                None | Some(Slot::Directory) => {}
                Some(Slot::Exec) => self.exec(used),
                Some(slot) => {
                    let place = usize::from(switch.has(Mark::Named));
                    match used.value.get(place) {
                        Some(word) => self.value(slot, word),
                        // The value is left out, or missing.
                        None if slot == Slot::Text => {}
                        None => self.raise(Class::Ordinary),
                    }
                }
            }
        }
    }

    pub(super) fn touch_unknown(&mut self, word: &Word, mode: Mode, why: &str) {
        let path = TouchedPath::Unknown(why.to_owned());
        let range = word.range.clone();
        self.effects.touches.push(Touch {
            path,
            mode,
            is_certain: true,
            range,
            by: None,
        });
    }

    /// The working directory itself, as far as it is known.
    pub(super) fn directory(&self) -> TouchedPath {
        match &*self.at {
            Directory::Known(path) => TouchedPath::Exact(path.to_string()),
            Directory::Unknown => TouchedPath::Unknown("the directory is not known".to_owned()),
        }
    }

    /// The working directory is written.
    pub(super) fn here(&mut self, word: &Word) {
        self.raise(Class::Ordinary);
        let (path, range) = (self.directory(), word.range.clone());
        self.effects.touches.push(Touch {
            path,
            mode: Mode::Write,
            is_certain: true,
            range,
            by: None,
        });
    }

    pub(super) fn operands(&mut self) {
        let operands = &self.reading.operands;
        if self.looks {
            let slots = self.reading.grammar.operands.as_deref().unwrap_or_default();
            for (index, word) in operands.iter().enumerate() {
                let slot = slot_of(slots, index, operands.len());
                let reads = matches!(
                    slot,
                    Some(Slot::Archive | Slot::Read | Slot::Paged | Slot::Packed)
                );
                if reads {
                    self.touch(word, Mode::Read, true);
                }
            }
            return;
        }
        let Some(slots) = &self.reading.grammar.operands else {
            for word in operands {
                self.raise(Class::Ordinary);
                self.suspect(word);
            }
            return;
        };
        let given = usize::from(self.has(Mark::Given));
        let mut slots = slots.get(given..).unwrap_or_default();
        if self.has(Mark::Target) {
            slots = slots.get(..1).unwrap_or(slots);
        }
        for (index, word) in operands.iter().enumerate() {
            if let Some(slot) = slot_of(slots, index, operands.len()) {
                self.value(slot, word);
                // It may be several words, and the next of them stands where a file is written.
                let is_many = !word.is_single
                    && matches!(word.kind, WordKind::Dynamic | WordKind::Glob)
                    && !slots.iter().any(|(_, is_any_number)| *is_any_number);
                let behind = slots.iter().skip(index + 1);
                if is_many
                    && behind
                        .clone()
                        .any(|(slot, _)| matches!(slot, Slot::Write | Slot::Out))
                {
                    self.write(word);
                }
            } else {
                self.raise(Class::Ordinary);
                self.suspect(word);
            }
        }
    }

    pub(super) fn leftovers(&mut self, words: &[Word]) {
        let reading = self.reading;
        let Some(program) = words.first() else {
            return;
        };
        if let Some(why) = reading.grammar.opaque.filter(|_| !self.looks) {
            self.hide(program, why);
        }
        if reading.grammar.is_near && self.effects.class == Class::Publish && self.stays_here() {
            self.effects.class = Class::Ordinary;
        }
        if !reading.is_listed {
            self.raise(Class::Ordinary);
        }
        for word in &reading.loose {
            self.suspect(word);
        }
        if let Some(word) = &reading.hidden {
            self.hide(
                word,
                format!("`{}` could become an option or a sub-command", word.text),
            );
        }
        if !reading.grammar.is_silent && words.iter().any(shows_variable) {
            self.raise(Class::Ordinary);
        }
        let reads_below = reading.grammar.is_below || self.has(Mark::Below);
        if reads_below && !self.looks && !self.effects.touches.iter().any(|touch| touch.is_certain)
        {
            let (path, range) = (self.directory(), program.range.clone());
            let mode = Mode::Read;
            self.effects.touches.push(Touch {
                path,
                mode,
                is_certain: false,
                range,
                by: None,
            });
        }
        if reading.grammar.is_here && !self.looks {
            self.here(program);
        }
        for file in &reading.grammar.reads {
            self.touch(&named(file, program), Mode::Read, true);
        }
        if !self.looks {
            for name in &reading.grammar.reaches {
                let is_known = *name != "?";
                if is_known || self.effects.hosts.is_empty() {
                    let host = Host {
                        is_known,
                        is_of_program: true,
                        ..place::host(name, program)
                    };
                    self.reach(host);
                }
            }
        }
        if self.directory.is_some()
            && self.effects.class != Class::ReadOnly
            && !reading.grammar.is_wrapper()
            && let Some(word) = self.directory.clone()
        {
            let (path, range) = (self.directory(), word.range);
            let mode = Mode::Write;
            self.effects.touches.push(Touch {
                path,
                mode,
                is_certain: false,
                range,
                by: None,
            });
        }
    }
}

/// Whether the value of the word comes from a variable, and so may hold what the environment keeps
/// secret: `$NAME`, `${NAME}`, `$((NAME))`, but not the output of a command.
pub(crate) fn shows_variable(word: &Word) -> bool {
    word.kind == WordKind::Dynamic && has_variable(&word.text)
}

/// Whether a variable stands in the text outside of substitutions.
fn has_variable(mut rest: &str) -> bool {
    // Where one end is not plain, none behind it is looked for, so that each character is seen once.
    let mut is_plain = true;
    while let Some((_, after)) = rest.split_once('$') {
        if !after.starts_with('(') || after.starts_with("((") {
            return true;
        }
        let behind = is_plain.then(|| behind_substitution(after)).flatten();
        is_plain = behind.is_some();
        rest = behind.unwrap_or(after);
    }
    false
}

/// What follows the output of a command whose text begins with its parenthesis: what it runs is judged
/// as commands of their own. `None` where it is not plain where it ends.
fn behind_substitution(text: &str) -> Option<&str> {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            // In a quote, a comment or a here-document a parenthesis is text.
            '\\' | '#' | '`' | '\'' => return None,
            _ => {}
        }
        if depth == 0 {
            let inside = text.get(..at).unwrap_or_default();
            let pieces = inside.split('"').skip(1).step_by(2);
            let is_plain =
                !inside.contains("<<") && pieces.clone().all(|it| !it.contains(['(', ')']));
            return is_plain.then(|| text.get(at + 1..).unwrap_or_default());
        }
    }
    None
}

/// A file that no word names, to be shown where `word` stands.
fn named(file: &str, word: &Word) -> Word {
    Word::literal(file, word.range.clone())
}

/// The slot of the operand at `index` among `count`.
fn slot_of(slots: &[(Slot, bool)], index: usize, count: usize) -> Option<Slot> {
    let many = slots.iter().position(|(_, is_many)| *is_many);
    let Some(many) = many else {
        return slots.get(index).map(|(slot, _)| *slot);
    };
    let after = slots.len() - many - 1;
    if index < many {
        return slots.get(index).map(|(slot, _)| *slot);
    }
    let from_end = count.saturating_sub(index);
    let place = if from_end <= after {
        slots.len() - from_end
    } else {
        many
    };
    slots.get(place).map(|(slot, _)| *slot)
}
