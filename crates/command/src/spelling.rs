//! The spellings of one command that rules are matched against. It must not match rules itself.

use crate::effect::is_dangerous;
use crate::{Assignment, Class, Directory, Simple, Word, WordKind, prefix};

/// Whether the text has to be quoted to be read back as one word. What cannot be told stands as it was
/// written.
fn needs_quotes(word: &Word) -> bool {
    let text = word.text.as_str();
    // Hardly a word has such a byte, and most words have no other.
    let may_be_blank = text.bytes().any(|byte| byte <= b' ' || !byte.is_ascii());
    word.kind != WordKind::Dynamic
        && (text.is_empty() || may_be_blank && text.contains(char::is_whitespace))
}

/// Programs of the shell that only tell the shell something.
const OF_SHELL: [&str; 13] = [
    "cd", "chdir", "pushd", "popd", "dirs", "[", "test", "export", "unset", "declare", "local",
    "readonly", "typeset",
];

/// Most spellings [`Simple::others`] gives.
const OTHERS_MAX: usize = 16;

impl Simple {
    /// The program as the shell would look it up; `None` when there is none or it cannot be told.
    pub fn program(&self) -> Option<&str> {
        let word = self.words.first()?;
        word.is_known().then_some(word.text.as_str())
    }

    /// Whether it does no more than to tell the shell something: where to work, what a variable is, what is
    /// to hold. What follows is a command of its own.
    pub fn is_of_shell(&self) -> bool {
        let is_one = self.words.is_empty()
            || self
                .program()
                .is_some_and(|program| OF_SHELL.contains(&program));
        let is_mild = self.class == Class::ReadOnly || self.is_told;
        is_one && is_mild && self.opaque.is_none() && self.redirects.is_empty()
    }

    /// The command with quotes removed and single spaces, without redirects and without assignments
    /// that change no lookup. A command that only assigns keeps its assignments. A word that is empty or
    /// holds white space is put in single quotes: without them `rm 'a b'` would read like `rm a b`.
    pub fn canonical(&self) -> String {
        let length = self.words.iter().map(|word| word.text.len() + 1).sum();
        let mut text = String::with_capacity(length);
        for assignment in self.kept() {
            separate(&mut text);
            text.push_str(&assignment.name);
            text.push('=');
            text.push_str(&assignment.value.text);
        }
        for (index, word) in self.words.iter().enumerate() {
            if index > 0 {
                text.push(' ');
            } else {
                separate(&mut text);
            }
            if needs_quotes(word) {
                text.push('\'');
                text.push_str(&word.text.replace('\'', r"'\''"));
                text.push('\'');
            } else {
                text.push_str(&word.text);
            }
        }
        text
    }

    /// The assignments that are part of what the command is.
    fn kept(&self) -> impl Iterator<Item = &Assignment> {
        let is_kept = |it: &&Assignment| {
            self.words.is_empty() || changes_lookup(it, &self.words, &self.directory)
        };
        self.assignments.iter().filter(is_kept)
    }

    /// Other spellings of the command, at most 16: by file name, without leading options, without any
    /// options. They may only ever tighten, so each plausible reading is given: `git -C . push` gives
    /// `git . push` and `git push`. What a wrapper runs is a command of its own.
    pub fn others(&self) -> Vec<String> {
        let Some(program) = self.words.first().map(|word| word.text.as_str()) else {
            return Vec::new();
        };
        if let Some(words) = crate::effect::as_called(&self.words) {
            // What it is called by, and by what its program has it.
            let called = Self {
                words,
                ..self.clone()
            };
            let mut found = vec![called.canonical()];
            found.extend(called.others());
            found.truncate(OTHERS_MAX);
            return found;
        }
        let has_options = self.words.iter().any(|word| is_option(&word.text));
        let is_bare = base_name(program) == program && self.kept().next().is_none();
        if !has_options && is_bare && !self.words.iter().any(needs_quotes) {
            return Vec::new();
        }
        let words: Vec<&str> = self.words.iter().map(|word| word.text.as_str()).collect();
        let arguments = words.get(1..).unwrap_or_default();
        let canonical = self.canonical();
        let mut found = Spellings::besides(&canonical);
        found.add(base_name(program), arguments.iter().copied());
        if !has_options {
            return found.list;
        }
        let starts = operand_starts(&words);
        if starts.len() * 3 >= OTHERS_MAX {
            // There is no room for all; those the program itself would see come first.
            for spelling in crate::effect::spellings(&self.words) {
                found.add(&spelling, []);
            }
        }
        for start in from_both_ends(&starts) {
            let operands = words.get(start..).unwrap_or_default();
            if start > 1 {
                found.add(base_name(program), operands.iter().copied());
            }
            for values in [Values::Kept, Values::Dropped] {
                found.add(base_name(program), without_options(operands, values));
            }
            if found.is_full() {
                break;
            }
        }
        found.list
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

/// Whether an assignment before `words` changes what is looked up, loaded or run by them. Blanks that are
/// set for a builtin which reads a line are its own.
pub(crate) fn changes_lookup(it: &Assignment, words: &[Word], at: &Directory) -> bool {
    let reads = |it: &Word| matches!(it.text.as_str(), "read" | "mapfile" | "readarray");
    let is_own = it.name == "IFS" && words.first().is_some_and(|it| it.is_known() && reads(it));
    !is_own && is_dangerous(it, words, at)
}

/// The last part of a path.
pub(crate) fn base_name(program: &str) -> &str {
    let slash = program.bytes().rposition(|byte| byte == b'/');
    slash.map_or(program, |at| program.get(at + 1..).unwrap_or(program))
}

/// Adds a blank behind what stands there.
fn separate(text: &mut String) {
    if !text.is_empty() {
        text.push(' ');
    }
}

/// The last, the first, the last but one and so on.
fn from_both_ends(list: &[usize]) -> impl Iterator<Item = usize> {
    let mut list = list.iter().copied();
    let mut is_last = false;
    std::iter::from_fn(move || {
        is_last = !is_last;
        if is_last {
            list.next_back()
        } else {
            list.next()
        }
    })
}

/// Spellings of one command, each once.
struct Spellings<'c> {
    canonical: &'c str,
    list: Vec<String>,
    /// Room for the next.
    next: String,
}

impl<'c> Spellings<'c> {
    /// Those that are not this one.
    fn besides(canonical: &'c str) -> Self {
        Self {
            canonical,
            list: Vec::new(),
            next: String::with_capacity(canonical.len()),
        }
    }

    fn is_full(&self) -> bool {
        self.list.len() >= OTHERS_MAX
    }

    fn add<'w>(&mut self, program: &str, arguments: impl IntoIterator<Item = &'w str>) {
        if self.is_full() {
            return;
        }
        self.next.clear();
        self.next.push_str(program);
        for argument in arguments {
            self.next.push(' ');
            self.next.push_str(argument);
        }
        if self.next != self.canonical && !self.list.contains(&self.next) {
            self.list.push(self.next.clone());
        }
    }
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
fn without_options<'w>(words: &[&'w str], values: Values) -> impl Iterator<Item = &'w str> {
    let mut is_value = false;
    words.iter().copied().filter(move |word| {
        let is_dropped = std::mem::replace(
            &mut is_value,
            values == Values::Dropped && may_take_value(word),
        );
        !is_option(word) && !is_dropped
    })
}
