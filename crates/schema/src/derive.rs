//! The JSON Schema of a Rust type, as plain as models want it. Must not depend on a provider:
//! what one of them cannot take is rewritten elsewhere.

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

/// Derives the schema of an argument type: everything inline, no `$schema`, `title` or number
/// `format`, and an optional property is one that is not required rather than one that may be null.
/// A type that recurs keeps its `definitions`.
pub fn of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft07().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    Plain.transform(&mut schema);
    // The tool has a description of its own; that of its argument type is for programmers.
    schema.remove("description");
    if let Some(schema) = schema.as_object_mut() {
        // Some providers refuse an object that lists no properties, even if it has none.
        schema
            .entry("properties")
            .or_insert_with(|| Map::new().into());
    }
    schema.to_value()
}

struct Plain;

impl Transform for Plain {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let Some(schema) = schema.as_object_mut() else {
            return;
        };
        schema.shift_remove("title");
        if is_number(schema) {
            schema.shift_remove("format");
        }
        if schema.get("default") == Some(&Value::Null) {
            schema.shift_remove("default");
        }
        join_constants(schema);
        let required = schema
            .get("required")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let Some(Value::Object(properties)) = schema.get_mut("properties") else {
            return;
        };
        for (name, property) in properties {
            if let Value::Object(property) = property
                && !required.iter().any(|required| required == name)
            {
                strip_null(property);
            }
        }
    }
}

fn is_number(schema: &Map<String, Value>) -> bool {
    let is_number = |kind: &Value| kind == "integer" || kind == "number";
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(is_number),
        Some(kind) => is_number(kind),
        None => false,
    }
}

/// `oneOf` of constants, which is how documented variants come, becomes one `enum`.
fn join_constants(schema: &mut Map<String, Value>) {
    let Some(Value::Array(variants)) = schema.get("oneOf") else {
        return;
    };
    let constants: Option<Vec<Value>> = variants
        .iter()
        .map(|one| one.get("const").cloned())
        .collect();
    let Some(constants) = constants else { return };
    if constants.iter().all(Value::is_string) {
        schema.shift_remove("oneOf");
        schema.insert("type".to_owned(), "string".into());
        schema.insert("enum".to_owned(), constants.into());
    }
}

fn strip_null(property: &mut Map<String, Value>) {
    if let Some(Value::Array(kinds)) = property.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            property.insert("type".to_owned(), kind);
        }
    }
    if let Some(Value::Array(allowed)) = property.get_mut("enum") {
        allowed.retain(|value| !value.is_null());
    }
    let Some(Value::Array(forms)) = property.get_mut("anyOf") else {
        return;
    };
    forms.retain(|form| form.get("type").is_none_or(|kind| kind != "null"));
    if let [Value::Object(form)] = forms.as_slice() {
        let form = form.clone();
        property.shift_remove("anyOf");
        for (key, value) in form {
            // What stands at the property itself, its description above all, is nearer to it.
            property.entry(key).or_insert(value);
        }
    }
}
