//! Other readers as oracles: bash itself, brush-parser and tree-sitter-bash. It must not trust any of them where this reader says "cannot tell".

#![expect(clippy::disallowed_types, reason = "bash is asked whether it agrees")]

use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::command::Line;
use crate::properties::shellish;
use crate::read;
use crate::readers::{brush, tree_sitter};

/// Texts from the subset that is understood.
pub(crate) fn understood() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "a",
        "ls",
        "rm",
        "-rf",
        "x y",
        "'a b'",
        "\"c;d\"",
        "e\\ f",
        "'|'",
        "\"&&\"",
        "r''m",
        "\\rm",
        "g*",
        "~/x",
        "A=1",
        "2",
        "if",
        "done",
        "{}",
        "[",
        "]",
        "!",
        "$",
        "\"a$ b\"",
        "a#b",
        "'#'",
        "h\\\ni",
        "é",
        "\"a\\\nb\"",
        "--x=y",
        "stash@{0}",
        "\\;",
        "'a\nb'",
    ]);
    let redirect = prop::sample::select(vec![
        "> f",
        ">f",
        "2>&1",
        "< 'g h'",
        ">> f",
        "&> f",
        "3<>f",
        ">| f",
        ">&-",
        "2>/dev/null",
        "&>> f",
        "<&0",
    ]);
    let part =
        prop_oneof![4 => word.prop_map(str::to_owned), 1 => redirect.prop_map(str::to_owned)];
    let program = prop::sample::select(vec![
        "ls",
        "rm",
        "'cat'",
        "\\git",
        "/bin/x",
        "r''m",
        "A=1 make",
        "A='b c' B=2 x",
        "[",
        "echo",
        "time2",
        "> f cat",
    ]);
    let simple = (program, prop::collection::vec(part, 0..4)).prop_map(|(program, parts)| {
        let mut text = program.to_owned();
        for part in parts {
            text.push(' ');
            text.push_str(&part);
        }
        text
    });
    simple.prop_recursive(4, 24, 3, |inner| {
        let joiner = prop::sample::select(vec![
            "; ",
            " && ",
            " || ",
            " | ",
            " |& ",
            "\n",
            " & ",
            "&&",
            "|",
            ";",
            "||\n\n",
            " # note\n",
            " |\n",
            " &\\\n& ",
        ]);
        prop_oneof![
            (inner.clone(), joiner, inner.clone())
                .prop_map(|(a, joiner, b)| format!("{a}{joiner}{b}")),
            inner.clone().prop_map(|a| format!("( {a} )")),
            inner.clone().prop_map(|a| format!("{{ {a}; }}")),
            inner.clone().prop_map(|a| format!("(\n{a}\n) > f")),
        ]
    })
}

fn corpus(strategy: impl Strategy<Value = String>, count: usize) -> Vec<String> {
    let mut runner = TestRunner::deterministic();
    (0..count)
        .map(|_| strategy.new_tree(&mut runner).unwrap().current())
        .collect()
}

/// The program of each command, sorted; commands that only assign have none.
fn programs(line: &Line) -> Vec<String> {
    let own = line.commands.iter().filter(|command| command.via.is_none());
    let mut programs: Vec<String> = own
        .filter_map(|command| Some(command.words.first()?.text.clone()))
        .collect();
    programs.sort();
    programs
}

#[test]
fn brush_parser_finds_the_same_programs() {
    let mut compared_count = 0;
    for text in corpus(understood(), 3_000) {
        let line = read(&text);
        assert_eq!(line.unknown, [], "{text:?}");
        // It takes `( ( a ) )` for arithmetic, which bash does not.
        let Some(mut found) = brush(&text).filter(|_| !text.contains("( (")) else {
            continue;
        };
        found.sort();
        compared_count += 1;
        assert_eq!(programs(&line), found, "{text:?}");
    }
    assert!(compared_count > 1_500, "{compared_count}");
}

