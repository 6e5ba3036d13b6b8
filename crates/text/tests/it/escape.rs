//! Escaping for people. Must not print: a failing case is shown escaped by the assertion itself.

use crate::text::escape::{is_hidden, spelled, spelled_line, visible, visible_line};
use proptest::prelude::*;

#[test]
fn hidden_code_points_are_spelled_out() {
    let rows = [
        ("rm -rf ./a\tb\n", "rm -rf ./a\tb\n"),
        ("\u{1b}[2K\r", r"\u{1b}[2K\u{d}"),
        ("\u{7f}\u{9b}31m", r"\u{7f}\u{9b}31m"),
        ("a\u{202e}b\u{2066}c", r"a\u{202e}b\u{2066}c"),
        ("a\u{200b}b\u{200d}\u{feff}", r"a\u{200b}b\u{200d}\u{feff}"),
        (
            "rm\u{a0}x\u{2003}y\u{3000}z",
            r"rm\u{a0}x\u{2003}y\u{3000}z",
        ),
        (
            "\u{2028}\u{2029}\u{85}\u{b}",
            r"\u{2028}\u{2029}\u{85}\u{b}",
        ),
        (
            "\u{e0041}\u{fe0f}\u{3164}\u{ad}",
            r"\u{e0041}\u{fe0f}\u{3164}\u{ad}",
        ),
        (
            "gr\u{fc}n \u{4f60}\u{597d} \u{1f4c1} \\u{1b}",
            "gr\u{fc}n \u{4f60}\u{597d} \u{1f4c1} \\u{1b}",
        ),
    ];
    for (text, shown) in rows {
        assert_eq!(visible(text), shown);
    }
}

#[test]
fn a_line_stays_one_line() {
    assert_eq!(visible_line("a\n\tb c"), r"a\u{a}\u{9}b c");
}

#[test]
fn where_every_letter_counts_what_turns_or_covers_others_is_spelled() {
    let rows = [
        ("cp a\tb\n\u{1b}", "cp a\tb\n\\u{1b}"),
        (
            "gr\u{fc}n gru\u{308}n \u{4f60}\u{597d} \u{1f4c1}",
            "gr\u{fc}n gru\u{308}n \u{4f60}\u{597d} \u{1f4c1}",
        ),
        ("rm \u{5d0}\u{627} b", r"rm \u{5d0}\u{627} b"),
        ("\u{10840}\u{1e900}", r"\u{10840}\u{1e900}"),
        ("=\u{338} a\u{336}\u{336}", "=\\u{338} a\u{336}\\u{336}"),
        ("\u{e000}\u{378}", r"\u{e000}\u{378}"),
    ];
    for (text, shown) in rows {
        assert_eq!(spelled(text), shown);
    }
    assert_eq!(spelled_line("a\n\u{5d0}"), r"a\u{a}\u{5d0}");
}

proptest! {
    #[test]
    fn what_is_spelled_hides_nothing_that_is_otherwise_seen(text in any::<String>()) {
        prop_assert!(spelled(&text).chars().all(|c| matches!(c, '\n' | '\t') || !is_hidden(c)));
        prop_assert!(!spelled_line(&text).chars().any(is_hidden));
        prop_assert_eq!(spelled(&spelled(&text)), spelled(&text));
    }

    #[test]
    fn nothing_hidden_is_left_but_newline_and_tab(text in any::<String>()) {
        prop_assert!(visible(&text).chars().all(|c| matches!(c, '\n' | '\t') || !is_hidden(c)));
        prop_assert!(!visible(&text).chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')));
        prop_assert!(!visible_line(&text).chars().any(is_hidden));
    }

    #[test]
    fn showing_twice_changes_nothing_more(text in any::<String>()) {
        prop_assert_eq!(visible(&visible(&text)), visible(&text));
    }
}
