//! The ends of a command that may be commands of their own, where it is not known what its program does with
//! its words. It must not take them for what surely runs.

use super::grammar::{self, Grammar, Slot};
use super::parse::{self, Reading};
use super::{Effects, Inner, Input, Place, apply, as_called, opaque};
use crate::line::{Class, Directory, Word, WordKind};
use crate::spelling::{base_name, plain_name};

/// Most ends that are looked at.
const TAILS_MAX: usize = 16;

/// Most bytes of all of them.
const TAIL_BYTES_MAX: usize = 16 * 1024;

/// Most ends that are followed, as they run a text.
const FOLLOWED_MAX: usize = 4;

/// Options whose value is a text for people.
const MESSAGES: [&str; 10] = [
    "-m",
    "--message",
    "--body",
    "--comment",
    "--desc",
    "--description",
    "--note",
    "--reason",
    "--subject",
    "--title",
];

/// The ends of a command.
#[derive(Debug, Default)]
pub(crate) struct Tails {
    /// The places of the words with which they begin.
    pub starts: Vec<usize>,
    /// Single words that may be a shell text.
    pub texts: Vec<String>,
    /// Whether there are more than are looked at.
    pub is_over: bool,
}

/// The ends of `words` that may be commands; none where it is known what the program does with its words.
pub(crate) fn tails(words: &[Word]) -> Tails {
    let mut tails = Tails::default();
    let Some(from) = open_from(words) else {
        return tails;
    };
    let mut bytes_left = TAIL_BYTES_MAX;
    let mut length: usize = words.iter().skip(from).map(|it| it.text.len() + 1).sum();
    let mut before = "";
    for (at, word) in words.iter().enumerate().skip(from) {
        let is_message = MESSAGES.contains(&before);
        before = &word.text;
        let is_start = may_be_program(word);
        let text = Some(word).filter(|_| !is_message).and_then(text_in);
        if is_start || text.is_some() {
            let left = bytes_left.checked_sub(length);
            let count = tails.starts.len() + tails.texts.len();
            let Some(left) = left.filter(|_| count < TAILS_MAX) else {
                tails.is_over = true;
                break;
            };
            bytes_left = left;
        }
        if is_start {
            tails.starts.push(at);
        }
        tails.texts.extend(text);
        length -= word.text.len() + 1;
    }
    tails
}

/// The first word of which it is not known what the program does with it.
fn open_from(words: &[Word]) -> Option<usize> {
    if let Some(called) = as_called(words) {
        // It has one word more, or one less, before those that are the same.
        let from = open_from(&called)?;
        return Some((from + words.len()).saturating_sub(called.len()).max(1));
    }
    let program = words.first().filter(|it| it.is_known())?;
    let Some((grammar, is_sure)) = grammar::program(&program.text) else {
        return Some(1);
    };
    if !is_sure {
        return Some(1);
    }
    if !(grammar.has_subs || is_loose(grammar) || has(grammar, Slot::File)) {
        return None;
    }
    let readings = parse::readings(words, grammar);
    readings.iter().filter_map(|it| open_in(it, words)).min()
}

fn has(grammar: &Grammar, wanted: Slot) -> bool {
    let mut slots = grammar.operands.iter().flatten();
    slots.any(|(slot, _)| *slot == wanted)
}

/// Whether it is not known what a program does with its operands, or code of the project says it.
fn is_loose(grammar: &Grammar) -> bool {
    let is_of_project = grammar.runs_project || grammar.has_subs;
    grammar.operands.is_none()
        || is_of_project && (has(grammar, Slot::Maybe) || has(grammar, Slot::Task))
}

fn open_in(reading: &Reading<'_>, words: &[Word]) -> Option<usize> {
    if reading.looks() {
        return None;
    }
    let module = reading
        .switches
        .iter()
        .find(|used| used.switch.slot == Some(Slot::Module));
    if let Some(value) = module.and_then(|used| used.value.first()) {
        return words.iter().position(|word| word.range == value.range);
    }
    if has(reading.grammar, Slot::File) && !reading.rest.is_empty() {
        return Some(words.len() - reading.rest.len() + 1);
    }
    (is_loose(reading.grammar) && !reading.operands.is_empty()).then_some(1)
}

