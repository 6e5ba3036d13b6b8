//! What the built-in agents and presets come to, asked through `policy`.
//! Must not look at the data files themselves.
#![expect(clippy::unwrap_used, reason = "a test may stop where it stands")]

mod agents;
mod layers;
mod lineage;
mod presets;
mod strictest;

use std::sync::Arc;

use policy::{Action, Origin, Pattern, Rule, RuleBook, RuleLayers, Subject, decide};
use tollgate_agent as agent;

use agent::{Preset, Tier};

fn rule(permission: &str, pattern: &str, action: Action) -> Rule {
    let origin = Origin {
        source: "test".into(),
        line: 0,
        column: 0,
    };
    Rule::new(permission, Pattern::wildcard(pattern), action, origin)
}

/// The layers of a built-in agent.
fn layers(name: &str, preset: Preset, tier: Tier, user: Vec<Rule>) -> RuleLayers {
    agent::layers(
        &agent::agent(name).unwrap(),
        preset,
        tier,
        user,
        Some("/home/u"),
    )
}

/// The action for one path, inside the workspace unless it is absolute.
fn path(layers: &RuleLayers, permission: &str, path: &str) -> Action {
    let absolute = match path.strip_prefix('/') {
        Some(_) => path.to_owned(),
        None => format!("/w/{path}"),
    };
    ask(layers, Subject::path(permission, path, absolute, vec![]))
}

/// The action for one literal command.
fn bash(layers: &RuleLayers, text: &str) -> Action {
    ask(layers, Subject::command("bash", text, text, vec![]))
}

/// The action for one literal command of a class: `bash.readonly` is proven to look and change nothing.
fn classed(layers: &RuleLayers, class: &'static str, text: &str) -> Action {
    let mut subject = Subject::command("bash", text, text, vec![]);
    subject.narrower = Some(class);
    ask(layers, subject)
}

/// The action for one literal command that is proven to look and change nothing.
fn looks(layers: &RuleLayers, text: &str) -> Action {
    classed(layers, "bash.readonly", text)
}

/// The action for a bare name.
fn name(layers: &RuleLayers, permission: &str) -> Action {
    ask(layers, Subject::name(permission, "*"))
}

fn ask(layers: &RuleLayers, subject: Subject) -> Action {
    let book = RuleBook::new(layers.clone());
    decide(&book.current(), &Arc::from([subject]), None).action()
}
