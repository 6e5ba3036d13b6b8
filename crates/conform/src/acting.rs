//! Cases about who acts: an agent that a person started, or one that agents started, and one call of
//! it. What it comes to is decided under the preset `normal` behind partial walls.

use agent::{AgentSettings, Agents, Lineage, Preset, Stack, Tier};
use policy::{Action, Origin, Pattern, Rule, RuleLayers, Subject};
use serde_json::Value;

use crate::cases::{of_file, text};
use crate::ops::{HOME, decide, rules_at};
use crate::vectors::Put;

/// The name under which a case's own child is known.
const CHILD: &str = "child";

/// Puts one case.
pub(crate) fn put(input: &Value, expected: &Value) -> Result<Put, String> {
    let Some(layers) = layers(input)? else {
        return Ok(Put::Missing("configuration beyond permissions"));
    };
    let decision = decide(layers, subjects(input)?, None);
    Ok(Put::Answered {
        expected: text(expected, "action")?.to_owned(),
        got: decision.action().to_string(),
    })
}

/// The rules of the agent that acts; `None` if the configuration says what this suite does not read.
fn layers(input: &Value) -> Result<Option<RuleLayers>, String> {
    let config = input
        .get("config")
        .map_or("{}".to_owned(), Value::to_string);
    let is_known = |key: &String| ["agent", "permission"].contains(&key.as_str());
    let mut keys = input.get("config").and_then(Value::as_object).into_iter();
    if !keys.all(|it| it.keys().all(is_known)) {
        return Ok(None);
    }
    let user = rules_at(&config, &["permission"])?;
    let agents = Agents::with(settings(input, &config)?).map_err(|error| error.to_string())?;
    let stack = Stack {
        preset: Preset::Normal,
        tier: Tier::Partial,
        user: &user,
        home: Some(HOME),
    };
    let name = input.get("agent").or(input.get("parent"));
    let name = name.and_then(Value::as_str).ok_or("nobody acts")?;
    let root = agents
        .get(name)
        .ok_or_else(|| format!("no agent `{name}`"))?;
    let Stack { preset, tier, .. } = stack;
    let mut layers = agent::layers(root, preset, tier, user.clone(), stack.home);
    let mut lineage = Lineage::root(root, &layers.hard);
    layers.session = match input.get("session") {
        Some(_) => rules_at(&input.to_string(), &["session"])?,
        None => Vec::new(),
    };
    for name in below(input)? {
        let depth_max = lineage.depth() + 1;
        let child = lineage.child(&agents, &name, &layers.session, stack, depth_max);
        let child = child.map_err(|error| error.to_string())?;
        (layers, lineage) = (child.layers, child.lineage);
    }
    Ok(Some(layers))
}

/// The names of the agents that stand between the first one and the call.
fn below(input: &Value) -> Result<Vec<String>, String> {
    if let Some(chain) = input.get("chain") {
        return serde_json::from_value(chain.clone()).map_err(|error| format!("chain: {error}"));
    }
    Ok(match input.get("child") {
        None => Vec::new(),
        Some(Value::String(name)) => vec![name.clone()],
        Some(_) => vec![CHILD.to_owned()],
    })
}

/// What the configuration says of agents, and the case's own child.
fn settings(input: &Value, config: &str) -> Result<Vec<AgentSettings>, String> {
    let mut all = Vec::new();
    let entries = input.pointer("/config/agent").and_then(Value::as_object);
    for (name, entry) in entries.into_iter().flatten() {
        all.push(AgentSettings {
            name: name.clone(),
            is_readonly: entry.get("readonly").and_then(Value::as_bool),
            rules: rules_at(config, &["agent", name, "permission"])?,
            ..AgentSettings::default()
        });
    }
    if let Some(list) = input.pointer("/child/permissions") {
        let list = list.as_array().ok_or("`permissions` is no list")?;
        all.push(AgentSettings {
            name: CHILD.to_owned(),
            rules: list.iter().map(rule).collect::<Result<_, _>>()?,
            ..AgentSettings::default()
        });
    }
    Ok(all)
}

/// A rule in the form of three words.
fn rule(written: &Value) -> Result<Rule, String> {
    let effect: Action = text(written, "effect")?
        .parse()
        .map_err(|error: policy::UnknownAction| error.to_string())?;
    let resource = Pattern::read(text(written, "resource")?).map_err(|error| error.to_string())?;
    let action = text(written, "action")?;
    Ok(Rule::new(action, resource, effect, Origin::named("case")))
}

/// What the call asks for.
fn subjects(input: &Value) -> Result<Vec<Subject>, String> {
    if input.get("path").is_some() {
        let mut subjects = of_file(input)?;
        if let (Some(file), Some(Value::String(named))) = (subjects.first_mut(), input.get("named"))
        {
            file.others = vec![named.clone(), format!("/w/{named}")];
        }
        return Ok(subjects);
    }
    if input.get("command").is_some() {
        return crate::shelled::asked(text(input, "command")?, &[]);
    }
    let what = input.get("name").and_then(Value::as_str).unwrap_or("*");
    Ok(vec![Subject::name(text(input, "tool")?, what)])
}
