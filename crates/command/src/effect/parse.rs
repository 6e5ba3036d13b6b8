//! The words of a command sorted by a grammar into options, operands and what is run. It must not judge them.

use std::borrow::Cow;

use super::grammar::{self, Grammar, Mark, Slot, Style, Switch};
use super::place;
use crate::line::{Word, WordKind};

/// Most readings of one command. An option that is not known may or may not take the next word.
const READINGS_MAX: usize = 8;

/// An option as it was used.
#[derive(Debug, Clone)]
pub(super) struct Used<'w> {
    pub switch: &'static Switch,
    /// The word the option stands in.
    pub word: &'w Word,
    /// Its value, and for [`Slot::Exec`] the words of the command.
    pub value: Cow<'w, [Word]>,
}

/// A set of marks.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Marks(u64);

impl Marks {
    fn add(&mut self, marks: &[Mark]) {
        for mark in marks {
            self.0 |= 1 << (*mark as u64);
        }
    }

    pub(super) fn has(self, mark: Mark) -> bool {
        self.0 & (1 << (mark as u64)) != 0
    }
}

/// One reading of the words of a command.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a question the words answer by themselves"
)]
pub(super) struct Reading<'w> {
    /// The grammar of the program or of the deepest sub-command that was found.
    pub grammar: &'static Grammar,
    pub switches: Vec<Used<'w>>,
    /// What all of them say together.
    pub marks: Marks,
    pub operands: Vec<&'w Word>,
    /// The rest of the words, where they are a command.
    pub rest: &'w [Word],
    /// Words that may be the values of options that are not known.
    pub loose: Vec<Cow<'w, Word>>,
    /// Whether every option and sub-command is on its list, by its full name.
    pub is_listed: bool,
    /// A word that could become an option that matters, or hides the sub-command.
    pub hidden: Option<&'w Word>,
    /// Whether a word could become an option of any kind.
    pub is_doubtful: bool,
    /// How many options stand before the last sub-command.
    before_sub: usize,
    at: usize,
    are_options_over: bool,
    is_sub_open: bool,
}

/// The plausible readings of a command.
#[derive(Debug)]
pub(super) struct Readings<'w> {
    /// Most commands have no other.
    pub first: Reading<'w>,
    pub others: Vec<Reading<'w>>,
    /// There were too many to list.
    pub is_over: bool,
}

impl<'w> Readings<'w> {
    /// Each of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Reading<'w>> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// The one there is, if no other is plausible.
    pub(super) fn only(&self) -> Option<&Reading<'w>> {
        self.others.is_empty().then_some(&self.first)
    }
}

/// Every plausible reading of `words`, the program first.
pub(super) fn readings<'w>(words: &'w [Word], grammar: &'static Grammar) -> Readings<'w> {
    let mut open = Vec::new();
    let mut readings = Readings {
        first: Reading::new(grammar),
        others: Vec::new(),
        is_over: false,
    };
    readings.is_over = !readings.first.follow(words, &mut open, 0);
    while let Some(mut reading) = open.pop() {
        let done = 1 + readings.others.len();
        readings.is_over |= !reading.follow(words, &mut open, done);
        readings.others.push(reading);
    }
    readings
}

fn looks_like_option(text: &str) -> bool {
    text.len() > 1 && text.starts_with('-')
}

/// Whether the word may be an option, or more words, when the command runs.
pub(super) fn could_become_option(word: &Word) -> bool {
    let starts_plainly = || {
        let is_plain = |c: char| c.is_alphanumeric() || "./_@:=%".contains(c);
        word.text.starts_with(is_plain)
    };
    match word.kind {
        WordKind::Literal | WordKind::Known => false,
        WordKind::Glob => !starts_plainly(),
        // A process substitution is always a name below `/dev/fd`.
        WordKind::Dynamic if is_process(word) => false,
        WordKind::Dynamic => !word.is_single || !starts_plainly() && !is_long_option(&word.text),
    }
}

