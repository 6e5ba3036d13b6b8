//! Short, harmless forms of what a model sent. Must not give back more than it was asked for.

use serde_json::Value;

/// Values and names are shown up to this many characters.
const VALUE_CHARS_MAX: usize = 64;

/// The beginning of a text, with `...` if there is more. What does not print is spelled as an
/// escape, newlines too, so the result stays on its line; escapes count towards the limit.
pub(crate) fn excerpt(text: &str, chars_max: usize) -> String {
    let mut shown = String::new();
    let mut room = chars_max;
    for c in text.chars() {
        let piece: String = match c {
            '"' | '\'' | '\\' => c.into(),
            _ => c.escape_debug().collect(),
        };
        let Some(rest) = room.checked_sub(piece.chars().count()) else {
            return shown + "...";
        };
        room = rest;
        shown.push_str(&piece);
    }
    shown
}

/// A name of a property or a tool.
pub(crate) fn name(text: &str) -> String {
    excerpt(text, VALUE_CHARS_MAX)
}

/// A scalar as JSON; of an array or object only the kind and the size.
pub(crate) fn value(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            excerpt(&value.to_string(), VALUE_CHARS_MAX)
        }
        Value::String(text) => format!("\"{}\"", excerpt(text, VALUE_CHARS_MAX)),
        Value::Array(items) => format!("of {} items", items.len()),
        Value::Object(members) => format!("of {} members", members.len()),
    }
}

/// A value after the name of its type: `string "x"`, `array of 3 items`, `null`.
pub(crate) fn typed(of: &Value) -> String {
    let kind = match of {
        Value::Null => return "null".to_owned(),
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    format!("{kind} {}", value(of))
}
