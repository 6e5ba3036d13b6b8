//! The modes of older Kilo Code, a file of YAML, as agents. Must not look for files.

use crate::error::visible;
use crate::markdown::first_fault;
use crate::parse::{Place, parse_user};
use crate::regex;
use crate::yaml::{self, At, Entry, Node, Value, YamlFault};
use crate::{Config, ConfigWarning};

/// Modes that are built in under these names; what a file says of them was never meant for our agents.
const BUILT_IN: [&str; 6] = ["architect", "ask", "build", "code", "debug", "orchestrator"];

/// Permissions that a mode has only if it names their group.
const GROUPED: [&str; 4] = ["read", "edit", "bash", "mcp"];

/// Reads a file of modes. One that cannot be read holds no agents, and is a warning.
pub(crate) fn parse_modes(text: &str, place: Place<'_>) -> Config {
    let mut warnings = Vec::new();
    let warn = |line, message: &str, help: &str| ConfigWarning {
        source: visible(place.label),
        line,
        column: 1,
        message: visible(message),
        help: Some(help.to_owned()),
    };
    let mut read = || -> Result<Config, YamlFault> {
        let file = yaml::read(text.strip_prefix('\u{feff}').unwrap_or(text), 1)?;
        let agents = agents(&file, &mut |at, message| {
            warnings.push(warn(at.line, &message, "everything of that group asks"));
        })?;
        let json = Node::map(vec![Entry::new("agent", Node::map(agents))]).to_json();
        parse_user(&json, place).map_err(|error| first_fault(&error))
    };
    match read() {
        Ok(mut config) => {
            config.warnings.extend(warnings);
            config
        }
        Err(fault) => {
            let message = format!("none of these modes is there: {}", fault.message);
            let help = "mend the file, or take it away";
            Config {
                warnings: vec![warn(fault.line, &message, help)],
                ..Config::default()
            }
        }
    }
}

type Warn<'w> = &'w mut dyn FnMut(At, String);

fn agents(file: &Node, warn: Warn<'_>) -> Result<Vec<Entry>, YamlFault> {
    let modes = match file.get("customModes").map(|modes| &modes.value) {
        Some(Value::List(modes)) => modes.as_slice(),
        None if file.value == Value::Plain(serde_json::Value::Null) => &[],
        Some(Value::Plain(serde_json::Value::Null)) => &[],
        _ => return Err(fault(file.at, "`customModes` is a list of modes")),
    };
    let mut agents: Vec<Entry> = Vec::new();
    for mode in modes {
        let slug = mode.get("slug").and_then(Node::text);
        let slug = slug.ok_or_else(|| fault(mode.at, "a mode has no `slug`"))?;
        if BUILT_IN.contains(&slug) {
            continue;
        }
        let agent = agent(mode, warn)?;
        // A later mode of the same name takes the place of an earlier one, as it always did.
        agents.retain(|known| known.name != slug);
        agents.push(Entry::new(slug, agent).at(mode.at));
    }
    // The reader wants them where they stand, from the top down.
    agents.sort_by_key(|agent| agent.at.line);
    Ok(agents)
}

fn agent(mode: &Node, warn: Warn<'_>) -> Result<Node, YamlFault> {
    let text = |key| mode.get(key).and_then(Node::text).map(str::trim);
    let mut agent = vec![Entry::new("mode", Node::plain("primary"))];
    let said = ["description", "whenToUse", "name"]
        .into_iter()
        .find_map(text);
    if let Some(description) = said {
        agent.push(Entry::new("description", Node::plain(description)));
    }
    let prompts = ["roleDefinition", "customInstructions"];
    let prompt: Vec<_> = prompts.into_iter().filter_map(text).collect();
    if !prompt.is_empty() {
        agent.push(Entry::new("prompt", Node::plain(prompt.join("\n\n"))));
    }
    let groups = match mode.get("groups").map(|groups| &groups.value) {
        Some(Value::List(groups)) => groups.as_slice(),
        None => &[],
        Some(_) => return Err(fault(mode.at, "`groups` is a list")),
    };
    let mut permission: Vec<Entry> = Vec::new();
    for group in groups {
        let (name, regex) = named(group)?;
        let Some(name) = permission_of(name) else {
            let message = format!(
                "no group `{name}` is known: `read`, `edit`, `browser`, `command` or `mcp`"
            );
            return Err(fault(group.at, &message));
        };
        let value = match regex {
            None => Node::plain("allow"),
            Some(regex) => files(regex, group.at, warn),
        };
        permission.retain(|known| known.name != name);
        permission.push(Entry::new(name, value).at(group.at));
    }
    for name in GROUPED {
        if !permission.iter().any(|known| known.name == name) {
            permission.push(Entry::new(name, Node::plain("deny")));
        }
    }
    agent.push(Entry::new("permission", Node::map(permission)));
    Ok(Node::map(agent))
}

