//! What holds for every text. It must not name a construct.

use proptest::prelude::*;

use crate::command::{Line, Redirect, RedirectOp, Simple, Word};
use crate::oracle::understood;
use crate::read;

/// Text over the characters and words that mean something to a shell.
pub(crate) fn shellish() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "a",
        "rm",
        "ls",
        "x",
        "1",
        "2",
        " ",
        " ",
        " ",
        "\t",
        "\n",
        "\\",
        "\\\n",
        "'",
        "\"",
        "`",
        "$",
        "$(",
        "${",
        "$((",
        "(",
        ")",
        "((",
        "))",
        "{",
        "}",
        "{ ",
        "; }",
        ";",
        ";;",
        "&",
        "&&",
        "|",
        "||",
        "|&",
        "<",
        ">",
        ">>",
        "<<",
        "<<-",
        "<<<",
        ">&",
        "<&",
        "&>",
        ">|",
        "<>",
        "2>",
        "#",
        "!",
        "! ",
        "=",
        "A=",
        "~",
        "*",
        "?",
        "[",
        "]",
        "[[",
        "]]",
        ",",
        "..",
        "-",
        "+",
        "@",
        "if ",
        "then ",
        "else ",
        "fi",
        "for ",
        "in ",
        "do ",
        "done",
        "while ",
        "case ",
        "esac",
        "function ",
        "coproc ",
        "time ",
        "é",
        "\u{200b}",
        "\r",
        "\0",
        "E\n",
        ":",
        "/",
        ".",
        "%",
    ]);
    prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat())
}

fn check_ranges(text: &str, line: &Line) {
    let fits = |range: &std::ops::Range<usize>| text.get(range.clone()).is_some();
    let word_fits = |word: &Word| fits(&word.range);
    let redirect_fits = |redirect: &Redirect| fits(&redirect.range) && word_fits(&redirect.target);
    assert!(
        line.unknown.iter().all(|unknown| fits(&unknown.range)),
        "{text:?} {line:?}"
    );
    assert!(line.touches.iter().all(|it| fits(&it.range)), "{text:?}");
    assert!(line.hosts.iter().all(|it| fits(&it.range)), "{text:?}");
    assert!(line.flagged.iter().all(|it| fits(&it.range)), "{text:?}");
    for command in &line.commands {
        assert!(
            fits(&command.range) && !command.range.is_empty(),
            "{text:?} {line:?}"
        );
        assert!(command.words.iter().all(word_fits), "{text:?} {line:?}");
        assert!(
            command.redirects.iter().all(redirect_fits),
            "{text:?} {line:?}"
        );
        assert!(
            command
                .assignments
                .iter()
                .all(|a| fits(&a.range) && fits(&a.value.range)),
            "{text:?} {line:?}"
        );
        assert!(
            command.opaque.iter().all(|opaque| fits(&opaque.range)),
            "{text:?} {line:?}"
        );
        // 16 of its own, 17 by another name, and of each of 16 ends a few.
        assert!(command.others().len() <= 16 + 17 + 16 * 10);
    }
    for (i, a) in line.commands.iter().enumerate() {
        for b in line.commands.iter().skip(i + 1) {
            let (a, b) = (&a.range, &b.range);
            let is_apart = a.end <= b.start || b.end <= a.start;
            let is_within =
                (a.start <= b.start && b.end <= a.end) || (b.start <= a.start && a.end <= b.end);
            assert!(is_apart || is_within, "{text:?} {line:?}");
        }
    }
}

/// One way to write a plain word.
fn written() -> impl Strategy<Value = String> {
    let plain = "[a-z0-9./:@%+,-]{1,6}";
    let quoting = 0..5_u8;
    (plain, quoting).prop_map(|(word, quoting)| match quoting {
        0 => format!("'{word}'"),
        1 => format!("\"{word}\""),
        2 => word.chars().flat_map(|c| ['\\', c]).collect(),
        3 => word.chars().flat_map(|c| [c, '\'', '\'']).collect(),
        _ => word,
    })
}

