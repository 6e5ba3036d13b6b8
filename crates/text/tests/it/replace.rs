//! Exact replacement. Must not test near matches: there are none.

use crate::text::replace::{Replace, ReplaceError, exact};
use proptest::prelude::*;

#[test]
fn replacements_answer_as_the_table_says() {
    use Replace::{All, One};
    let rows = [
        (
            "old content here",
            "old content",
            "new content",
            One,
            "new content here",
        ),
        (
            "foo bar foo baz foo",
            "foo",
            "qux",
            All,
            "qux bar qux baz qux",
        ),
        ("a b b", "b", "$&$1$$", All, "a $&$1$$ $&$1$$"),
        ("a b", "b", r"$&\n\1", One, r"a $&\n\1"),
        ("a.b(c)", "a.b(c)", "X", One, "X"),
        ("a\na\nb", "a\nb", "X", One, "a\nX"),
        ("abc", "b", "", One, "ac"),
        ("aaaa", "aa", "b", All, "bb"),
        // The file decides the line ending.
        ("1\r\nold\r\n3", "old", "new", One, "1\r\nnew\r\n3"),
        ("a\r\nb", "a\nb", "X", One, "X"),
        ("a\r\nb\r\n", "a\nb\n", "c\nd\n", One, "c\r\nd\r\n"),
        ("a\r\nb\r\n", "a\r\nb", "c\nd", One, "c\r\nd\r\n"),
        ("a\r\nb\r\n", "a\nb", "c\r\nd", One, "c\r\nd\r\n"),
        ("a\nb\n", "a\r\nb", "c\r\nd", One, "c\nd\n"),
        ("a\nb\nc\n", "a\r\nb\nc", "x\ny\r\nz", One, "x\ny\nz\n"),
        ("a\r\nb\r\na\r\nb", "a\nb", "c\nd", All, "c\r\nd\r\nc\r\nd"),
        ("a\r\nb", "\n", "-", One, "a-b"),
        // In a mixed file the lines outside keep theirs.
        ("a\nb\r\nc\nd\n", "c\nd", "x", One, "a\nb\r\nx\n"),
        ("a\nb\r\nc\nd\n", "b\nc", "x\ny", One, "a\nx\r\ny\nd\n"),
        // A lone CR is no line ending.
        ("a\rb\nc", "b", "x", One, "a\rx\nc"),
    ];
    for (text, old, new, all, expected) in rows {
        assert_eq!(
            exact(text, old, new, all).unwrap().text,
            expected,
            "{text:?} {old:?}"
        );
    }
}

#[test]
fn what_cannot_be_replaced_is_an_error() {
    use ReplaceError::{Empty, Identical, NotFound, NotUnique};
    let rows = [
        ("content", "same", "same", Identical),
        ("content", "", "", Identical),
        ("a\r\nb", "a\r\n", "a\n", Identical),
        ("abc", "", "X", Empty),
        ("abc", "zzz", "X", NotFound),
        ("", "a", "X", NotFound),
        ("a\nb", "a\rb", "X", NotFound),
        ("a b b", "b", "X", NotUnique { count: 2 }),
        ("aaaa", "aa", "X", NotUnique { count: 3 }),
        (
            "\u{e9}\u{e9}\u{e9}",
            "\u{e9}\u{e9}",
            "X",
            NotUnique { count: 2 },
        ),
        // One place in CRLF and one in LF are two places.
        ("a\r\nb;a\nb", "a\nb", "X", NotUnique { count: 2 }),
    ];
    for (text, old, new, error) in rows {
        assert_eq!(
            exact(text, old, new, Replace::One),
            Err(error),
            "{text:?} {old:?}"
        );
    }
    assert_eq!(exact("abc", "zzz", "X", Replace::All), Err(NotFound));
}

#[test]
fn errors_say_what_to_do_next() {
    assert_eq!(
        ReplaceError::NotUnique { count: 3 }.to_string(),
        "Found multiple matches for oldString (3). Add surrounding lines until it matches only \
         one place, or set replaceAll to change all of them."
    );
    for (error, words) in [
        (ReplaceError::Empty, "oldString cannot be empty"),
        (ReplaceError::Identical, "identical"),
        (ReplaceError::NotFound, "Could not find oldString"),
    ] {
        assert!(error.to_string().contains(words));
    }
}

proptest! {
    #[test]
    fn bytes_outside_the_replaced_span_are_identical(
        before in "[a-c\r\n\u{e9}]{0,20}", after in "[a-c\r\n\u{e9}]{0,20}",
        old in "<[a-c\n]{0,6}>", new in "[x-z$\n]{0,6}",
    ) {
        let text = format!("{before}{old}{after}");
        let replaced = exact(&text, &old, &new, Replace::One).unwrap();
        let middle = replaced.text.strip_prefix(before.as_str()).unwrap();
        let middle = middle.strip_suffix(after.as_str()).unwrap();
        prop_assert_eq!(middle.replace("\r\n", "\n"), new);
        prop_assert_eq!(middle.contains("\r\n"), text.contains("\r\n") && middle.contains('\n'));
        prop_assert_eq!(replaced.count, 1);
    }

    #[test]
    fn all_equals_the_plain_replacement_where_there_is_no_crlf(
        text in "[ab\n]{0,30}", old in "[ab\n]{1,3}", new in "[cd$\n]{0,3}",
    ) {
        let expected = text.replace(&old, &new);
        match exact(&text, &old, &new, Replace::All) {
            Ok(replaced) => prop_assert_eq!(replaced.text, expected),
            Err(ReplaceError::Identical) => prop_assert_eq!(old, new),
            Err(error) => {
                prop_assert_eq!(error, ReplaceError::NotFound);
                prop_assert!(!text.contains(&old));
            }
        }
    }

    #[test]
    fn one_is_all_when_there_is_one(
        text in "[ab\r\n]{0,12}", old in "[ab\r\n]{1,3}", new in "[c\r\n]{0,3}",
    ) {
        match exact(&text, &old, &new, Replace::One) {
            Ok(one) => prop_assert_eq!(Ok(one), exact(&text, &old, &new, Replace::All)),
            Err(ReplaceError::NotUnique { count }) => prop_assert!(count > 1),
            Err(error) => prop_assert_eq!(exact(&text, &old, &new, Replace::All), Err(error)),
        }
    }
}
