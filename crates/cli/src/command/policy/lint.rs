//! `tollgate policy lint`: rules that cannot work as they were meant. Nothing is decided, nothing kept.
//!
//! Must not know what is wrong with a rule.

use crate::{Exit, args::PolicyLintArgs, error::CliError, ground::Ground, print, workbench};
use config::{AgentEntry, Config};
use policy::{Finding, Origin, Rule};
use serde_json::{Value, json};
use text::escape::visible_line;

pub(crate) fn lint(args: &PolicyLintArgs) -> Result<Exit, CliError> {
    let home = workbench::home();
    let mut lists = Vec::new();
    if args.files.is_empty() {
        let mut loaded = Ground::of(&args.scene)?.loaded;
        // What is managed stands among the others in part, and by itself in full.
        let is_managed = |rule: &Rule| {
            let mut managed = loaded.managed.iter();
            managed.any(|it| it.origin.source == rule.origin.source)
        };
        loaded.config.rules.retain(|rule| !is_managed(rule));
        lists.extend(lists_of(loaded.config, args.scene.agent.as_deref()));
        lists.extend(by_source(loaded.project, None));
        lists.extend(by_source(loaded.managed, None));
    }
    for file in &args.files {
        let config = config::load(file, home.as_deref());
        let config = config.map_err(|error| CliError::config(config::render(&error)))?;
        lists.extend(lists_of(config, args.scene.agent.as_deref()));
    }
    let look = |list: List| {
        let findings = policy::lint(&list.rules, home.as_deref());
        Looked { list, findings }
    };
    let looked: Vec<_> = lists.into_iter().map(look).collect();
    print(&if args.json {
        format!("{:#}\n", as_json(&looked))
    } else {
        as_text(&looked)
    });
    let is_clean = looked.iter().all(|it| it.findings.is_empty());
    Ok(if is_clean { Exit::Ok } else { Exit::Failed })
}

/// The rules of one source for everybody, or for one agent. A later list is there to overrule an
/// earlier one, so each is looked over by itself.
struct List {
    agent: Option<String>,
    rules: Vec<Rule>,
}

/// A list, and what was found in it.
struct Looked {
    list: List,
    findings: Vec<Finding>,
}

/// The lists of a configuration; of agents only this one's, if one is named.
fn lists_of(config: Config, agent: Option<&str>) -> Vec<List> {
    let is_wanted = |it: &AgentEntry| agent.is_none_or(|name| it.settings.name == name);
    let agents = config.agents.into_iter().filter(is_wanted);
    let of_agents = agents.flat_map(|it| by_source(it.settings.rules, Some(&it.settings.name)));
    by_source(config.rules, None)
        .into_iter()
        .chain(of_agents)
        .collect()
}

fn by_source(rules: Vec<Rule>, agent: Option<&str>) -> Vec<List> {
    let mut lists: Vec<List> = Vec::new();
    for rule in rules {
        let last = lists.last_mut().filter(|list| {
            let first = list.rules.first();
            first.is_some_and(|first| first.origin.source == rule.origin.source)
        });
        match last {
            Some(list) => list.rules.push(rule),
            None => lists.push(List {
                agent: agent.map(str::to_owned),
                rules: vec![rule],
            }),
        }
    }
    lists
}

fn as_text(looked: &[Looked]) -> String {
    let one = |list: &List, it: &Finding| {
        let agent = list.agent.as_ref();
        let agent = agent.map_or_else(String::new, |name| format!(" (agent {name})"));
        let line = format!("{}: {}{agent}: {}", it.origin, it.kind, it.message);
        let (line, help) = (visible_line(&line), visible_line(&it.help));
        format!("{line}\n    help: {help}\n")
    };
    let lines = looked
        .iter()
        .flat_map(|it| it.findings.iter().map(|finding| one(&it.list, finding)));
    let lines: Vec<_> = lines.collect();
    let rule_count: usize = looked.iter().map(|it| it.list.rules.len()).sum();
    let found = match lines.len() {
        0 => "nothing found".to_owned(),
        1 => "1 finding".to_owned(),
        count => format!("{count} findings"),
    };
    format!("{}{found} in {rule_count} rules\n", lines.concat())
}

fn as_json(looked: &[Looked]) -> Value {
    let place = |it: &Origin| json!({ "file": &*it.source, "line": it.line, "column": it.column });
    let one = |list: &List, it: &Finding| {
        let others = it.others.iter().filter_map(|&index| list.rules.get(index));
        json!({
            "kind": it.kind.to_string(),
            "origin": place(&it.origin),
            "agent": list.agent,
            "others": others.map(|rule| place(&rule.origin)).collect::<Value>(),
            "message": it.message,
            "help": it.help,
        })
    };
    let all = looked
        .iter()
        .flat_map(|it| it.findings.iter().map(|finding| one(&it.list, finding)));
    json!({ "findings": all.collect::<Value>() })
}
