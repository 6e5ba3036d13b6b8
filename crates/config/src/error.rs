//! What is wrong with a configuration, with the place and what to do about it.
//! Must not choose colours: the caller knows its terminal.

use std::{ops::Range, sync::Arc};

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, NamedSource, SourceSpan};

/// Why a configuration cannot be used. Nothing of a faulty file is.
#[derive(Debug, Diagnostic, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read at all.
    #[error("cannot read the configuration `{label}`: {reason}")]
    #[diagnostic(help("name a JSONC file, or none to run with the preset alone"))]
    Unreadable {
        /// The file as it was named.
        label: String,
        /// Why not.
        reason: String,
    },
    /// The file says something that cannot be followed.
    #[error("the configuration `{label}` has {}", count(faults.len()))]
    #[diagnostic(help("nothing of this file is used until it is mended"))]
    Invalid {
        /// The file as it was named.
        label: String,
        /// All its faults, in file order; never empty.
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
        message: String,
        help: Option<String>,
    ) -> Self {
        Self {
            message,
            help,
            span: range.into(),
            file: Arc::clone(file),
        }
    }
}

impl ConfigError {
    pub(crate) fn unreadable(label: &str, reason: &str) -> Self {
        Self::Unreadable {
            label: label.to_owned(),
            reason: reason.to_owned(),
        }
    }

    pub(crate) fn invalid(label: &str, mut faults: Vec<Fault>) -> Self {
        faults.sort_by_key(|fault| fault.span.offset());
        Self::Invalid {
            label: label.to_owned(),
            faults,
        }
    }
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
    let ConfigError::Invalid { faults, .. } = error else {
        return draw(error);
    };
    let mut text = format!("{error}; nothing of it is used until it is mended\n");
    for fault in faults {
        text.push('\n');
        text.push_str(&draw(fault));
    }
    text
}

fn count(faults: usize) -> String {
    match faults {
        1 => "a fault".to_owned(),
        many => format!("{many} faults"),
    }
}
