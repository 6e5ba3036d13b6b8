//! Shell lines put to the gate for what they ask, in the words of the compatible systems, and for whether
//! an agent that only looks may run them. Must not read a line itself.

use crate::ops::HOME;
use crate::testkit::{Bench, MemoryHost};
use agent::{Agents, Preset, Tier};
use gate::{check::Checked, g1_decode::RawArguments};
use policy::{Action, RuleLayers};
use serde_json::{Value, json};

/// What lies outside the workspace in every row of these.
const FILES: [(&str, &str); 6] = [
    ("/etc/shadow", ""),
    ("/home/u/.ssh/id_rsa", ""),
    ("/proc/self/environ", ""),
    ("/srv/x", ""),
    ("/tmp/outside/file.txt", ""),
    ("/usr/bin/foo", ""),
];

/// The agents that only look, as they come.
const LOOKING: [&str; 2] = ["explore", "plan"];

/// What a line asks, with nothing allowed: a JSON object of the keys that are wanted, or `no call` if the
/// tool does not take it.
///
/// # Errors
/// A key is unknown.
pub(crate) fn scan(line: &str, expected: &str) -> Result<String, String> {
    let arguments = match line.strip_prefix("in ").and_then(|it| it.split_once(": ")) {
        Some((workdir, line)) => json!({ "command": line, "workdir": workdir }),
        None => json!({ "command": line }),
    };
    let Ok(checked) = check("bash", arguments, RuleLayers::default()) else {
        return Ok("no call".to_owned());
    };
    let asks = |permission: &'static str| {
        let asks = checked.asks.iter();
        asks.filter(move |it| it.permission == permission)
    };
    let dirs: Vec<&String> = asks("external_directory")
        .flat_map(|it| &it.patterns)
        .collect();
    let mut subjects = asks("external_directory").flat_map(|it| it.decision.subjects().iter());
    let reads = |it: &policy::Subject| it.narrower == Some("external_directory.read");
    let is_read = subjects.all(reads);
    // What hears no catch-all is asked about by nobody who did not name it.
    let asked = asks("bash").flat_map(|it| it.decision.subjects().iter());
    let mut patterns: Vec<&str> = Vec::new();
    for subject in asked.filter(|it| !it.is_possible) {
        if !patterns.contains(&subject.as_asked()) {
            patterns.push(subject.as_asked());
        }
    }
    let always: Vec<&String> = asks("bash").flat_map(|it| &it.always).collect();

    let expected: Value = serde_json::from_str(expected).map_err(|error| error.to_string())?;
    let mut got = json!({});
    for key in expected.as_object().ok_or("expected is no object")?.keys() {
        got[key] = match key.as_str() {
            "dirs" => json!(dirs),
            "access" => if is_read { "read" } else { "unknown" }.into(),
            "patterns" => json!(patterns),
            "always" => json!(always),
            other => return Err(format!("nothing is known as `{other}`")),
        };
    }
    Ok(got.to_string())
}

/// The strictest that a line comes to for the agents that only look.
///
/// # Errors
/// The tool does not take it.
pub(crate) fn looking(line: &str) -> Result<Action, String> {
    let agents = Agents::with(Vec::new()).map_err(|error| error.to_string())?;
    let mut strictest = Action::Allow;
    for name in LOOKING {
        let agent = agents.get(name).ok_or("no such agent")?;
        let layers = agent::layers(agent, Preset::Normal, Tier::Full, Vec::new(), Some(HOME));
        let checked = check("bash", json!({ "command": line }), layers)?;
        strictest = strictest.max(checked.action);
    }
    Ok(strictest)
}

/// The directories outside that reading a path asks for; of no path, those of a search.
///
/// # Errors
/// As [`looking`].
pub(crate) fn outside(path: &str) -> Result<String, String> {
    let checked = match path {
        "" => check("glob", json!({ "pattern": "*" }), RuleLayers::default()),
        path => check("read", json!({ "filePath": path }), RuleLayers::default()),
    }?;
    let asks = checked.asks.iter();
    let asks = asks.filter(|it| it.permission == "external_directory");
    let asks: Vec<Value> = asks
        .map(|it| json!({ "always": it.always, "patterns": it.patterns }))
        .collect();
    Ok(Value::Array(asks).to_string())
}

fn check(tool: &str, arguments: Value, layers: RuleLayers) -> Result<Checked, String> {
    let bench = Bench::with_layers(MemoryHost::with(&FILES), layers);
    let checked = bench.check(&tools::builtins(), tool, RawArguments::Json(arguments));
    checked.map_err(|why| why.to_string())
}
