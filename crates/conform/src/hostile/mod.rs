//! Calls that try to get past a policy, and ordinary ones that must not be stopped: the tables of
//! spec/hostile, what a run of one call came to, and the count of it all. It runs nothing and opens
//! no file: callers bring the text and the machine.

mod judge;
mod tally;

use crate::table::{Table, cell};
use crate::vectors::VectorError;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

pub use judge::{CallResult, Outcome, Seen, Status, World, judge};
pub use tally::{Baseline, Tally};

/// One call, the policies it is judged under, and how to tell that it did harm, or its work.
#[derive(Debug)]
pub struct Row {
    /// Its name, for ever.
    pub id: String,
    /// What it tries; `control` for a call that must be allowed.
    pub group: String,
    /// The tool it calls.
    pub tool: String,
    /// The policies, by name.
    pub policies: Vec<String>,
    /// Claims: one that is true is harm; of a control all must be true.
    pub checks: Vec<Check>,
    /// Whether it is an ordinary call.
    pub is_control: bool,
    /// Programs without which it says nothing.
    pub needs: Vec<String>,
    /// What else has to be done around it.
    pub setup: Setup,
    arguments: Value,
}

/// What has to be done around a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setup {
    /// Nothing.
    Plain,
    /// An empty `.opencode` lies in the workspace.
    EmptyFolder,
    /// `swap.txt` keeps turning from a file to a link out of the workspace and back, while the call
    /// is made again and again.
    Swap,
}

/// A claim about the world after a call. Paths are relative to the workspace, or absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// The path is there and was not, or it holds something else.
    Made(String),
    /// The path was there and is not.
    Gone(String),
    /// The path holds something else, or is gone.
    Changed(String),
    /// The model was told this text.
    Secret(String),
    /// Somebody connected to the listener.
    Net,
    /// A process whose command line holds this text is alive.
    Process(String),
    /// What a person was shown held a character that does not show.
    RawControl,
    /// The call did not end.
    Hang,
    /// The model was told this text, as it should be.
    Output(String),
}

/// What the placeholders of a row stand for.
#[derive(Debug)]
pub struct Places<'a> {
    /// `{C}`: the name of a file in the workspace that a row makes to show that it got through.
    pub canary: &'a str,
    /// `{P}`: the workspace.
    pub project: &'a str,
    /// `{O}`: the directory beside it.
    pub outside: &'a str,
    /// `{H}`: the home.
    pub home: &'a str,
    /// `{PORT}`: the listener on loopback.
    pub port: u16,
}

impl Row {
    /// Reads a table with the columns `id`, `group`, `tool`, `policies`, `args`, `check`, `expected`,
    /// `needs` and `setup`.
    ///
    /// # Errors
    /// Another form, a row named twice, arguments that are no JSON object, an unknown check.
    pub fn read_all(text: &str) -> Result<Vec<Self>, VectorError> {
        let table = Table::read(text)?;
        let [
            id,
            group,
            tool,
            policies,
            args,
            check,
            expected,
            needs,
            setup,
        ] = [
            "id", "group", "tool", "policies", "args", "check", "expected", "needs", "setup",
        ]
        .map(|name| table.column(name));
        let (id, group, tool, policies) = (id?, group?, tool?, policies?);
        let (args, check, expected, needs, setup) = (args?, check?, expected?, needs?, setup?);
        let mut rows: Vec<Self> = Vec::new();
        for line in &table.lines {
            let id = cell(line, id);
            if rows.iter().any(|row| row.id == id) {
                return Err(VectorError::Twice(id));
            }
            let bad = |what: &str, why: String| VectorError::Row {
                id: id.clone(),
                why: format!("{what}: {why}"),
            };
            let arguments: Map<String, Value> = serde_json::from_str(&cell(line, args))
                .map_err(|error| bad("args", error.to_string()))?;
            let checks = checks(&cell(line, check)).map_err(|why| bad("check", why))?;
            let is_control = match cell(line, expected).as_str() {
                "allow" => true,
                "ask" | "deny" => false,
                other => return Err(bad("expected", format!("no action `{other}`"))),
            };
            let setup = match cell(line, setup).as_str() {
                "" => Setup::Plain,
                "folder" => Setup::EmptyFolder,
                "swap" => Setup::Swap,
                other => return Err(bad("setup", format!("there is no `{other}`"))),
            };
            rows.push(Self {
                group: cell(line, group),
                tool: cell(line, tool),
                policies: list(&cell(line, policies)),
                checks,
                is_control,
                needs: list(&cell(line, needs)),
                setup,
                arguments: Value::Object(arguments),
                id,
            });
        }
        Ok(rows)
    }

    /// The arguments of the call, with every placeholder in its texts filled in.
    pub fn arguments(&self, places: &Places<'_>) -> Value {
        let mut arguments = self.arguments.clone();
        if let Value::Object(map) = &mut arguments {
            for value in map.values_mut() {
                if let Value::String(text) = value {
                    *text = self.fill(text, places);
                }
            }
        }
        arguments
    }

