//! The rules for commands of Codex: of all rules whose beginning a command has, the strictest counts.
//!
//! Must not read any other of its files, or believe an example.

use policy::Action;

use crate::ConfigError;
use crate::import::draft::{Draft, Written};
use crate::import::pattern::{Spelled, literal};
use crate::import::starlark::{self, Call, Value};
use crate::import::{Imported, line_of, unreadable};

/// A rule with choices is written out as at most so many.
const CHOICES_MAX: usize = 256;

/// A rule about commands that begin with certain words.
struct Prefix {
    from: Written,
    /// For each word what it may be.
    words: Vec<Vec<String>>,
    action: Action,
    /// Commands that are said to fit or not to fit.
    examples: Vec<Vec<String>>,
}

/// Reads a file of rules of Codex; `label` names it.
///
/// # Errors
/// A string in it does not end.
pub fn codex(text: &str, label: &str) -> Result<Imported, ConfigError> {
    let statements = starlark::read(text)
        .map_err(|range| unreadable(text, label, range, "this string does not end"))?;
    let mut prefixes = Vec::new();
    let mut draft = Draft::new("Codex", label);
    let mut unread = Vec::new();
    for statement in statements {
        let from = Written {
            line: line_of(text, statement.range.start),
            text: text.get(statement.range).unwrap_or_default().to_owned(),
        };
        let call = statement.call.as_ref();
        match call.map(|call| (call.name.as_str(), call)) {
            Some(("prefix_rule", call)) => match prefix(&from, call) {
                Some(prefix) => prefixes.push(prefix),
                None => unread.push(from),
            },
            Some(("host_executable", _)) => {
                let why = "a rule here is about a program wherever it lies, or about one path";
                draft.without_effect(&from, why);
            }
            Some(("network_rule", call)) => {
                let action = action(call).unwrap_or(Action::Deny);
                let why = "hosts are not ruled by one here";
                draft.no_equivalent(&from, why, "network", action);
            }
            _ => unread.push(from),
        }
    }
    let of = |action| prefixes.iter().filter(move |it| it.action == action);
    of(Action::Allow).for_each(|it| add(it, &mut draft));
    for from in unread {
        let why = "only rules with literal arguments are read, and this may be one";
        draft.no_equivalent(&from, why, "bash", Action::Deny);
    }
    of(Action::Ask).for_each(|it| add(it, &mut draft));
    of(Action::Deny).for_each(|it| add(it, &mut draft));
    for example in prefixes.iter().flat_map(|it| &it.examples) {
        let fitting = prefixes.iter().filter(|it| it.fits(example));
        let strictest = fitting.map(|it| it.action).max();
        draft.case("bash", &example.join(" "), strictest.unwrap_or(Action::Ask));
    }
    draft.forget_parts();
    Ok(draft.finish())
}

fn add(prefix: &Prefix, draft: &mut Draft) {
    let Some(beginnings) = prefix.beginnings() else {
        return draft.no_equivalent(&prefix.from, "too many choices", "bash", prefix.action);
    };
    for words in beginnings {
        draft.spelled(&prefix.from, "bash", &beginning(&words), prefix.action);
    }
}

fn beginning(words: &[&str]) -> Spelled {
    let is_word = |word: &&str| !word.is_empty() && !word.contains(char::is_whitespace);
    let pattern = literal(&words.join(" ")).then(" *");
    match pattern {
        Spelled::Same(patterns) if !words.iter().all(is_word) => {
            Spelled::More(patterns, "where a word ends is not known here")
        }
        other => other,
    }
}

impl Prefix {
    /// Every choice of words; `None`: too many.
    fn beginnings(&self) -> Option<Vec<Vec<&str>>> {
        let count = self
            .words
            .iter()
            .map(Vec::len)
            .try_fold(1, usize::checked_mul);
        if count.is_none_or(|count| count > CHOICES_MAX) {
            return None;
        }
        let mut all: Vec<Vec<&str>> = vec![Vec::new()];
        for choices in &self.words {
            let mut longer = Vec::new();
            for start in &all {
                for word in choices {
                    longer.push([start.as_slice(), &[word.as_str()]].concat());
                }
            }
            all = longer;
        }
        Some(all)
    }

    fn fits(&self, command: &[String]) -> bool {
        let mut pairs = self.words.iter().zip(command);
        self.words.len() <= command.len() && pairs.all(|(choices, word)| choices.contains(word))
    }
}

/// Reads a rule. `None`: it is not of a form that is known.
fn prefix(from: &Written, call: &Call) -> Option<Prefix> {
    const KNOWN: [&str; 5] = ["pattern", "decision", "justification", "match", "not_match"];
    if call
        .arguments
        .iter()
        .any(|(name, _)| !KNOWN.contains(&name.as_str()))
    {
        return None;
    }
    let Value::List(pattern) = call.argument("pattern")? else {
        return None;
    };
    let choices = |value: &Value| match value {
        Value::String(word) => Some(vec![word.clone()]),
        Value::List(words) => words.iter().map(string).collect(),
        Value::Other => None,
    };
    let words: Vec<Vec<String>> = pattern.iter().map(choices).collect::<Option<_>>()?;
    if words.is_empty() || words.iter().any(Vec::is_empty) {
        return None;
    }
    let examples = ["match", "not_match"].into_iter();
    let examples = examples.filter_map(|name| call.argument(name));
    let examples = examples.flat_map(|value| match value {
        Value::List(examples) => examples.as_slice(),
        Value::String(_) | Value::Other => &[],
    });
    Some(Prefix {
        from: from.clone(),
        words,
        action: action(call)?,
        examples: examples.filter_map(example).collect(),
    })
}

fn action(call: &Call) -> Option<Action> {
    let Some(decision) = call.argument("decision") else {
        return Some(Action::Allow);
    };
    match string(decision)?.as_str() {
        "allow" => Some(Action::Allow),
        "prompt" => Some(Action::Ask),
        "forbidden" | "deny" => Some(Action::Deny),
        _ => None,
    }
}

/// An example as words. One that a shell would have to take apart is left alone.
fn example(value: &Value) -> Option<Vec<String>> {
    let words: Vec<String> = match value {
        Value::String(line) => line.split_whitespace().map(str::to_owned).collect(),
        Value::List(words) => words.iter().map(string).collect::<Option<_>>()?,
        Value::Other => return None,
    };
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,".contains(c);
    let is_word = |word: &String| !word.is_empty() && word.chars().all(is_plain);
    (!words.is_empty() && words.iter().all(is_word)).then_some(words)
}

fn string(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::List(_) | Value::Other => None,
    }
}

impl Call {
    fn argument(&self, name: &str) -> Option<&Value> {
        let mut arguments = self.arguments.iter();
        arguments.find_map(|(known, value)| (known == name).then_some(value))
    }
}
