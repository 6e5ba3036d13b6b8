//! From what a model wrote to typed arguments. Must not coerce: a value of the wrong type is a
//! fault, however clear its meaning.

use crate::excerpt::{self, excerpt};
use crate::fault::{self, ArgumentFault};
use jsonschema::Validator;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::fmt;

/// Other people's error texts may quote values; so much of them is shown, in characters.
const FOREIGN_CHARS_MAX: usize = 256;

/// Text that is not JSON is quoted up to this many characters on both sides of the error.
const CONTEXT_CHARS: usize = 32;

/// The arguments of a call as the model gave them.
#[derive(Clone, Debug, PartialEq)]
pub enum RawArguments {
    /// A JSON value.
    Json(Value),
    /// The text of one, as yet unread. Blank text means no arguments.
    Text(String),
}

impl RawArguments {
    fn read(&self) -> Result<Value, ArgumentFault> {
        let value = match self {
            Self::Json(value) => value.clone(),
            Self::Text(text) if text.trim().is_empty() => Value::Object(Map::new()),
            Self::Text(text) => {
                serde_json::from_str(text).map_err(|error| not_json(text, &error))?
            }
        };
        if value.is_object() {
            return Ok(value);
        }
        let got = excerpt::typed(&value);
        Err(ArgumentFault::at_root(format!(
            "expected a JSON object, got {got}"
        )))
    }
}

/// A schema that cannot be used to check arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    message: String,
}

impl std::error::Error for SchemaError {}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a usable JSON Schema: {}", self.message)
    }
}

/// A compiled schema; made once per tool, for compiling costs more than decoding.
#[derive(Debug)]
pub struct Decoder {
    schema: Value,
    validator: Validator,
}

impl Decoder {
    /// Compiles a schema. Draft 2020-12 is meant unless `$schema` says otherwise.
    ///
    /// # Errors
    /// [`SchemaError`] if it is not a schema, or refers to anything outside itself.
    pub fn new(schema: Value) -> Result<Self, SchemaError> {
        let validator = jsonschema::validator_for(&schema).map_err(|error| SchemaError {
            message: excerpt(&error.to_string(), FOREIGN_CHARS_MAX),
        })?;
        Ok(Self { schema, validator })
    }

    /// The schema as it was given.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Reads the arguments, checks them against the schema, then gives them their type.
    ///
    /// # Errors
    /// Every fault the schema finds, never none.
    pub fn decode<T: DeserializeOwned>(&self, raw: &RawArguments) -> Result<T, Vec<ArgumentFault>> {
        let value = raw.read().map_err(|fault| vec![fault])?;
        let faults = fault::collect(&self.schema, &value, self.validator.iter_errors(&value));
        if !faults.is_empty() {
            return Err(faults);
        }
        // The second line: a type may be narrower than its schema can say.
        serde_path_to_error::deserialize(value).map_err(|error| {
            let message = excerpt(&error.inner().to_string(), FOREIGN_CHARS_MAX);
            vec![ArgumentFault::inside(
                fault::rust_path(error.path()),
                message,
            )]
        })
    }
}

fn not_json(text: &str, error: &serde_json::Error) -> ArgumentFault {
    let line = text
        .split('\n')
        .nth(error.line().saturating_sub(1))
        .unwrap_or_default();
    // The column counts bytes, and may point into a character or past the end.
    let at = line.floor_char_boundary(error.column());
    let (before, after) = line.split_at_checked(at).unwrap_or((line, ""));
    let skipped = before.chars().count().saturating_sub(CONTEXT_CHARS);
    let near = before
        .chars()
        .skip(skipped)
        .chain(after.chars().take(CONTEXT_CHARS));
    let lead = if skipped > 0 { "..." } else { "" };
    let near = excerpt(&near.collect::<String>(), FOREIGN_CHARS_MAX);
    ArgumentFault::at_root(format!("is not valid JSON: {error}, near `{lead}{near}`"))
}
