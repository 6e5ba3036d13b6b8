//! Tells whether a command may run something its words do not say, by the table in `data/opaque.tsv`. It must not read shell text.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use crate::spelling::{base_name, operand_starts};
use crate::{Assignment, Opaque, Simple, Word, WordKind};

/// Most places in which the first operand of one command may stand. More spellings than these would
/// give are not judged one by one: the command is opaque.
const OPERAND_STARTS_MAX: usize = 4;

/// How a program hides what it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Wrapper,
    Shell,
    Interpreter,
    Builtin,
    Loose,
    Plain,
}

#[derive(Debug)]
struct Program {
    kind: Kind,
    when: Vec<&'static str>,
}

#[derive(Debug, Default)]
struct Table {
    programs: HashMap<&'static str, Program>,
    variables: Vec<&'static str>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table::default();
    for row in include_str!("../data/opaque.tsv")
        .lines()
        .filter(|row| !row.starts_with('#'))
    {
        let mut cells = row.split('\t');
        let (Some(name), Some(kind), Some(when)) = (cells.next(), cells.next(), cells.next())
        else {
            continue;
        };
        let kind = match kind {
            "variable" => {
                table.variables.push(name);
                continue;
            }
            "shell" => Kind::Shell,
            "interpreter" => Kind::Interpreter,
            "builtin" => Kind::Builtin,
            "loose" => Kind::Loose,
            "plain" => Kind::Plain,
            _ => Kind::Wrapper,
        };
        table.programs.insert(
            name,
            Program {
                kind,
                when: when.split(' ').collect(),
            },
        );
    }
    table
});

/// The row for a program, by file name; case and a version at its end make no difference.
fn find(program: &str) -> Option<&'static Program> {
    let base = base_name(program).to_ascii_lowercase();
    let base = base.strip_suffix(".exe").unwrap_or(&base);
    let unversioned = base.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    let programs = &TABLE.programs;
    programs
        .get(base_name(program))
        .or_else(|| programs.get(base))
        .or_else(|| programs.get(unversioned))
}

/// The kind of a program, where it has one.
pub(crate) fn kind(program: &str) -> Option<Kind> {
    find(program).map(|program| program.kind)
}

/// Whether setting the variable changes what is looked up, loaded or run.
pub(crate) fn is_dangerous(name: &str) -> bool {
    TABLE.variables.iter().any(|pattern| {
        match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
            (Some(end), _) => name.ends_with(end),
            (_, Some(start)) => name.starts_with(start),
            _ => name == *pattern,
        }
    })
}

/// Whether the command may move to another directory, itself or through what it wraps.
pub(crate) fn changes_directory(simple: &Simple) -> bool {
    let moves = |word: &&Word| matches!(base_name(&word.text), "cd" | "chdir" | "pushd" | "popd");
    let mut words = simple.words.iter();
    let Some(program) = words.next() else {
        return false;
    };
    moves(&program)
        || (matches!(kind(&program.text), Some(Kind::Wrapper)) && words.any(|word| moves(&word)))
}

/// Why the command is opaque, if it is.
pub(crate) fn grade(simple: &Simple) -> Option<Opaque> {
    grade_assignments(&simple.assignments).or_else(|| grade_words(&simple.words))
}

fn opaque(range: &Range<usize>, why: impl Into<String>) -> Opaque {
    Opaque {
        range: range.clone(),
        why: why.into(),
    }
}

fn grade_assignments(assignments: &[Assignment]) -> Option<Opaque> {
    let found = assignments
        .iter()
        .find(|assignment| is_dangerous(&assignment.name))?;
    Some(opaque(
        &found.range,
        format!("setting `{}` changes what programs do", found.name),
    ))
}

fn grade_words(words: &[Word]) -> Option<Opaque> {
    let (program, arguments) = words.split_first()?;
    match program.kind {
        WordKind::Literal | WordKind::Tilde => {}
        WordKind::Glob | WordKind::Dynamic => {
            return Some(opaque(&program.range, "the program is not written out"));
        }
    }
    if program.text.is_empty()
        || program.text.starts_with(['-', '+'])
        || program.text.contains(char::is_whitespace)
    {
        return Some(opaque(
            &program.range,
            "the name of the program is empty, has a blank in it or looks like an option",
        ));
    }
    let name = &program.text;
    if let Some(row) = find(name)
        && let Some(blamed) = blame(row, program, arguments)
    {
        let what = match row.kind {
            Kind::Wrapper => "runs what its arguments say",
            Kind::Shell | Kind::Interpreter => "runs code that is no file",
            Kind::Builtin => "changes the shell itself",
            Kind::Loose | Kind::Plain => "can run another program this way",
        };
        return Some(opaque(&blamed.range, format!("`{name}` {what}")));
    }
    let changing = arguments.iter().find(|word| match word.kind {
        WordKind::Glob => word.text.starts_with(['*', '?', '[', '-', '+']),
        WordKind::Dynamic => true,
        WordKind::Literal | WordKind::Tilde => false,
    });
    if let Some(word) = changing {
        return Some(opaque(
            &word.range,
            format!("`{}` could become an option", word.text),
        ));
    }
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    if operand_starts(&texts).len() > OPERAND_STARTS_MAX {
        return Some(opaque(
            &program.range,
            "the first operand could be any of many words",
        ));
    }
    None
}