/// Reads in a thread of its own, where tables take other seeds.
#[expect(clippy::disallowed_methods, reason = "seeds are those of a thread")]
fn read_elsewhere(text: String) -> Line {
    std::thread::spawn(move || read(&text)).join().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_has_an_answer_whose_ranges_lie_in_it(text in any::<String>()) {
        check_ranges(&text, &read(&text));
    }

    #[test]
    fn any_shell_like_text_has_an_answer_whose_ranges_lie_in_it(text in shellish()) {
        check_ranges(&text, &read(&text));
    }

    #[test]
    fn a_canonical_form_is_its_own(words in prop::collection::vec(written(), 1..6)) {
        // Without its quotes the first word could be a keyword, which is another text.
        let text = format!("x{}", words.join("  "));
        let line = read(&text);
        prop_assert_eq!(&line.unknown, &vec![]);
        // What stands behind the first word may be a command by itself.
        let count = |line: &Line| line.commands.iter().filter(|it| it.via.is_none()).count();
        prop_assert_eq!(count(&line), 1);
        let command = &line.commands[0];
        prop_assert!(command.is_literal());
        let canonical = command.canonical();
        let again = read(&canonical);
        prop_assert_eq!(count(&again), 1);
        prop_assert_eq!(again.commands[0].canonical(), canonical);
    }

    #[test]
    fn quotes_change_no_value(words in prop::collection::vec(written(), 1..6)) {
        let plain = |word: &str| word.replace(['\'', '"', '\\'], "");
        let line = read(&format!("x {}", words.join(" ")));
        let values: Vec<_> = line.commands[0].words.iter().skip(1).map(|word| word.text.clone()).collect();
        // Braces are the one thing that only unquoted words expand, and there are none.
        prop_assert_eq!(values, words.iter().map(|word| plain(word)).collect::<Vec<_>>());
    }

    #[test]
    fn the_source_of_a_command_reads_as_the_same_command(text in prop_oneof![understood(), shellish()]) {
        let line = read(&text);
        if !line.unknown.is_empty() {
            return Ok(());
        }
        for command in line.commands.iter().filter(|command| command.via.is_none() && !command.words.is_empty()) {
            let is_literal = command.is_literal() && command.redirects.iter().all(|it| it.op != RedirectOp::Text);
            // At the start of a text this one is a keyword.
            if !is_literal || command.program() == Some("time") {
                continue;
            }
            let again = read(&command.source);
            let found = again.commands.iter().any(|it| it.canonical() == command.canonical() && it.opaque.is_some() == command.opaque.is_some());
            prop_assert!(found, "{:?} {:?}", command.source, again);
        }
    }

    #[test]
    fn what_is_appended_is_found_or_the_text_is_unknown(text in shellish()) {
        let line = read(&format!("{text}; rm -rf marker"));
        let is_found = line.commands.iter().any(|command| command.canonical() == "rm -rf marker");
        // A comment or a here-document may swallow it without a word, a function without a call may not.
        let is_swallowed = text.contains('#') || text.contains("<<") || text.ends_with('\\');
        prop_assert!(is_found || is_swallowed || !line.unknown.is_empty(), "{:?} {:?}", text, line);
    }

    #[test]
    fn a_saved_rule_covers_the_command_it_was_made_for(words in prop::collection::vec(written(), 1..6)) {
        for command in read(&words.join(" ")).commands {
            for rule in command.always() {
                let kept = rule.strip_suffix(" *").unwrap_or_default();
                let rest = command.canonical();
                let rest = rest.strip_prefix(kept);
                prop_assert!(rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')), "{} {}", rule, command.canonical());
            }
        }
    }

    #[test]
    fn a_command_is_found_behind_any_text_that_is_understood(text in understood()) {
        let line = read(&text);
        let longer = read(&format!("{text}\nrm -rf marker"));
        prop_assert_eq!(&longer.unknown, &vec![]);
        prop_assert_eq!(longer.commands.len(), line.commands.len() + 1);
        let last = longer.commands.last().map(Simple::canonical);
        prop_assert_eq!(last, Some("rm -rf marker".to_owned()));
    }

    #[test]
    fn a_text_has_one_answer(names in prop::collection::vec("[a-e]{1,2}", 1..8), text in prop_oneof![understood(), shellish()]) {
        // Each name is made to mean something, and nothing is called in the order of definition.
        let meanings = names.iter().enumerate().map(|(at, name)| match at % 3 {
            0 => format!("{name}() {{ end {at} $1; }}\n"),
            1 => format!("alias {name}='end {at}'\n"),
            _ => format!("hash -p /x/{at} {name}\n"),
        });
        let text = meanings.collect::<String>() + &text + "\n" + &names.join("; ");
        let line = read(&text);
        prop_assert_eq!(line, read_elsewhere(text));
    }

    #[test]
    fn a_substitution_is_found_wherever_it_stands(before in shellish(), after in shellish()) {
        let text = format!("{before}\n$(rm -rf marker){after}");
        let line = read(&text);
        // Quotes, here-documents and comments before it may rightly hide it; without them nothing may.
        if read(&before).unknown.is_empty() {
            prop_assert!(line.commands.iter().any(|command| command.canonical() == "rm -rf marker"), "{:?} {:?}", text, line);
        }
    }
}
