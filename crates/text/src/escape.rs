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

fn escape(text: &str, stays: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) && !stays(c) {
            // Writing to a String cannot fail.
            let _ = write!(shown, "{}", c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
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
