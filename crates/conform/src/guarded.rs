//! Rows about hardenings: protected paths, and the names of tools that come from servers. Each is put to
//! the real thing; what is right is not known here.

use gate::g1_decode::RawArguments;
use policy::{Action, Decision, NameTable, Origin, Pattern, Rule, RuleLayers, Subject};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cases::text;
use crate::ops::{decide, subject, written_rules};
use crate::testkit::{Bench, MemoryHost};
use crate::vectors::Put;

/// What an ask asks for, in the form of the compatible systems.
#[derive(Debug, Deserialize)]
pub(crate) struct Asked {
    permission: String,
    patterns: Vec<String>,
    #[serde(default)]
    metadata: Metadata,
}

/// What they say of it beside its patterns.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Metadata {
    /// The files of a file tool, with commas between.
    filepath: Option<String>,
    /// `read`, if that is all that is done.
    access: Option<String>,
    /// The command that is the reason.
    #[serde(rename = "command")]
    _command: Option<String>,
}

impl Asked {
    /// What is asked for.
    pub(crate) fn subjects(&self) -> Vec<Subject> {
        let subject = |pattern: &String| Subject {
            narrower: self.narrower(),
            ..subject(&self.permission, pattern)
        };
        self.patterns.iter().map(subject).collect()
    }

    /// A file tool asks for the change by itself, so its directory is asked for without saying what for.
    fn narrower(&self) -> Option<&'static str> {
        let is_known = self.permission == "external_directory" && self.metadata.filepath.is_none();
        let is_read = self.metadata.access.as_deref() == Some("read");
        is_known.then_some(if is_read {
            "external_directory.read"
        } else {
            "external_directory.write"
        })
    }

    /// Whether it would be asked each time, with everything allowed.
    pub(crate) fn is_protected(&self) -> Result<bool, String> {
        if self.permission == "bash" {
            let lines = self.patterns.iter();
            let checked = lines.map(|line| shell(&Bench::free(MemoryHost::with(&[])), line));
            let checked = checked.collect::<Result<Vec<_>, _>>()?;
            return Ok(checked.iter().flatten().any(is_protected));
        }
        let files = self.metadata.filepath.iter();
        let files = files.flat_map(|paths| paths.split(", "));
        let files = files.filter(|_| self.permission == "edit");
        let files = files.map(|path| subject("edit", path));
        let subjects = self.subjects().into_iter().chain(files).collect();
        let all = Rule::new(
            "*",
            Pattern::wildcard("*"),
            Action::Allow,
            Origin::named("row"),
        );
        let layers = RuleLayers {
            base: vec![all],
            ..RuleLayers::default()
        };
        Ok(is_protected(&decide(layers, subjects, None)))
    }
}

/// Whether a decision is an ask about a protected path.
pub(crate) fn is_protected(decision: &Decision) -> bool {
    decision.action() == Action::Ask && decision.once_only() == Some("a protected path")
}

/// A command line under these rules: its action, and whether a yes to it could be kept.
pub(crate) fn command(rules: Vec<Rule>, input: &Value, expected: &Value) -> Result<Put, String> {
    let layers = RuleLayers {
        base: rules,
        ..RuleLayers::default()
    };
    let bench = Bench::with_layers(MemoryHost::with(&[]), layers);
    let decisions = shell(&bench, text(input, "command")?)?;
    let action = decisions.iter().map(Decision::action).max();
    let mut got = json!({ "action": action.unwrap_or(Action::Ask).to_string() });
    if expected.get("always_disabled").is_some() {
        let is_once = decisions.iter().any(|it| it.once_only().is_some());
        got["always_disabled"] = is_once.into();
    }
    Ok(Put::Answered {
        expected: expected.to_string(),
        got: got.to_string(),
    })
}

fn shell(bench: &Bench, line: &str) -> Result<Vec<Decision>, String> {
    let arguments = RawArguments::Json(json!({ "command": line }));
    let checked = bench.check(&tools::builtins(), "bash", arguments);
    Ok(checked.map_err(|why| why.to_string())?.decisions)
}

/// Names of tools that come from servers.
pub(crate) fn names(input: &Value, expected: &Value) -> Result<Put, String> {
    if input.get("servers").is_some() {
        return called(input, expected);
    }
    let (server, tool) = (text(input, "server")?, text(input, "tool")?);
    let sibling = format!("{tool}x");
    let (table, faults) = NameTable::of([(server, tool), (server, sibling.as_str())]);
    let named = table.names().find(|name| name.tool() == tool);
    let named = named.ok_or_else(|| format!("no name: {faults:?}"))?;
    let found = table.find(named.wire());
    let mut got = json!({});
    for (key, wanted) in expected.as_object().ok_or("expected is no object")? {
        got[key] = match key.as_str() {
            "name" => named.wire().into(),
            "regex" => {
                let regex = wanted.as_str().ok_or("`regex` is no text")?;
                let regex = regex::Regex::new(regex).map_err(|error| error.to_string())?;
                let fits = regex.is_match(named.wire());
                if fits {
                    wanted.clone()
                } else {
                    named.wire().into()
                }
            }
            "unique" => (table.names().count() == 2).into(),
            "roundtrip" => found
                .is_some_and(|it| (it.server(), it.tool()) == (server, tool))
                .into(),
            other => return Err(format!("nothing is known as `{other}`")),
        };
    }
    Ok(Put::Answered {
        expected: expected.to_string(),
        got: got.to_string(),
    })
}

/// A call of a tool of one of several servers.
fn called(input: &Value, expected: &Value) -> Result<Put, String> {
    let servers = input.get("servers").and_then(Value::as_object);
    let mut tools = Vec::new();
    for (server, list) in servers.ok_or("`servers` is no object")? {
        for tool in list.as_array().ok_or("a server's tools are no list")? {
            tools.push((server.as_str(), tool.as_str().ok_or("a tool is no text")?));
        }
    }
    let (table, _) = NameTable::of(tools);
    let rules = input.get("rules").ok_or("no `rules`")?;
    let layers = RuleLayers {
        base: table.in_wire_names(&written_rules(&rules.to_string())?),
        ..RuleLayers::default()
    };
    let call: [String; 2] = input
        .get("call")
        .and_then(|call| serde_json::from_value(call.clone()).ok())
        .ok_or("`call` is no server and tool")?;
    let is_meant = |name: &&policy::Name| [name.server(), name.tool()] == call;
    // A tool without a name is on no table.
    let action = table.names().find(is_meant).map_or(Action::Deny, |name| {
        decide(layers, vec![Subject::name(name.wire(), "*")], None).action()
    });
    Ok(Put::Answered {
        expected: expected.to_string(),
        got: json!({ "action": action.to_string() }).to_string(),
    })
}
