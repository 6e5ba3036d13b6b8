//! The spellings of one command that rules are matched against. It must not match rules itself.

use crate::grade::{Kind, is_dangerous, kind};
use crate::{Simple, WordKind, prefix, read};

/// The text as the shell would read it back as one word, quoted only where it must be to stay one.
fn one_word(text: &str) -> String {
    if !text.is_empty() && !text.contains(char::is_whitespace) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Programs that read what their words name and change none of it, whatever their options.
const LOOKING: [&str; 12] = [
    "cat", "cd", "diff", "du", "egrep", "grep", "head", "ls", "rg", "stat", "tail", "wc",
];

/// Most spellings [`Simple::others`] gives.
const OTHERS_MAX: usize = 16;

impl Simple {
    /// The program as the shell would look it up; `None` when there is none or it cannot be told.
    pub fn program(&self) -> Option<&str> {
        let word = self.words.first()?;
        matches!(word.kind, WordKind::Literal | WordKind::Tilde).then_some(word.text.as_str())
    }

    /// Whether the program, by its name, changes nothing that its words name.
    pub fn changes_no_operand(&self) -> bool {
        let program = self.program().map(base_name);
        program.is_some_and(|name| LOOKING.contains(&name))
    }

    /// The command with quotes removed and single spaces, without redirects and without assignments
    /// that change no lookup. A command that only assigns keeps its assignments. A word that is empty or
    /// holds white space is put in single quotes: without them `rm 'a b'` would read like `rm a b`.
    pub fn canonical(&self) -> String {
        let kept = self
            .assignments
            .iter()
            .filter(|assignment| self.words.is_empty() || is_dangerous(&assignment.name));
        let kept = kept.map(|assignment| format!("{}={}", assignment.name, assignment.value.text));
        let words = self.words.iter().map(|word| match word.kind {
            // What is not understood stands as it was written, and the command is opaque.
            WordKind::Dynamic => word.text.clone(),
            WordKind::Literal | WordKind::Glob | WordKind::Tilde => one_word(&word.text),
        });
        kept.chain(words).collect::<Vec<_>>().join(" ")
    }

    /// The command as it stands in `text`, the text it was read from, with its assignments and redirects.
    pub fn source<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.range.clone()).unwrap_or_default().trim()
    }

    /// Other spellings of the command, at most 16: by file name, without leading options, without any
    /// options, and what a wrapper or an inline script would run. They may only ever tighten, so each
    /// plausible reading is given: `git -C . push` gives `git . push` and `git push`. A command with
    /// more readings than these is opaque.
    pub fn others(&self) -> Vec<String> {
        let words: Vec<&str> = self.words.iter().map(|word| word.text.as_str()).collect();
        let Some((&program, arguments)) = words.split_first() else {
            return Vec::new();
        };
        let canonical = self.canonical();
        let mut found: Vec<String> = Vec::new();
        let mut add = |spelling: String| {
            if spelling != canonical && found.len() < OTHERS_MAX && !found.contains(&spelling) {
                found.push(spelling);
            }
        };
        add(named(program, arguments));
        if self.opaque.is_some() {
            self.wrapped(&words).into_iter().for_each(&mut add);
        }
        for start in operand_starts(&words) {
            let operands = words.get(start..).unwrap_or_default();
            add(named(program, operands));
            add(named(program, &without_options(operands, Values::Kept)));
            add(named(program, &without_options(operands, Values::Dropped)));
        }
        found
    }

    /// What an opaque command would run, as far as its words show.
    fn wrapped(&self, words: &[&str]) -> Vec<String> {
        let kind = words.first().and_then(|program| kind(program));
        let blamed = self.opaque.as_ref().and_then(|opaque| {
            self.words
                .iter()
                .position(|word| word.range == opaque.range)
        });
        let from = match kind {
            Some(Kind::Plain) => blamed.filter(|&at| at > 0),
            Some(Kind::Wrapper | Kind::Builtin | Kind::Shell) => Some(0),
            _ => None,
        };
        let Some(from) = from else { return Vec::new() };
        let mut found = Vec::new();
        for at in from + 1..words.len() {
            let Some((&program, arguments)) = words.get(at..).and_then(<[&str]>::split_first)
            else {
                continue;
            };
            if kind != Some(Kind::Plain) && program.contains(char::is_whitespace) {
                let line = read(program);
                found.extend(line.commands.iter().filter_map(|command| {
                    let words: Vec<&str> = command
                        .words
                        .iter()
                        .map(|word| word.text.as_str())
                        .collect();
                    words
                        .split_first()
                        .map(|(&program, arguments)| named(program, arguments))
                }));
            } else if !program.starts_with('-') {
                found.push(named(program, arguments));
            }
            if kind == Some(Kind::Plain) {
                break;
            }
        }
        found
    }

    /// Whether the program gets exactly the words as they are written here.
    pub fn is_literal(&self) -> bool {
        self.words.iter().all(|word| word.kind == WordKind::Literal)
    }

    /// The rules a saved reply would add for this command; none where one would cover more than it says.
    pub fn always(&self) -> Vec<String> {
        if self.opaque.is_some() {
            return Vec::new();
        }
        let words: Vec<&str> = self.words.iter().map(|word| word.text.as_str()).collect();
        prefix(&words).into_iter().collect()
    }
}

/// The last part of a path.
pub(crate) fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// A spelling with the program by its file name.
fn named(program: &str, arguments: &[&str]) -> String {
    let mut spelling = base_name(program).to_owned();
    for argument in arguments {
        spelling.push(' ');
        spelling.push_str(argument);
    }
    spelling
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

/// Whether the word after this one may be its value.
fn may_take_value(word: &str) -> bool {
    is_option(word) && word != "--" && !word.contains('=')
}

/// The places in `words` where the first operand may stand, as leading options may or may not take a
/// value. There is always one; it may be the end.
pub(crate) fn operand_starts(words: &[&str]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut at = 1;
    while let Some(word) = words.get(at) {
        if !is_option(word) {
            break;
        }
        at += 1;
        if may_take_value(word) && words.get(at).is_some_and(|next| !is_option(next)) {
            starts.push(at);
            at += 1;
        }
    }
    starts.push(at);
    starts
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    Kept,
    Dropped,
}

/// The words without options, and without the words that may be their values.
fn without_options<'w>(words: &[&'w str], values: Values) -> Vec<&'w str> {
    let mut is_value = false;
    let kept = words.iter().filter(|word| {
        let is_dropped = std::mem::replace(
            &mut is_value,
            values == Values::Dropped && may_take_value(word),
        );
        !is_option(word) && !is_dropped
    });
    kept.copied().collect()
}
