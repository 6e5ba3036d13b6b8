//! YAML turned into the JSON that the one reader of configurations takes, every key in the line and, where
//! there is room for it, the column of its own. Must not know a key, or do IO.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::MergeKeyPolicy;
use serde_saphyr::{Error, Spanned, UserMessageFormatter};

/// A value, with its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) at: At,
    pub(crate) value: Value,
}

/// Line and column, from 1; zeros where a value stands nowhere.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct At {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Plain(serde_json::Value),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) at: At,
    pub(crate) name: String,
    pub(crate) value: Node,
}

/// Why a text cannot be read, and the line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct YamlFault {
    pub(crate) line: u32,
    pub(crate) message: String,
}

/// Reads a text that begins in this line of its file.
///
/// Values without quotes that hold a colon are no YAML, and yet people write them (`description: use
/// when: asked`): if nothing else helps, the values of the outermost keys are taken as they stand.
pub(crate) fn read(text: &str, first_line: u32) -> Result<Node, YamlFault> {
    let mut found = parse(text);
    if found.is_err()
        && let Ok(node) = parse(&quoted(text))
    {
        found = Ok(node);
    }
    let lines_above = first_line.saturating_sub(1);
    match found {
        Ok(mut node) => {
            node.move_down(lines_above);
            Ok(node)
        }
        Err(error) => Err(YamlFault {
            line: error.location().map_or(1, |at| narrow(at.line())) + lines_above,
            message: without_place(&error.render_with_formatter(&UserMessageFormatter)),
        }),
    }
}

/// A message without the place at its end, which counts from the start of the YAML and not of its file.
fn without_place(message: &str) -> String {
    let end = message.rfind(" at line ").unwrap_or(message.len());
    message.get(..end).unwrap_or(message).to_owned()
}

fn parse(text: &str) -> Result<Node, Error> {
    let options = serde_saphyr::options! {
        // As later YAML has it: `yes` and `on` are words.
        strict_booleans: true,
        // A merge would move what it merges behind what is written, and the order of rules is meaning.
        merge_keys: MergeKeyPolicy::Error,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options)
}

/// The text with its outermost values in quotes, where they are bare words with a colon in them.
fn quoted(text: &str) -> String {
    let quote = |line: &str| {
        let (key, value) = line.split_once(": ")?;
        let is_name = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
        let value = value.trim();
        let is_bare = !value.starts_with(['"', '\'', '[', '{', '|', '>', '&', '*', '!', '#']);
        let is_ours = key.chars().all(is_name) && is_bare && value.contains(':');
        is_ours.then(|| format!("{key}: {}", serde_json::Value::from(value)))
    };
    let lines = text.lines();
    let lines: Vec<_> = lines
        .map(|line| quote(line).unwrap_or_else(|| line.to_owned()))
        .collect();
    lines.join("\n")
}

impl Node {
    /// A value that stands nowhere.
    pub(crate) fn plain(value: impl Into<serde_json::Value>) -> Self {
        Self {
            at: At::default(),
            value: Value::Plain(value.into()),
        }
    }

    /// An object that stands nowhere.
    pub(crate) fn map(entries: Vec<Entry>) -> Self {
        Self {
            at: At::default(),
            value: Value::Map(entries),
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Plain(serde_json::Value::String(text)) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        match &self.value {
            Value::Map(entries) => entries
                .iter()
                .find(|entry| entry.name == name)
                .map(|entry| &entry.value),
            _ => None,
        }
    }

    /// The same as JSON, laid out as it stands in its file.
    pub(crate) fn to_json(&self) -> String {
        let mut sheet = Sheet {
            text: String::new(),
            at: At { line: 1, column: 1 },
        };
        sheet.node(self);
        sheet.text
    }

    fn move_down(&mut self, lines: u32) {
        self.at.line += lines;
        match &mut self.value {
            Value::Plain(_) => {}
            Value::List(nodes) => nodes.iter_mut().for_each(|node| node.move_down(lines)),
            Value::Map(entries) => entries.iter_mut().for_each(|entry| {
                entry.at.line += lines;
                entry.value.move_down(lines);
            }),
        }
    }
}

impl Entry {
    /// An entry that stands nowhere.
    pub(crate) fn new(name: &str, value: Node) -> Self {
        Self {
            at: At::default(),
            name: name.to_owned(),
            value,
        }
    }

    /// The same entry at a place.
    pub(crate) fn at(self, at: At) -> Self {
        Self { at, ..self }
    }
}

/// JSON on its way down a page.
struct Sheet {
    text: String,
    at: At,
}

impl Sheet {
    fn node(&mut self, node: &Node) {
        match &node.value {
            Value::Plain(value) => self.put(node.at, &value.to_string()),
            Value::List(nodes) => {
                self.put(At::default(), "[");
                for (index, node) in nodes.iter().enumerate() {
                    self.comma(index);
                    self.node(node);
                }
                self.put(At::default(), "]");
            }
            Value::Map(entries) => {
                self.put(opening(node.at, entries), "{");
                for (index, entry) in entries.iter().enumerate() {
                    self.comma(index);
                    let name = serde_json::Value::from(entry.name.as_str());
                    self.put(entry.at, &name.to_string());
                    self.put(At::default(), ":");
                    self.node(&entry.value);
                }
                self.put(At::default(), "}");
            }
        }
    }