/// `tree-sitter` loses commands without an error, so it may find fewer than there are but no others.
#[test]
fn tree_sitter_finds_no_program_that_is_missed() {
    let mut compared_count = 0;
    let mut equal_count = 0;
    for text in corpus(understood(), 3_000) {
        // A backslash before a newline in a word is where tree-sitter is known to be wrong.
        if text.contains("\\\n") {
            continue;
        }
        let mut left = programs(&read(&text));
        // So it is with a redirect in a test, whose operands it takes for commands.
        if left.iter().any(|program| program == "[") {
            continue;
        }
        let Some(mut found) = tree_sitter(&text) else {
            continue;
        };
        found.sort();
        compared_count += 1;
        equal_count += usize::from(left == found);
        for program in found {
            let at = left.iter().position(|have| *have == program);
            assert!(at.is_some(), "{text:?} lacks {program}");
            left.swap_remove(at.unwrap());
        }
    }
    assert!(compared_count > 1_000, "{compared_count}");
    assert!(
        equal_count * 10 > compared_count * 9,
        "{equal_count} of {compared_count}"
    );
}

/// Bash that is given `text` to read: with nothing in its environment and no search path, so nothing it
/// finds is run.
fn bash(options: &[&str], text: &str) -> Command {
    let mut bash = Command::new("bash");
    bash.args(options).args(["-c", "--", text]);
    bash.env_clear()
        .env("PATH", "/nonexistent")
        .env("HOME", "/home/u");
    bash.stdin(Stdio::null()).stderr(Stdio::null());
    bash
}

#[test]
fn what_is_understood_is_grammatical_to_bash() {
    let texts = corpus(understood(), 200)
        .into_iter()
        .chain(corpus(shellish(), 20_000));
    let mut asked_count = 0;
    for text in texts
        .filter(|text| !text.contains('\0') && read(text).unknown.is_empty())
        .take(1_000)
    {
        // These are grammatical only to versions or with options that are not those of `bash -n`.
        if text.contains("${ ") || text.contains("${|") || has_extended_glob(&text) {
            continue;
        }
        match bash(&["-n"], &text).status() {
            Ok(status) => assert!(status.success(), "{text:?}"),
            Err(_) => return eprintln!("skipped: there is no bash here"),
        }
        asked_count += 1;
    }
    assert!(asked_count > 600, "{asked_count}");
}

fn has_extended_glob(text: &str) -> bool {
    ["?(", "*(", "+(", "@(", "!("]
        .iter()
        .any(|it| text.contains(it))
}

/// Only `printf` of bash itself is run, and only where there is no redirect.
#[test]
fn known_words_are_what_bash_gives_a_program() {
    let mut asked_count = 0;
    for text in corpus(shellish(), 40_000) {
        let text = format!("printf '%s\\0' {text}");
        let line = read(&text);
        let [command] = line.commands.as_slice() else {
            continue;
        };
        let is_known = command.words.iter().all(crate::command::Word::is_known);
        let is_plain = is_known && command.redirects.is_empty() && command.assignments.is_empty();
        let is_own = command.via.is_none()
            && command.range.end == text.trim_end_matches([' ', '\t', '\n']).len();
        if !line.unknown.is_empty() || !line.touches.is_empty() || !is_plain || !is_own {
            continue;
        }
        let Ok(output) = bash(&[], &text).output() else {
            return eprintln!("skipped: there is no bash here");
        };
        let printed = String::from_utf8(output.stdout).unwrap();
        let printed: Vec<&str> = printed.split_terminator('\0').collect();
        let words: Vec<&str> = command
            .words
            .iter()
            .skip(2)
            .map(|word| word.text.as_str())
            .collect();
        // Without an argument the format is used once with nothing.
        let expected = if words.is_empty() { vec![""] } else { words };
        assert_eq!(printed, expected, "{text:?}");
        asked_count += 1;
        if asked_count == 1_000 {
            break;
        }
    }
    assert!(asked_count > 400, "{asked_count}");
}
