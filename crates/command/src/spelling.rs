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

/// Most spellings of a command by its own words.
const OTHERS_MAX: usize = 16;

/// Most readings that are spelled of the end of a command.
const TAIL_READINGS_MAX: usize = 4;

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
            push_quoted(&mut text, word);
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

    /// Other spellings of the command, a bounded number: by file name, without leading options, without any
    /// options. They may only ever tighten, so each plausible reading is given: `git -C . push` gives
    /// `git . push` and `git push`, and so do `GIT push` and `git.exe push`. What a wrapper runs is a command
    /// of its own; where it is not known what a program does with its words, each end of them that may be a
    /// command is a spelling: `retry 3 git push` gives `git push`.
    pub fn others(&self) -> Vec<String> {
        let mut found = self.own_spellings();
        if let Some(called) = self.by_plain_name() {
            found.push(called.canonical());
            found.extend(called.own_spellings());
        }
        let tails = crate::effect::tails(&self.words);
        for start in tails.starts {
            found.extend(self.tail(start));
        }
        found.extend(tails.texts);
        found
    }

    /// The command by the name that its program has where case and `.exe` say nothing; `None` where it is
    /// the same.
    fn by_plain_name(&self) -> Option<Self> {
        let (program, arguments) = self.words.split_first()?;
        let text = plain_name(base_name(&program.text)).filter(|_| program.is_known())?;
        let program = Word {
            text,
            ..program.clone()
        };
        let words = std::iter::once(program).chain(arguments.iter().cloned());
        Some(Self {
            words: words.collect(),
            assignments: Vec::new(),
            ..self.clone()
        })
    }

    /// The end that begins with the word at `start`, in a few spellings: as it is, by the name of its
    /// program, by the grammar of it, without options.
    fn tail(&self, start: usize) -> Vec<String> {
        let tail = self.words.get(start..).unwrap_or_default();
        let whole = quoted(tail);
        let called = crate::effect::as_called(tail);
        let tail = called.as_deref().unwrap_or(tail);
        let mut found = Spellings::besides(&whole);
        if let Some((program, arguments)) = tail.split_first() {
            let name = base_name(&program.text);
            let plain = plain_name(name);
            let name = plain.as_deref().unwrap_or(name);
            let arguments: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
            found.add(name, arguments.iter().copied());
            if arguments.iter().any(|word| is_option(word)) {
                found.add(name, without_options(&arguments, Values::Kept));
                found.add(name, without_options(&arguments, Values::Dropped));
                let spelled = crate::effect::spellings(tail);
                for spelling in spelled.into_iter().take(TAIL_READINGS_MAX) {
                    found.add(&spelling, []);
                }
            }
        }
        let mut list = found.list;
        list.push(whole);
        list
    }

    /// Those that stand in the words as they are.
    fn own_spellings(&self) -> Vec<String> {
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
            found.extend(called.own_spellings());
            found.truncate(OTHERS_MAX);
            return found;
        }
        let has_options = self.words.iter().any(|word| is_option(&word.text));
        let is_bare = base_name(program) == program && self.kept().next().is_none();
        let has_quotes = self.words.iter().any(needs_quotes);
        if !has_options && is_bare && !has_quotes {
            return Vec::new();
        }
        let words: Vec<&str> = self.words.iter().map(|word| word.text.as_str()).collect();
        let arguments = words.get(1..).unwrap_or_default();
        let canonical = self.canonical();
        let mut found = Spellings::besides(&canonical);
        if !is_bare || has_quotes {
            found.add(base_name(program), arguments.iter().copied());
        }
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
            if !operands.iter().any(|word| is_option(word)) {
                continue;
            }
            found.add(base_name(program), without_options(operands, Values::Kept));
            if operands.windows(2).any(is_pair) {
                found.add(
                    base_name(program),
                    without_options(operands, Values::Dropped),
                );
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
        prefix(&words).map_or_else(Vec::new, |rule| vec![rule])
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

/// Adds a word, quoted where it would be read otherwise.
fn push_quoted(text: &mut String, word: &Word) {
    if needs_quotes(word) {
        text.push('\'');
        text.push_str(&word.text.replace('\'', r"'\''"));
        text.push('\'');
    } else {
        text.push_str(&word.text);
    }
}

/// The words with single spaces, quoted where they would be read otherwise.
fn quoted(words: &[Word]) -> String {
    let mut text = String::new();
    for word in words {
        separate(&mut text);
        push_quoted(&mut text, word);
    }
    text
}

/// The name of a program where case and the ending of a program say nothing; `None` where it is the same.
pub(crate) fn plain_name(name: &str) -> Option<String> {
    // There a path has backslashes too.
    let lower = name.to_ascii_lowercase();
    let lower = lower.rsplit('\\').next().unwrap_or_default().to_owned();
    let endings = [".exe", ".com", ".cmd", ".bat", ".jar"];
    let plain = endings.iter().find_map(|it| lower.strip_suffix(it));
    let plain = plain.filter(|it| !it.is_empty()).unwrap_or(&lower);
    (plain != name).then(|| plain.to_owned())
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

/// Whether these are an option and a word that may be its value.
fn is_pair(words: &[&str]) -> bool {
    matches!(words, [option, value] if may_take_value(option) && !is_option(value))
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