/// The name of a group, and the files it is for if it says so.
fn named(group: &Node) -> Result<(&str, Option<&str>), YamlFault> {
    let wrong = || {
        fault(
            group.at,
            "a group is a word, or a word and an object with `fileRegex`",
        )
    };
    if let Some(name) = group.text() {
        return Ok((name, None));
    }
    let Value::List(parts) = &group.value else {
        return Err(wrong());
    };
    let [name, options] = parts.as_slice() else {
        return Err(wrong());
    };
    let name = name.text().ok_or_else(wrong)?;
    match options.get("fileRegex") {
        None => Ok((name, None)),
        Some(regex) => Ok((name, Some(regex.text().ok_or_else(wrong)?))),
    }
}

fn permission_of(group: &str) -> Option<&'static str> {
    match group {
        "read" => Some("read"),
        "edit" => Some("edit"),
        "browser" | "command" => Some("bash"),
        "mcp" => Some("mcp"),
        _ => None,
    }
}

/// Rules for the files that a regular expression names: all others are denied, first.
fn files(regex: &str, at: At, warn: Warn<'_>) -> Node {
    let Some(patterns) = regex::wildcards(regex) else {
        let message =
            format!("the regular expression `{regex}` is too rich to be written as patterns");
        warn(at, message);
        return Node::plain("ask");
    };
    let deny = Entry::new("*", Node::plain("deny")).at(at);
    let allow = |pattern: &String| Entry::new(pattern, Node::plain("allow")).at(at);
    let allowed = patterns.iter().filter(|pattern| *pattern != "*").map(allow);
    if patterns.iter().any(|pattern| pattern == "*") {
        return Node::plain("allow");
    }
    Node::map(std::iter::once(deny).chain(allowed).collect())
}

fn fault(at: At, message: &str) -> YamlFault {
    YamlFault {
        line: at.line.max(1),
        message: message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Bearings;

    fn parse(text: &str) -> Config {
        let bearings = Bearings {
            folder: None,
            home: None,
        };
        let place = Place {
            label: "m",
            bearings,
        };
        parse_modes(text, place)
    }

    fn rules(config: &Config, index: usize) -> Vec<String> {
        let rules = &config.agents[index].settings.rules;
        rules.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_mode_is_an_agent_and_what_it_does_not_name_is_denied() {
        let config = parse(
            "customModes:\n  - slug: docs\n    name: Docs\n    roleDefinition: You write.\n    customInstructions: |\n      Short.\n    groups:\n      - read\n      - - edit\n        - fileRegex: \\.(md|mdx)$\n          description: Markdown\n      - command\n",
        );
        let agent = &config.agents[0];
        assert_eq!(agent.settings.name, "docs");
        assert_eq!(agent.settings.mode, Some(agent::Mode::Primary));
        let prompt = agent.prompt.as_ref().unwrap().plain();
        assert_eq!(prompt, Some("You write.\n\nShort."));
        assert_eq!(
            rules(&config, 0),
            [
                "read \"*\" allow (m:8:9)",
                "edit \"*\" deny (m:9:17)",
                "edit \"*.md\" allow (m:9:28)",
                "edit \"*.mdx\" allow (m:9:43)",
                "bash \"*\" allow (m:12:9)",
                "mcp \"*\" deny (m:12:24)",
            ]
        );
        // Nothing here closes the tools of MCP servers, which have names of their own.
        let warnings: Vec<_> = config.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].contains("no permission `mcp` is known"));
    }

    #[test]
    fn modes_of_built_in_names_are_passed_by_and_the_later_of_two_counts() {
        let mode = |slug: &str, group: &str| format!("  - {{slug: {slug}, groups: [{group}]}}\n");
        let mut text = "customModes:\n".to_owned();
        for slug in BUILT_IN {
            text.push_str(&mode(slug, "edit"));
        }
        text.push_str(&mode("x", "edit"));
        text.push_str(&mode("x", "read"));
        let config = parse(&text);
        assert_eq!(config.agents.len(), 1);
        let rules = rules(&config, 0);
        assert!(
            rules[0].starts_with("read \"*\" allow") && rules[1].starts_with("edit \"*\" deny")
        );
    }

    #[test]
    fn a_regular_expression_that_is_too_rich_asks_and_is_told_with_its_place() {
        let config = parse(
            "customModes:\n  - slug: x\n    groups:\n      - mcp\n      - [edit, {fileRegex: '^(?!a).*$'}]\n",
        );
        assert!(rules(&config, 0)[1].starts_with("edit \"*\" ask (m:5"));
        let told = config.warnings.iter().find(|it| it.line == 5).unwrap();
        assert!(told.message.contains("`^(?!a).*$`"), "{told}");
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_line_and_holds_no_agents() {
        for (text, line) in [
            ("customModes: 1", 1),
            ("- a", 1),
            ("customModes:\n  - name: x", 2),
            ("customModes:\n  - slug: x\n    groups: [reed]", 3),
            ("customModes:\n  - slug: x\n    groups: [[edit]]", 3),
            ("customModes:\n  - slug: x\n   groups: 1", 3),
        ] {
            let config = parse(text);
            assert!(config.agents.is_empty());
            let [warning] = &*config.warnings else {
                panic!("{text}: {config:?}")
            };
            assert_eq!(warning.line, line, "{text}: {warning}");
        }
        for text in ["", "customModes:\n", "customModes: []\n"] {
            let config = parse(text);
            assert!(config.agents.is_empty() && config.warnings.is_empty());
        }
    }
}
