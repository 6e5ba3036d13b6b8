//! What a repository's files say beyond rules that tighten, one item each, and which of it a person trusts.
//! Must not keep what is trusted, or ask for trust.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use jsonc_parser::ast::Value;
use sha2::{Digest as _, Sha256};

use crate::text::refers;

/// One thing that a file of the repository says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The real path of the file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u32,
    /// What it is within the file: `permission`, `mcp.x`, `agent.y`; for a file that is one item as a
    /// whole its path from the root of the repository.
    pub key: String,
    /// Whether it is a file as a whole, which holds agents.
    pub is_file: bool,
    /// What trusting it would mean.
    pub kind: ItemKind,
    /// What it says, as it is written.
    pub text: String,
    /// The SHA-256 of what it says: of the value without white space and comments, or of the whole file.
    pub digest: String,
    /// Whether it holds.
    pub standing: Standing,
}

/// What trusting an item would mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemKind {
    /// It may allow something, or take what a model and its provider are told elsewhere.
    Loosening,
    /// It names something to run.
    Executable,
    /// Neither.
    Other,
}

/// Whether an item holds, and why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// A person trusts what it says.
    Trusted,
    /// Nobody has said anything about it.
    Untrusted,
    /// A person trusts something else that stood here.
    Changed,
    /// It refers to the environment or to a file, which nothing in a repository may, trusted or not.
    Refers,
}

/// What of repositories' files a person trusts. By default nothing.
#[derive(Debug, Clone, Default)]
pub struct Trust(HashMap<(PathBuf, String), String>);

/// Keys whose value names what is run.
const EXECUTABLE: [&str; 7] = [
    "command",
    "experimental",
    "formatter",
    "lsp",
    "mcp",
    "plugin",
    "shell",
];

/// Keys whose value may open something.
const LOOSENING: [&str; 12] = [
    "agent",
    "agents",
    "default_agent",
    "mode",
    "model",
    "permission",
    "permissions",
    "preset",
    "provider",
    "sandbox",
    "small_model",
    "tools",
];

/// Keys of names that are an item each.
const NAMED: [&str; 7] = [
    "agent",
    "agents",
    "command",
    "formatter",
    "mcp",
    "mode",
    "provider",
];

impl Trust {
    /// What is trusted: the file, the key and the digest of each [`Item`].
    pub fn of(items: impl IntoIterator<Item = (PathBuf, String, String)>) -> Self {
        let entry = |(file, key, digest)| ((file, key), digest);
        Self(items.into_iter().map(entry).collect())
    }

    fn standing(&self, file: &Path, key: &str, digest: &str) -> Standing {
        let trusted = self.0.get(&(file.to_owned(), key.to_owned()));
        match trusted {
            None => Standing::Untrusted,
            Some(known) if known == digest => Standing::Trusted,
            Some(_) => Standing::Changed,
        }
    }
}

impl Item {
    /// The value of a key.
    pub(crate) fn of_value(
        (file, line): (&Path, u32),
        key: &str,
        (text, value): (&str, &Value<'_>),
        trust: &Trust,
    ) -> Self {
        let mut compact = String::new();
        write_compact(value, &mut compact);
        let mut item = Self::new(file, key, text, compact.as_bytes(), trust);
        item.line = line;
        if refers(&compact) {
            item.standing = Standing::Refers;
        }
        item
    }

    /// A whole file, which holds agents.
    pub(crate) fn of_file(file: &Path, key: &str, text: &str, trust: &Trust) -> Self {
        let mut item = Self::new(file, key, text, text.as_bytes(), trust);
        item.kind = ItemKind::Loosening;
        item.is_file = true;
        if refers(text) {
            item.standing = Standing::Refers;
        }
        item
    }

    fn new(file: &Path, key: &str, text: &str, meaning: &[u8], trust: &Trust) -> Self {
        let digest = format!("{:x}", Sha256::digest(meaning));
        let outer = key.split('.').next().unwrap_or(key);
        let kind = if EXECUTABLE.contains(&outer) {
            ItemKind::Executable
        } else if LOOSENING.contains(&outer) {
            ItemKind::Loosening
        } else {
            ItemKind::Other
        };
        Self {
            file: file.to_owned(),
            line: 1,
            key: key.to_owned(),
            is_file: false,
            kind,
            text: text.to_owned(),
            standing: trust.standing(file, key, &digest),
            digest,
        }
    }

    /// Whether it holds.
    pub fn is_trusted(&self) -> bool {
        self.standing == Standing::Trusted
    }

    /// Whether it is rules, which tighten even if nobody trusts them.
    pub fn is_rules(&self) -> bool {
        is_rules(&self.key)
    }
}

/// Whether the value of a key is rules.
pub(crate) fn is_rules(key: &str) -> bool {
    matches!(key, "permission" | "permissions" | "tools")
}

/// Whether each name below a key is an item of its own.
pub(crate) fn is_named(key: &str) -> bool {
    NAMED.contains(&key)
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.display().to_string();
        let (file, key) = (file.escape_debug(), self.key.escape_debug());
        write!(f, "{file}:{}: `{key}` {}", self.line, self.standing)
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Trusted => "is trusted",
            Self::Untrusted => "is not trusted",
            Self::Changed => "has changed since it was trusted",
            Self::Refers => {
                "refers to the environment or to a file, which nothing in a repository may"
            }
        })
    }
}