    fn comma(&mut self, index: usize) {
        if index > 0 {
            self.put(At::default(), ",");
        }
    }

    /// Writes a piece at its place, or behind what is there already. JSON has no line break in a piece.
    fn put(&mut self, at: At, piece: &str) {
        while self.at.line < at.line {
            self.text.push('\n');
            self.at = At {
                line: self.at.line + 1,
                column: 1,
            };
        }
        while self.at.line == at.line && self.at.column < at.column {
            self.text.push(' ');
            self.at.column += 1;
        }
        self.text.push_str(piece);
        self.at.column += narrow(piece.chars().count() as u64);
    }
}

/// Where the bracket of an object goes: where it stands, or else in front of the first key.
fn opening(at: At, entries: &[Entry]) -> At {
    match (entries.first(), at.column) {
        (Some(first), 1) if first.at == at => At::default(),
        (Some(first), column) if first.at == at => At {
            column: column.saturating_sub(1),
            ..at
        },
        _ => at,
    }
}

fn narrow(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl At {
    fn of<T>(spanned: &Spanned<T>) -> Self {
        Self {
            line: narrow(spanned.referenced.line()),
            column: narrow(spanned.referenced.column()),
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Value>::deserialize(deserializer)?;
        Ok(Self {
            at: At::of(&spanned),
            value: spanned.value,
        })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Plain(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Plain(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Plain(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Plain(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Plain(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Plain(serde_json::Value::Null))
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Plain(serde_json::Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = list.next_element()? {
            nodes.push(node);
        }
        Ok(Value::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(name) = map.next_key::<Spanned<String>>()? {
            entries.push(Entry {
                at: At::of(&name),
                name: name.value,
                value: map.next_value()?,
            });
        }
        Ok(Value::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> String {
        read(text, 1).unwrap().to_json()
    }

    #[test]
    fn every_key_keeps_its_line_and_its_column() {
        let text = "description: x\npermission:\n  edit: deny\n  bash:\n    \"git *\": allow\n";
        assert_eq!(
            json(text),
            "{\"description\":\"x\",\n\"permission\":\n {\"edit\":\"deny\",\n  \"bash\":\n   {\"git *\": \"allow\"}}}"
        );
        assert!(
            read(text, 5)
                .unwrap()
                .to_json()
                .starts_with("{\n\n\n\n\"description\"")
        );
    }

    #[test]
    fn words_are_words_and_order_is_kept() {
        for (text, want) in [
            ("b: yes\na: off", "{\"b\":\"yes\",\n\"a\":\"off\"}"),
            ("a: True", "{\"a\":true}"),
            ("a: ~", "{\"a\":null}"),
            ("a: [1, 0.5, -2]", "{\"a\":[1,  0.5,-2]}"),
            ("a: |\n  t\n  u\n", "{\"a\":\"t\\nu\\n\"}"),
            ("123: x", "{\"123\":\"x\"}"),
            ("", "null"),
        ] {
            let read: serde_json::Value = serde_json::from_str(&json(text)).unwrap();
            let want: serde_json::Value = serde_json::from_str(want).unwrap();
            assert_eq!(read, want, "{text}");
        }
    }

    #[test]
    fn a_bare_value_with_a_colon_is_taken_as_it_stands() {
        let node = read("description: use when: asked\nmode: all\n", 1).unwrap();
        assert_eq!(
            node.get("description").unwrap().text(),
            Some("use when: asked")
        );
        assert_eq!(node.get("mode").unwrap().at.line, 2);
    }

    #[test]
    fn what_is_no_yaml_is_a_fault_with_its_line() {
        for (text, line) in [
            ("a: 1\na: 2", 2),
            ("a: 1\n*: deny", 2),
            ("a:\n\tb: 1", 2),
            ("a: [", 1),
            ("a: 1\n---\nb: 1", 3),
            ("x: &x {a: 1}\ny:\n  <<: *x", 3),
        ] {
            let fault = read(text, 11).unwrap_err();
            assert_eq!(fault.line, line + 10, "{text}: {}", fault.message);
        }
    }

    #[test]
    fn a_text_that_would_grow_without_end_is_a_fault() {
        let mut text = "a: &a [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for (name, above) in "bcdefghij".chars().zip("abcdefghi".chars()) {
            let parts = format!("*{above}, ").repeat(10);
            text = [text, format!("{name}: &{name} [{parts}]\n")].concat();
        }
        assert!(read(&text, 1).is_err());
        assert!(read(&"[".repeat(100_000), 1).is_err());
    }
}