/// Whether the word is `--name=` and a value, whatever the value is.
fn is_long_option(text: &str) -> bool {
    let name = text
        .strip_prefix("--")
        .and_then(|text| text.split_once('='));
    name.is_some_and(|(name, _)| {
        name.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    })
}

/// Whether the word is `<(...)` or `>(...)`.
pub(super) fn is_process(word: &Word) -> bool {
    word.kind == WordKind::Dynamic
        && word.text.starts_with(['<', '>'])
        && word.text.get(1..2) == Some("(")
        && word.text.ends_with(')')
}

/// What may be the value of a short option that is not known, where it looks like a path: `-ofile.c`, and
/// `-MFfile.d`. Behind `@` a file may be named too.
pub(super) fn attached(word: &Word) -> impl Iterator<Item = Word> {
    let text = word.text.as_str();
    let is_short = text.starts_with('-') && !text.starts_with("--") && !text.contains('=');
    let counts: &[usize] = match text.starts_with('@') {
        true => &[1],
        false if is_short => &[2, 3],
        false => &[],
    };
    let tails = counts.iter().filter(|count| text.is_char_boundary(**count));
    let tails = tails.map(|count| Word {
        kind: match word.kind {
            WordKind::Known => WordKind::Literal,
            kind => kind,
        },
        ..tail(word, *count)
    });
    tails.filter(place::looks_like_path)
}

/// The part of a word after `count` bytes.
fn tail(word: &Word, count: usize) -> Word {
    Word {
        text: word.text.get(count..).unwrap_or_default().to_owned(),
        ..word.clone()
    }
}

impl<'w> Reading<'w> {
    fn new(grammar: &'static Grammar) -> Self {
        Self {
            grammar,
            switches: Vec::new(),
            marks: Marks::default(),
            operands: Vec::new(),
            rest: &[],
            loose: Vec::new(),
            is_listed: true,
            hidden: None,
            is_doubtful: false,
            before_sub: 0,
            at: 1,
            are_options_over: false,
            is_sub_open: grammar.has_subs,
        }
    }

    /// Takes all words that are left, and adds to `open` what else they may be. Returns whether there was
    /// room for that, where `done` readings are complete.
    fn follow(&mut self, words: &'w [Word], open: &mut Vec<Self>, done: usize) -> bool {
        let mut has_room = true;
        while let Some(word) = words.get(self.at) {
            self.at += 1;
            let takes_next = self.step(word, words);
            let next = words.get(self.at);
            let Some(next) = next.filter(|next| takes_next && !looks_like_option(&next.text))
            else {
                continue;
            };
            if open.len() + done + 1 < READINGS_MAX {
                let mut other = self.clone();
                other.loose.push(Cow::Borrowed(next));
                other.at += 1;
                open.push(other);
            } else {
                has_room = false;
            }
        }
        has_room
    }

    /// Whether the command only looks: an option of the program itself or of its last sub-command says so,
    /// and there is no option that could take it back.
    pub(super) fn looks(&self) -> bool {
        let works = [
            Mark::Writes,
            Mark::Irreversible,
            Mark::Publish,
            Mark::Opaque,
            Mark::InPlace,
            Mark::Packs,
            Mark::Here,
        ];
        let mut own = self.switches.iter().skip(self.before_sub);
        self.is_listed
            && !works.iter().any(|mark| self.marks.has(*mark))
            && own.any(|used| used.switch.has(Mark::Looks))
    }

