//! What commands print, where that is plain, and who takes it for what. It must not know more of a program than that.

use std::rc::Rc;

use super::Walker;
use super::simple::redirects_stdin;
use super::state::{State, Stdin, Value};
use crate::line::{RedirectOp, Simple, Word};
use crate::syntax::{Command, CommandKind};

impl Walker<'_> {
    /// What a command prints, where that is plain: `echo`, `printf` and `cat` of text in the line. Its
    /// commands are those from `first` on.
    pub(super) fn output(
        &mut self,
        command: &Command,
        first: usize,
        state: &State,
    ) -> Option<String> {
        let simple = self.only(command, first)?;
        let texts: Vec<&str> = simple.words.iter().map(|word| word.text.as_str()).collect();
        let (program, texts) = texts.split_first()?;
        match *program {
            "echo" => {
                let texts = texts.strip_prefix(&["-n"]).unwrap_or(texts);
                let is_literal = !texts.iter().any(|it| it.contains('\\'));
                let has_option = texts.first().is_some_and(|it| it.starts_with('-'));
                (is_literal && !has_option).then(|| format!("{}\n", texts.join(" ")))
            }
            "printf" => printf(texts),
            "cat" if texts.is_empty() => match redirects_stdin(&simple.redirects)? {
                Stdin::Text(text, _) => Some(text.to_string()),
                Stdin::Names(_) | Stdin::Unknown => None,
            },
            "pwd" if texts.is_empty() => match self.variable("PWD", state) {
                Value::Text(text) => Some(format!("{text}\n")),
                _ => None,
            },
            _ => None,
        }
    }

    /// The patterns that the names a command prints fit, each name ended by a zero byte: what
    /// `find DIR -print0` finds. Its commands are those from `first` on.
    pub(super) fn names(&self, command: &Command, first: usize) -> Option<Rc<[Rc<str>]>> {
        let simple = self.only(command, first)?;
        let texts: Vec<&str> = simple.words.iter().map(|word| word.text.as_str()).collect();
        let (&"find", texts) = texts.split_first()? else {
            return None;
        };
        let count = texts.iter().take_while(|it| !is_test(it)).count();
        let (starts, mut tests) = texts.split_at_checked(count)?;
        let mut prints = false;
        while let [test, rest @ ..] = tests {
            tests = if *test == "-print0" {
                prints = true;
                rest
            } else if FIND_FLAGS.contains(test) {
                rest
            } else if FIND_TESTS.contains(test) {
                rest.get(1..)?
            } else {
                return None;
            };
        }
        let is_plain = |start: &&str| !start.is_empty() && !start.contains(['*', '?', '[', '\\']);
        if !prints || !starts.iter().all(is_plain) {
            return None;
        }
        let starts = if starts.is_empty() { &["."] } else { starts };
        let below = |start: &&str| format!("{}/**", start.trim_end_matches('/')).into();
        Some(starts.iter().map(below).collect())
    }

    /// The one command that `command` is, where all its words are known and nothing takes its output away.
    fn only(&self, command: &Command, first: usize) -> Option<&Simple> {
        let CommandKind::Simple(_) = &command.kind else {
            return None;
        };
        let [simple] = self.line.commands.get(first..)? else {
            return None;
        };
        let is_plain = simple.words.iter().all(Word::is_known);
        let keeps_output = simple.redirects.iter().all(|it| {
            let is_quiet = it.fd == Some(2) && it.target.text == "/dev/null";
            it.op == RedirectOp::Text || it.op == RedirectOp::Write && is_quiet
        });
        let is_program = self.is_program(simple.program()?);
        (is_plain && keeps_output && is_program).then_some(simple)
    }
}

/// The words of `find` that take no other and print nothing, sorted.
const FIND_FLAGS: [&str; 14] = [
    "!",
    "(",
    ")",
    "-a",
    "-and",
    "-empty",
    "-mount",
    "-not",
    "-o",
    "-or",
    "-prune",
    "-readable",
    "-writable",
    "-xdev",
];

/// The words of `find` that take one other and print nothing, sorted.
const FIND_TESTS: [&str; 14] = [
    "-iname",
    "-ipath",
    "-iregex",
    "-maxdepth",
    "-mindepth",
    "-mmin",
    "-mtime",
    "-name",
    "-newer",
    "-path",
    "-perm",
    "-regex",
    "-size",
    "-type",
];

fn is_test(text: &str) -> bool {
    text.starts_with('-') || matches!(text, "(" | ")" | "!")
}

/// Whether `xargs` with these words takes each name on its standard input as it is, and nothing else.
pub(super) fn takes_names(words: &[Word]) -> bool {
    let Some((program, arguments)) = words.split_first() else {
        return false;
    };
    let mut options = arguments.iter();
    let mut is_split_at_zero = false;
    while let Some(word) = options.next().filter(|it| it.is_known()) {
        let text = word.text.as_str();
        match text.strip_prefix('-') {
            None => return is_split_at_zero && program.text == "xargs",
            Some("-null") => is_split_at_zero = true,
            Some("-no-run-if-empty") => {}
            Some("n" | "P") => _ = options.next(),
            Some(letters) if letters.bytes().all(|it| b"0rtx".contains(&it)) => {
                is_split_at_zero |= letters.contains('0');
            }
            Some(_) => return false,
        }
    }
    false
}

/// What `printf` prints for a format without anything but `%s`.
fn printf(texts: &[&str]) -> Option<String> {
    let (format, operands) = texts.split_first()?;
    if format.starts_with('-') {
        return None;
    }
    let mut operands = operands.iter();
    let mut text = String::new();
    loop {
        let before = operands.len();
        let mut chars = format.chars();
        while let Some(c) = chars.next() {
            match c {
                '%' => match chars.next()? {
                    's' => text.push_str(operands.next().copied().unwrap_or_default()),
                    '%' => text.push('%'),
                    _ => return None,
                },
                '\\' => match chars.next()? {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    '\\' => text.push('\\'),
                    _ => return None,
                },
                c => text.push(c),
            }
        }
        if operands.len() == 0 || operands.len() == before {
            return Some(text);
        }
    }
}
