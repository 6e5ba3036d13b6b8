//! From the text of a configuration file to rules, settings, warnings and faults.
//! Must not do IO, and must not let a faulty file through in part.

use std::{collections::HashMap, ops::Range, sync::Arc};

use agent::{Preset, UnknownPreset};
use jsonc_parser::{
    CollectOptions, ParseOptions,
    ast::{Object, ObjectProp, Value},
    errors::{ParseError, ParseErrorKind},
    parse_to_ast,
};
use miette::NamedSource;
use policy::{Rule, written};

use crate::{Config, ConfigError, ConfigWarning, Fault, ToolOutput, known};

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

/// Reads the text of a configuration file; `label` names it in rules and errors.
///
/// # Errors
/// A [`ConfigError`] with every fault of the text.
pub fn parse(text: &str, label: &str, home: Option<&str>) -> Result<Config, ConfigError> {
    // Some editors put a byte order mark first; it is no part of the text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader {
        text,
        label,
        home,
        file: Arc::new(NamedSource::new(label, text.to_owned())),
        config: Config::default(),
        faults: Vec::new(),
    };
    match parse_to_ast(text, &CollectOptions::default(), &JSONC) {
        Err(error) => reader.syntax(&error),
        Ok(parsed) => reader.root(parsed.value.as_ref()),
    }
    if reader.faults.is_empty() {
        return Ok(reader.config);
    }
    Err(ConfigError::invalid(label, reader.faults))
}

struct Reader<'t> {
    text: &'t str,
    label: &'t str,
    home: Option<&'t str>,
    file: Arc<NamedSource<String>>,
    config: Config,
    faults: Vec<Fault>,
}

