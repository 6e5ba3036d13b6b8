//! Numbered lines, decoding, and telling binary content. Must not read files.

use crate::text::lines::{Decoded, LINE_CHARS_MAX, OutOfRange, Page, looks_binary, number};
use crate::text::truncate::Limits;
use proptest::prelude::*;

fn page(text: &str, offset: usize, limit: usize) -> Page {
    number(text, offset, limit, Limits::default()).unwrap()
}

#[test]
fn pages_read_as_the_table_says() {
    let rows = [
        (
            "hello world",
            1,
            2_000,
            "1: hello world\n\n(End of file - total 1 lines)",
        ),
        (
            "a\r\nb\r\n",
            1,
            2_000,
            "1: a\n2: b\n\n(End of file - total 2 lines)",
        ),
        (
            "a\n\n",
            1,
            2_000,
            "1: a\n2: \n\n(End of file - total 2 lines)",
        ),
        ("", 1, 2_000, "(End of file - total 0 lines)"),
        ("", 0, 0, "(End of file - total 0 lines)"),
        (
            "a\nb\nc\n",
            0,
            0,
            "1: a\n\n(Showing lines 1-1 of 3. Use offset=2 to continue.)",
        ),
        (
            "a\nb\nc\n",
            2,
            1,
            "2: b\n\n(Showing lines 2-2 of 3. Use offset=3 to continue.)",
        ),
        (
            "a\nb\nc\n",
            3,
            usize::MAX,
            "3: c\n\n(End of file - total 3 lines)",
        ),
    ];
    for (text, offset, limit, expected) in rows {
        assert_eq!(
            page(text, offset, limit).to_string(),
            expected,
            "{text:?} {offset} {limit}"
        );
    }
}

#[test]
fn an_offset_behind_the_end_is_out_of_range() {
    for (text, offset, total) in [("", 2, 0), ("a\n", 2, 1), ("a\nb", usize::MAX, 2)] {
        let error = number(text, offset, 10, Limits::default()).unwrap_err();
        assert_eq!(error, OutOfRange { offset, total });
    }
    assert_eq!(
        number("", 2, 1, Limits::default()).unwrap_err().to_string(),
        "Offset 2 is out of range for this file (0 lines)"
    );
}

#[test]
fn the_byte_limit_ends_a_page_between_lines() {
    let text = format!("{}\n", "x".repeat(1_000)).repeat(100);
    let page = page(&text, 1, 2_000);
    assert_eq!(
        page.note,
        "(Output capped at 50 KB. Showing lines 1-50. Use offset=51 to continue.)"
    );
    assert!(page.lines.ends_with('x') && page.lines.len() <= 51_200 && page.is_truncated());
}

#[test]
fn a_long_line_is_cut_between_characters() {
    let text = format!("{}\u{1f4c1}\u{1f4c1}tail", "x".repeat(LINE_CHARS_MAX - 1));
    let shown = page(&text, 1, 1).lines;
    assert!(shown.ends_with("x\u{1f4c1}... (line truncated to 2000 chars)"));
    let exact = "y".repeat(LINE_CHARS_MAX);
    assert_eq!(page(&exact, 1, 1).lines, format!("1: {exact}"));
}

#[test]
fn the_line_limit_bounds_any_asked_limit() {
    let limits = Limits {
        lines_max: 2,
        bytes_max: 100,
    };
    let page = number("a\nb\nc", 1, 50, limits).unwrap();
    assert_eq!(
        page.note,
        "(Showing lines 1-2 of 3. Use offset=3 to continue.)"
    );
}

#[test]
fn binary_content_is_told_by_name_bytes_and_mark() {
    let controls = |bad: usize, good: usize| [vec![1; bad], vec![b'x'; good]].concat();
    let rows = [
        ("a/module.wasm", b"text".to_vec(), true),
        ("LIB.SO", b"text".to_vec(), true),
        ("a.so/plain", b"text".to_vec(), false),
        ("so", b"text".to_vec(), false),
        ("x.rs", b"".to_vec(), false),
        ("x.rs", b"fn main() {}\r\n\t\x0c\x0b".to_vec(), false),
        ("x.txt", b"hello\0world".to_vec(), true),
        ("x.txt", controls(31, 69), true),
        ("x.txt", controls(30, 70), false),
        ("x.txt", [vec![b'x'; 5_000], vec![0]].concat(), false),
        ("x.txt", b"\xff\xfeh\0i\0".to_vec(), false),
        ("x.txt", b"\xfe\xff\0h\0i".to_vec(), false),
        ("x.txt", b"\0\0\xfe\xff\0\0\0h".to_vec(), false),
        ("x.txt", b"\xef\xbb\xbfhi".to_vec(), false),
        ("x.txt", "gr\u{fc}n".into(), false),
    ];
    for (path, bytes, expected) in rows {
        assert_eq!(looks_binary(path, &bytes), expected, "{path} {bytes:?}");
    }
}

#[test]
fn only_utf8_is_text() {
    assert_eq!(Decoded::of(b"hi"), Decoded::Utf8("hi"));
    assert_eq!(Decoded::of(b""), Decoded::Utf8(""));
    assert_eq!(Decoded::of(b"\xef\xbb\xbfhi"), Decoded::Utf8Bom("hi"));
    assert_eq!(Decoded::of(b"\xff\xfeh\0"), Decoded::NotUtf8);
    assert_eq!(Decoded::of(b"caf\xe9"), Decoded::NotUtf8);
    assert_eq!(Decoded::of(b"caf\xe9").text(), None);
}

proptest! {
    #[test]
    fn mark_and_text_give_the_bytes_back(text in any::<String>()) {
        let decoded = Decoded::of(text.as_bytes());
        prop_assert_eq!(format!("{}{}", decoded.mark(), decoded.text().unwrap()), text);
    }

    #[test]
    fn reading_on_shows_every_line_once(
        text in "[a-b\r\n]{0,60}", limit in 1..5usize, bytes_max in 0..40usize,
    ) {
        let limits = Limits { lines_max: 4, bytes_max };
        let (mut shown, mut offset) = (Vec::new(), 1);
        loop {
            let page = number(&text, offset, limit, limits).unwrap();
            prop_assert_eq!(page.first, offset);
            shown.extend(page.lines.split('\n').filter(|l| !l.is_empty()).map(str::to_owned));
            if !page.is_truncated() {
                break;
            }
            prop_assert!(page.last >= page.first);
            prop_assert!(page.first == page.last || page.lines.len() <= bytes_max);
            offset = page.last + 1;
        }
        let expected: Vec<String> =
            text.lines().enumerate().map(|(n, line)| format!("{}: {line}", n + 1)).collect();
        prop_assert_eq!(shown, expected);
    }
}
