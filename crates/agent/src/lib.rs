//! Built-in agents and presets as data, and how their rules stack.
//!
//! Must not decide anything, read a file or know a session: it hands rules to
//! `policy` and says in which order they stand.
//!
//! # The order, and why
//! The last rule that matches wins, so what stands lower is stronger. [`layers`]
//! puts into the base layer:
//!
//! 1. the **preset** of the tier: what holds for everybody;
//! 2. the **agent's** rules: below the preset, so that no preset undoes an agent.
//!    Under `unattended` their asks are denials too, as everything that would be
//!    asked is: an agent never brings a question back;
//! 3. the **user's** rules: the person has the last word over preset and agent;
//! 4. a read-only agent's **denials** once more: so that the tools they close are
//!    not even offered, whatever the user opens for other agents.
//!
//! The same denials are the hard layer, which no saved or session rule and no
//! answer lifts. Denials repeated at the end can only narrow, so 4 undoes
//! nothing a user has denied. They are lifted out of their order, so a read-only
//! agent must not deny broadly and then allow narrowly.

#![forbid(clippy::disallowed_methods, clippy::disallowed_types)]
#![forbid(clippy::print_stdout, clippy::print_stderr)]
#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod preset;

use policy::{Action, Origin, Pattern, Rule, RuleLayers, written};

pub use preset::{Preset, Tier, UnknownPreset};

/// Who acts: a prompt, and rules of its own.
#[derive(Debug, Clone)]
pub struct Agent {
    /// The name people choose it by.
    pub name: String,
    /// What it is for, in one line.
    pub description: String,
    /// The system prompt.
    pub prompt: String,
    /// Whether nothing may lift its denials and its children get no place to write.
    pub is_readonly: bool,
    /// Its own rules, in the order of its file.
    pub rules: Vec<Rule>,
}

struct BuiltIn {
    name: &'static str,
    alias: Option<&'static str>,
    description: &'static str,
    prompt: &'static str,
    is_readonly: bool,
    label: &'static str,
    text: &'static str,
}

const BUILT_INS: [BuiltIn; 2] = [
    BuiltIn {
        name: "code",
        alias: Some("build"),
        description: "does the work: reads, edits and runs what the rules allow",
        prompt: include_str!("../data/agents/code.md"),
        is_readonly: false,
        label: "built-in agents/code.jsonc",
        text: include_str!("../data/agents/code.jsonc"),
    },
    BuiltIn {
        name: "plan",
        alias: None,
        description: "reads and makes a plan; changes nothing",
        prompt: include_str!("../data/agents/plan.md"),
        is_readonly: true,
        label: "built-in agents/plan.jsonc",
        text: include_str!("../data/agents/plan.jsonc"),
    },
];

/// The built-in agents' names, without aliases, the default one first.
pub fn names() -> impl Iterator<Item = &'static str> {
    BUILT_INS.iter().map(|built_in| built_in.name)
}

/// The built-in agent of this name; `build` is an alias of `code`.
pub fn agent(name: &str) -> Option<Agent> {
    let found = (BUILT_INS.iter()).find(|it| it.name == name || it.alias == Some(name))?;
    Some(Agent {
        name: found.name.to_owned(),
        description: found.description.to_owned(),
        prompt: found.prompt.trim_end().to_owned(),
        is_readonly: found.is_readonly,
        rules: built_in_rules(found.text, found.label, "permission", None),
    })
}

/// Stacks the rules of one agent, as the module's documentation says.
///
/// `user` are the rules of the user's configuration in file order, `home` the
/// directory that `~` and `$HOME` stand for in presets.
pub fn layers(
    agent: &Agent,
    preset: Preset,
    tier: Tier,
    user: Vec<Rule>,
    home: Option<&str>,
) -> RuleLayers {
    let hard: Vec<Rule> = (agent.rules.iter())
        .filter(|rule| agent.is_readonly && rule.action == Action::Deny)
        .cloned()
        .collect();
    let mut base = preset.rules(tier, home);
    base.extend((agent.rules.iter().cloned()).map(|rule| preset.tighten(rule)));
    base.extend(user);
    base.extend(hard.iter().cloned());
    RuleLayers {
        base,
        hard,
        ..RuleLayers::default()
    }
}

/// Reads one rule list of a built-in file. The tests read every list of every
/// file, so there are no faults; if there were, nothing would be allowed.
fn built_in_rules(text: &str, label: &str, key: &str, home: Option<&str>) -> Vec<Rule> {
    written::read_rules(text, label, &[key], home).unwrap_or_else(|_| {
        let origin = Origin {
            source: label.into(),
            line: 0,
            column: 0,
        };
        vec![Rule::new("*", Pattern::wildcard("*"), Action::Deny, origin)]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_file_reads_without_a_fault_and_needs_no_home() {
        for it in BUILT_INS {
            let rules = written::read_rules(it.text, it.label, &["permission"], None);
            assert!(rules.is_ok(), "{}: {rules:?}", it.label);
            for home in ["~", "$HOME"] {
                assert!(!it.text.contains(home), "{}", it.label);
            }
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
