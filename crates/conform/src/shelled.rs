//! Shell lines put to the gate: what they ask, and what rules say to that. Must not read a line itself.

use crate::ops::{decide, written_rules};
use crate::testkit::{Bench, MemoryHost};
use crate::vectors::Put;
use gate::g1_decode::RawArguments;
use gate::g3_confine::Confinement;
use policy::{Action, Decision, RuleLayers, Subject};
use serde_json::{Value, json};

/// The workspace of the cases from reports, and ours.
const THEIRS: &str = "/ws";
const OURS: &str = "/w";

/// What a line asks the rules, in a workspace with these files, where the walls do not hold everything.
///
/// # Errors
/// The line is no argument of the tool.
pub fn asked(line: &str, files: &[(&str, &str)]) -> Result<Vec<Subject>, String> {
    asked_in(Confinement::Partial { gaps: Vec::new() }, line, files)
}

/// The same behind other walls.
///
/// # Errors
/// As [`asked`].
pub fn asked_in(
    confinement: Confinement,
    line: &str,
    files: &[(&str, &str)],
) -> Result<Vec<Subject>, String> {
    let bench = Bench::free(MemoryHost::confined(files, confinement));
    let arguments = RawArguments::Json(json!({"command": line}));
    let checked = bench.check(&tools::builtins(), "bash", arguments);
    let checked = checked.map_err(|why| why.to_string())?;
    let subjects = checked.decisions.iter();
    Ok(subjects
        .flat_map(|it| it.subjects().iter().cloned())
        .collect())
}

/// What these rules say to a line, see [`asked`].
///
/// # Errors
/// As [`asked`].
pub fn judged(line: &str, files: &[(&str, &str)], layers: RuleLayers) -> Result<Decision, String> {
    Ok(decide(layers, asked(line, files)?, None))
}

/// A case of the area `shell-permission`.
pub(crate) fn permission(input: &Value, expected: &Value) -> Result<Put, String> {
    let rules = input.get("rules").ok_or("no `rules`")?;
    let layers = RuleLayers {
        base: written_rules(&rules.to_string())?,
        ..RuleLayers::default()
    };
    let line = text(input, "command")?.replace(THEIRS, OURS);
    let decision = judged(&line, &[], layers)?;
    Ok(Put::Answered {
        expected: text(expected, "action")?.to_owned(),
        got: decision.action().to_string(),
    })
}

/// A case of the area `shell-scan`: what lies outside, and what is written.
pub(crate) fn scan(input: &Value, expected: &Value) -> Result<Put, String> {
    let root = text(input, "root")?;
    if root.starts_with("/link") {
        return Ok(Put::Missing(
            "a disk with links, which the host has in its tests",
        ));
    }
    let line = text(input, "command")?.replace(root, OURS);
    // A workspace below the home is named by way of the home.
    let line = match root.strip_prefix("/home/u/") {
        Some(below) => line.replace(&format!("~/{below}"), OURS),
        None => line,
    };
    let subjects = asked(&line, &[])?;
    let theirs = |path: &str| path.replacen(OURS, root, 1);
    let mut external: Vec<String> = Vec::new();
    let mut writes: Vec<String> = Vec::new();
    for subject in &subjects {
        if subject.is_possible {
            continue;
        }
        let list = match subject.permission.as_str() {
            "external_directory" => &mut external,
            "edit" => &mut writes,
            _ => continue,
        };
        let path = match subject.permission.as_str() {
            "edit" => theirs(&subject.source),
            _ => subject.canonical.trim_end_matches("/*").to_owned(),
        };
        let path = if path.is_empty() {
            "/".to_owned()
        } else {
            path
        };
        if !list.contains(&path) {
            list.push(path);
        }
    }
    let is_untold = |it: &Subject| it.ask_because.is_some();
    if external.is_empty() && subjects.iter().any(is_untold) {
        external.push("<unknown>".to_owned());
    }
    let mut got = json!({ "external": external });
    if expected.get("writes").is_some() {
        got["writes"] = writes.into();
    }
    Ok(Put::Answered {
        expected: expected.to_string(),
        got: got.to_string(),
    })
}

/// The strictest a line comes to, for a table of lines.
pub fn action(line: &str, files: &[(&str, &str)], layers: RuleLayers) -> Result<Action, String> {
    judged(line, files, layers).map(|it| it.action())
}

fn text<'v>(value: &'v Value, key: &str) -> Result<&'v str, String> {
    value
        .get(key)
        .and_then(Value::as_str)
        .ok_or_else(|| format!("no text `{key}`"))
}
