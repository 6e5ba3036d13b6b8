//! What is wrong with a configuration, with the place and what to do about it.
//! Must not choose colours: the caller knows its terminal.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, NamedSource, SourceSpan};

/// Nobody reads more at once; a file may hold a hundred thousand.
const FAULTS_SHOWN_MAX: usize = 20;

/// Why a configuration cannot be used. Nothing of a faulty file is.
#[derive(Debug, Diagnostic, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read at all.
    #[error("cannot read the configuration `{label}`: {reason}")]
    #[diagnostic(help("{help}"))]
    Unreadable {
        /// The file as it was named.
        label: String,
        /// Why not.
        reason: String,
        /// What to do about it.
        help: &'static str,
    },
    /// The file says something that cannot be followed.
    #[error("the configuration `{label}` has {}", count(*fault_count))]
    #[diagnostic(help("nothing of this file is used until it is mended"))]
    Invalid {
        /// The file as it was named.
        label: String,
        /// How many faults it has.
        fault_count: usize,
        /// The first of them, in file order; never empty.
        #[related]
        faults: Vec<Fault>,
    },
}

/// One fault of a configuration file.
#[derive(Debug, Clone, Diagnostic, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    #[help]
    pub help: Option<String>,
    /// Where it is, in bytes of the text.
    #[label]
    pub span: SourceSpan,
    /// The text of the file, under its name.
    #[source_code]
    pub file: Arc<NamedSource<String>>,
}

impl Fault {
    pub(crate) fn new(
        file: &Arc<NamedSource<String>>,
        range: Range<usize>,
        message: &str,
        help: Option<&str>,
    ) -> Self {
        Self {
            message: visible(message),
            help: help.map(visible),
            span: range.into(),
            file: Arc::clone(file),
        }
    }
}

impl ConfigError {
    pub(crate) fn unreadable(label: &str, reason: &str, help: &'static str) -> Self {
        Self::Unreadable {
            label: visible(label),
            reason: visible(reason),
            help,
        }
    }

    pub(crate) fn invalid(label: &str, mut faults: Vec<Fault>) -> Self {
        faults.sort_by_key(|fault| fault.span.offset());
        let fault_count = faults.len();
        faults.truncate(FAULTS_SHOWN_MAX);
        Self::Invalid {
            label: visible(label),
            fault_count,
            faults,
        }
    }
}

/// A text with everything that moves a cursor or turns writing around spelled out.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        if is_deceptive(char) {
            shown.extend(char.escape_unicode());
        } else {
            shown.push(char);
        }
    }
    shown
}

/// A file's text to quote from: every character that could deceive a terminal is replaced by one of as
/// many bytes, and so are those of keys for services, so that places stay what they are.
pub(crate) fn quotable(text: &str) -> String {
    let replace = |char: char| match char {
        '\n' | '\t' => char,
        '\r' => ' ',
        _ if !is_deceptive(char) => char,
        _ => match char.len_utf8() {
            1 => '?',
            2 => '\u{bf}',
            3 => '\u{fffd}',
            _ => '\u{1f6ab}',
        },
    };
    without_secrets(text).chars().map(replace).collect()
}

/// Names whose values are secrets, in lower case.
const SECRETS: [&str; 4] = ["apikey", "authorization", "x-api-key", "api-key"];

/// A text with the values of secret names starred out, those that are references apart. It looks at the
/// text alone, for a file that is no JSON is quoted from as well.
fn without_secrets(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut is_secret = false;
    for (index, piece) in text.split('"').enumerate() {
        if index > 0 {
            shown.push('"');
        }
        if is_secret && piece.trim_start().starts_with(':') {
            // Between the name and its value; unless that is no string, and this reaches to the next name.
            is_secret = !piece.contains([',', '}', ']']);
            shown.push_str(piece);
            continue;
        }
        if is_secret && !crate::text::refers(piece) {
            shown.extend(
                piece
                    .bytes()
                    .map(|byte| if byte == b'\n' { '\n' } else { '*' }),
            );
        } else {
            shown.push_str(piece);
        }
        // A quote behind a backslash is part of the value.
        is_secret = if is_secret && piece.ends_with('\\') {
            true
        } else {
            SECRETS.contains(&piece.to_ascii_lowercase().as_str())
        };
    }
    shown
}

pub(crate) fn is_deceptive(char: char) -> bool {
    let turns = matches!(
        char,
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    );
    let is_tag = ('\u{e0000}'..='\u{e0fff}').contains(&char);
    char.is_control() || turns || is_tag
}

/// Renders an error for a person, without colours and in ASCII.
pub fn render(error: &ConfigError) -> String {
    render_with(error, GraphicalTheme::none())
}

/// Renders an error for a person in the theme of their terminal.
pub fn render_with(error: &ConfigError, theme: GraphicalTheme) -> String {
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_width(100)
        .with_context_lines(1);
    let draw = |diagnostic: &dyn Diagnostic| {
        let mut text = String::new();
        match handler.render_report(&mut text, diagnostic) {
            Ok(()) => text,
            // A frame that cannot be drawn must not hide the error.
            Err(_) => diagnostic.to_string(),
        }
    };
    let ConfigError::Invalid {
        faults,
        fault_count,
        ..
    } = error
    else {
        return draw(error);
    };
    let mut text = format!("{error}; nothing of it is used until it is mended\n");
    for fault in faults {
        text.push('\n');
        text.push_str(&draw(fault));
    }
    let more = fault_count - faults.len();
    if more > 0 {
        // Writing to a string cannot fail.
        _ = writeln!(text, "\nand {more} more");
    }
    text
}

fn count(faults: usize) -> String {
    match faults {
        1 => "a fault".to_owned(),
        many => format!("{many} faults"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_deceive_a_terminal_is_replaced_and_places_stay() {
        let text = "a\u{1b}[2J\r\n\u{9b}b\u{202e}c\u{e0041}\td\u{e9}";
        let quoted = quotable(text);
        assert_eq!(quoted.len(), text.len());
        assert_eq!(quoted, "a?[2J \n\u{bf}b\u{fffd}c\u{1f6ab}\td\u{e9}");
        let text = r#"{"apiKey" : "sk-\"é", "x": "y", "Authorization": "{env:A}", "x-api-key": ["#;
        assert_eq!(
            quotable(text),
            r#"{"apiKey" : "****"**", "x": "y", "Authorization": "{env:A}", "x-api-key": ["#
        );
        assert_eq!(visible("a\u{1b}\u{202e}\u{e9}"), "a\\u{1b}\\u{202e}\u{e9}");
    }
}
