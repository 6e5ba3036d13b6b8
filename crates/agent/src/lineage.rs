//! What an agent hands down to the agents it starts.
//!
//! Must not: say whether it may start one. That is for the rules about `task`, with the name for a
//! pattern; here stands what such an agent may do then.

use policy::{Action, Rule, RuleLayers};

use crate::built_in;
use crate::{Agent, AgentError, Agents, Preset, Tier, layers, strictest};

/// The agent of a session, seen from the agents it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lineage {
    depth: usize,
    is_readonly: bool,
    /// What it and every agent above it keep closed.
    hard: Vec<Rule>,
}

/// What all agents of a tree of sessions stand on; see [`layers`].
#[derive(Debug, Clone, Copy)]
pub struct Stack<'a> {
    /// The preset.
    pub preset: Preset,
    /// The tier of the machine.
    pub tier: Tier,
    /// The rules of the user's configuration, in order.
    pub user: &'a [Rule],
    /// The directory that `~` and `$HOME` stand for.
    pub home: Option<&'a str>,
}

/// An agent that another one starts.
#[derive(Debug, Clone)]
pub struct Child {
    /// The agent, read-only if the one that starts it is.
    pub agent: Agent,
    /// Its rules. Those of the project and the saved ones are the caller's to put there.
    pub layers: RuleLayers,
    /// What it hands down.
    pub lineage: Lineage,
}

impl Lineage {
    /// Of an agent that a person started, and the hard rules of its session: the agent's, managed ones,
    /// whatever else nothing lifts.
    pub fn root(agent: &Agent, hard: &[Rule]) -> Self {
        Self {
            depth: 0,
            is_readonly: agent.is_readonly,
            hard: without_holes(hard),
        }
    }

    /// How many agents stand above it.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The agent of this name, started by the one of this lineage. `session` are the rules of the
    /// session that starts it, and at most `depth_max` agents stand above any.
    ///
    /// # Errors
    /// [`AgentError::TooDeep`], and those of [`Agents::subagent`].
    pub fn child(
        &self,
        agents: &Agents,
        name: &str,
        session: &[Rule],
        stack: Stack<'_>,
        depth_max: usize,
    ) -> Result<Child, AgentError> {
        if self.depth >= depth_max {
            return Err(AgentError::TooDeep { depth_max });
        }
        let mut agent = agents.subagent(name)?.clone();
        if self.is_readonly && !agent.is_readonly {
            agent.close();
        }
        let Stack {
            preset,
            tier,
            user,
            home,
        } = stack;
        let mut layers = layers(&agent, preset, tier, user.to_vec(), home);
        let own = strictest(&agent.hard, &closed_to_child(&agent));
        layers.hard = strictest(&own, &self.hard);
        layers.session = session
            .iter()
            .filter(|it| is_handed_down(it))
            .cloned()
            .collect();
        let lineage = Self {
            depth: self.depth + 1,
            is_readonly: agent.is_readonly,
            hard: strictest(&without_holes(&agent.hard), &self.hard),
        };
        Ok(Child {
            agent,
            layers,
            lineage,
        })
    }
}

/// Hard rules without what they leave open by a pattern: a hole is of the agent that has it. A
/// permission that is left open whole stays so.
fn without_holes(hard: &[Rule]) -> Vec<Rule> {
    let is_hole = |rule: &&Rule| rule.action == Action::Allow && !rule.pattern.is_catch_all();
    hard.iter().filter(|rule| !is_hole(rule)).cloned().collect()
}

/// What a child may not do because it is one. As hard rules, so that no broad rule of the user opens it;
/// what its own rules grant is left open as far as they grant it.
fn closed_to_child(agent: &Agent) -> Vec<Rule> {
    let (never, unless_granted) = built_in::child();
    let own = || agent.rules.iter().chain(&agent.configured);
    let mut hard = never;
    for closed in unless_granted {
        let names_it = |rule: &&Rule| rule.permission == closed.permission;
        let left_open = own().filter(names_it).cloned().map(|mut rule| {
            if rule.action == Action::Ask {
                rule.action = Action::Allow;
            }
            rule
        });
        let left_open: Vec<Rule> = left_open.collect();
        hard.push(closed);
        hard.extend(left_open);
    }
    hard
}

/// Whether a rule of a session holds in the sessions below too.
fn is_handed_down(rule: &Rule) -> bool {
    let names_outside = rule.permission.split('.').next() == Some("external_directory");
    rule.action == Action::Deny || names_outside
}
