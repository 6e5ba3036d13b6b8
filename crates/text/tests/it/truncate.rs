//! Truncation: what stays, what is said. Must not test where the full output goes.

use crate::text::truncate::{Keep, Limits, Omitted, Truncated, Unit, assemble, fits, truncate};
use proptest::prelude::*;

const ANY: usize = usize::MAX;

fn numbered(count: usize) -> String {
    (0..count)
        .map(|n| format!("line{n}"))
        .collect::<Vec<_>>()
        .join("\n")
}

fn cut(text: &str, lines_max: usize, bytes_max: usize, keep: Keep) -> Truncated {
    truncate(
        text,
        Limits {
            lines_max,
            bytes_max,
        },
        keep,
    )
}

#[test]
fn the_defaults_are_the_compatible_ones() {
    assert_eq!(
        Limits::default(),
        Limits {
            lines_max: 2_000,
            bytes_max: 51_200
        }
    );
}

#[test]
fn limits_cut_as_the_table_says() {
    use Keep::{Head, Tail};
    use Unit::{Bytes, Lines};
    type Row = (
        &'static str,
        usize,
        usize,
        Keep,
        &'static str,
        Option<(usize, Unit)>,
    );
    let rows: [Row; 17] = [
        ("short", 10, 10, Head, "short", None),
        ("", 0, 0, Head, "", None),
        ("a\nb\n", 2, 4, Head, "a\nb\n", None),
        ("a\nb\n", 2, 4, Tail, "a\nb\n", None),
        ("a\nb\nc", 2, ANY, Head, "a\nb\n", Some((1, Lines))),
        ("a\nb\nc", 2, ANY, Tail, "b\nc", Some((1, Lines))),
        ("a\nb\nc\n", 2, ANY, Head, "a\nb\n", Some((1, Lines))),
        ("a\nb\nc\n", 2, ANY, Tail, "b\nc\n", Some((1, Lines))),
        ("a\nb\nc\n", 0, ANY, Head, "", Some((3, Lines))),
        ("one\ntwo\n", ANY, 5, Head, "one\n", Some((4, Bytes))),
        ("one\ntwo\n", ANY, 5, Tail, "two\n", Some((4, Bytes))),
        ("aaaaaaaaaa", ANY, 4, Head, "aaaa", Some((6, Bytes))),
        ("aaaaaaaaab", ANY, 4, Tail, "aaab", Some((6, Bytes))),
        ("\u{e9}\u{e9}", ANY, 3, Head, "\u{e9}", Some((2, Bytes))),
        ("\u{e9}\u{e9}", ANY, 3, Tail, "\u{e9}", Some((2, Bytes))),
        ("\u{1f4c1}", ANY, 3, Head, "", Some((4, Bytes))),
        ("\u{1f4c1}", ANY, 3, Tail, "", Some((4, Bytes))),
    ];
    for (text, lines_max, bytes_max, keep, kept, omitted) in rows {
        let omitted = omitted.map(|(amount, unit)| Omitted { amount, unit });
        let expected = Truncated {
            text: kept.to_owned(),
            omitted,
        };
        assert_eq!(
            cut(text, lines_max, bytes_max, keep),
            expected,
            "{text:?} {keep:?}"
        );
    }
}

#[test]
fn the_head_notice_follows_the_text() {
    let kept = cut(&numbered(100), 10, ANY, Keep::Head);
    let said = assemble(&kept, Keep::Head, "HINT");
    let expected = format!("{}\n\n...90 lines truncated...\n\nHINT", numbered(10));
    assert_eq!(said, expected);
}

#[test]
fn the_tail_notice_precedes_the_text() {
    let kept = cut("a\nb\nc", 1, ANY, Keep::Tail);
    assert_eq!(
        assemble(&kept, Keep::Tail, "HINT"),
        "...2 lines truncated...\n\nHINT\n\nc"
    );
}

#[test]
fn a_notice_counts_bytes_when_the_byte_limit_was_met() {
    let kept = cut(&"a".repeat(1_000), ANY, 999, Keep::Head);
    assert!(assemble(&kept, Keep::Head, "HINT").contains("a\n\n...1 byte truncated...\n\nHINT"));
}

#[test]
fn text_that_fits_gets_no_notice() {
    let kept = cut("a\n", 10, 10, Keep::Head);
    assert_eq!(assemble(&kept, Keep::Head, "/out"), "a\n");
}

proptest! {
    #[test]
    fn what_is_kept_is_within_the_limits_and_adds_up(
        text in "[a-c\u{e9}\u{1f4c1}\n]{0,60}", lines_max in 0..8usize, bytes_max in 0..40usize,
        tail in any::<bool>(),
    ) {
        let limits = Limits { lines_max, bytes_max };
        let keep = if tail { Keep::Tail } else { Keep::Head };
        let kept = truncate(&text, limits, keep);
        prop_assert!(fits(&kept.text, limits));
        prop_assert_eq!(kept.omitted.is_none(), fits(&text, limits));
        let end = match keep {
            Keep::Head => text.get(..kept.text.len()),
            Keep::Tail => text.get(text.len() - kept.text.len()..),
        };
        prop_assert_eq!(end, Some(kept.text.as_str()));
        let lines = |text: &str| text.split_inclusive('\n').count();
        match kept.omitted {
            None => prop_assert_eq!(&kept.text, &text),
            Some(Omitted { amount, unit: Unit::Bytes }) => {
                prop_assert!(amount > 0);
                prop_assert_eq!(kept.text.len() + amount, text.len());
            }
            Some(Omitted { amount, unit: Unit::Lines }) => {
                prop_assert!(amount > 0);
                prop_assert_eq!(lines(&kept.text) + amount, lines(&text));
            }
        }
    }
}