    /// Takes one word; tells whether the next one may be its value though that is not known.
    fn step(&mut self, word: &'w Word, words: &'w [Word]) -> bool {
        let text = word.text.as_str();
        if self.are_options_over {
            self.operand(word, words);
            return false;
        }
        if text == "--" && word.is_known() {
            let switch = self.grammar.switches.get("--");
            if let Some(switch) = switch {
                self.take(switch, word, None, words);
            }
            self.are_options_over = true;
            // `cargo run -- x`: what follows belongs to another program, and is no sub-command.
            self.is_sub_open = false;
            return false;
        }
        let is_name = self.grammar.is_strict && self.marks.has(Mark::Looks);
        if could_become_option(word) && !is_name {
            self.is_doubtful = true;
            if self.grammar.is_sensitive {
                self.hidden.get_or_insert(word);
            }
        }
        let is_bundle = self.grammar.style == Style::Bundle
            && self.at == 2
            && text.starts_with(|c: char| c.is_ascii_alphabetic());
        let grammar = self.grammar;
        if is_bundle {
            return self.bundle(word, words);
        }
        if let Some(switch) = grammar.switches.get(text) {
            self.take(switch, word, None, words);
            return false;
        }
        if grammar.style == Style::Words
            && let Some((name, _)) = text.split_once('=')
            && grammar.switches.contains_key(name)
        {
            return self.whole(word, words);
        }
        if !looks_like_option(text) {
            self.operand(word, words);
            return false;
        }
        if grammar.style == Style::Words {
            return self.whole(word, words);
        }
        match text.strip_prefix("--") {
            Some(_) => self.long(word, words),
            None => self.cluster(word, words),
        }
    }

    /// An option with its value behind `=`, or one that is not on the list.
    fn whole(&mut self, word: &'w Word, words: &'w [Word]) -> bool {
        let grammar = self.grammar;
        let Some((name, _)) = word.text.split_once('=') else {
            return self.unlisted(word);
        };
        match grammar.switches.get(name) {
            Some(switch) if switch.slot.is_some() => {
                self.take(switch, word, Some(tail(word, name.len() + 1)), words);
                false
            }
            _ => self.unlisted(word),
        }
    }

    fn long(&mut self, word: &'w Word, words: &'w [Word]) -> bool {
        let name = word.text.split('=').next().unwrap_or_default();
        let grammar = self.grammar;
        if grammar.switches.contains_key(name) {
            return self.whole(word, words);
        }
        // A shortened name: each option it may stand for, and it proves nothing.
        let mut meant: Vec<(&str, &Switch)> = grammar
            .switches
            .iter()
            .filter(|(full, _)| full.starts_with(name))
            .map(|(full, switch)| (*full, switch))
            .collect();
        meant.sort_unstable_by_key(|(full, _)| *full);
        self.is_listed = false;
        let attached = word.text.contains('=').then(|| tail(word, name.len() + 1));
        let from = self.at;
        let mut to = from;
        for (_, switch) in &meant {
            self.at = from;
            self.take(switch, word, attached.clone(), words);
            to = to.max(self.at);
        }
        self.at = to;
        if meant.is_empty() {
            self.unlisted(word)
        } else {
            false
        }
    }

    /// Short options behind one dash.
    fn cluster(&mut self, word: &'w Word, words: &'w [Word]) -> bool {
        let grammar = self.grammar;
        let text = word.text.as_str();
        if let Some(switch) = grammar.switches.get("-#")
            && text
                .get(1..)
                .is_some_and(|tail| tail.bytes().all(|byte| byte.is_ascii_digit()))
        {
            self.take(switch, word, Some(tail(word, 1)), words);
            return false;
        }
        let mut at = 1;
        while let Some(letter) = text.get(at..).and_then(|rest| rest.chars().next()) {
            at += letter.len_utf8();
            let Some(switch) = grammar.letter(letter) else {
                // Behind options that are known, its value may be attached to it.
                let value = Some(tail(word, at)).filter(|value| at > 3 && !value.text.is_empty());
                self.loose.extend(value.map(Cow::Owned));
                return self.unlisted(word);
            };
            let has_rest = at < text.len();
            if switch.slot.is_some() && (has_rest || switch.is_optional) {
                let rest = has_rest.then(|| tail(word, at));
                let rest = rest.map(|rest| match rest.text.strip_prefix('=') {
                    Some(value) => Word {
                        text: value.to_owned(),
                        ..rest.clone()
                    },
                    None => rest,
                });
                self.take(switch, word, rest, words);
                return false;
            }
            self.take(switch, word, None, words);
        }
        false
    }

