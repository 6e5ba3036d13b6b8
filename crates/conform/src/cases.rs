//! Cases from public reports: an area, an input and what it should come to, both JSON. Each is put to
//! the public API; an area, or a question, that nothing here can answer is said to be missing.

use policy::{Answer, FindingKind, Platform, RuleLayers, Subject};
use serde_json::Value;

use crate::acting;
use crate::configured;
use crate::guarded;
use crate::kept;
use crate::ops::{decide, subject, written_rules};
use crate::shelled;
use crate::vectors::Put;
use crate::waiting;

/// Puts one case.
pub(crate) fn put(area: &str, input: &str, expected: &str) -> Result<Put, String> {
    let read = |json: &str| -> Result<Value, String> {
        serde_json::from_str(json).map_err(|error| format!("{area}: {error}"))
    };
    let (input, expected) = (read(input)?, read(expected)?);
    match area {
        "wildcard" => wildcard(&input, &expected),
        "permission" => permission(&input, &expected),
        "agents" => acting::put(&input, &expected),
        "config" => configured::put(&input, &expected),
        "paths" => Ok(Put::Missing(
            "a disk with links, which the host has in its tests",
        )),
        "sandbox" => Ok(Put::Missing(
            "walls around processes, which the host has in its tests",
        )),
        "mcp-name" => guarded::names(&input, &expected),
        "always" => kept::put(&input, &expected),
        "ask" => waiting::ask(&input, &expected),
        "headless" => waiting::headless(&input, &expected),
        "shell-permission" => shelled::permission(&input, &expected),
        "shell-scan" => shelled::scan(&input, &expected),
        "doom_loop" => waiting::doom_loop(&input, &expected),
        _ => Ok(Put::Missing("an area this suite does not know")),
    }
}

fn wildcard(input: &Value, expected: &Value) -> Result<Put, String> {
    let platform = match input.get("os").and_then(Value::as_str) {
        None => Platform::Unix,
        Some("windows") => Platform::Windows,
        Some(other) => return Err(format!("no system `{other}`")),
    };
    let got = policy::wildcard_on(platform, text(input, "pattern")?, text(input, "text")?);
    Ok(Put::Answered {
        expected: expected.get("match").ok_or("no `match`")?.to_string(),
        got: got.to_string(),
    })
}

fn permission(input: &Value, expected: &Value) -> Result<Put, String> {
    if input.get("property").is_some() {
        return Ok(Put::Missing("a property, which is a test of its own"));
    }
    let rules = input.get("rules").ok_or("no `rules`")?;
    let base = written_rules(&rules.to_string())?;
    let subjects = match input.get("ask") {
        Some(ask) => vec![subject(text(ask, "permission")?, text(ask, "pattern")?)],
        None if text(input, "tool")? == "bash" => {
            return guarded::command(base, input, expected);
        }
        None => of_file(input)?,
    };
    let findings = expected.get("lint").map(|_| looked_over(&base));
    let layers = RuleLayers {
        base,
        saved: saved(input)?,
        // What a project says of it is nobody's word.
        is_configuration_open: input.pointer("/global_config/require_approval_for_config_edits")
            == Some(&Value::Bool(false)),
        ..RuleLayers::default()
    };
    let yes = Answer {
        who: "everything is approved".to_owned(),
        at_ms: 0,
    };
    let is_approved = input.get("auto_approve") == Some(&Value::Bool(true));
    let decision = decide(layers, subjects, is_approved.then_some(&yes));
    if let Some(findings) = findings {
        let action = decision.action().to_string();
        return Ok(Put::Answered {
            expected: expected.to_string(),
            got: serde_json::json!({ "action": action, "lint": findings }).to_string(),
        });
    }
    Ok(Put::Answered {
        expected: text(expected, "action")?.to_owned(),
        got: decision.action().to_string(),
    })
}

/// What is found in a list of rules, in the words of the cases.
fn looked_over(rules: &[policy::Rule]) -> Vec<String> {
    let text = |index: usize| rules.get(index).map_or("", |it| it.pattern.text());
    let said = |it: policy::Finding| match it.kind {
        FindingKind::CatchAllLast => {
            let never = it.others.iter().map(|&other| text(other));
            never.map(|never| format!("shadowed: {never}")).collect()
        }
        FindingKind::BareCommand => {
            let bare = text(it.index);
            vec![format!(
                "'{bare}' matches only the bare command; use '{bare} *'"
            )]
        }
        FindingKind::Unreachable => vec![format!("shadowed: {}", text(it.index))],
        other => vec![other.to_string()],
    };
    policy::lint(rules, None)
        .into_iter()
        .flat_map(said)
        .collect()
}

/// What a call of a file tool asks for: outside the workspace its directory as well.
pub(crate) fn of_file(input: &Value) -> Result<Vec<Subject>, String> {
    let (tool, path) = (text(input, "tool")?, text(input, "path")?);
    let mut subjects = vec![subject(policy::permission_of(tool), path)];
    if let Some((directory, _)) = path.rsplit_once('/')
        && path.starts_with('/')
    {
        subjects.push(subject("external_directory", &format!("{directory}/*")));
    }
    Ok(subjects)
}

/// Answers that were saved: each becomes a rule by way of its written form.
fn saved(input: &Value) -> Result<Vec<policy::Rule>, String> {
    let Some(list) = input.get("saved") else {
        return Ok(Vec::new());
    };
    let mut rules = Vec::new();
    for rule in list.as_array().ok_or("`saved` is no list")? {
        let (permission, pattern, action) = (
            text(rule, "permission")?,
            text(rule, "pattern")?,
            text(rule, "action")?,
        );
        let written = serde_json::json!({ permission: { pattern: action } });
        rules.extend(written_rules(&written.to_string())?);
    }
    Ok(rules)
}

pub(crate) fn text<'v>(value: &'v Value, key: &str) -> Result<&'v str, String> {
    value
        .get(key)
        .and_then(Value::as_str)
        .ok_or_else(|| format!("no text `{key}`"))
}
