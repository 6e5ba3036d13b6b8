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
//! 4. what the user's configuration says for this **one agent**.
//!
//! For a read-only agent the user's broad allows stand above 2 instead: they were
//! written for agents that work, and only a rule that names what it allows
//! reaches one that must not.
//!
//! The hard layer holds what a read-only agent keeps closed; no rule of the user,
//! no saved or session rule and no answer lifts that, and the tools it closes are
//! not even offered. The project layer is left empty: the rules of a repository
//! are the caller's to put there.

#![forbid(clippy::disallowed_methods, clippy::disallowed_types)]
#![forbid(clippy::print_stdout, clippy::print_stderr)]
#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod agents;
mod built_in;
mod preset;

use policy::{Action, Rule, RuleLayers};

pub use agents::{Agent, AgentError, AgentSettings, Agents, Mode, UnknownMode};
pub use built_in::{agent, names};
pub use preset::{Preset, Tier, UnknownPreset};

/// Stacks the rules of one agent, as the module's documentation says.
///
/// `user` are the rules of the user's configuration, in order, and `home` is the
/// directory that `~` and `$HOME` stand for in presets.
pub fn layers(
    agent: &Agent,
    preset: Preset,
    tier: Tier,
    user: Vec<Rule>,
    home: Option<&str>,
) -> RuleLayers {
    let is_above = |rule: &Rule| agent.is_readonly && is_broad_allow(rule);
    let (above, below): (Vec<_>, Vec<_>) = user.into_iter().partition(is_above);
    let mut base = preset.rules(tier, home);
    base.extend(above);
    base.extend((agent.rules.iter().cloned()).map(|rule| preset.tighten(rule)));
    base.extend(below);
    base.extend(agent.configured.iter().cloned());
    RuleLayers {
        base,
        hard: agent.hard.clone(),
        ..RuleLayers::default()
    }
}

/// Whether a rule allows without naming what: any permission, or a permission whole.
fn is_broad_allow(rule: &Rule) -> bool {
    let is_broad = rule.permission.contains(['*', '?']) || rule.pattern.is_catch_all();
    rule.action == Action::Allow && is_broad
}
