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
//! 4. what stays **closed** to an agent that hands its work to others;
//! 5. what the user's configuration says for this **one agent**.
//!
//! For a read-only agent the user's broad allows and asks stand above 2 instead: they
//! were written for agents that work, and only a rule that names what it opens
//! reaches one that must not. The commands that only look, which such an agent
//! may run, are judged as they are for everybody by 1 and those broad rules.
//!
//! The hard layer holds what a read-only agent keeps closed; no rule of the user,
//! no saved or session rule and no answer lifts that, and the tools it closes whole
//! are not even offered. The project layer is left empty: the rules of a repository
//! are the caller's to put there.
//!
//! # Agents that agents start
//! A [`Lineage`] carries down what no agent below may leave: the hard rules of all
//! agents above, without their holes, and that a child of a read-only agent is
//! read-only. Denials and outside directories of the parent's session go to the
//! child's. What the parent's own rules deny stays with the parent: one that hands
//! out its work may close to itself what others shall do.

#![forbid(clippy::disallowed_methods, clippy::disallowed_types)]
#![forbid(clippy::print_stdout, clippy::print_stderr)]
#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod agents;
mod built_in;
mod error;
mod lineage;
mod preset;
mod strictest;

use policy::{Action, Rule, RuleLayers};

pub use agents::{Agent, AgentSettings, Agents, Delegate, Mode, UnknownMode};
pub use built_in::{agent, names};
pub use error::AgentError;
pub use lineage::{Child, Lineage, Stack};
pub use preset::{Preset, Tier, UnknownPreset};
pub use strictest::strictest;

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
    let (above, below) = if agent.is_readonly {
        without_broad(user)
    } else {
        (Vec::new(), user)
    };
    let mut base = preset.rules(tier, home);
    base.extend(above);
    let everybody = base.len();
    for rule in &agent.rules {
        let everybody = base.get(..everybody).unwrap_or_default();
        let left = as_for_everybody(rule, everybody);
        let own = || vec![preset.tighten(rule.clone())];
        base.extend(left.unwrap_or_else(own));
    }
    base.extend(below);
    base.extend(agent.closed.iter().cloned());
    base.extend(agent.configured.iter().cloned());
    RuleLayers {
        base,
        hard: agent.hard.clone(),
        ..RuleLayers::default()
    }
}

/// What the rules for everybody say of what an agent leaves open by a narrower name, if it does: having
/// closed the permission whole, it opens no more of it than others may do.
fn as_for_everybody(rule: &Rule, everybody: &[Rule]) -> Option<Vec<Rule>> {
    let (whole, _) = rule.permission.split_once('.')?;
    if rule.action != Action::Allow || !rule.pattern.is_catch_all() {
        return None;
    }
    let is_about = |it: &&Rule| it.is_about(&rule.permission) || it.is_about(whole);
    let said: Vec<&Rule> = everybody.iter().filter(is_about).collect();
    let last_of_all = said.iter().rposition(|it| it.pattern.is_catch_all());
    let said = said.into_iter().skip(last_of_all.unwrap_or(0));
    let narrowed = said.map(|it| Rule {
        permission: rule.permission.clone(),
        ..it.clone()
    });
    Some(narrowed.collect())
}

/// What a read-only agent's own rules overrule, and the rest. Both keep their order.
fn without_broad(user: Vec<Rule>) -> (Vec<Rule>, Vec<Rule>) {
    let mut parts = (Vec::new(), Vec::new());
    let mut asked: Vec<String> = Vec::new();
    for rule in user.into_iter().rev() {
        // An allow that a later ask of the whole permission overrules goes where the ask goes, or the
        // ask would not reach it any more.
        let is_asked = asked
            .iter()
            .any(|it| policy::wildcard(it, &rule.permission));
        let is_overruled = rule.action == Action::Allow && is_asked;
        if rule.action == Action::Ask && rule.pattern.is_catch_all() {
            asked.push(rule.permission.clone());
        }
        let is_above = is_overruled || is_broad(&rule);
        let part = if is_above { &mut parts.0 } else { &mut parts.1 };
        part.push(rule);
    }
    parts.0.reverse();
    parts.1.reverse();
    parts
}

/// Whether a rule allows or asks without naming what: any permission, or a permission whole.
fn is_broad(rule: &Rule) -> bool {
    let names_nothing = rule.permission.contains(['*', '?']) || rule.pattern.is_catch_all();
    rule.action != Action::Deny && names_nothing
}
