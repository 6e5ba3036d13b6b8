//! Holds the values of a file against the table of keys.
//! Must not take a value over: `extract` does, and this says what is wrong with it.

use jsonc_parser::ast::{Object, ObjectProp, StringLit, Value};

use crate::Unused;
use crate::error::visible;
use crate::known::nearest;
use crate::parse::{Reader, bytes, did_you_mean, kind};
use crate::table::{Key, Kind, below, is_unused, loss};

impl Reader<'_> {
    /// Checks an object whose keys stand below `path` of the table; `shown` is that path with the names
    /// that the file gives.
    pub(crate) fn check(&mut self, object: &Object<'_>, path: &str, shown: &str) {
        self.each_once(object);
        for property in &object.properties {
            let name = property.name.as_str();
            let shown = join(shown, name);
            if let Some((_, key)) = below(path).find(|(known, _)| *known == name) {
                self.check_value(&property.value, key, &shown);
            } else if is_unused(path, name) {
                let (line, _) = self.line_and_column(bytes(&property.name).start);
                self.unused.push(Unused {
                    file: visible(self.place.label),
                    line,
                    key: visible(&shown),
                });
                if shown == "mcp" {
                    self.check_servers(&property.value);
                }
            } else {
                let known: Vec<_> = below(path).map(|(name, _)| name).collect();
                self.unknown_key(property, &shown, &known);
            }
        }
    }

    /// Servers are not started yet, but one that never could be is told of now: people write a command
    /// as one string.
    fn check_servers(&mut self, servers: &Value<'_>) {
        let Value::Object(servers) = servers else {
            return;
        };
        for server in &servers.properties {
            let Value::Object(entry) = &server.value else {
                continue;
            };
            for property in &entry.properties {
                let is_list = matches!(property.value, Value::Array(_));
                if property.name.as_str() == "command" && !is_list {
                    let name = visible(server.name.as_str());
                    let found = kind(&property.value);
                    let message =
                        format!("`mcp.{name}.command` is an array of strings, not {found}");
                    let help = "for example `\"command\": [\"npx\", \"server\"]`";
                    self.fault(bytes(&property.value), &message, Some(help));
                }
            }
        }
    }

    /// Says that a key is not known, and what it may have been meant to be. Where a mistyped key would
    /// leave something open this is no mere warning.
    pub(crate) fn unknown_key(
        &mut self,
        property: &ObjectProp<'_>,
        shown: &str,
        known: &[&'static str],
    ) {
        let near = nearest(property.name.as_str(), known);
        let help = near.map(did_you_mean);
        if let Some(loss) = near.and_then(loss) {
            let message = format!("unknown key `{shown}`: {loss}");
            return self.fault(bytes(&property.name), &message, help.as_deref());
        }
        let message = format!("the key `{shown}` is not known and has no effect");
        self.warn(bytes(&property.name).start, &message, help.as_deref());
    }

    fn check_value(&mut self, value: &Value<'_>, key: &Key, shown: &str) {
        let is_right = match (key.kind, value) {
            // Rules are checked where they are read.
            (Kind::Permission, _)
            | (Kind::PermissionList, Value::Array(_))
            | (Kind::Text | Kind::ModelName, Value::StringLit(_))
            | (Kind::Flag, Value::BooleanLit(_)) => true,
            (Kind::Word(words), Value::StringLit(word)) => {
                self.check_word(word, words, shown);
                true
            }
            (Kind::CountOrNever, Value::BooleanLit(never)) => !never.value,
            (Kind::Count | Kind::CountOrNever, Value::NumberLit(number)) => {
                number.value.parse().is_ok_and(|count: usize| count > 0)
            }
            (Kind::Temperature, Value::NumberLit(number)) => number
                .value
                .parse()
                .is_ok_and(|it: f64| (0.0..=2.0).contains(&it)),
            (Kind::Texts, Value::Array(list)) => {
                for (index, element) in list.elements.iter().enumerate() {
                    self.check_part(element, Kind::Text, &format!("{shown}[{index}]"), key);
                }
                true
            }
            (Kind::NamedTexts, Value::Object(object)) => {
                self.check_parts(object, Kind::Text, shown, key);
                true
            }
            (Kind::Switches, Value::Object(object)) => {
                self.check_parts(object, Kind::Flag, shown, key);
                true
            }
            (Kind::Object, Value::Object(object)) => {
                self.check(object, key.path, shown);
                true
            }
            (Kind::Named, Value::Object(object)) => {
                self.check_named(object, key.path, shown, key);
                true
            }
            (Kind::As(path), Value::Object(object)) => {
                self.check_named(object, path, shown, key);
                true
            }
            _ => false,
        };
        if !is_right {
            self.wrong(value, key.kind, shown, key);
        }
    }

    fn check_word(&mut self, word: &StringLit<'_>, words: &[&'static str], shown: &str) {
        if words.contains(&&*word.value) {
            return;
        }
        let message = format!("`{shown}` cannot be `{}`", word.value);
        let near = nearest(&word.value, words).map(did_you_mean);
        self.fault(
            bytes(word),
            &message,
            Some(&near.unwrap_or_else(|| one_of(words))),
        );
    }

    /// Checks an object of the user's names, each with an object.
    fn check_named(&mut self, object: &Object<'_>, path: &str, shown: &str, key: &Key) {
        self.each_once(object);
        for property in &object.properties {
            let name = property.name.as_str();
            if name.trim().is_empty() {
                self.fault(bytes(&property.name), "a name is empty", None);
            }
            if path == "provider" && name.contains('/') {
                let message = format!("the provider `{name}` has a slash in its name");
                let help = "a model is chosen as `NAME/MODEL`, and the first slash ends the name";
                self.fault(bytes(&property.name), &message, Some(help));
            }
            let shown = join(shown, name);
            match &property.value {
                Value::Object(entry) => self.check(entry, &format!("{path}.*"), &shown),
                other => self.wrong(other, Kind::Object, &shown, key),
            }
        }
    }

    /// Checks the values of an object of the user's names.
    fn check_parts(&mut self, object: &Object<'_>, kind: Kind, shown: &str, key: &Key) {
        self.each_once(object);
        for property in &object.properties {
            let shown = join(shown, property.name.as_str());
            self.check_part(&property.value, kind, &shown, key);
        }
    }

    fn check_part(&mut self, value: &Value<'_>, kind: Kind, shown: &str, key: &Key) {
        match (kind, value) {
            (Kind::Flag, Value::BooleanLit(_)) | (Kind::Text, Value::StringLit(_)) => {}
            _ => self.wrong(value, kind, shown, key),
        }
    }

    fn wrong(&mut self, value: &Value<'_>, wanted: Kind, shown: &str, key: &Key) {
        let found = match value {
            Value::NumberLit(number) if is_number(wanted) => format!("`{}`", number.value),
            Value::BooleanLit(flag) if wanted == Kind::CountOrNever => format!("`{}`", flag.value),
            value => kind(value).to_owned(),
        };
        let message = format!("`{shown}` is {}, not {found}", expected(wanted));
        let is_quoted = |word: &str| match wanted {
            Kind::Flag => word == "true" || word == "false",
            wanted => is_number(wanted) && word.parse::<f64>().is_ok(),
        };
        let help = match (wanted, value) {
            (_, Value::StringLit(word)) if is_quoted(&word.value) => {
                "write it without quotes".to_owned()
            }
            (Kind::Word(words), _) => one_of(words),
            (Kind::PermissionList, Value::Object(_)) => did_you_mean("permission"),
            _ => format!("for example `\"{}\": {}`", last(key.path), key.example),
        };
        self.fault(bytes(value), &message, Some(&help));
    }
}

fn is_number(kind: Kind) -> bool {
    matches!(kind, Kind::Count | Kind::CountOrNever | Kind::Temperature)
}

/// What a key holds, in words.
pub(crate) fn expected(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "a string",
        Kind::ModelName => "a string `NAME/MODEL`",
        Kind::Word(_) => "a word",
        Kind::Flag => "true or false",
        Kind::Count => "a whole number from 1",
        Kind::CountOrNever => "a whole number from 1, or false",
        Kind::Temperature => "a number from 0 to 2",
        Kind::Texts => "a list of strings",
        Kind::NamedTexts => "an object of strings",
        Kind::Switches => "an object of true and false",
        Kind::Permission => "rules",
        Kind::PermissionList => "a list of rules",
        Kind::Object | Kind::Named | Kind::As(_) => "an object",
    }
}

fn one_of(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => {
            format!("it is {} or {last}", rest.join(", "))
        }
        _ => format!("it is {}", quoted.concat()),
    }
}

fn join(shown: &str, name: &str) -> String {
    match shown {
        "" => name.to_owned(),
        shown => format!("{shown}.{name}"),
    }
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}
