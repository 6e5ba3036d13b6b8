//! An agent written in Markdown: what stands between two lines `---` at its top is its configuration in
//! YAML, the rest its prompt. Must not look for files.

use crate::error::visible;
use crate::parse::{Place, parse_user};

use crate::yaml::{self, Entry, Node, Value, YamlFault};
use crate::{AgentEntry, Config, ConfigError, ConfigWarning};

const FENCE: &str = "---";

/// Reads an agent; `name` is what it is called if it does not say so itself, and `key` the key it would
/// stand below in a configuration: `agent`, or `mode` for one that a person starts.
///
/// A file that cannot be read is no agent, and a warning: nothing can be opened by what is not there. So
/// that a built-in agent does not get by without the denials that stand here, there is no agent of this
/// name at all then.
pub(crate) fn parse_agent(text: &str, name: &str, key: &str, place: Place<'_>) -> Config {
    match read(text, name, key, place) {
        Ok(config) => config,
        Err(fault) => {
            let mut config = no_agent(name, place.label, fault.line, &fault.message);
            let said = text.lines().find_map(|line| line.strip_prefix("name:"));
            let said = said.map(|name| name.trim().trim_matches(['"', '\'']));
            let other = said.filter(|said| *said != name);
            config.agents.extend(other.map(gone));
            config
        }
    }
}

/// What comes of a file that cannot be read.
pub(crate) fn no_agent(name: &str, label: &str, line: u32, reason: &str) -> Config {
    let message = format!("there is no agent `{name}`, for this cannot be read: {reason}");
    Config {
        agents: vec![gone(name)],
        warnings: vec![ConfigWarning {
            source: visible(label),
            line,
            column: line.min(1),
            message: visible(&message),
            help: Some("mend the file, or take it away".to_owned()),
        }],
        ..Config::default()
    }
}

fn gone(name: &str) -> AgentEntry {
    let mut entry = AgentEntry::default();
    name.clone_into(&mut entry.settings.name);
    entry.settings.is_disabled = Some(true);
    entry
}

fn read(text: &str, name: &str, key: &str, place: Place<'_>) -> Result<Config, YamlFault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (front, body) = split(text)?;
    let mut entries = match yaml::read(front, 2)?.value {
        Value::Map(entries) => entries,
        Value::Plain(serde_json::Value::Null) => Vec::new(),
        Value::Plain(_) | Value::List(_) => {
            let message = "what stands between the lines `---` is not names with values".to_owned();
            return Err(YamlFault { line: 2, message });
        }
    };
    let mut name = name.to_owned();
    if let Some(at) = entries.iter().position(|entry| entry.name == "name") {
        let given = entries.remove(at);
        let fault = || YamlFault {
            line: given.at.line,
            message: "`name` is a word".to_owned(),
        };
        let text = given.value.text().map(str::trim);
        text.filter(|text| !text.is_empty())
            .ok_or_else(fault)?
            .clone_into(&mut name);
    }
    let body = body.trim();
    if !body.is_empty() {
        entries.retain(|entry| entry.name != "prompt" && entry.name != "system");
        entries.push(Entry::new("prompt", Node::plain(body)));
    }
    let agent = Node::map(vec![Entry::new(&name, Node::map(entries))]);
    let json = Node::map(vec![Entry::new(key, agent)]).to_json();
    parse_user(&json, place).map_err(|error| first_fault(&error))
}

/// What stands between the lines `---`, and what behind them. Without a first line `---` all is prompt.
fn split(text: &str) -> Result<(&str, &str), YamlFault> {
    let is_fence = |line: &str| line.trim_end() == FENCE;
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| is_fence(line)) else {
        return Ok(("", text));
    };
    let mut end = first.len();
    for line in lines {
        let start = end;
        end += line.len();
        if is_fence(line) {
            let front = text.get(first.len()..start).unwrap_or_default();
            return Ok((front, text.get(end..).unwrap_or_default()));
        }
    }
    Err(YamlFault {
        line: 1,
        message: "the line `---` has no second one".to_owned(),
    })
}

