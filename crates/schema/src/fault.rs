//! What is wrong with one argument, in words a model can act on. Must not echo a value in full.

use crate::excerpt::{self, excerpt};
use crate::nearest::nearest;
use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::paths::{Location, LocationSegment};
use serde_json::Value;
use std::fmt;

/// The path of a fault that concerns the arguments as a whole.
const ROOT: &str = "input";

/// Longer paths are cut, in characters.
const PATH_CHARS_MAX: usize = 256;

/// Longer messages are cut, in characters. With a path it stays below what all faults may take.
const MESSAGE_CHARS_MAX: usize = 2_048;

/// At most this many allowed values or known names are listed.
const LIST_MAX: usize = 30;

/// One thing that is wrong. It displays as `path: message`, on one line, without control
/// characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ArgumentFault {
    /// Where, dotted: `todos[2].status`, or `input` for the whole.
    pub path: String,
    /// What, as the end of a sentence about the path.
    pub message: String,
}

impl ArgumentFault {
    /// A fault at a path.
    pub fn at(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
        }
    }

    /// A fault at a path as this file builds it, where the whole is the empty path.
    pub(crate) fn inside(path: String, message: String) -> Self {
        if path.is_empty() {
            Self::at_root(message)
        } else {
            Self::at(path, message)
        }
    }

    /// A fault of the arguments as a whole.
    pub fn at_root(message: impl Into<String>) -> Self {
        Self::at(ROOT, message)
    }
}

/// Both parts are bounded and escaped here as well, for the fields are open to anyone.
impl fmt::Display for ArgumentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = excerpt(&self.path, PATH_CHARS_MAX);
        write!(f, "{path}: {}", excerpt(&self.message, MESSAGE_CHARS_MAX))
    }
}

/// Puts every error of a validation into words, in the order found and none twice.
pub(crate) fn collect<'a>(
    schema: &Value,
    arguments: &Value,
    errors: impl Iterator<Item = ValidationError<'a>>,
) -> Vec<ArgumentFault> {
    let mut faults = Faults {
        schema,
        arguments,
        found: Vec::new(),
    };
    for error in errors {
        faults.add(&error);
    }
    let mut seen = std::collections::HashSet::new();
    faults.found.retain(|fault| seen.insert(fault.clone()));
    faults.found
}

/// The path of a typed decoding error in the same form.
pub(crate) fn rust_path(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    path.iter()
        .fold(String::new(), |path, segment| match segment {
            Segment::Seq { index } => index_path(&path, *index),
            Segment::Map { key } => member_path(&path, key),
            Segment::Enum { variant } => member_path(&path, variant),
            Segment::Unknown => path,
        })
}

struct Faults<'a> {
    schema: &'a Value,
    arguments: &'a Value,
    found: Vec<ArgumentFault>,
}

impl Faults<'_> {
    fn push(&mut self, path: String, message: String) {
        self.found.push(ArgumentFault::inside(path, message));
    }

    /// INVARIANT: an error adds at least one fault, or arguments that do not fit would pass.
    fn add(&mut self, error: &ValidationError<'_>) {
        let count = self.found.len();
        self.add_known(error);
        if self.found.len() == count {
            self.push(self.path(error.instance_path()), message(error));
        }
    }

    fn add_known(&mut self, error: &ValidationError<'_>) {
        let path = self.path(error.instance_path());
        match error.kind() {
            Kind::Required { property } => {
                let missing = property.as_str().unwrap_or_default();
                self.push(
                    member_path(&path, missing),
                    "is missing and is required".to_owned(),
                );
            }
            Kind::AdditionalProperties { unexpected }
            | Kind::UnevaluatedProperties { unexpected } => {
                for name in unexpected {
                    let message = self.unknown(name, error);
                    self.push(member_path(&path, name), message);
                }
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                self.add_forms(path, error, context);
            }
            Kind::PropertyNames { error } => {
                let name = excerpt::value(error.instance());
                self.push(path, format!("the name {name} {}", message(error)));
            }
            _ => self.push(path, message(error)),
        }
    }

    /// None of several forms fits. If one has the right type and is only wrong inside, its faults
    /// help most; else all that would have been allowed here is listed.
    fn add_forms(
        &mut self,
        path: String,
        error: &ValidationError<'_>,
        forms: &[Vec<ValidationError<'static>>],
    ) {
        let here = error.instance_path();
        let rejects_here = |error: &ValidationError<'_>| {
            error.instance_path() == here && !allowed(error).is_empty()
        };
        let close = forms.iter().filter(|form| !form.iter().any(rejects_here));
        if let Some(closest) = close.min_by_key(|form| form.len()) {
            for error in closest {
                self.add(error);
            }
            return;
        }
        let mut listed: Vec<String> = Vec::new();
        for word in forms
            .iter()
            .flatten()
            .filter(|error| rejects_here(error))
            .flat_map(allowed)
        {
            if !listed.contains(&word) {
                listed.push(word);
            }
        }
        self.push(path, expected(&listed, error.instance()));
    }

    /// A name the schema does not know. Names already given are no guess for another one.
    fn unknown(&self, name: &str, error: &ValidationError<'_>) -> String {
        let pointer = error.schema_path().as_str();
        let parent = pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
        let object = self.schema.pointer(parent);
        let properties = object
            .and_then(|object| object.get("properties"))
            .and_then(Value::as_object);
        let known: Vec<&str> = properties
            .into_iter()
            .flatten()
            .map(|(name, _)| name.as_str())
            .collect();
        let free = known
            .iter()
            .copied()
            .filter(|name| error.instance().get(name).is_none());
        if let Some(nearest) = nearest(name, free) {
            return format!(
                "is not a known name, did you mean `{}`?",
                excerpt::name(nearest)
            );
        }
        if known.is_empty() {
            return "is not a known name".to_owned();
        }
        let known: Vec<String> = known.into_iter().map(excerpt::name).collect();
        format!(
            "is not a known name, the known ones are {}",
            list(&known, "and")
        )
    }

    /// The location is read along the arguments, for it does not tell an index from a name.
    fn path(&self, location: &Location) -> String {
        let mut at = Some(self.arguments);
        location
            .segments()
            .fold(String::new(), |path, segment| match (segment, at) {
                (LocationSegment::Index(index), Some(Value::Array(items))) => {
                    at = items.get(index);
                    index_path(&path, index)
                }
                (segment, value) => {
                    let name = segment.to_string();
                    at = value.and_then(|value| value.get(&name));
                    member_path(&path, &name)
                }
            })
    }
}

