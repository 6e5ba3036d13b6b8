//! The agents that are there without any configuration.
//! Must not hold a rule in code that could stand in a data file, but the one every read-only agent shares.

use policy::{Action, Origin, Pattern, Rule, written};

use crate::{Agent, Agents, Mode};

pub(crate) struct BuiltIn {
    name: &'static str,
    description: &'static str,
    prompt: &'static str,
    mode: Mode,
    is_readonly: bool,
    label: &'static str,
    text: &'static str,
}

macro_rules! built_in {
    ($name:literal, $mode:expr, readonly: $is_readonly:literal, $description:literal) => {
        BuiltIn {
            name: $name,
            description: $description,
            prompt: include_str!(concat!("../data/agents/", $name, ".md")),
            mode: $mode,
            is_readonly: $is_readonly,
            label: concat!("built-in agents/", $name, ".jsonc"),
            text: include_str!(concat!("../data/agents/", $name, ".jsonc")),
        }
    };
}

pub(crate) const BUILT_INS: [BuiltIn; 5] = [
    built_in!(
        "code",
        Mode::Primary,
        readonly: false,
        "does the work: reads, edits and runs what the rules allow"
    ),
    built_in!(
        "plan",
        Mode::Primary,
        readonly: true,
        "reads and makes a plan; changes nothing"
    ),
    built_in!(
        "ask",
        Mode::Primary,
        readonly: true,
        "answers questions about the code; changes nothing"
    ),
    built_in!(
        "general",
        Mode::Subagent,
        readonly: false,
        "does a piece of work for another agent"
    ),
    built_in!(
        "explore",
        Mode::Subagent,
        readonly: true,
        "finds something out for another agent; changes nothing"
    ),
];

/// The agent's name under ours: other systems call `code` `build`.
pub(crate) fn our_name(name: &str) -> &str {
    if name == "build" { "code" } else { name }
}

/// The built-in agents' names, without aliases, the default one first.
pub fn names() -> impl Iterator<Item = &'static str> {
    BUILT_INS.iter().map(|built_in| built_in.name)
}

/// The built-in agent of this name; `build` is an alias of `code`.
pub fn agent(name: &str) -> Option<Agent> {
    Agents::with(Vec::new()).ok()?.get(name).cloned()
}

impl BuiltIn {
    /// The agent as its files say; what every read-only agent shares comes later.
    pub(crate) fn agent(&self) -> Agent {
        Agent {
            name: self.name.to_owned(),
            description: self.description.to_owned(),
            prompt: self.prompt.trim_end().to_owned(),
            mode: self.mode,
            is_hidden: false,
            is_readonly: self.is_readonly,
            model: None,
            temperature: None,
            steps: None,
            rules: built_in_rules(self.text, self.label, "permission", None),
            configured: Vec::new(),
            hard: built_in_rules(self.text, self.label, "hard", None),
        }
    }
}

/// What makes an agent read-only, whatever else its rules say: it edits nothing, and what it runs stays
/// inside walls that have no place to write.
pub(crate) fn closed_to_readonly() -> [Rule; 2] {
    ["edit", "sandbox_escape"].map(|permission| {
        let origin = Origin::named("a read-only agent");
        Rule::new(permission, Pattern::wildcard("*"), Action::Deny, origin)
    })
}

/// Reads one rule list of a built-in file. The tests read every list of every
/// file, so there are no faults; if there were, nothing would be allowed.
pub(crate) fn built_in_rules(text: &str, label: &str, key: &str, home: Option<&str>) -> Vec<Rule> {
    written::read_rules(text, label, &[key], home).unwrap_or_else(|_| {
        let origin = Origin::named(label);
        vec![Rule::new("*", Pattern::wildcard("*"), Action::Deny, origin)]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_file_reads_without_a_fault_and_needs_no_home() {
        for it in BUILT_INS {
            for key in ["permission", "hard"] {
                let rules = written::read_rules(it.text, it.label, &[key], None);
                assert!(rules.is_ok(), "{}: {rules:?}", it.label);
            }
            for home in ["~", "$HOME"] {
                assert!(!it.text.contains(home), "{}", it.label);
            }
        }
    }

    #[test]
    fn only_read_only_agents_have_hard_rules() {
        for it in BUILT_INS {
            assert_eq!(it.agent().hard.is_empty(), !it.is_readonly, "{}", it.name);
        }
    }

    #[test]
    fn a_built_in_file_that_does_not_read_allows_nothing() {
        let rules = built_in_rules(
            r#"{"permission": {"read": "alow"}}"#,
            "x",
            "permission",
            None,
        );
        assert_eq!(rules.len(), 1);
        let rule = &rules[0];
        assert_eq!(
            (rule.permission.as_str(), rule.pattern.text(), rule.action),
            ("*", "*", Action::Deny)
        );
    }
}
