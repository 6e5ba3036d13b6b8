//! The questions of the vectors, each put to the public API of the engine. What is right is not known
//! here.

use std::sync::Arc;

use policy::{
    Action, Answer, AnsweredBy, Decision, Layer, Platform, Rule, RuleBook, RuleLayers, Subject,
};
use serde::Deserialize;
use serde_json::json;

use crate::guarded::{Asked, is_protected};
use crate::scanned;
use crate::sequence;
use crate::vectors::{Put, Sets};

/// The home of every row.
pub(crate) const HOME: &str = "/home/u";

/// The cells of one row that an answer depends on.
pub(crate) struct Cells<'a> {
    /// A pattern, or the base rules.
    pub(crate) ruleset: &'a str,
    /// The rules of saved answers.
    pub(crate) saved: &'a str,
    /// The hard rules.
    pub(crate) hard: &'a str,
    /// What is asked.
    pub(crate) request: &'a str,
    /// What is right; here only to know which of many things are asked for.
    pub(crate) expected: &'a str,
}

/// What the engine says.
pub(crate) enum Got {
    Answer(String),
    /// The action alone: what is expected may name its rule behind an `@`.
    Action(Action),
    Missing(&'static str),
}

impl Got {
    /// Beside what it should say.
    pub(crate) fn with(self, expected: String) -> Put {
        match self {
            Self::Answer(got) => Put::Answered { expected, got },
            Self::Action(action) => Put::Answered {
                expected: expected.split('@').next().unwrap_or_default().to_owned(),
                got: action.to_string(),
            },
            Self::Missing(capability) => Put::Missing(capability),
        }
    }
}

/// Puts one row.
pub(crate) fn put(op: &str, cells: &Cells<'_>, sets: &Sets) -> Result<Got, String> {
    let request = cells.request;
    let answer = match op {
        "wildcard" => policy::wildcard_on(Platform::Unix, cells.ruleset, request).to_string(),
        "wildcard-win" => {
            policy::wildcard_on(Platform::Windows, cells.ruleset, request).to_string()
        }
        "evaluate" => {
            let [permission, text] = two(request)?;
            let rules = sets.rules(cells.ruleset)?;
            let found = policy::evaluate(&rules, &permission, &text);
            return Ok(Got::Action(
                found.map_or(Action::Ask, |(_, rule)| rule.action),
            ));
        }
        "disabled" => {
            let rules = sets.rules(cells.ruleset)?;
            policy::disabled(&rules, policy::permission_of(request)).to_string()
        }
        "prefix" | "flagprefix" => {
            let words: Vec<String> = json(request)?;
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            prefix_of(&words)
        }
        "fromConfig" => from_config(request)?,
        "resolve" => {
            let [permission, text] = two(request)?;
            let subjects = vec![subject(&permission, &text)];
            return Ok(Got::Action(decision(cells, sets, subjects)?.action()));
        }
        "ask" => {
            let asked: Asked = json(request)?;
            let decision = decision(cells, sets, asked.subjects())?;
            let is_hard = matches!(
                decision.by(),
                AnsweredBy::Rule {
                    layer: Layer::Hard,
                    ..
                }
            );
            let mark = match (is_hard, is_protected(&decision)) {
                (true, _) => "(hard)",
                (false, true) => "(protected)",
                (false, false) => "",
            };
            format!("{}{mark}", decision.action())
        }
        // There is no function to call: nothing here writes or merges files of the user's.
        "mergeDeep" | "mergePermission" | "toConfig" => "never".to_owned(),
        "protected" => json::<Asked>(request)?.is_protected()?.to_string(),
        "scan" => scanned::scan(request, cells.expected)?,
        "looking" => return scanned::looking(request).map(Got::Action),
        "outside" => scanned::outside(request)?,
        "sequence" if request.starts_with('[') => {
            sequence::put(&sets.rules(cells.ruleset)?, request, cells.expected)?
        }
        "sequence" => return Ok(Got::Missing("a course of events told in words")),
        _ => return Ok(Got::Missing("an op this suite does not know")),
    };
    Ok(Got::Answer(answer))
}

/// The rules that a person wrote, as a list.
fn from_config(request: &str) -> Result<String, String> {
    let is_word = !request.starts_with(['{', '"']);
    let written = if is_word {
        format!("\"{request}\"")
    } else {
        request.to_owned()
    };
    let rules = written_rules(&written)?;
    let list = rules.iter().map(|rule| {
        json!([
            rule.permission,
            rule.pattern.text(),
            rule.action.to_string()
        ])
    });
    Ok(serde_json::Value::Array(list.collect()).to_string())
}

/// Reads the value of a `permission` key.
pub(crate) fn written_rules(value: &str) -> Result<Vec<Rule>, String> {
    rules_at(&format!("{{\"permission\": {value}}}"), &["permission"])
}

/// Reads the rules at a place of a configuration; none if nothing stands there.
pub(crate) fn rules_at(text: &str, place: &[&str]) -> Result<Vec<Rule>, String> {
    policy::written::read_rules(text, "vector", place, Some(HOME)).map_err(|faults| {
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        faults.join("; ")
    })
}

fn decision(cells: &Cells<'_>, sets: &Sets, subjects: Vec<Subject>) -> Result<Decision, String> {
    let layers = RuleLayers {
        base: sets.rules(cells.ruleset)?,
        saved: sets.rules(cells.saved)?,
        hard: sets.rules(cells.hard)?,
        ..RuleLayers::default()
    };
    Ok(decide(layers, subjects, None))
}

/// Decides under these layers alone.
pub(crate) fn decide(
    layers: RuleLayers,
    subjects: Vec<Subject>,
    answer: Option<&Answer>,
) -> Decision {
    policy::decide(
        &RuleBook::new(layers).current(),
        &Arc::from(subjects),
        answer,
    )
}

/// A thing that is asked for: a command or a name as it stands, a path where the permission is about
/// files. The workspace is `/w`.
pub(crate) fn subject(permission: &str, text: &str) -> Subject {
    match permission {
        "bash" => Subject::command(permission, text, text, Vec::new()),
        "read" | "edit" => {
            let is_absolute = text.starts_with('/');
            let absolute = if is_absolute {
                text.to_owned()
            } else {
                format!("/w/{text}")
            };
            Subject::path(permission, text, absolute, Vec::new())
        }
        _ => Subject::name(permission, text),
    }
}

/// The prefix offered for these words, or `none`.
pub(crate) fn prefix_of(words: &[&str]) -> String {
    command::prefix(words).unwrap_or("none".into())
}

fn two(request: &str) -> Result<[String; 2], String> {
    let words: Vec<String> = json(request)?;
    words
        .try_into()
        .map_err(|_| "the request is not two words".to_owned())
}

fn json<'t, T: Deserialize<'t>>(request: &'t str) -> Result<T, String> {
    serde_json::from_str(request).map_err(|error| format!("request: {error}"))
}
