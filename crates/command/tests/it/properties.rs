//! What holds for every text. It must not name a construct.

use proptest::prelude::*;

use crate::command::{Line, Redirect, Simple, Word, read};
use crate::oracle::understood;

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
    assert!(
        line.redirects.iter().all(redirect_fits),
        "{text:?} {line:?}"
    );
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
        assert!(command.others().len() <= 16);
        assert!(command.canonical().len() <= 2 * text.len() + 1);
    }
    for (i, a) in line.commands.iter().enumerate() {
        for b in line.commands.iter().skip(i + 1) {
            let (a, b) = (&a.range, &b.range);
            let is_apart = a.end <= b.start || b.end <= a.start;
            let is_within =
                (a.start <= b.start && b.end <= a.end) || (b.start <= a.start && a.end <= b.end);
            assert!(is_apart || is_within, "{text:?} {line:?}");
            if line.unknown.is_empty() {
                assert!(is_apart, "{text:?} {line:?}");
            }
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
        prop_assert_eq!(line.commands.len(), 1);
        let command = &line.commands[0];
        prop_assert!(command.is_literal());
        let canonical = command.canonical();
        let again = read(&canonical);
        prop_assert_eq!(again.commands.len(), 1);
        prop_assert_eq!(again.commands[0].canonical(), canonical);
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
    fn a_substitution_is_found_wherever_it_stands(before in shellish(), after in shellish()) {
        let text = format!("{before}\n$(rm -rf marker){after}");
        let line = read(&text);
        // Quotes, here-documents and comments before it may rightly hide it; without them nothing may.
        if read(&before).unknown.is_empty() {
            prop_assert!(!line.unknown.is_empty());
            prop_assert!(line.commands.iter().any(|command| command.canonical() == "rm -rf marker"), "{:?} {:?}", text, line);
        }
    }
}
