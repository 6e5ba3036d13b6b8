//! The written form of rules: a JSONC value, in the order and at the places a person wrote it.
//!
//! Must not: open the file, merge files, or guess. What is not understood is a fault, not a rule less.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::pattern::Pattern;
use crate::rule::{Action, Origin, Rule};

/// JSON with comments and trailing commas; the parser's other liberties hide mistakes.
const SYNTAX: ParseOptions = ParseOptions {
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

const BYTE_ORDER_MARK: char = '\u{feff}';

/// One thing that is wrong with written rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct WrittenFault {
    /// The bytes of the text it is about.
    pub range: Range<usize>,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

/// Reads the rules in the value at `key_path` of a JSONC text; no such key, or no text, is no rules.
///
/// The value is an action, which stands for `{"*": action}`, or an object from permission to an action,
/// to an object from pattern to action, or to null. A null, also in place of a pattern's action, is
/// skipped. Rules come in the order of the text, each with `label`, line and column of its entry.
///
/// A pattern key that is `~` or `$HOME`, or starts with one of them and a `/`, gets `home` in its place;
/// the shorthand without patterns has nothing to expand.
///
/// # Errors
/// Every fault of the text: syntax (then it is the only one), a value of the wrong type, a word that is
/// no action, a key written twice, a home that is needed and not known or not usable in a pattern.
pub fn read_rules(
    text: &str,
    label: &str,
    key_path: &[&str],
    home: Option<&str>,
) -> Result<Vec<Rule>, Vec<WrittenFault>> {
    let skipped = text.len() - without_mark(text).len();
    read_part(text, skipped..text.len(), label, key_path, home)
}

/// Reads the rules in the value that stands at `place`, in bytes of a larger JSONC text; what it may
/// be, and how rules and faults tell their places, is as in [`read_rules`].
///
/// # Errors
/// As [`read_rules`]; that there is no such place is a fault too.
pub fn read_rules_at(
    text: &str,
    place: Range<usize>,
    label: &str,
    home: Option<&str>,
) -> Result<Vec<Rule>, Vec<WrittenFault>> {
    read_part(text, place, label, &[], home)
}

fn read_part(
    text: &str,
    part: Range<usize>,
    label: &str,
    key_path: &[&str],
    home: Option<&str>,
) -> Result<Vec<Rule>, Vec<WrittenFault>> {
    let mut reader = Reader {
        places: Places::new(text, part.start),
        source: label.into(),
        home,
        rules: Vec::new(),
        faults: Vec::new(),
    };
    let Some(body) = text.get(part) else {
        let nowhere = jsonc_parser::common::Range { start: 0, end: 0 };
        reader.fault(nowhere, "no such place in the text".to_owned(), "");
        return Err(reader.faults);
    };
    match parse_to_ast(body, &CollectOptions::default(), &SYNTAX) {
        Ok(parsed) => {
            if let Some(value) = parsed.value {
                reader.find(&value, key_path);
            }
        }
        Err(error) => reader.fault(
            error.range(),
            format!("not valid JSON: {}", lower_first(&error.kind().to_string())),
            "write JSON; comments and trailing commas are fine, names and strings need double quotes",
        ),
    }
    if reader.faults.is_empty() {
        Ok(reader.rules)
    } else {
        Err(reader.faults)
    }
}

/// What is read so far, and what it is read with.
struct Reader<'a> {
    places: Places<'a>,
    source: Arc<str>,
    home: Option<&'a str>,
    rules: Vec<Rule>,
    faults: Vec<WrittenFault>,
}