/// The word that makes a program of the table opaque.
fn blame<'w>(row: &Program, program: &'w Word, arguments: &'w [Word]) -> Option<&'w Word> {
    let is_code = matches!(row.kind, Kind::Shell | Kind::Interpreter);
    let is_stream = |word: &&Word| {
        word.text == "-" || word.text.starts_with("/dev/") || word.text.starts_with("/proc/")
    };
    if is_code && let Some(stream) = arguments.iter().find(is_stream) {
        return Some(stream);
    }
    // What follows the file an interpreter runs belongs to that file.
    let options = if is_code {
        leading_options(arguments)
    } else {
        arguments
    };
    row.when.iter().find_map(|when| match *when {
        "*" => Some(program),
        "-" => None,
        "bare" => is_bare(row, arguments).then_some(program),
        "variable" => arguments.iter().find(|word| names_danger(&word.text)),
        when if when.starts_with('-') => options.iter().find(|word| is_match(when, &word.text)),
        when => match when.strip_prefix('^') {
            Some(option) => leading_options(arguments)
                .iter()
                .find(|word| word.text.starts_with(option)),
            None => arguments.iter().find(|word| word.text == when),
        },
    })
}

/// Whether no argument is surely an operand: each is an option or may be the value of one.
fn is_bare(row: &Program, arguments: &[Word]) -> bool {
    let is_taken_back = |word: &Word| {
        row.when
            .iter()
            .any(|when| when.strip_prefix('!') == Some(word.text.as_str()))
    };
    leading_options(arguments).len() == arguments.len() && !arguments.iter().any(is_taken_back)
}

/// The arguments before the first that is surely an operand: options, and words that may be their values.
fn leading_options(arguments: &[Word]) -> &[Word] {
    let mut may_be_value = false;
    let count = arguments.iter().take_while(|word| {
        let is_option = word.text.starts_with('-');
        std::mem::replace(&mut may_be_value, is_option) || is_option
    });
    let count = count.count();
    arguments.get(..count).unwrap_or_default()
}

/// Whether an operand of a builtin names a variable that matters, or has a subscript, which is code.
fn names_danger(text: &str) -> bool {
    let name = text.split(['=', '+']).next().unwrap_or_default();
    text.contains('[') && text != "[" || is_dangerous(name)
}

/// Whether an argument is what the table row is about.
fn is_match(when: &str, argument: &str) -> bool {
    if let Some(start) = when.strip_suffix('*') {
        return argument.starts_with(start);
    }
    if when.starts_with("--") {
        let name = argument.split('=').next().unwrap_or_default();
        return name.len() > 2 && name.starts_with("--") && when.starts_with(name);
    }
    match when.strip_prefix('-') {
        Some(letter) if letter.len() == 1 => {
            argument.starts_with('-') && !argument.starts_with("--") && argument.contains(letter)
        }
        _ => argument == when,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_is_read_and_stands_in_order() {
        let rows: Vec<&str> = include_str!("../data/opaque.tsv")
            .lines()
            .filter(|row| !row.starts_with('#'))
            .collect();
        let kinds = [
            "wrapper",
            "shell",
            "interpreter",
            "builtin",
            "loose",
            "plain",
            "variable",
        ];
        for row in &rows {
            let cells: Vec<&str> = row.split('\t').collect();
            assert_eq!(cells.len(), 3, "{row}");
            assert!(kinds.contains(&cells[1]), "{row}");
            assert!(!cells[0].is_empty() && !cells[2].is_empty(), "{row}");
        }
        assert!(
            rows.windows(2).all(|pair| pair[0] < pair[1]),
            "sorted, and no name twice"
        );
        assert_eq!(TABLE.programs.len() + TABLE.variables.len(), rows.len());
    }

    #[test]
    fn a_program_is_found_by_file_name_without_version_or_case() {
        assert_eq!(kind("/usr/bin/python3.12"), Some(Kind::Interpreter));
        assert_eq!(kind("./SUDO"), Some(Kind::Wrapper));
        assert_eq!(kind("."), Some(Kind::Builtin));
        assert_eq!(kind("ls"), None);
    }
}
