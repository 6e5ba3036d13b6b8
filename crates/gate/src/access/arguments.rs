//! The arguments of a call as the rules may speak of them.
//!
//! Must not: cut a value, or a condition on the rest of it would not hold.

use policy::Arguments;
use schema::RawArguments;
use serde_json::Value;

/// Each argument by its name, and what lies in an object by its names with dots between. A name that
/// holds a dot itself, or a quote, is written as JSON writes it, so that no two ways lead to one name.
pub(crate) fn of(raw: &RawArguments) -> Arguments {
    let mut list = Vec::new();
    match raw {
        RawArguments::Json(value) => flatten("", value, &mut list),
        // Text that is no JSON gets no further than the decoder.
        RawArguments::Text(text) => {
            if let Ok(value) = serde_json::from_str(text) {
                flatten("", &value, &mut list);
            }
        }
    }
    list.into()
}

fn flatten(name: &str, value: &Value, list: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (field, value) in fields {
                let field = if field.contains(['.', '"']) || field.is_empty() {
                    Value::from(field.as_str()).to_string()
                } else {
                    field.clone()
                };
                let name = if name.is_empty() {
                    field
                } else {
                    format!("{name}.{field}")
                };
                flatten(&name, value, list);
            }
        }
        _ if name.is_empty() => {}
        Value::String(text) => list.push((name.to_owned(), text.clone())),
        Value::Object(_) | Value::Array(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {
            list.push((name.to_owned(), value.to_string()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(value: Value) -> Vec<String> {
        let list = of(&RawArguments::Json(value));
        let pair = |(name, value): &(String, String)| format!("{name}={value}");
        let mut list: Vec<String> = list.iter().map(pair).collect();
        list.sort();
        list
    }

    #[test]
    fn text_stands_as_it_is_and_the_rest_as_json() {
        assert_eq!(
            shown(json!({"a": "x \"y\"", "b": 1, "c": true, "d": null, "e": ["f", {"g": 1}]})),
            [
                "a=x \"y\"",
                "b=1",
                "c=true",
                "d=null",
                "e=[\"f\",{\"g\":1}]"
            ]
        );
        assert_eq!(
            shown(json!({"a": {"b": {"c": "x"}, "d": {}}})),
            ["a.b.c=x", "a.d={}"]
        );
        assert_eq!(shown(json!({})), [""; 0]);
    }

    #[test]
    fn no_two_ways_lead_to_one_name() {
        let tricky = json!({"a.b": "one", "a": {"b": "two"}, "\"a.b\"": "three", "": "four"});
        assert_eq!(
            shown(tricky),
            [
                "\"\"=four",
                "\"\\\"a.b\\\"\"=three",
                "\"a.b\"=one",
                "a.b=two"
            ]
        );
    }

    #[test]
    fn arguments_as_text_are_read() {
        let text = |text: &str| of(&RawArguments::Text(text.to_owned()));
        assert_eq!(*text("{\"a\": 1}"), [("a".to_owned(), "1".to_owned())]);
        assert!(text("").is_empty() && text("{").is_empty() && text("[1]").is_empty());
    }
}