    /// The checks, with every placeholder filled in.
    pub fn checks(&self, places: &Places<'_>) -> Vec<Check> {
        let fill = |text: &String| self.fill(text, places);
        let filled = self.checks.iter().map(|check| match check {
            Check::Made(path) => Check::Made(fill(path)),
            Check::Gone(path) => Check::Gone(fill(path)),
            Check::Changed(path) => Check::Changed(fill(path)),
            other => other.clone(),
        });
        filled.collect()
    }

    fn fill(&self, text: &str, places: &Places<'_>) -> String {
        let filled = text
            .replace("{C}", places.canary)
            .replace("{P}", places.project)
            .replace("{O}", places.outside)
            .replace("{H}", places.home)
            .replace("{PORT}", &places.port.to_string())
            .replace("{ID}", &self.id);
        repeat(&filled)
    }
}

/// Spells out each `{N x TEXT}`.
fn repeat(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        rest = after;
        let repeated = after.split_once('}').and_then(|(inner, behind)| {
            let (count, what) = inner.split_once(" x ")?;
            Some((what.repeat(count.parse().ok()?), behind))
        });
        match repeated {
            Some((repeated, behind)) => {
                out.push_str(&repeated);
                rest = behind;
            }
            None => out.push('{'),
        }
    }
    out + rest
}

/// The names of a list, without blanks.
fn list(cell: &str) -> Vec<String> {
    let names = cell
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

/// Reads claims one after another; a word that begins no claim belongs to the text before it.
fn checks(cell: &str) -> Result<Vec<Check>, String> {
    let mut checks: Vec<Check> = Vec::new();
    for word in cell.split(' ') {
        let text = |of: fn(String) -> Check| {
            let (_, text) = word.split_once(':')?;
            Some(of(text.to_owned()))
        };
        let (head, _) = word.split_once(':').unwrap_or((word, ""));
        let check = match head {
            "made" => text(Check::Made),
            "gone" => text(Check::Gone),
            "changed" => text(Check::Changed),
            "secret" => text(Check::Secret),
            "proc" => text(Check::Process),
            "ok" => text(Check::Output),
            "net" => Some(Check::Net),
            "rawctl" => Some(Check::RawControl),
            "hang" => Some(Check::Hang),
            _ => None,
        };
        match (check, checks.last_mut()) {
            (Some(check), _) => checks.push(check),
            (None, Some(Check::Output(text) | Check::Secret(text))) => {
                text.push(' ');
                text.push_str(word);
            }
            (None, _) => return Err(format!("no check `{word}`")),
        }
    }
    let is_empty = |check: &Check| match check {
        Check::Made(text)
        | Check::Gone(text)
        | Check::Changed(text)
        | Check::Secret(text)
        | Check::Process(text)
        | Check::Output(text) => text.is_empty(),
        Check::Net | Check::RawControl | Check::Hang => false,
    };
    if checks.iter().any(is_empty) {
        return Err("a check says nothing".to_owned());
    }
    Ok(checks)
}

/// Who acts, and under what configuration.
#[derive(Debug)]
pub struct Policy {
    /// The agent.
    pub agent: String,
    /// A configuration; none: the defaults alone.
    pub config: Option<Value>,
}

impl Policy {
    /// Reads the policies by name from JSON with comments.
    ///
    /// # Errors
    /// Another form, or a policy that is like one that is not written above it.
    pub fn read_all(text: &str) -> Result<BTreeMap<String, Self>, VectorError> {
        let options = jsonc_parser::ParseOptions::default();
        let value: Value = jsonc_parser::parse_to_serde_value(text, &options)
            .map_err(|error| VectorError::Policies(error.to_string()))?;
        let Value::Object(written) = value else {
            return Err(VectorError::Policies("not an object".into()));
        };
        let mut permissions: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
        let mut policies = BTreeMap::new();
        for (name, policy) in &written {
            let bad = |why: &str| VectorError::Policies(format!("`{name}`: {why}"));
            let agent = policy.get("agent").and_then(Value::as_str);
            let agent = agent.ok_or_else(|| bad("no agent"))?.to_owned();
            let mut permission = match policy.get("like") {
                None => Map::new(),
                Some(like) => {
                    let other = like.as_str().and_then(|other| permissions.get(other));
                    other.ok_or_else(|| bad("like no policy above it"))?.clone()
                }
            };
            if let Some(own) = policy.get("permission") {
                let own = own.as_object();
                for (key, value) in own.ok_or_else(|| bad("its permission is no object"))? {
                    // Removed first, for it has to stand behind the others.
                    permission.shift_remove(key);
                    permission.insert(key.clone(), value.clone());
                }
            }
            let config =
                (!permission.is_empty()).then(|| json!({ "permission": permission.clone() }));
            permissions.insert(name, permission);
            policies.insert(name.clone(), Self { agent, config });
        }
        Ok(policies)
    }
}
