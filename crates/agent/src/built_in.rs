//! The agents that are there without any configuration.
//! Must not hold a rule in code that could stand in a data file.

use policy::{Action, Origin, Pattern, Rule, written};

use crate::{Agent, Agents, Mode};

pub(crate) struct BuiltIn {
    name: &'static str,
    description: &'static str,
    prompt: &'static str,
    kind: Kind,
    label: &'static str,
    text: &'static str,
}

/// Who starts a built-in agent, and what for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A person, to work.
    Works,
    /// A person, to look.
    Looks,
    /// An agent, to work.
    WorksForAgents,
    /// An agent, to look.
    LooksForAgents,
    /// Nobody: it is ours.
    System,
}

macro_rules! built_in {
    ($name:literal, $kind:expr, $description:literal) => {
        BuiltIn {
            name: $name,
            description: $description,
            prompt: include_str!(concat!("../data/agents/", $name, ".md")),
            kind: $kind,
            label: concat!("built-in agents/", $name, ".jsonc"),
            text: include_str!(concat!("../data/agents/", $name, ".jsonc")),
        }
    };
}

pub(crate) const BUILT_INS: [BuiltIn; 11] = [
    built_in!(
        "code",
        Kind::Works,
        "does the work: reads, edits and runs what the rules allow"
    ),
    built_in!(
        "plan",
        Kind::Looks,
        "reads and makes a plan; changes nothing but plans"
    ),
    built_in!(
        "ask",
        Kind::Looks,
        "answers questions about the code; changes nothing"
    ),
    built_in!(
        "debug",
        Kind::Works,
        "finds out why something goes wrong, and mends it"
    ),
    built_in!(
        "orchestrator",
        Kind::Works,
        "splits work and hands it to other agents; does none itself"
    ),
    built_in!(
        "general",
        Kind::WorksForAgents,
        "does a piece of work for another agent"
    ),
    built_in!(
        "explore",
        Kind::LooksForAgents,
        "finds something out for another agent; changes nothing"
    ),
    built_in!(
        "scout",
        Kind::LooksForAgents,
        "finds something out beyond the workspace for another agent; changes nothing"
    ),
    built_in!(
        "compaction",
        Kind::System,
        "makes a long conversation short"
    ),
    built_in!("title", Kind::System, "gives a conversation its title"),
    built_in!("summary", Kind::System, "sums up what was done"),
];

/// Comes with a configuration that names it.
const ARCHITECT: BuiltIn = built_in!(
    "architect",
    Kind::Looks,
    "designs; writes nothing but Markdown that was opened to it"
);

/// What every read-only agent shares.
const READONLY: (&str, &str) = (
    "built-in agents/readonly.jsonc",
    include_str!("../data/agents/readonly.jsonc"),
);

/// What is closed to an agent that another one started.
const CHILD: (&str, &str) = (
    "built-in agents/child.jsonc",
    include_str!("../data/agents/child.jsonc"),
);

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

/// The profile that a configuration brings by naming this agent, if there is one.
pub(crate) fn imported(name: &str) -> Option<Agent> {
    (ARCHITECT.name == name).then(|| ARCHITECT.agent())
}

impl BuiltIn {
    /// The agent as its files say; what every read-only agent shares comes later.
    pub(crate) fn agent(&self) -> Agent {
        let list = |key| built_in_rules(self.text, self.label, key, None);
        let mode = match self.kind {
            Kind::Works | Kind::Looks | Kind::System => Mode::Primary,
            Kind::WorksForAgents | Kind::LooksForAgents => Mode::Subagent,
        };
        let is_system = self.kind == Kind::System;
        Agent {
            name: self.name.to_owned(),
            description: self.description.to_owned(),
            prompt: self.prompt.trim_end().to_owned(),
            mode,
            is_hidden: is_system,
            is_readonly: !matches!(self.kind, Kind::Works | Kind::WorksForAgents),
            is_system,
            model: None,
            temperature: None,
            steps: None,
            rules: list("permission"),
            closed: list("closed"),
            configured: Vec::new(),
            hard: list("hard"),
        }
    }
}

/// The rules that stand before those of a read-only agent, and the hard ones that do.
pub(crate) fn readonly() -> (Vec<Rule>, Vec<Rule>) {
    let (label, text) = READONLY;
    let list = |key| built_in_rules(text, label, key, None);
    (list("permission"), list("hard"))
}

/// What no agent that another one started may do, and what it may do if its own rules grant it.
pub(crate) fn child() -> (Vec<Rule>, Vec<Rule>) {
    let (label, text) = CHILD;
    let list = |key| built_in_rules(text, label, key, None);
    (list("never"), list("unless_granted"))
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
    fn every_list_of_every_file_reads_without_a_fault_and_needs_no_home() {
        let agents = BUILT_INS.iter().chain([&ARCHITECT]);
        let files = agents.map(|it| (it.label, it.text));
        for (label, text) in files.chain([READONLY, CHILD]) {
            for key in ["permission", "closed", "hard", "never", "unless_granted"] {
                let rules = written::read_rules(text, label, &[key], None);
                assert!(rules.is_ok(), "{label}: {rules:?}");
            }
            assert!(!text.contains('~') && !text.contains("$HOME"), "{label}");
        }
        for shared in [readonly(), child()] {
            assert!(!shared.0.is_empty() && !shared.1.is_empty());
        }
    }

    #[test]
    fn only_read_only_agents_have_hard_rules() {
        for it in BUILT_INS.iter().chain([&ARCHITECT]) {
            let agent = it.agent();
            assert_eq!(agent.hard.is_empty(), !agent.is_readonly, "{}", it.name);
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
