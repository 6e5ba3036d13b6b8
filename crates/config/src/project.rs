//! Reads a configuration file of a repository: its rules always, all else only as far as it is trusted.
//! Must not take anything over that nobody trusts, however harmless it looks.

use std::mem;
use std::path::Path;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use policy::Rule;

use crate::extract::CONFIG_EDITS;
use crate::item::{is_named, is_rules};
use crate::known::nearest;
use crate::parse::{Place, Reader, bytes, read_root};
use crate::sandbox::closed_network;
use crate::{Config, ConfigError, Item, Trust};

/// What is taken from a project file.
#[derive(Debug, Default)]
pub(crate) struct ProjectFile {
    /// What is trusted, and all warnings.
    pub(crate) config: Config,
    /// The rules that nobody trusts: they only tighten.
    pub(crate) rules: Vec<Rule>,
    pub(crate) items: Vec<Item>,
}

/// The keys that are rules.
const RULES: [&str; 3] = ["permission", "permissions", "tools"];

/// The keys of `sandbox` that count in a person's own files alone, trusted or not.
const OWN_WALLS: [&str; 2] = ["bundles", "git_hooks"];

/// Reads the text of a project file; `file` is its real path.
///
/// # Errors
/// The text, a rule in it or something that is trusted is wrong. Then its denials would silently not
/// hold, so nothing runs.
pub(crate) fn parse_project(
    text: &str,
    place: Place<'_>,
    file: &Path,
    trust: &Trust,
) -> Result<ProjectFile, ConfigError> {
    read_root(text, place, |reader, root| {
        reader.each_once(root);
        let mut sorter = Sorter {
            file,
            trust,
            items: Vec::new(),
            trusted: Vec::new(),
            rules: Vec::new(),
            closed: Vec::new(),
        };
        for property in &root.properties {
            sorter.sort(reader, property);
        }
        let Sorter {
            items,
            trusted,
            rules,
            closed,
            ..
        } = sorter;
        let object = |properties| Object {
            range: root.range,
            properties,
        };
        let (trusted, rules) = (object(trusted), object(rules));
        reader.check(&rules, "", "");
        let mut rules = reader.rules(&rules);
        rules.extend(closed);
        reader.check(&trusted, "", "");
        let mut config = reader.config(&trusted);
        config.warnings = mem::take(&mut reader.warnings);
        config.unused = mem::take(&mut reader.unused);
        ProjectFile {
            config,
            rules,
            items,
        }
    })
}

/// Sorts what a file says by whether it is trusted.
struct Sorter<'s, 't> {
    file: &'s Path,
    trust: &'s Trust,
    items: Vec<Item>,
    trusted: Vec<ObjectProp<'t>>,
    rules: Vec<ObjectProp<'t>>,
    /// What an untrusted `sandbox` closes. The rest of it may open something and waits for trust.
    closed: Vec<Rule>,
}

fn closes_network(sandbox: &Value<'_>) -> bool {
    let Value::Object(sandbox) = sandbox else {
        return false;
    };
    let network = sandbox.get("network").map(|it| &it.value);
    matches!(network, Some(Value::StringLit(it)) if it.value == "deny")
}

/// The property without what a repository may not say in it, which is told.
fn without_own_walls<'t>(reader: &mut Reader<'_>, property: &ObjectProp<'t>) -> ObjectProp<'t> {
    let mut property = property.clone();
    if let Value::Object(sandbox) = &mut property.value
        && property.name.as_str() == "sandbox"
    {
        sandbox.properties.retain(|it| {
            let name = it.name.as_str();
            let is_own = OWN_WALLS.contains(&name);
            if is_own {
                let message = format!(
                    "project value ignored: `sandbox.{name}` counts in your own files only"
                );
                reader.warn(bytes(&it.name).start, &message, None);
            }
            !is_own
        });
    }
    property
}

impl<'t> Sorter<'_, 't> {
    fn sort(&mut self, reader: &mut Reader<'_>, property: &ObjectProp<'t>) {
        let name = property.name.as_str();
        if name == "$schema" {
            return;
        }
        if name == CONFIG_EDITS {
            let message = format!("project value ignored: `{name}` counts in your own files only");
            return reader.warn(bytes(&property.name).start, &message, None);
        }
        if !RULES.contains(&name) && nearest(name, &RULES).is_some() {
            return reader.unknown_key(property, name, &RULES);
        }
        if let Value::Object(named) = &property.value
            && is_named(name)
        {
            let kept = self.named(reader, name, named);
            if !kept.is_empty() {
                let mut property = property.clone();
                property.value = Value::Object(Object {
                    range: named.range,
                    properties: kept,
                });
                self.trusted.push(property);
            }
            return;
        }
        if self.is_trusted(reader, property, name) {
            self.trusted.push(without_own_walls(reader, property));
        } else if is_rules(name) {
            self.rules.push(property.clone());
        } else if name == "sandbox" && closes_network(&property.value) {
            self.closed
                .push(closed_network(reader.origin(bytes(&property.name).start)));
        }
    }

    /// Those of the names below a key that are trusted.
    fn named(&mut self, reader: &Reader<'_>, key: &str, named: &Object<'t>) -> Vec<ObjectProp<'t>> {
        let mut kept = Vec::new();
        for entry in &named.properties {
            let key = format!("{key}.{}", entry.name.as_str());
            if self.is_trusted(reader, entry, &key) {
                kept.push(entry.clone());
            }
        }
        kept
    }

    fn is_trusted(&mut self, reader: &Reader<'_>, property: &ObjectProp<'_>, key: &str) -> bool {
        let (line, _) = reader.line_and_column(bytes(&property.name).start);
        let value = &property.value;
        let text = reader.text.get(bytes(value)).unwrap_or_default();
        let item = Item::of_value((self.file, line), key, (text, value), self.trust);
        let is_trusted = item.is_trusted();
        self.items.push(item);
        is_trusted
    }
}