impl Reader<'_> {
    /// Follows the path and reads what is there.
    fn find(&mut self, value: &Value<'_>, key_path: &[&str]) {
        let Some((key, rest)) = key_path.split_first() else {
            return self.permissions(value);
        };
        let Value::Object(object) = value else {
            let message = format!(
                "expected an object that may hold `{key}`, found {}",
                type_name(value)
            );
            return self.fault(
                value.range(),
                message,
                "put the settings in an object: `{ ... }`",
            );
        };
        let mut found = object
            .properties
            .iter()
            .filter(|property| property.name.as_str() == *key);
        let Some(property) = found.next() else { return };
        for twice in found {
            self.twice(twice);
        }
        self.find(&property.value, rest);
    }

    /// Reads a whole permission value.
    fn permissions(&mut self, value: &Value<'_>) {
        match value {
            Value::StringLit(word) => self.rule("*", "*", &word.value, value, word.range),
            Value::Object(object) => self.each_once(object, Self::permission),
            Value::NumberLit(_)
            | Value::BooleanLit(_)
            | Value::Array(_)
            | Value::NullKeyword(_) => {
                let message = format!(
                    "expected an action or an object of permissions, found {}",
                    type_name(value)
                );
                self.fault(
                    value.range(),
                    message,
                    "write for example `{ \"edit\": \"ask\" }`",
                );
            }
        }
    }

    /// Reads the entry of one permission.
    fn permission(&mut self, entry: &ObjectProp<'_>) {
        let name = entry.name.as_str();
        match &entry.value {
            Value::NullKeyword(_) => {}
            Value::StringLit(word) => {
                self.rule(name, "*", &word.value, &entry.value, entry.name.range());
            }
            Value::Object(object) => {
                self.each_once(object, |reader, pattern| reader.pattern(name, pattern));
            }
            Value::NumberLit(_) | Value::BooleanLit(_) | Value::Array(_) => {
                let found = type_name(&entry.value);
                let message = format!(
                    "expected an action or an object of patterns for `{name}`, found {found}"
                );
                self.fault(
                    entry.value.range(),
                    message,
                    "write for example `{ \"*\": \"ask\" }`",
                );
            }
        }
    }

    /// Reads one pattern of a permission.
    fn pattern(&mut self, permission: &str, entry: &ObjectProp<'_>) {
        let written = entry.name.as_str();
        match &entry.value {
            Value::NullKeyword(_) => {}
            Value::StringLit(word) => match at_home(written, self.home) {
                Some(pattern) => self.rule(permission, &pattern, &word.value, &entry.value, entry.name.range()),
                None => self.fault(
                    entry.name.range(),
                    format!("`{written}` needs the home directory, which is not known or has `*` or `?` in its name"),
                    "write the directory out",
                ),
            },
            Value::NumberLit(_) | Value::BooleanLit(_) | Value::Array(_) | Value::Object(_) => {
                let found = type_name(&entry.value);
                let message = format!("expected an action for `{written}`, found {found}");
                self.fault(entry.value.range(), message, ACTIONS);
            }
        }
    }

    /// Reads an action and keeps the rule; `place` is where the entry starts.
    fn rule(
        &mut self,
        permission: &str,
        pattern: &str,
        word: &str,
        value: &Value<'_>,
        place: jsonc_parser::common::Range,
    ) {
        match word.parse::<Action>() {
            Ok(action) => {
                let pattern = match Pattern::read(pattern) {
                    Ok(pattern) => pattern,
                    Err(fault) => {
                        let help = "write for example `arg:sql=SELECT *`";
                        return self.fault(place, fault.to_string(), help);
                    }
                };
                let (line, column) = self.places.of(place.start);
                let origin = Origin {
                    source: Arc::clone(&self.source),
                    line,
                    column,
                };
                self.rules
                    .push(Rule::new(permission, pattern, action, origin));
            }
            Err(error) => self.fault(value.range(), error.to_string(), ACTIONS),
        }
    }

    /// Reads the entries of an object in order; a key written twice is a fault.
    fn each_once(&mut self, object: &Object<'_>, mut read: impl FnMut(&mut Self, &ObjectProp<'_>)) {
        let mut seen = HashSet::new();
        for entry in &object.properties {
            if !seen.insert(entry.name.as_str()) {
                self.twice(entry);
            }
            read(self, entry);
        }
    }

    fn twice(&mut self, entry: &ObjectProp<'_>) {
        let message = format!("`{}` is written twice", entry.name.as_str());
        self.fault(
            entry.name.range(),
            message,
            "keep one of them; the last match wins, so the order matters",
        );
    }

    fn fault(&mut self, range: jsonc_parser::common::Range, message: String, help: &str) {
        let (line, column) = self.places.of(range.start);
        let range = self.places.part_start + range.start..self.places.part_start + range.end;
        self.faults.push(WrittenFault {
            range,
            line,
            column,
            message,
            help: help.to_owned(),
        });
    }
}

/// A pattern with the home directory in place of a `~` or `$HOME` at the start of its text, or of its path
/// behind `path:`, if a `/` or nothing follows that; `None` if the directory is needed and not known, or
/// has a wildcard in its name.
pub fn at_home(written: &str, home: Option<&str>) -> Option<String> {
    let (opening, text) = match written.strip_prefix("path:") {
        Some(path) => ("path:", path),
        None => ("", written),
    };
    let rest = ["~", "$HOME"]
        .iter()
        .find_map(|short| text.strip_prefix(short));
    let Some(rest) = rest.filter(|rest| rest.is_empty() || rest.starts_with('/')) else {
        return Some(written.to_owned());
    };
    let home = home.filter(|home| !home.is_empty() && !home.contains(['*', '?']))?;
    if rest.is_empty() {
        return Some(format!("{opening}{home}"));
    }
    Some(format!("{opening}{}{rest}", home.trim_end_matches('/')))
}