fn member_path(path: &str, name: &str) -> String {
    let name = excerpt::name(name);
    if path.is_empty() {
        name
    } else {
        bounded(format!("{path}.{name}"))
    }
}

fn index_path(path: &str, index: usize) -> String {
    bounded(format!("{path}[{index}]"))
}

/// A path that was cut once stays as it is.
fn bounded(path: String) -> String {
    match path.char_indices().nth(PATH_CHARS_MAX) {
        Some((end, _)) => path.get(..end).unwrap_or_default().to_owned(),
        None => path,
    }
}

/// What an error would have allowed in place of the value; empty if it is not of that kind.
fn allowed(error: &ValidationError<'_>) -> Vec<String> {
    match error.kind() {
        Kind::Enum { options } => options
            .as_array()
            .into_iter()
            .flatten()
            .map(excerpt::value)
            .collect(),
        Kind::Constant { expected_value } => vec![excerpt::value(expected_value)],
        Kind::Type {
            kind: TypeKind::Single(kind),
        } => vec![kind.to_string()],
        Kind::Type {
            kind: TypeKind::Multiple(kinds),
        } => kinds.iter().map(|kind| kind.to_string()).collect(),
        _ => Vec::new(),
    }
}

fn expected(allowed: &[String], got: &Value) -> String {
    let one_of = if allowed.len() > 2 { "one of " } else { "" };
    format!(
        "expected {one_of}{}, got {}",
        list(allowed, "or"),
        excerpt::typed(got)
    )
}

fn list(words: &[String], last: &str) -> String {
    if let Some((more, listed)) = words.len().checked_sub(LIST_MAX).zip(words.get(..LIST_MAX))
        && more > 0
    {
        return format!("{} {last} {more} more", listed.join(", "));
    }
    match words {
        [] => "something else".to_owned(),
        [word] => word.clone(),
        [words @ .., word] => format!("{} {last} {word}", words.join(", ")),
    }
}

fn message(error: &ValidationError<'_>) -> String {
    let got = error.instance().as_ref();
    let chars = || got.as_str().map_or(0, |text| text.chars().count());
    let items = || got.as_array().map_or(0, Vec::len);
    let shown = || excerpt::value(got);
    match error.kind() {
        Kind::Type { .. } | Kind::Enum { .. } | Kind::Constant { .. } => {
            expected(&allowed(error), got)
        }
        Kind::Minimum { limit } => format!("must be at least {limit}, got {}", shown()),
        Kind::Maximum { limit } => format!("must be at most {limit}, got {}", shown()),
        Kind::ExclusiveMinimum { limit } => {
            format!("must be greater than {limit}, got {}", shown())
        }
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}, got {}", shown()),
        Kind::MultipleOf { multiple_of } => {
            format!("must be a multiple of {multiple_of}, got {}", shown())
        }
        Kind::MinLength { limit } => {
            format!(
                "must have at least {}, got {}",
                count(*limit, "character"),
                chars()
            )
        }
        Kind::MaxLength { limit } => {
            format!(
                "must have at most {}, got {}",
                count(*limit, "character"),
                chars()
            )
        }
        Kind::MinItems { limit } => {
            format!(
                "must have at least {}, got {}",
                count(*limit, "item"),
                items()
            )
        }
        Kind::MaxItems { limit } => {
            format!(
                "must have at most {}, got {}",
                count(*limit, "item"),
                items()
            )
        }
        Kind::FalseSchema => "is not allowed".to_owned(),
        Kind::UniqueItems => "must not hold the same item twice".to_owned(),
        Kind::Pattern { pattern } => {
            format!(
                "must match the pattern `{}`, got {}",
                excerpt::name(pattern),
                shown()
            )
        }
        Kind::Format { format } => {
            format!(
                "must have the format `{}`, got {}",
                excerpt::name(format),
                shown()
            )
        }
        other => format!(
            "does not satisfy the schema's `{}`",
            excerpt::name(other.keyword())
        ),
    }
}

fn count(number: u64, unit: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {unit}{plural}")
}
