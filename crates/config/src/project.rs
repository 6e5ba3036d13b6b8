//! Reads a configuration file of a repository nobody has trusted: its rules, and no more.
//! Must not take anything else over, however harmless it looks.

use std::fmt;

use policy::Rule;

use crate::check::check_key;
use crate::error::visible;
use crate::known::nearest;
use crate::parse::{Place, bytes, read_root};
use crate::{ConfigError, ConfigWarning};

/// A key of a project file that has no effect, because nobody has trusted the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inert {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The key.
    pub key: String,
}

impl fmt::Display for Inert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, key } = self;
        write!(f, "{file}:{line}: `{key}`")
    }
}

/// What is taken from a project file.
#[derive(Debug, Default)]
pub(crate) struct ProjectFile {
    pub(crate) rules: Vec<Rule>,
    pub(crate) inert: Vec<Inert>,
    pub(crate) warnings: Vec<ConfigWarning>,
}

/// The keys that are rules.
const RULES: [&str; 2] = ["permission", "tools"];

/// Reads the text of a project file.
///
/// # Errors
/// The text or a rule in it is wrong. Then its denials would silently not hold, so nothing runs.
pub(crate) fn parse_project(text: &str, place: Place<'_>) -> Result<ProjectFile, ConfigError> {
    read_root(text, place, |reader, root| {
        let mut inert = Vec::new();
        reader.each_once(root);
        for property in &root.properties {
            let name = property.name.as_str();
            if name == "$schema" {
                continue;
            }
            if RULES.contains(&name) {
                check_key(reader, &property.value, name);
                continue;
            }
            if nearest(name, &RULES).is_some() {
                reader.unknown_key(property, name, &RULES);
                continue;
            }
            let (line, _) = reader.line_and_column(bytes(&property.name).start);
            inert.push(Inert {
                file: visible(place.label),
                line,
                key: visible(name),
            });
        }
        ProjectFile {
            rules: reader.rules(root),
            inert,
            warnings: std::mem::take(&mut reader.warnings),
        }
    })
}