/// Whether a word may name a program: not an option, a number, a URL, a setting or a file of another kind.
fn may_be_program(word: &Word) -> bool {
    const ENDINGS: [&str; 17] = [
        "bash", "bat", "cmd", "com", "exe", "ext4", "jar", "js", "pl", "ps1", "py", "rb", "sh",
        "so", "vfat", "xfs", "zsh",
    ];
    let text = word.text.as_str();
    let is_plain = |c: char| c.is_alphanumeric() || "._-+/~\\:@".contains(c);
    let name = base_name(text);
    let is_of_kind = |(stem, ending): (&str, &str)| {
        let is_version = ending.bytes().all(|it| it.is_ascii_digit());
        stem.is_empty() || is_version || ENDINGS.iter().any(|it| it.eq_ignore_ascii_case(ending))
    };
    word.is_known()
        && !text.starts_with('-')
        && !text.contains("://")
        && text.chars().all(is_plain)
        && name.contains(|c: char| c.is_alphabetic())
        && name.rsplit_once('.').is_none_or(is_of_kind)
}

/// The text in a word that may be run by a shell: it begins with a program that is known.
fn text_in(word: &Word) -> Option<String> {
    let value = match word.text.split_once('=') {
        Some((name, value)) if name.starts_with("--") => value,
        _ => word.text.as_str(),
    };
    let mut parts = value.split_whitespace();
    let first = parts.next()?;
    let is_text = parts.next().is_some()
        && word.kind != WordKind::Dynamic
        && grammar::program(first).is_some();
    let joined = || value.split_whitespace().collect::<Vec<_>>().join(" ");
    is_text.then(joined)
}

/// Holds the ends of a command against it: it is as grave as the gravest of them, and those that run a text
/// are followed.
pub(super) fn hold(effects: &mut Effects, words: &[Word], at: &Directory) {
    let tails = tails(words);
    let mut followed_count = 0;
    for start in tails.starts {
        let tail = words.get(start..).unwrap_or_default();
        let found = named(tail);
        let Some((tail, grammar)) = found else {
            continue;
        };
        let readings = parse::readings(&tail, grammar);
        let mut runs_text = false;
        for reading in readings.iter() {
            let it = apply::apply(reading, &tail, at);
            if it.class > Class::Ordinary && tail.len() > 1 {
                effects.class = effects.class.max(it.class);
            }
            let is_text = |inner: &Inner| match inner {
                Inner::Script { .. } | Inner::Unknown { .. } => true,
                // What a wrapper runs is an end of its own, but for what stands before the last word.
                Inner::Words { words, .. } => {
                    words.last().map(|it| it.range.end) != tail.last().map(|it| it.range.end)
                }
            };
            runs_text |= it.inner.iter().any(is_text)
                || it.opaque.is_some() && grammar.opaque.is_none() && tail.len() > 1
                || it.input == Input::Script;
        }
        if runs_text {
            followed_count += 1;
            effects.inner.push(Inner::Words {
                words: tail,
                extra_operands: false,
                at: None,
                assignments: Vec::new(),
                place: Place::Tail,
            });
        }
    }
    if (tails.is_over || followed_count > FOLLOWED_MAX)
        && let Some(program) = words.first()
    {
        let why = "it has more words that may be a command than are looked at";
        effects.opaque.get_or_insert_with(|| opaque(program, why));
    }
}

/// The words as the program of that name has them, whatever its letters are.
fn named(tail: &[Word]) -> Option<(Vec<Word>, &'static Grammar)> {
    let (program, arguments) = tail.split_first()?;
    // Most ends begin with no program that is known, and need no words of their own.
    let plain = plain_name(&program.text);
    let text = plain.as_deref().unwrap_or(&program.text);
    let called = as_called(tail);
    if called.is_none() && !grammar::program(text).is_some_and(|(_, is_sure)| is_sure) {
        return None;
    }
    let mut words = called.unwrap_or_else(|| {
        let program = Word {
            text: text.to_owned(),
            ..program.clone()
        };
        std::iter::once(program)
            .chain(arguments.iter().cloned())
            .collect()
    });
    if words.get(1).is_some_and(|it| it.text == "--") {
        words.remove(1);
    }
    let (grammar, is_sure) = grammar::program(&words.first()?.text)?;
    is_sure.then_some((words, grammar))
}
