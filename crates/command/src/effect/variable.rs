//! Variables that change what programs do, as data. It must not know which program is run.

use std::sync::LazyLock;

use super::place;
use crate::line::{Assignment, Directory, Word, WordKind};
use crate::table;

/// What a value changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Changes {
    /// Nothing that is looked up, loaded or run.
    Nothing,
    /// The folders of the workspace from which code is loaded: for a program that runs code of the
    /// project anyway this is nothing more.
    Folders,
    /// Anything.
    Anything,
}

/// Whether setting the variable changes what is looked up, loaded or run.
pub fn is_dangerous_variable(name: &str) -> bool {
    let is_listed = TABLE.dangerous.contains(name)
        || TABLE.starts.iter().any(|start| name.starts_with(start))
        || TABLE.ends.iter().any(|end| name.ends_with(end));
    let is_harmless = |known: &&str| match known.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => *known == name,
    };
    is_listed && !TABLE.harmless.iter().any(is_harmless)
}

/// What setting a variable to this value changes for a program that runs in `at`.
pub(crate) fn changes(name: &str, value: &Word, at: &Directory) -> Changes {
    if !is_dangerous_variable(name) {
        return Changes::Nothing;
    }
    let is_plain = |values: &Vec<&str>| {
        let mut words = value.text.split_ascii_whitespace();
        words.all(|word| values.contains(&word) || values.contains(&numbered(word).as_str()))
    };
    if value.is_known() && TABLE.values.get(name).is_some_and(is_plain) {
        return Changes::Nothing;
    }
    let are_ours = || {
        let mut parts = value.text.split(':');
        parts.all(|part| is_ours(part, name, value.kind, at))
    };
    if TABLE.folders.contains(&name) && are_ours() {
        return Changes::Folders;
    }
    Changes::Anything
}

/// The word with `#` for the number at its end.
fn numbered(word: &str) -> String {
    let head = word.trim_end_matches(|c: char| c.is_ascii_digit());
    if head.len() == word.len() {
        return String::new();
    }
    format!("{head}#")
}

/// Whether a folder of a list lies where the command works, or is the list as it was before.
fn is_ours(part: &str, name: &str, kind: WordKind, at: &Directory) -> bool {
    let before = [format!("${name}"), format!("${{{name}}}")];
    if kind == WordKind::Dynamic && before.iter().any(|it| it == part) {
        return true;
    }
    if part.is_empty() || part.contains(['$', '`', '~', '*', '?', '[']) {
        return false;
    }
    match at {
        // Where a way up leads is for the machine to say.
        Directory::Known(base) => place::absolute(part, at).is_some_and(|path| {
            let below = path.strip_prefix(&**base);
            let is_below = |rest: &str| rest.is_empty() || rest.starts_with('/');
            below.is_some_and(|rest| is_below(rest) && !rest.split('/').any(|it| it == ".."))
        }),
        Directory::Unknown => false,
    }
}

/// What assignments before a program keep of its canonical form: those that change what it does.
pub(crate) fn changes_of(assignment: &Assignment, at: &Directory) -> Changes {
    changes(&assignment.name, &assignment.value, at)
}

/// The lines of `data/variables.txt`.
#[derive(Debug, Default)]
struct Table {
    harmless: Vec<&'static str>,
    values: table::Table<Vec<&'static str>>,
    folders: Vec<&'static str>,
    dangerous: table::Set,
    /// How dangerous names start, and how they end.
    starts: Vec<&'static str>,
    ends: Vec<&'static str>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table::default();
    for line in super::names(include_str!("../../data/variables.txt")) {
        if let Some(name) = line.strip_prefix('!') {
            table.harmless.push(name);
        } else if let Some(rest) = line.strip_prefix('=') {
            let mut words = rest.split(' ');
            let name = words.next().unwrap_or_default();
            table.values.insert(name, words.collect());
        } else if let Some(name) = line.strip_prefix('@') {
            table.folders.push(name);
        } else if let Some(end) = line.strip_prefix('*') {
            table.ends.push(end);
        } else if let Some(start) = line.strip_suffix('*') {
            table.starts.push(start);
        } else {
            table.dangerous.insert(line);
        }
    }
    table
});

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, text: &str, kind: WordKind) -> Changes {
        let value = Word {
            kind,
            ..Word::literal(text, 0..0)
        };
        changes(name, &value, &Directory::Known("/w".into()))
    }

    #[test]
    fn every_name_with_values_or_folders_is_one_that_is_dangerous() {
        for name in TABLE.values.keys().chain(&TABLE.folders) {
            assert!(is_dangerous_variable(name), "{name}");
        }
    }

    #[test]
    fn a_value_is_harmless_only_where_each_of_its_words_is_listed() {
        const ROWS: &[(&str, &str, Changes)] = &[
            ("FOO", "x", Changes::Nothing),
            (
                "NODE_OPTIONS",
                "--max-old-space-size=4096",
                Changes::Nothing,
            ),
            ("NODE_OPTIONS", "", Changes::Nothing),
            (
                "NODE_OPTIONS",
                "--max-old-space-size=4096 --require=./x",
                Changes::Anything,
            ),
            ("NODE_OPTIONS", "--max-old-space-size=x", Changes::Anything),
            ("RUSTFLAGS", "-D warnings", Changes::Nothing),
            ("RUSTFLAGS", "-C linker=./x", Changes::Anything),
            ("GIT_PAGER", "cat", Changes::Nothing),
            ("GIT_PAGER", "git push", Changes::Anything),
            ("GIT_EDITOR", "true", Changes::Nothing),
            ("CC", "clang", Changes::Nothing),
            ("CC", "./cc", Changes::Anything),
            ("AWS_PROFILE", "p", Changes::Nothing),
            ("AWS_CONFIG_FILE", "p", Changes::Anything),
            ("PATH", "src", Changes::Anything),
            ("PYTHONPATH", "src", Changes::Folders),
            ("PYTHONPATH", ".:src/lib", Changes::Folders),
            ("PYTHONPATH", "/w/src", Changes::Folders),
            ("PYTHONPATH", "", Changes::Anything),
            ("PYTHONPATH", "/tmp/x", Changes::Anything),
            ("PYTHONPATH", "src:/wx", Changes::Anything),
            ("PYTHONPATH", "src/../..", Changes::Anything),
            ("PYTHONPATH", "$PYTHONPATH", Changes::Anything),
        ];
        for &(name, text, wanted) in ROWS {
            assert_eq!(of(name, text, WordKind::Literal), wanted, "{name}={text}");
        }
        for (text, wanted) in [
            ("src:$PYTHONPATH", Changes::Folders),
            ("${PYTHONPATH}:src", Changes::Folders),
            ("$x:src", Changes::Anything),
            ("$(pwd)/src", Changes::Anything),
        ] {
            assert_eq!(of("PYTHONPATH", text, WordKind::Dynamic), wanted, "{text}");
        }
        assert_eq!(of("CC", "clang", WordKind::Dynamic), Changes::Anything);
    }
}
