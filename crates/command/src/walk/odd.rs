//! Finds characters that do not look like what they are. It must not decide what becomes of them.

use crate::line::{Flagged, Oddity};

/// Letters of other scripts that look like ASCII letters.
const LETTERS: &str = "аеорсухіјѕԁһԛԝӏАВЕКМНОРСТУХІЈЅԌοαενρτυχκιΑΒΕΖΗΙΚΜΝΟΡΤΥΧ";

/// Marks that look like operators of the shell.
const MARKS: &str = "\u{37e}\u{2024}\u{2044}\u{2215}\u{2216}\u{2223}\u{a789}\u{2039}\u{203a}";

/// Dashes and quotes, which are ordinary in prose.
const PROSE: &str = "‐‑‒–—―−‘’“”′″";

/// Why `c` stands out by itself, whatever stands around it.
pub(super) fn oddity(c: char) -> Option<Oddity> {
    match c {
        '\t' | '\n' | ' '..='~' => None,
        c if c.is_control() => Some(Oddity::Control),
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Some(Oddity::Direction)
        }
        '\u{ad}'
        | '\u{34f}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200d}'
        | '\u{2060}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}' => Some(Oddity::Hidden),
        '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}' => Some(Oddity::Blank),
        c if c.is_whitespace() => Some(Oddity::Blank),
        '\u{ff01}'..='\u{ff5e}' => Some(Oddity::LookAlike),
        c if MARKS.contains(c) => Some(Oddity::LookAlike),
        _ => None,
    }
}

/// Why `c` stands out in a word outside quotes.
pub(super) fn oddity_in_word(c: char) -> Option<Oddity> {
    let looks_alike = || !c.is_ascii() && (LETTERS.contains(c) || PROSE.contains(c));
    oddity(c).or_else(|| looks_alike().then_some(Oddity::LookAlike))
}

/// All places in `text` where a character stands out.
pub(super) fn flag(text: &str) -> Vec<Flagged> {
    let is_ordinary = |byte: u8| matches!(byte, b'\t' | b'\n' | b' '..=b'~');
    // Every byte is looked at, which is faster than to stop at the first that stands out.
    if text.bytes().fold(true, |all, byte| all & is_ordinary(byte)) {
        return Vec::new();
    }
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let mut before = None;
    let mut found = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let after = chars.peek().map(|&(_, c)| c);
        let mixed = || {
            let is_mixed = is_letter(before) || is_letter(after);
            let starts_word = before.is_none_or(|c: char| c == ' ') && is_letter(after);
            !c.is_ascii()
                && ((LETTERS.contains(c) && is_mixed) || (PROSE.contains(c) && starts_word))
        };
        if let Some(why) = oddity(c).or_else(|| mixed().then_some(Oddity::LookAlike)) {
            found.push(Flagged {
                range: at..at + c.len_utf8(),
                character: c,
                why,
            });
        }
        before = Some(c);
    }
    found
}