const ACTIONS: &str = "write `\"allow\"`, `\"ask\"` or `\"deny\"`";

/// Turns byte places of the part that is read into lines and columns of the text.
struct Places<'a> {
    text: &'a str,
    /// Where the part starts.
    part_start: usize,
    line_starts: Vec<usize>,
}

impl<'a> Places<'a> {
    fn new(text: &'a str, part_start: usize) -> Self {
        let after_breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            text,
            part_start,
            line_starts: std::iter::once(0).chain(after_breaks).collect(),
        }
    }

    /// Line and column of a byte of the part, both from 1, columns in characters; a byte order mark
    /// has no column.
    fn of(&self, at: usize) -> (u32, u32) {
        let at = self.part_start + at;
        let line = self.line_starts.partition_point(|start| *start <= at);
        let start = self
            .line_starts
            .get(line.saturating_sub(1))
            .copied()
            .unwrap_or_default();
        let before = self.text.get(start..at).unwrap_or_default();
        let seen = if start == 0 {
            without_mark(before)
        } else {
            before
        };
        let column = seen.chars().count() + 1;
        let count = |places: usize| u32::try_from(places).unwrap_or(u32::MAX);
        (count(line), count(column))
    }
}

fn without_mark(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

fn type_name(value: &Value<'_>) -> &'static str {
    match value {
        Value::StringLit(_) => "a string",
        Value::NumberLit(_) => "a number",
        Value::BooleanLit(_) => "true or false",
        Value::Object(_) => "an object",
        Value::Array(_) => "a list",
        Value::NullKeyword(_) => "null",
    }
}

fn lower_first(message: &str) -> String {
    let mut rest = message.chars();
    rest.next()
        .map(|first| first.to_lowercase().chain(rest).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rules of a text as `permission pattern action line:column`.
    fn read(text: &str) -> Vec<String> {
        let rules = read_rules(text, "f", &[], Some("/home/u")).unwrap();
        let show = |rule: &Rule| {
            let Origin { line, column, .. } = rule.origin;
            format!(
                "{} {} {} {line}:{column}",
                rule.permission, rule.pattern, rule.action
            )
        };
        rules.iter().map(show).collect()
    }

    /// The faults of a text as `line:column message`.
    fn faults(text: &str) -> Vec<String> {
        let faults = read_rules(text, "f", &[], None).unwrap_err();
        faults
            .iter()
            .map(|fault| format!("{}:{} {}", fault.line, fault.column, fault.message))
            .collect()
    }

    #[test]
    fn an_action_stands_for_everything() {
        assert_eq!(read("\"allow\""), ["* * allow 1:1"]);
        assert_eq!(read("{}"), [""; 0]);
        assert_eq!(read(" // nothing\n"), [""; 0]);
    }

    #[test]
    fn rules_keep_the_order_and_the_places_of_the_text() {
        let text = r#"{
            // é is one column
            "bash": { "123": "deny", /* é */ "*": "allow", },
            "*": "ask", "edit": "deny",
        }"#;
        assert_eq!(
            read(text),
            [
                "bash 123 deny 3:23",
                "bash * allow 3:46",
                "* * ask 4:13",
                "edit * deny 4:25"
            ]
        );
    }

    #[test]
    fn places_survive_a_byte_order_mark_and_carriage_returns() {
        assert_eq!(read("\u{feff}{\r\n\"edit\": \"ask\"}"), ["edit * ask 2:1"]);
        let fault = &read_rules("\u{feff}{\"a\": 1}", "f", &[], None).unwrap_err()[0];
        assert_eq!(
            (fault.range.clone(), fault.line, fault.column),
            (9..10, 1, 7)
        );
    }

    #[test]
    fn null_is_skipped() {
        assert_eq!(
            read(r#"{"bash": null, "edit": {"a": null, "b": "ask"}}"#),
            ["edit b ask 1:36"]
        );
    }

    #[test]
    fn home_is_put_in_at_a_boundary_of_a_pattern_key_only() {
        for (written, want) in [
            ("~", "/home/u"),
            ("~/x/*", "/home/u/x/*"),
            ("path:~/x/**", "path:/home/u/x/**"),
            ("path:x/~", "path:x/~"),
            ("$HOME", "/home/u"),
            ("$HOME/x", "/home/u/x"),
            ("$HOMEX/y", "$HOMEX/y"),
            ("~bob/x", "~bob/x"),
            ("/a/~/b", "/a/~/b"),
        ] {
            let text = format!(r#"{{"read": {{"{written}": "ask"}}}}"#);
            assert_eq!(read(&text), [format!("read {want} ask 1:11")]);
        }
        assert_eq!(read(r#"{"~": "ask"}"#), ["~ * ask 1:2"]);
        let root = read_rules(r#"{"read": {"~/x": "ask"}}"#, "f", &[], Some("/")).unwrap();
        assert_eq!(root[0].pattern.text(), "/x");
    }

    #[test]
    fn a_home_that_is_needed_and_not_usable_is_a_fault() {
        for home in [None, Some(""), Some("/home/*")] {
            let text = r#"{"read": {"~/.ssh/*": "deny"}}"#;
            assert_eq!(
                read_rules(text, "f", &[], home).unwrap_err().len(),
                1,
                "{home:?}"
            );
            assert!(read_rules(r#"{"read": {"x": "deny"}}"#, "f", &[], home).is_ok());
        }
    }

    #[test]
    fn the_value_is_found_by_its_path() {
        let text = r#"{"agent": {"code": {"permission": {"edit": "ask"}}}, "permission": "deny"}"#;
        let at = |path: &[&str]| read_rules(text, "f", path, None).unwrap().len();
        assert_eq!(at(&["permission"]), 1);
        assert_eq!(at(&["agent", "code", "permission"]), 1);
        assert_eq!(at(&["agent", "plan", "permission"]), 0);
        assert_eq!(read_rules("", "f", &["permission"], None), Ok(vec![]));
        assert_eq!(
            read_rules("[]", "f", &["permission"], None)
                .unwrap_err()
                .len(),
            1
        );
        assert_eq!(
            read_rules(r#"{"a": 1, "a": {}}"#, "f", &["a", "b"], None)
                .unwrap_err()
                .len(),
            2
        );
    }

    #[test]
    fn all_faults_come_at_once_each_at_its_place() {
        let text =
            "{\"bash\": \"alow\",\n\"edit\": {\"a\": 1, \"b\": {}, \"c\": \"Ask\"},\n\"read\": []}";
        assert_eq!(
            faults(text),
            [
                "1:10 `alow` is not an action: expected `allow`, `ask` or `deny`",
                "2:15 expected an action for `a`, found a number",
                "2:23 expected an action for `b`, found an object",
                "2:32 `Ask` is not an action: expected `allow`, `ask` or `deny`",
                "3:9 expected an action or an object of patterns for `read`, found a list",
            ]
        );
        for text in ["null", "true", "3", "[]"] {
            assert_eq!(faults(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn a_key_written_twice_is_a_fault() {
        assert_eq!(
            faults(r#"{"edit": "deny", "edit": "allow"}"#),
            ["1:18 `edit` is written twice"]
        );
        assert_eq!(
            faults(r#"{"edit": {"a": "deny", "\u0061": "allow"}}"#),
            ["1:24 `a` is written twice"]
        );
        assert_eq!(faults(r#"{"edit": null, "edit": null}"#).len(), 1);
    }

    #[test]
    fn liberties_with_the_syntax_are_faults() {
        for text in [
            "{'edit': \"ask\"}",
            "{\"edit\": 'ask'}",
            "{edit: \"ask\"}",
            "{\"a\": \"ask\" \"b\": \"ask\"}",
            "{\"a\": {} \"b\": \"ask\"}",
            "{\"a\": \"ask\",, \"b\": \"ask\"}",
            "{1: \"ask\"}",
            "{\"a\": \"ask\"",
            "{\"a\": \"ask\"} x",
            "{\"a\": \"\\x61sk\"}",
            "/* {}",
        ] {
            let found = faults(text);
            assert!(
                found.len() == 1 && found[0].contains("not valid JSON"),
                "{text}: {found:?}"
            );
        }
    }

    #[test]
    fn a_part_of_a_text_keeps_its_places() {
        let text = "{\n  \"é\": {\"edit\": \"ask\", \"bash\": \"may\"}\n}";
        let start = text.find("{\"edit").unwrap();
        let end = text.rfind("\n}").unwrap();
        let faults = read_rules_at(text, start..end, "f", None).unwrap_err();
        let fault = &faults[0];
        assert_eq!((fault.line, fault.column), (2, 32));
        assert_eq!(text.get(fault.range.clone()), Some("\"may\""));
        let mended = text.replace("may", "deny");
        let rules = read_rules_at(&mended, start..end + 1, "f", None).unwrap();
        assert_eq!(rules[1].origin.to_string(), "f:2:24");
        for nowhere in [start..text.len() + 1, 6..7] {
            assert_eq!(
                read_rules_at(text, nowhere, "f", None).unwrap_err().len(),
                1
            );
        }
    }

    #[test]
    fn deep_nesting_is_a_fault_and_not_a_crash() {
        assert_eq!(faults(&"[".repeat(100_000)).len(), 1);
    }
}
