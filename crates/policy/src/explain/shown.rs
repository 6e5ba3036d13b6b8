//! Words of others in a line of ours: escaped, so that they cannot forge the screen; and a time.
//!
//! Must not: be used for what is matched or kept.

use std::fmt::Write as _;

/// A text that stays on its line, each character of which is seen for what it is. All others are
/// spelled: `\n`, `\u{202e}`.
pub(crate) fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_seen(c) {
            out.push(c);
        } else if c.is_ascii() {
            out.extend(c.escape_debug());
        } else {
            out.extend(c.escape_unicode());
        }
    }
    out
}

/// The same between backticks.
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", shown(text))
}

/// A text as it is written in JSON, also without characters that are not seen.
pub(crate) fn in_json(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            _ if is_seen(c) => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a string cannot fail.
                    let _ok = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
    out
}

/// Whether a terminal shows a character, and shows it for what it is.
fn is_seen(c: char) -> bool {
    if c.is_ascii() {
        return !c.is_ascii_control();
    }
    // Letters and selectors without a shape, which count as printable or as marks.
    let is_blank = matches!(c,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{1d159}'
        | '\u{e0100}'..='\u{e01ef}');
    // A mark is seen behind a letter, and escaped without one.
    let behind_a_letter = String::from_iter(['a', c]);
    !is_blank && behind_a_letter.escape_debug().eq(['a', c])
}

/// A time as people and programs read it: `2026-11-30T12:48:28Z`.
pub(crate) fn instant(at_ms: u64) -> String {
    let seconds = at_ms / 1000;
    let (day, second) = (seconds / 86_400, seconds % 86_400);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let (year, month, day) = date(day);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The Gregorian date of a day since 1970-01-01. Years begin in March here, so that the leap day is the
/// last of its year.
fn date(day: u64) -> (u64, u64, u64) {
    const ERA: u64 = 146_097; // the days of 400 years
    let day = day + 719_468; // since 0000-03-01
    let (era, day) = (day / ERA, day % ERA);
    let year = (day - day / 1460 + day / 36_524 - day / (ERA - 1)) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let is_next = month >= 10;
    let month = if is_next { month - 9 } else { month + 3 };
    (era * 400 + year + u64::from(is_next), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_deceive_is_spelled_and_what_people_write_is_not() {
        for (text, want) in [
            (
                r#"it's "a\b" äöü 日本 ก้าว e\u{301}"#,
                r#"it's "a\b" äöü 日本 ก้าว e\u{301}"#,
            ),
            ("e\u{301}", "e\u{301}"),
            ("a\nb\tc\r\u{1b}[2J", r"a\nb\tc\r\u{1b}[2J"),
            ("\u{202e}x\u{200b}", r"\u{202e}x\u{200b}"),
            ("r\u{fe0f}m\u{3164}", r"r\u{fe0f}m\u{3164}"),
            ("\u{a0}", r"\u{a0}"),
        ] {
            assert_eq!(shown(text), want);
        }
    }

    #[test]
    fn a_text_in_json_is_read_back_as_it_was() {
        for text in ["a \"b\" \\ c", "\u{202e}\n\u{1b}", "\u{e0100}日本", ""] {
            let written = in_json(text);
            assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
            assert_eq!(shown(&written), written);
        }
    }

    #[test]
    fn a_time_is_a_date_and_a_time_of_day() {
        for (seconds, want) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_709_251_200, "2024-03-01T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(instant(seconds * 1000 + 999), want);
        }
        assert!(instant(u64::MAX).ends_with('Z'));
    }
}