    /// The old form of options without a dash: each value is a word of its own.
    fn bundle(&mut self, word: &'w Word, words: &'w [Word]) -> bool {
        let grammar = self.grammar;
        for letter in word.text.chars() {
            let bare = grammar.switches.get(letter.to_string().as_str());
            let Some(switch) = bare.or_else(|| grammar.letter(letter)) else {
                return self.unlisted(word);
            };
            self.take(switch, word, None, words);
        }
        false
    }

    fn unlisted(&mut self, word: &'w Word) -> bool {
        self.is_listed = false;
        if let Some((name, _)) = word.text.split_once('=') {
            self.loose.push(Cow::Owned(tail(word, name.len() + 1)));
            return false;
        }
        self.loose.extend(attached(word).map(Cow::Owned));
        true
    }

    /// Notes an option, with the value that is attached or the next words.
    fn take(
        &mut self,
        switch: &'static Switch,
        word: &'w Word,
        attached: Option<Word>,
        words: &'w [Word],
    ) {
        let value = match (switch.slot, attached) {
            (Some(_), Some(attached)) => Cow::Owned(vec![attached]),
            (Some(Slot::Exec), None) => {
                let rest = words.get(self.at..).unwrap_or_default();
                let count = rest
                    .iter()
                    .position(|word| matches!(word.text.as_str(), ";" | "+"));
                // The end of the words ends the command too where the program takes it so.
                let count = count.map_or(rest.len(), |count| count + 1);
                self.at += count;
                Cow::Borrowed(rest.get(..count).unwrap_or_default())
            }
            (Some(_), None) if switch.is_optional => Cow::Borrowed(&[][..]),
            (Some(_), None) => {
                let count = if switch.has(Mark::Pair) || switch.has(Mark::Named) {
                    2
                } else {
                    1
                };
                let rest = words.get(self.at..).unwrap_or_default();
                self.at += count;
                Cow::Borrowed(rest.get(..count).unwrap_or(rest))
            }
            (None, _) => Cow::Borrowed(&[][..]),
        };
        if value
            .iter()
            .any(|word| word.kind == WordKind::Dynamic && !word.is_single)
            && self.grammar.is_sensitive
        {
            self.hidden.get_or_insert(word);
        }
        if switch.has(Mark::Last) {
            self.are_options_over = true;
            self.is_sub_open = false;
        }
        self.marks.add(&switch.marks);
        self.switches.push(Used {
            switch,
            word,
            value,
        });
    }

    fn operand(&mut self, word: &'w Word, words: &'w [Word]) {
        if self.is_sub_open {
            self.is_sub_open = false;
            if !word.is_known() {
                self.hidden.get_or_insert(word);
            } else if let Some(sub) = grammar::sub(self.grammar, &word.text) {
                self.grammar = sub;
                self.before_sub = self.switches.len();
                self.is_sub_open = sub.has_subs;
                return;
            }
        }
        let slots = self.grammar.operands.as_deref().unwrap_or_default();
        let slot = self.next_slot(slots, word);
        if matches!(slot, Some(Slot::Command | Slot::Script | Slot::File)) {
            self.rest = words.get(self.at - 1..).unwrap_or_default();
            self.at = words.len();
            return;
        }
        self.are_options_over |= self.grammar.is_strict;
        self.operands.push(word);
    }

    /// The slot the next operand falls into, where that can be told from the front.
    fn next_slot(&self, slots: &[(Slot, bool)], word: &Word) -> Option<Slot> {
        let given = usize::from(self.marks.has(Mark::Given));
        let mut count = self.operands.len();
        for (slot, is_many) in slots.iter().skip(given) {
            if *slot == Slot::Assignment && *is_many {
                if is_assignment(&word.text) {
                    return Some(Slot::Assignment);
                }
                count = 0;
            } else if *is_many || count == 0 {
                return Some(*slot);
            } else {
                count -= 1;
            }
        }
        None
    }
}

/// Whether the word is `NAME=value`.
pub(super) fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}
