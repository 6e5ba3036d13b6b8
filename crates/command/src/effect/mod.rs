//! What one simple command runs, reads, writes and reaches, by the grammar of its program. It must not know shell syntax beyond words.

mod apply;
mod awk;
mod file;
mod fixed;
mod git;
pub(crate) mod grammar;
mod grave;
mod inner;
mod language;
mod load;
mod only;
mod parse;
mod place;
mod proxy;
mod slot;
mod sql;
mod tail;
#[cfg(test)]
mod tests;
mod variable;

use std::collections::HashSet;
use std::hash::Hash;
use std::ops::Range;
use std::sync::LazyLock;

use crate::line::{Assignment, Class, Directory, Host, Mode, Opaque, Touch, Word};
use crate::spelling::base_name;

pub(crate) use apply::shows_variable;
pub(crate) use fixed::is_fixed;
pub(crate) use only::passes_over;
pub(crate) use tail::tails;
pub use variable::is_dangerous_variable;
pub(crate) use variable::{Changes, changes_of};

/// What one simple command does.
#[derive(Debug)]
pub(crate) struct Effects {
    /// What it runs.
    pub inner: Vec<Inner>,
    /// The files it touches. `by` is left `None`: the caller knows the index.
    pub touches: Vec<Touch>,
    /// The machines it reaches. `by` is left `None`.
    pub hosts: Vec<Host>,
    /// What kind of work it does itself; what runs inside has its own.
    pub class: Class,
    /// Why it cannot be told what it runs, if it cannot.
    pub opaque: Option<Opaque>,
    /// Whether all it does stands in its words: see [`crate::Simple::is_told`].
    pub is_told: bool,
    /// Whether it runs code of the project whatever its words are.
    pub runs_project: bool,
    /// What becomes of its standard input, beyond data. The caller knows what stands there: it reads a
    /// here-string or the output of `echo` as a script where that is known, else the command is opaque.
    pub input: Input,
}

/// A change of the shell's directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Move {
    /// To this one. An empty directory operand, `CDPATH` and `-P` are the effect's to refuse: `Unknown`.
    To(Word),
    /// To the one before: `cd -`.
    Back,
    /// Home: `cd` alone.
    Home,
    /// To this one, and the present one is kept: `pushd`.
    Push(Word),
    /// To the one that was kept last: `popd`.
    Pop,
    /// Somewhere.
    Unknown,
}

/// What a program does with its standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// It reads data, or nothing.
    Data,
    /// It runs it as a shell script: `sh`, `bash -s`.
    Script,
    /// It runs it as code of another kind: `python -`.
    Code,
}

/// Where what a command runs is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the shell itself, whose directory and variables it may change: `command`, `eval`, `builtin`.
    Shell,
    /// In a process of its own on this machine.
    Child,
    /// The same, and it is one program of the project that is named together with the one that runs it.
    Named,
    /// Perhaps not at all: it is the end of a command of whose words it is not known what they do.
    Tail,
    /// On another machine or in another file system: `ssh`, `docker exec`, `chroot`.
    Elsewhere,
}

/// Something a command runs.
#[derive(Debug)]
pub(crate) enum Inner {
    /// A program and its arguments.
    Words {
        /// The words, as they stand in the command.
        words: Vec<Word>,
        /// Whether more words follow that are not known: `xargs`, `find -exec ... {} +`.
        extra_operands: bool,
        /// The directory it runs in, where the command says so: `env -C`.
        at: Option<Word>,
        /// `NAME=value` words that hold for it: `env A=1 make`.
        assignments: Vec<Word>,
        /// Where it runs.
        place: Place,
    },
    /// A shell text.
    Script {
        /// The text.
        text: String,
        /// The word it stands in.
        range: Range<usize>,
        /// Whether the text is exactly what is run; `false` where the word was not known.
        is_exact: bool,
        /// `$0`, `$1` and on, where they are given: `sh -c 'rm "$1"' x y`.
        arguments: Vec<Word>,
        /// The directory it runs in, where the command says so.
        at: Option<Word>,
        /// Where it runs.
        place: Place,
    },
    /// Something that cannot be told.
    Unknown {
        /// The word that says so.
        range: Range<usize>,
        /// Why, in words for people, lower case and without a full stop.
        why: String,
    },
}

impl Effects {
    /// What a program does of which nothing is known yet.
    pub(crate) fn ordinary() -> Self {
        Self {
            inner: Vec::new(),
            touches: Vec::new(),
            hosts: Vec::new(),
            class: Class::Ordinary,
            opaque: None,
            is_told: false,
            runs_project: false,
            input: Input::Data,
        }
    }
}

