//! Showing text to a person without letting it forge the screen. Must not be used for what the
//! model reads or what is written: it changes the text.

use std::fmt::Write as _;

/// Spells control, bidirectional and invisible code points, and every space but the plain one, as
/// `\u{202e}`. Newline and tab stay. A backslash stays too, so text that spells such an escape
/// itself looks the same: that is honest, for it then has no effect.
pub fn visible(text: &str) -> String {
    escape(text, |c| matches!(c, '\n' | '\t'))
}

/// The same for text that must stay on its line: newline and tab are spelled as well.
pub fn visible_line(text: &str) -> String {
    escape(text, |_| false)
}

/// [`visible`] for text of which every letter counts, such as a command. Letters that are written from the right
/// are spelled too, for they show what stands around them in another order; so is a mark that stands on another
/// mark or on no letter, for it can cover that.
pub fn spelled(text: &str) -> String {
    let mut takes_a_mark = false;
    escape_where(text, |c| {
        if c.is_ascii() {
            takes_a_mark = c.is_ascii_alphanumeric();
            return is_hidden(c) && !matches!(c, '\n' | '\t');
        }
        let is_bare = c.escape_debug().len() == 1;
        let is_seen = is_bare || takes_a_mark && is_mark(c);
        let is_spelled = !is_seen || is_hidden(c) || is_from_the_right(c);
        takes_a_mark = is_bare && !is_spelled && c.is_alphanumeric();
        is_spelled
    })
}

/// The same for text that must stay on its line.
pub fn spelled_line(text: &str) -> String {
    visible_line(&spelled(text))
}

fn escape(text: &str, stays: impl Fn(char) -> bool) -> String {
    escape_where(text, |c| is_hidden(c) && !stays(c))
}

fn escape_where(text: &str, mut is_escaped: impl FnMut(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_escaped(c) {
            // Writing to a String cannot fail.
            let _ = write!(shown, "{}", c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Tells whether a code point that does not stand by itself is seen behind a letter.
fn is_mark(c: char) -> bool {
    String::from_iter(['a', c]).escape_debug().eq(['a', c])
}

/// Tells whether a code point lies in a block that is written from the right.
fn is_from_the_right(c: char) -> bool {
    matches!(c,
        '\u{590}'..='\u{8ff}'
        | '\u{fb1d}'..='\u{fdff}'
        | '\u{fe70}'..='\u{feff}'
        | '\u{10800}'..='\u{10fff}'
        | '\u{1e800}'..='\u{1efff}')
}

/// Tells whether a terminal shows nothing, or something else, for a code point: general categories
/// Cc, Zl, Zp and Zs but the space, `Default_Ignorable_Code_Point`, and the format controls and
/// blanks beyond it (Unicode 16).
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || (c.is_whitespace() && c != ' ')
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{2800}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{13430}'..='\u{13455}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d159}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}
