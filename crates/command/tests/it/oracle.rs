//! Other readers as oracles: bash itself, brush-parser and tree-sitter-bash. It must not trust any of them where this reader says "cannot tell".

#![expect(clippy::disallowed_types, reason = "bash is asked whether it agrees")]

use std::process::{Command, Stdio};

use brush_parser::ast;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::command::{Line, read};
use crate::properties::shellish;

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
    let mut programs: Vec<String> = line
        .commands
        .iter()
        .filter_map(|command| Some(command.words.first()?.text.clone()))
        .collect();
    programs.sort();
    programs
}

/// Takes the quotes off a word the way the shell does, without this crate's reader.
fn unquoted(word: &str) -> String {
    let mut text = String::new();
    let mut quote = None;
    let mut chars = word.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, '\\') => match chars.next() {
                Some('\n') | None => {}
                Some(c) => text.push(c),
            },
            (Some('"'), '\\') => {
                match chars.next_if(|c| matches!(c, '$' | '`' | '"' | '\\' | '\n')) {
                    Some('\n') => {}
                    Some(c) => text.push(c),
                    None => text.push('\\'),
                }
            }
            (_, c) => text.push(c),
        }
    }
    text
}

fn brush_programs(text: &str) -> Option<Vec<String>> {
    fn list(list: &ast::CompoundList, found: &mut Vec<String>) {
        for ast::CompoundListItem(and_or, _) in &list.0 {
            pipeline(&and_or.first, found);
            for next in &and_or.additional {
                let (ast::AndOr::And(next) | ast::AndOr::Or(next)) = next;
                pipeline(next, found);
            }
        }
    }
    fn pipeline(pipeline: &ast::Pipeline, found: &mut Vec<String>) {
        for command in &pipeline.seq {
            match command {
                ast::Command::Simple(simple) => found.extend(
                    simple
                        .word_or_name
                        .as_ref()
                        .map(|word| unquoted(&word.value)),
                ),
                ast::Command::Compound(ast::CompoundCommand::BraceGroup(group), _) => {
                    list(&group.list, found);
                }
                ast::Command::Compound(ast::CompoundCommand::Subshell(shell), _) => {
                    list(&shell.list, found);
                }
                ast::Command::Compound(ast::CompoundCommand::Arithmetic(_), _) => {
                    found.push("((".to_owned());
                }
                other => found.push(format!("not a command: {other:?}")),
            }
        }
    }
    let mut parser = brush_parser::Parser::builder().build(std::io::Cursor::new(text.as_bytes()));
    let program = parser.parse_program().ok()?;
    let mut found = Vec::new();
    program
        .complete_commands
        .iter()
        .for_each(|commands| list(commands, &mut found));
    found.sort();
    // It takes `( ( a ) )` for arithmetic, which bash does not.
    let is_mistaken = found.iter().any(|program| program == "((");
    (!is_mistaken).then_some(found)
}

fn tree_sitter_programs(text: &str) -> Option<Vec<String>> {
    let mut parser = tree_sitter::Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .unwrap();
    let tree = parser.parse(text, None).unwrap();
    if tree.root_node().has_error() {
        return None;
    }
    let mut found = Vec::new();
    let mut open = vec![tree.root_node()];
    while let Some(node) = open.pop() {
        if node.kind() == "command_name" {
            found.push(unquoted(&text[node.byte_range()]));
        }
        if node.kind() == "test_command" {
            found.push("[".to_owned());
        }
        let mut cursor = node.walk();
        open.extend(node.children(&mut cursor));
    }
    found.sort();
    Some(found)
}

#[test]
fn brush_parser_finds_the_same_programs() {
    let mut compared_count = 0;
    for text in corpus(understood(), 3_000) {
        let line = read(&text);
        assert_eq!(line.unknown, [], "{text:?}");
        if let Some(found) = brush_programs(&text) {
            compared_count += 1;
            assert_eq!(programs(&line), found, "{text:?}");
        }
    }
    assert!(compared_count > 2_000, "{compared_count}");
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
        let Some(found) = tree_sitter_programs(&text) else {
            continue;
        };
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

/// Bash that is given `text` to read: with nothing in its environment, so nothing it finds is run.
fn bash(options: &[&str], text: &str) -> Command {
    let mut bash = Command::new("bash");
    bash.args(options).args(["-c", "--", text]);
    bash.env_clear().stdin(Stdio::null()).stderr(Stdio::null());
    bash
}

#[test]
fn what_is_understood_is_grammatical_to_bash() {
    let texts = corpus(understood(), 200)
        .into_iter()
        .chain(corpus(shellish(), 10_000));
    let mut asked_count = 0;
    for text in texts
        .filter(|text| !text.contains('\0') && read(text).unknown.is_empty())
        .take(800)
    {
        match bash(&["-n"], &text).status() {
            Ok(status) => assert!(status.success(), "{text:?}"),
            Err(_) => return eprintln!("skipped: there is no bash here"),
        }
        asked_count += 1;
    }
    assert!(asked_count > 400, "{asked_count}");
}

/// Only `printf` of bash itself is run, and only where there is no redirect.
#[test]
fn literal_words_are_what_bash_gives_a_program() {
    let mut asked_count = 0;
    for text in corpus(shellish(), 10_000) {
        let text = format!("printf '%s\\0' {text}");
        let line = read(&text);
        let [command] = line.commands.as_slice() else {
            continue;
        };
        let is_plain = command.is_literal() && command.redirects.is_empty();
        if !line.unknown.is_empty() || !line.redirects.is_empty() || !is_plain {
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
        if asked_count == 400 {
            break;
        }
    }
    assert!(asked_count > 200, "{asked_count}");
}