/// What the command `words` does when it is run in `at`. The first word is the program. Functions and
/// aliases of the line, redirects and assignments before the program are the caller's.
pub(crate) fn of(words: &[Word], at: &Directory) -> Effects {
    if let Some(words) = as_called(words) {
        return of(&words, at);
    }
    let Some((program, arguments)) = words.split_first() else {
        return Effects::ordinary();
    };
    if let Some(why) = unclear(program) {
        let mut effects = unknown(arguments, at);
        effects.opaque = Some(opaque(program, why));
        return effects;
    }
    let Some((grammar, is_sure)) = grammar::program(&program.text) else {
        let mut effects = unknown(arguments, at);
        effects.opaque = arguments
            .iter()
            .find(|word| parse::could_become_option(word))
            .map(could_be);
        tail::hold(&mut effects, words, at);
        return effects;
    };
    let readings = parse::readings(words, grammar);
    let is_one = readings.others.is_empty();
    let mut all = apply::apply(&readings.first, words, at);
    for other in &readings.others {
        all.join(apply::apply(other, words, at));
    }
    all.is_told &= is_one && is_sure;
    all.runs_project &= is_sure;
    for touch in &mut all.touches {
        touch.is_certain &= is_one;
    }
    if readings.is_over {
        let why = "its options can be read in too many ways";
        all.inner.push(Inner::Unknown {
            range: program.range.clone(),
            why: why.to_owned(),
        });
        all.opaque.get_or_insert_with(|| opaque(program, why));
    }
    if !is_sure {
        // Another program may stand under this name.
        all.join(unknown(arguments, at));
    }
    // Two readings find most things twice.
    if !(is_one && is_sure) {
        unique(&mut all.touches);
        unique(&mut all.hosts);
    }
    tail::hold(&mut all, words, at);
    if all.opaque.is_some() {
        all.class = all.class.max(Class::Ordinary);
    }
    all
}

/// GNU's programs where the system's own have the plain names.
const GNU: [&str; 22] = [
    "gawk", "gcat", "gchmod", "gchown", "gcp", "gcut", "gdd", "gdiff", "gfind", "ggrep", "ghead",
    "ginstall", "gln", "gls", "gmv", "grm", "gsed", "gsort", "gtail", "gtar", "gtee", "gxargs",
];

/// The same command as its program has it: `git-push` is `git push`, `cargo +nightly x` is `cargo x`, and `grm`
/// is `rm`.
pub(crate) fn as_called(words: &[Word]) -> Option<Vec<Word>> {
    let (program, arguments) = words.split_first()?;
    let name = base_name(&program.text);
    let toolchain = arguments.first().filter(|word| word.text.starts_with('+'));
    if toolchain.is_none() && !name.starts_with(['g', 'z']) {
        return None;
    }
    if let Some(command) = name.strip_prefix("git-").filter(|it| !it.is_empty()) {
        let place = program.text.len() - name.len();
        let named = |text: String| Word {
            text,
            ..program.clone()
        };
        let place = program.text.get(..place).unwrap_or_default();
        let git = [named(format!("{place}git")), named(command.to_owned())];
        return Some(git.into_iter().chain(arguments.iter().cloned()).collect());
    }
    // `zf_rm` is the `rm` of zsh.
    let of_zsh = name.strip_prefix("zf_").filter(|it| !it.is_empty());
    let plain = of_zsh.or_else(|| name.get(1..).filter(|_| GNU.contains(&name)));
    if let Some(plain) = plain {
        let place = program.text.len() - name.len();
        let text = program.text.get(..place).unwrap_or_default().to_owned() + plain;
        let program = Word {
            text,
            ..program.clone()
        };
        return Some(
            std::iter::once(program)
                .chain(arguments.iter().cloned())
                .collect(),
        );
    }
    let toolchain = toolchain?;
    let is_rust = ["cargo", "rustc", "rustdoc", "rustfmt"].contains(&name);
    (is_rust && toolchain.is_known()).then(|| {
        let rest = arguments.iter().skip(1).cloned();
        std::iter::once(program.clone()).chain(rest).collect()
    })
}

/// The program, or the deepest of its sub-commands that the words name: `git mv`. The first way to read them.
pub(crate) fn name(words: &[Word]) -> Option<&'static str> {
    if let Some(words) = as_called(words) {
        return name(&words);
    }
    let (grammar, _) = grammar::program(&words.first()?.text)?;
    if !grammar.has_subs {
        return Some(grammar.name);
    }
    Some(parse::readings(words, grammar).first.grammar.name)
}

/// The command without its options, in each way its program may read it.
pub(crate) fn spellings(words: &[Word]) -> Vec<String> {
    let Some((grammar, _)) = words.first().and_then(|word| grammar::program(&word.text)) else {
        return Vec::new();
    };
    let readings = parse::readings(words, grammar);
    let spelled = readings.iter().map(|reading| {
        let mut text = reading.grammar.name.to_owned();
        for word in reading.operands.iter().copied().chain(reading.rest) {
            text.push(' ');
            text.push_str(&word.text);
        }
        text
    });
    spelled.collect()
}

