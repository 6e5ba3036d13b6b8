//! From the text of a configuration file to its root object, with the places of everything.
//! Must not do IO, and must not let a faulty file through in part.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::errors::{ParseError, ParseErrorKind};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use miette::NamedSource;
use policy::Origin;

use crate::error::{quotable, visible};
use crate::text::Bearings;
use crate::{Config, ConfigError, ConfigWarning, Fault, Unused};

/// JSON with comments and trailing commas, and nothing looser.
const JSONC: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Which file a text is, and where that stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    /// Its name in rules and errors.
    pub(crate) label: &'a str,
    /// For the paths that are written in it.
    pub(crate) bearings: Bearings<'a>,
}

/// Reads the text of a configuration file of the user's; `label` names it in rules and errors. The text
/// stands in no folder, so a `{file:PATH}` in it has to be absolute.
///
/// # Errors
/// A [`ConfigError`] with the faults of the text.
pub fn parse(text: &str, label: &str, home: Option<&str>) -> Result<Config, ConfigError> {
    let bearings = Bearings { folder: None, home };
    parse_user(text, Place { label, bearings })
}

/// Reads the text of a configuration file of the user's.
pub(crate) fn parse_user(text: &str, place: Place<'_>) -> Result<Config, ConfigError> {
    read_root(text, place, |reader, root| {
        reader.check(root, "", "");
        let mut config = reader.config(root);
        config.warnings = std::mem::take(&mut reader.warnings);
        config.unused = std::mem::take(&mut reader.unused);
        config
    })
}

/// Reads a text that is the value of the key `permission`.
pub(crate) fn parse_permission(text: &str, place: Place<'_>) -> Result<Config, ConfigError> {
    read_value(text, place, |reader, value| {
        let rules = value.map(|value| reader.permission(value));
        if rules.is_none() {
            reader.fault(
                0..0,
                "there are no rules",
                Some(r#"for example {"edit": "ask"}"#),
            );
        }
        Some(Config {
            rules: rules.unwrap_or_default(),
            warnings: std::mem::take(&mut reader.warnings),
            ..Config::default()
        })
    })
}

/// Reads the root object of a text and hands it on; nothing comes of a text with faults.
pub(crate) fn read_root<T>(
    text: &str,
    place: Place<'_>,
    read: impl FnOnce(&mut Reader<'_>, &Object<'_>) -> T,
) -> Result<T, ConfigError> {
    read_value(text, place, |reader, value| match value {
        Some(Value::Object(root)) => Some(read(reader, root)),
        other => {
            reader.no_object(other);
            None
        }
    })
}

fn read_value<T>(
    text: &str,
    place: Place<'_>,
    read: impl FnOnce(&mut Reader<'_>, Option<&Value<'_>>) -> Option<T>,
) -> Result<T, ConfigError> {
    // Some editors put a byte order mark first; it is no part of the text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let after_breaks = text.match_indices('\n').map(|(at, _)| at + 1);
    let mut reader = Reader {
        text,
        place,
        line_starts: std::iter::once(0).chain(after_breaks).collect(),
        file: Arc::new(NamedSource::new(visible(place.label), quotable(text))),
        warnings: Vec::new(),
        unused: Vec::new(),
        faults: Vec::new(),
    };
    let found = match parse_to_ast(text, &CollectOptions::default(), &JSONC) {
        Err(error) => {
            reader.syntax(&error);
            None
        }
        Ok(parsed) => read(&mut reader, parsed.value.as_ref()),
    };
    match found {
        Some(found) if reader.faults.is_empty() => Ok(found),
        _ => Err(ConfigError::invalid(place.label, reader.faults)),
    }
}

/// A text that is read, and what was found to say about it.
pub(crate) struct Reader<'t> {
    pub(crate) text: &'t str,
    pub(crate) place: Place<'t>,
    line_starts: Vec<usize>,
    file: Arc<NamedSource<String>>,
    pub(crate) warnings: Vec<ConfigWarning>,
    pub(crate) unused: Vec<Unused>,
    faults: Vec<Fault>,
}

impl Reader<'_> {
    pub(crate) fn fault(&mut self, range: Range<usize>, message: &str, help: Option<&str>) {
        // The parser may point behind the end, or at many lines where the first one tells enough.
        let start = range.start.min(self.text.len());
        let rest = self.text.get(start..).unwrap_or("");
        let line = rest.find('\n').unwrap_or(rest.len());
        let range = start..range.end.clamp(start, start + line);
        self.faults
            .push(Fault::new(&self.file, range, message, help));
    }

    pub(crate) fn warn(&mut self, at: usize, message: &str, help: Option<&str>) {
        let (line, column) = self.line_and_column(at);
        self.warnings.push(ConfigWarning {
            source: visible(self.place.label),
            line,
            column,
            message: visible(message),
            help: help.map(visible),
        });
    }

    /// The place of a byte, for what is kept.
    pub(crate) fn origin(&self, at: usize) -> Origin {
        let (line, column) = self.line_and_column(at);
        Origin {
            source: self.place.label.into(),
            line,
            column,
        }
    }

    /// Line and column of a byte, both from 1, the column in characters.
    pub(crate) fn line_and_column(&self, at: usize) -> (u32, u32) {
        let line = self.line_starts.partition_point(|start| *start <= at);
        let start = self.line_starts.get(line.saturating_sub(1)).copied();
        let before = self.text.get(start.unwrap_or_default()..at).unwrap_or("");
        let narrow = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        (narrow(line), narrow(before.chars().count() + 1))
    }

    /// Two entries of one name: the second would silently replace the first.
    pub(crate) fn each_once(&mut self, object: &Object<'_>) {
        let mut firsts = HashMap::new();
        for property in &object.properties {
            let name = property.name.as_str();
            let range = bytes(&property.name);
            if let Some(first) = firsts.get(name) {
                let (line, column) = self.line_and_column(*first);
                self.fault(
                    range,
                    &format!("`{name}` is written twice"),
                    Some(&format!(
                        "the first is at {line}:{column}; keep one of them"
                    )),
                );
            } else {
                firsts.insert(name, range.start);
            }
        }
    }

    fn syntax(&mut self, error: &ParseError) {
        let range = error.range();
        let message = lower_first(&error.kind().to_string());
        let help = match error.kind() {
            ParseErrorKind::ExpectedComma => "put a comma between the entries",
            _ => {
                "this is JSON: names and words stand in double quotes; comments and trailing commas are allowed"
            }
        };
        self.fault(range.start..range.end, &message, Some(help));
    }

    fn no_object(&mut self, value: Option<&Value<'_>>) {
        let help = Some(r#"for example {"permission": {"edit": "ask"}}"#);
        match value {
            Some(value) => {
                let message = format!("a configuration is an object, not {}", kind(value));
                self.fault(bytes(value), &message, help);
            }
            None => self.fault(0..0, "the file says nothing", help),
        }
    }
}

pub(crate) fn bytes(node: &impl jsonc_parser::common::Ranged) -> Range<usize> {
    let range = node.range();
    range.start..range.end
}

pub(crate) fn did_you_mean(name: &str) -> String {
    format!("did you mean `{name}`?")
}

pub(crate) fn kind(value: &Value<'_>) -> &'static str {
    match value {
        Value::StringLit(_) => "a string",
        Value::NumberLit(_) => "a number",
        Value::BooleanLit(_) => "a boolean",
        Value::Object(_) => "an object",
        Value::Array(_) => "a list",
        Value::NullKeyword(_) => "null",
    }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => String::new(),
    }
}