impl Reader<'_> {
    fn fault(&mut self, range: Range<usize>, message: impl Into<String>, help: Option<String>) {
        // The parser may point behind the end, or at many lines where the first one tells enough.
        let start = range.start.min(self.text.len());
        let rest = self.text.get(start..).unwrap_or("");
        let line = rest.find('\n').unwrap_or(rest.len());
        let range = start..range.end.clamp(start, start + line);
        let fault = Fault::new(&self.file, range, message.into(), help);
        self.faults.push(fault);
    }

    fn warn(&mut self, at: usize, message: String, help: Option<String>) {
        let (line, column) = place(self.text, at);
        self.config.warnings.push(ConfigWarning {
            source: self.label.to_owned(),
            line,
            column,
            message,
            help,
        });
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
        self.fault(range.start..range.end, message, Some(help.to_owned()));
    }

    fn root(&mut self, value: Option<&Value<'_>>) {
        let object = match value {
            Some(Value::Object(object)) => object,
            Some(other) => {
                let message = format!("a configuration is an object, not {}", kind(other));
                return self.fault(bytes(other), message, Some(EXAMPLE.to_owned()));
            }
            None => {
                return self.fault(0..0, "the file says nothing", Some(EXAMPLE.to_owned()));
            }
        };
        self.duplicates(object);
        for property in &object.properties {
            match property.name.as_str() {
                "$schema" => {}
                "permission" => self.permission(&property.value),
                "preset" => self.preset(&property.value),
                "tool_output" => self.tool_output(&property.value),
                _ => self.unknown_key(property),
            }
        }
    }

    /// Two entries of one name: the second would silently replace the first.
    fn duplicates(&mut self, object: &Object<'_>) {
        let mut firsts = HashMap::new();
        for property in &object.properties {
            let name = property.name.as_str();
            let range = bytes(&property.name);
            if let Some(first) = firsts.get(name) {
                let (line, column) = place(self.text, *first);
                self.fault(
                    range,
                    format!("`{name}` is written twice"),
                    Some(format!("the first is at {line}:{column}; keep one of them")),
                );
            } else {
                firsts.insert(name, range.start);
            }
        }
    }

    fn unknown_key(&mut self, property: &ObjectProp<'_>) {
        let name = property.name.as_str();
        let near = known::nearest(name, &known::KEYS);
        let help = near.map(did_you_mean);
        // Rules under a mistyped key would silently not hold, so this is no mere warning.
        if near == Some("permission") {
            let message = format!("unknown key `{name}`: the rules below it would not hold");
            return self.fault(bytes(&property.name), message, help);
        }
        let message = format!("the key `{name}` is not read by this version and has no effect");
        self.warn(bytes(&property.name).start, message, help);
    }

    fn permission(&mut self, value: &Value<'_>) {
        match written::read_rules(self.text, self.label, &["permission"], self.home) {
            Ok(rules) => self.config.rules = rules.into_iter().map(renamed).collect(),
            Err(faults) => {
                for fault in faults {
                    self.written_fault(fault);
                }
            }
        }
        let Value::Object(map) = value else {
            return;
        };
        for property in &map.properties {
            self.permission_name(bytes(&property.name).start, property.name.as_str());
        }
    }

    fn written_fault(&mut self, fault: written::WrittenFault) {
        let is_told = |it: &Fault| it.span.offset() == fault.range.start;
        if !self.faults.iter().any(is_told) {
            self.fault(fault.range, fault.message, Some(fault.help));
        }
    }

    fn permission_name(&mut self, at: usize, name: &str) {
        let is_known = |known: &&str| policy::wildcard(name, known);
        if known::alias(name).is_some() || known::PERMISSIONS.iter().any(is_known) {
            return;
        }
        let asked_as = policy::permission_of(name);
        if asked_as != name {
            let message =
                format!("`{name}` is never asked for: the tool is asked for as `{asked_as}`");
            return self.warn(at, message, Some(format!("write `{asked_as}`")));
        }
        let near = known::nearest(&name.replace(['*', '?'], ""), &known::PERMISSIONS);
        if near.is_none() && name.contains(['*', '?']) {
            return;
        }
        let message =
            format!("no permission `{name}` is known: this holds only for a tool of that name");
        self.warn(at, message, near.map(did_you_mean));
    }

    fn preset(&mut self, value: &Value<'_>) {
        let Value::StringLit(word) = value else {
            let message = format!("`preset` is a word, not {}", kind(value));
            return self.fault(bytes(value), message, Some(PRESETS.to_owned()));
        };
        match word.value.parse::<Preset>() {
            Ok(preset) => self.config.preset = Some(preset),
            Err(UnknownPreset(word)) => {
                let message = format!("no preset is called `{word}`");
                self.fault(bytes(value), message, Some(PRESETS.to_owned()));
            }
        }
    }

    fn tool_output(&mut self, value: &Value<'_>) {
        let Value::Object(object) = value else {
            let message = format!("`tool_output` is an object, not {}", kind(value));
            let help = r#"for example {"max_lines": 2000, "max_bytes": 51200}"#;
            return self.fault(bytes(value), message, Some(help.to_owned()));
        };
        self.duplicates(object);
        let mut limits = ToolOutput::default();
        for property in &object.properties {
            match property.name.as_str() {
                "max_lines" => limits.max_lines = self.positive("max_lines", &property.value),
                "max_bytes" => limits.max_bytes = self.positive("max_bytes", &property.value),
                name => {
                    let near = known::nearest(name, &known::TOOL_OUTPUT_KEYS);
                    let message = format!(
                        "the key `tool_output.{name}` is not read by this version and has no effect"
                    );
                    self.warn(bytes(&property.name).start, message, near.map(did_you_mean));
                }
            }
        }
        self.config.tool_output = Some(limits);
    }

    fn positive(&mut self, name: &str, value: &Value<'_>) -> Option<usize> {
        let number = match value {
            Value::NumberLit(number) => number.value.parse::<usize>().ok(),
            _ => None,
        };
        if let Some(number @ 1..) = number {
            return Some(number);
        }
        let message = format!("`{name}` is a whole number from 1");
        self.fault(bytes(value), message, None);
        None
    }
}

const EXAMPLE: &str = r#"for example {"permission": {"edit": "ask"}}"#;
const PRESETS: &str = "it is `cautious`, `normal` or `unattended`";

/// A rule with the permission under our own name.
fn renamed(mut rule: Rule) -> Rule {
    if let Some(ours) = known::alias(&rule.permission) {
        ours.clone_into(&mut rule.permission);
    }
    rule
}

fn did_you_mean(name: &str) -> String {
    format!("did you mean `{name}`?")
}

fn bytes(node: &impl jsonc_parser::common::Ranged) -> Range<usize> {
    let range = node.range();
    range.start..range.end
}

/// Line and column of a byte offset, both from 1, the column in characters.
fn place(text: &str, offset: usize) -> (u32, u32) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count() + 1;
    let column = before.get(line_start..).unwrap_or("").chars().count() + 1;
    let narrow = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    (narrow(line), narrow(column))
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => String::new(),
    }
}

fn kind(value: &Value<'_>) -> &'static str {
    match value {
        Value::StringLit(_) => "a string",
        Value::NumberLit(_) => "a number",
        Value::BooleanLit(_) => "a boolean",
        Value::Object(_) => "an object",
        Value::Array(_) => "a list",
        Value::NullKeyword(_) => "null",
    }
}