impl Effects {
    /// Adds another reading of the same command.
    fn join(&mut self, other: Self) {
        add(&mut self.inner, other.inner);
        add(&mut self.touches, other.touches);
        add(&mut self.hosts, other.hosts);
        self.class = self.class.max(other.class);
        self.is_told &= other.is_told;
        self.runs_project &= other.runs_project;
        if self.opaque.is_none() {
            self.opaque = other.opaque;
        }
        self.input = match (self.input, other.input) {
            (Input::Data, input) | (input, Input::Data) => input,
            (Input::Code, _) | (_, Input::Code) => Input::Code,
            (Input::Script, Input::Script) => Input::Script,
        };
    }
}

/// Adds `more` to `list`, as it is where there is nothing yet.
fn add<T>(list: &mut Vec<T>, more: Vec<T>) {
    if list.is_empty() {
        *list = more;
    } else {
        list.extend(more);
    }
}

/// So many things are sooner compared with each other than hashed.
const FEW: usize = 16;

/// Takes out what equals something before it.
pub(crate) fn unique<T: Eq + Hash>(list: &mut Vec<T>) {
    if list.len() <= FEW {
        let mut kept = Vec::with_capacity(list.len());
        for it in list.drain(..) {
            if !kept.contains(&it) {
                kept.push(it);
            }
        }
        *list = kept;
        return;
    }
    let mut seen = HashSet::with_capacity(list.len());
    let is_first: Vec<bool> = list.iter().map(|it| seen.insert(it)).collect();
    let mut is_first = is_first.into_iter();
    list.retain(|_| is_first.next().unwrap_or(true));
}

fn opaque(word: &Word, why: impl Into<String>) -> Opaque {
    Opaque {
        range: word.range.clone(),
        why: why.into(),
    }
}

fn could_be(word: &Word) -> Opaque {
    opaque(word, format!("`{}` could become an option", word.text))
}

/// Why it cannot be told which program this is.
fn unclear(program: &Word) -> Option<&'static str> {
    let text = program.text.as_str();
    if !program.is_known() {
        return Some("the program is not written out");
    }
    let is_odd =
        text.is_empty() || text.starts_with(['-', '+']) || text.contains(char::is_whitespace);
    is_odd.then_some("the name of the program is empty, has a blank in it or looks like an option")
}

/// What a program of which nothing is known does: what looks like a path may be read and written, what
/// looks like a URL may be reached.
fn unknown(arguments: &[Word], at: &Directory) -> Effects {
    let mut effects = Effects::ordinary();
    let mut suspects = Vec::with_capacity(arguments.len());
    for word in arguments {
        for tail in parse::attached(word) {
            suspects.push((tail, word));
        }
        let value = match word.text.split_once('=') {
            Some((name, value)) if name.starts_with('-') => Word {
                text: value.to_owned(),
                ..word.clone()
            },
            _ => word.clone(),
        };
        suspects.push((value, word));
    }
    for (value, word) in suspects {
        if let Some(host) = place::url(&value) {
            effects.hosts.push(Host {
                is_known: false,
                ..host
            });
        } else if !value.text.starts_with('-')
            && place::looks_like_path(&value)
            && let Some(path) = place::path(&value, at)
        {
            for mode in [Mode::Read, Mode::Write] {
                let (path, range) = (path.clone(), word.range.clone());
                effects.touches.push(Touch {
                    path,
                    mode,
                    is_certain: false,
                    range,
                    by: None,
                });
            }
        }
    }
    effects
}

/// Where the shell stands after the command `words`, if it is one of those that move it.
pub(crate) fn moves(words: &[Word]) -> Option<Move> {
    let (program, arguments) = words.split_first()?;
    let program = program.is_known().then_some(program.text.as_str())?;
    if !matches!(program, "cd" | "chdir" | "pushd" | "popd") {
        return None;
    }
    let is_plain = |word: &&Word| !matches!(word.text.as_str(), "-L" | "--");
    let operands: Vec<&Word> = arguments.iter().filter(is_plain).collect();
    Some(match (program, operands.as_slice()) {
        ("cd" | "chdir", []) => Move::Home,
        ("popd", []) => Move::Pop,
        ("cd" | "chdir", [word]) if word.text == "-" && word.is_known() => Move::Back,
        ("cd" | "chdir" | "pushd", [word])
            if word.is_known() && !word.text.is_empty() && !word.text.starts_with(['-', '+']) =>
        {
            let word = (*word).clone();
            if program == "pushd" {
                Move::Push(word)
            } else {
                Move::To(word)
            }
        }
        _ => Move::Unknown,
    })
}

/// Whether an assignment before the command `words` changes what it looks up, loads or runs beyond what
/// it does anyway.
pub(crate) fn is_dangerous(assignment: &Assignment, words: &[Word], at: &Directory) -> bool {
    match changes_of(assignment, at) {
        Changes::Nothing => false,
        Changes::Anything => true,
        Changes::Folders => {
            let effects = of(words, at);
            words.is_empty() || !effects.runs_project || effects.class == Class::ReadOnly
        }
    }
}

/// The settings of git that run nothing and change nothing that matters.
static GIT_SETTINGS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| names(include_str!("../../data/git-settings.txt")));

fn names(file: &'static str) -> Vec<&'static str> {
    file.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
}