/// Writes a value without white space and comments; entries stay in order, for order is meaning.
fn write_compact(value: &Value<'_>, into: &mut String) {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    match value {
        Value::StringLit(string) => into.push_str(&text(&string.value)),
        Value::NumberLit(number) => into.push_str(number.value),
        Value::BooleanLit(flag) => into.push_str(if flag.value { "true" } else { "false" }),
        Value::NullKeyword(_) => into.push_str("null"),
        Value::Array(list) => {
            into.push('[');
            for (index, element) in list.elements.iter().enumerate() {
                if index > 0 {
                    into.push(',');
                }
                write_compact(element, into);
            }
            into.push(']');
        }
        Value::Object(object) => {
            into.push('{');
            for (index, property) in object.properties.iter().enumerate() {
                if index > 0 {
                    into.push(',');
                }
                into.push_str(&text(property.name.as_str()));
                into.push(':');
                write_compact(&property.value, into);
            }
            into.push('}');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

    fn item(key: &str, text: &str, trust: &Trust) -> Item {
        let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
        let value = parsed.unwrap().value.unwrap();
        Item::of_value((Path::new("/r/f"), 1), key, (text, &value), trust)
    }

    #[test]
    fn a_digest_is_of_what_is_said_and_not_of_how_it_is_laid_out() {
        let nothing = Trust::default();
        let digest = |text| item("x", text, &nothing).digest;
        let plain = digest(r#"{"a":[1,true,null],"b":"c"}"#);
        assert_eq!(
            plain,
            digest("{ \"a\": [1, true, null], // why\n \"b\": \"\\u0063\", }")
        );
        for other in [
            r#"{"b":"c","a":[1,true,null]}"#,
            r#"{"a":[1,true,null],"b":"c","b":"c"}"#,
            r#"{"a":[1,true,null],"b":"d"}"#,
            r#"{"a":"[1,true,null]","b":"c"}"#,
        ] {
            assert_ne!(plain, digest(other), "{other}");
        }
        assert_eq!(
            digest("1"),
            "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"
        );
    }

    #[test]
    fn trust_is_of_one_file_one_key_and_one_digest() {
        let known = item("mcp.x", "1", &Trust::default());
        assert_eq!(known.standing, Standing::Untrusted);
        let trust = Trust::of([(known.file.clone(), known.key.clone(), known.digest)]);
        assert_eq!(item("mcp.x", " 1 ", &trust).standing, Standing::Trusted);
        assert_eq!(item("mcp.x", "2", &trust).standing, Standing::Changed);
        assert_eq!(item("mcp.y", "1", &trust).standing, Standing::Untrusted);
    }

    #[test]
    fn what_refers_to_something_is_never_trusted() {
        for text in [
            r#""a{env:KEY}""#,
            r#"{"{file:/x": 1}"#,
            r#""\u007benv:KEY}""#,
        ] {
            let known = item("provider.x", text, &Trust::default());
            let trust = Trust::of([(known.file, known.key, known.digest)]);
            assert_eq!(item("provider.x", text, &trust).standing, Standing::Refers);
        }
    }

    #[test]
    fn a_key_tells_what_trusting_it_would_mean() {
        for (key, kind) in [
            ("mcp.x", ItemKind::Executable),
            ("plugin", ItemKind::Executable),
            ("agent.x", ItemKind::Loosening),
            ("permission", ItemKind::Loosening),
            ("theme", ItemKind::Other),
        ] {
            assert_eq!(item(key, "1", &Trust::default()).kind, kind, "{key}");
        }
    }
}