/// The first fault, by the line it stands in.
pub(crate) fn first_fault(error: &ConfigError) -> YamlFault {
    let ConfigError::Invalid { faults, .. } = error else {
        let message = error.to_string();
        return YamlFault { line: 1, message };
    };
    let Some(fault) = faults.first() else {
        let message = error.to_string();
        return YamlFault { line: 1, message };
    };
    let before = fault.file.inner().get(..fault.span.offset());
    let breaks = before.unwrap_or_default().matches('\n').count();
    YamlFault {
        line: u32::try_from(breaks + 1).unwrap_or(u32::MAX),
        message: fault.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Bearings;
    use std::path::Path;

    fn parse(text: &str, key: &str) -> Config {
        let bearings = Bearings {
            folder: Some(Path::new("/c/agent")),
            home: Some("/home/u"),
        };
        let place = Place {
            label: "a.md",
            bearings,
        };
        parse_agent(text, "nested/child", key, place)
    }

    #[test]
    fn an_agent_is_its_front_and_its_prompt() {
        let text = "---\ndescription: use when: asked\nmode: subagent\ntools:\n  webfetch: false\npermission:\n  edit: deny\n  bash:\n    \"git *\": allow\npermissions:\n  - {action: shell, resource: \"rm *\", effect: deny}\n---\n\nDo *this*.\n---\nand that\n";
        let config = parse(text, "agent");
        assert_eq!(config.warnings, []);
        let [agent] = &*config.agents else {
            panic!("{config:?}")
        };
        assert_eq!(agent.settings.name, "nested/child");
        assert_eq!(agent.settings.mode, Some(agent::Mode::Subagent));
        let plain = |text: &Option<crate::Text>| text.as_ref().unwrap().plain().unwrap().to_owned();
        assert_eq!(plain(&agent.prompt), "Do *this*.\n---\nand that");
        assert_eq!(plain(&agent.description), "use when: asked");
        let rules: Vec<_> = agent
            .settings
            .rules
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            rules,
            [
                "webfetch \"*\" deny (a.md:5:3)",
                "edit \"*\" deny (a.md:7:3)",
                "bash \"git *\" allow (a.md:9:5)",
                "bash \"rm *\" deny (a.md:11:5)",
            ]
        );
    }

    #[test]
    fn a_name_in_the_front_counts_and_a_mode_is_for_a_person() {
        let config = parse("---\r\nname: \"other\"\r\nmode: all\r\n---\r\nx", "mode");
        let [agent] = &*config.agents else {
            panic!("{config:?}")
        };
        assert_eq!(agent.settings.name, "other");
        assert_eq!(agent.settings.mode, Some(agent::Mode::Primary));
    }

    #[test]
    fn without_a_front_all_is_prompt_and_without_a_body_the_front_may_hold_it() {
        for (text, prompt) in [
            ("Hello\n---\nx: y", "Hello\n---\nx: y"),
            ("---\nsystem: hello\n---\n", "hello"),
            ("---\nprompt: hello\n---", "hello"),
            ("---\nprompt: hello\n---\nbody", "body"),
            ("\u{feff}---\n---\nbody", "body"),
        ] {
            let config = parse(text, "agent");
            assert_eq!(config.warnings, [], "{text}");
            let found = config.agents[0].prompt.as_ref().unwrap();
            assert_eq!(found.plain(), Some(prompt), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_line_and_there_is_no_such_agent() {
        for (text, line) in [
            ("---\nmode: main\n---\n", 2),
            ("---\n\npermission:\n  edit: dney\n---\n", 4),
            ("---\na: [\n---\n", 2),
            ("---\nmode: all\n", 1),
            ("---\n- a\n---\n", 2),
            ("---\nmode: all\nname: [x]\n---\n", 3),
            ("---\npermission:\n  edit: deny\n  edit: allow\n---\n", 4),
            ("---\nmode: all\n---\n{file:", 2),
        ] {
            let config = parse(text, "agent");
            let [warning] = &*config.warnings else {
                panic!("{text}: {config:?}")
            };
            assert_eq!(
                (&*warning.source, warning.line),
                ("a.md", line),
                "{warning}"
            );
            assert_eq!(config.agents[0].settings.is_disabled, Some(true), "{text}");
            assert!(config.rules.is_empty());
        }
    }

    #[test]
    fn a_faulty_file_that_names_another_agent_takes_that_one_away() {
        let config = parse("---\nname: code\npermission: {edit: dney}\n---\n", "agent");
        let gone: Vec<_> = config
            .agents
            .iter()
            .map(|it| it.settings.name.as_str())
            .collect();
        assert_eq!(gone, ["nested/child", "code"]);
    }
}
