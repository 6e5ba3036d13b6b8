//! The agents of one configuration: the built-in ones, changed and joined by the user's.
//! Must not read a configuration: it is handed what one says.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use policy::{Action, Origin, Pattern, Rule};

use crate::AgentError;
use crate::built_in::{self, BUILT_INS, BuiltIn, our_name};

/// Who acts: a prompt, and rules of its own.
#[derive(Debug, Clone)]
pub struct Agent {
    /// The name people choose it by.
    pub name: String,
    /// What it is for, in one line; empty if nobody said.
    pub description: String,
    /// The system prompt; empty if nobody wrote one.
    pub prompt: String,
    /// Who may start it.
    pub mode: Mode,
    /// Whether lists leave it out.
    pub is_hidden: bool,
    /// Whether nothing may lift its denials and its children get no place to write.
    pub is_readonly: bool,
    /// Whether it is ours: nobody starts it by name, and no configuration opens it.
    pub is_system: bool,
    /// The model it wants, as `NAME/MODEL`.
    pub model: Option<String>,
    /// The temperature it wants.
    pub temperature: Option<f64>,
    /// The most requests to the model in one turn.
    pub steps: Option<usize>,
    /// The rules it was built with, in the order of its file.
    pub rules: Vec<Rule>,
    /// What the user's rules for everybody do not open to it, in the order of its file.
    pub closed: Vec<Rule>,
    /// The rules that the user's configuration has for it.
    pub configured: Vec<Rule>,
    /// What stays closed whoever opens it, in order; an allow here opens nothing. Empty unless read-only.
    pub hard: Vec<Rule>,
}

/// Who may start an agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// A person.
    Primary,
    /// Another agent.
    Subagent,
    /// Both.
    #[default]
    All,
}

/// A word that names no mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownMode(
    /// The word as it was written.
    pub String,
);

/// What one configuration file says about one agent; what is `None` it leaves as it is.
#[derive(Debug, Clone, Default)]
pub struct AgentSettings {
    /// The agent, built-in or new.
    pub name: String,
    /// See [`Agent::description`].
    pub description: Option<String>,
    /// See [`Agent::prompt`].
    pub prompt: Option<String>,
    /// See [`Agent::mode`].
    pub mode: Option<Mode>,
    /// See [`Agent::is_hidden`].
    pub is_hidden: Option<bool>,
    /// Whether there is no such agent.
    pub is_disabled: Option<bool>,
    /// See [`Agent::is_readonly`].
    pub is_readonly: Option<bool>,
    /// See [`Agent::model`].
    pub model: Option<String>,
    /// See [`Agent::temperature`].
    pub temperature: Option<f64>,
    /// See [`Agent::steps`].
    pub steps: Option<usize>,
    /// Its rules, in order.
    pub rules: Vec<Rule>,
    /// The agents it may start; they stand behind its rules.
    pub delegate: Option<Delegate>,
}

/// Which agents one may start, by name or wildcard, and no others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delegate {
    /// The names.
    pub to: Vec<String>,
    /// Where they were written.
    pub origin: Origin,
}

/// The agents there are.
#[derive(Debug, Clone)]
pub struct Agents(Vec<Agent>);

impl Agents {
    /// The built-in agents, changed by these settings one after another: what one says replaces what
    /// stood before, its rules come behind those that stood before. A name that is not there yet is a
    /// new agent that anybody may start; `architect` is one with a profile.
    ///
    /// # Errors
    /// [`AgentError::StaysReadonly`], [`AgentError::OpensSystem`].
    pub fn with(settings: Vec<AgentSettings>) -> Result<Self, AgentError> {
        let mut all: Vec<Agent> = BUILT_INS.iter().map(BuiltIn::agent).collect();
        let mut disabled = BTreeSet::new();
        for setting in settings {
            let name = our_name(&setting.name).to_owned();
            match setting.is_disabled {
                Some(true) => _ = disabled.insert(name.clone()),
                Some(false) => _ = disabled.remove(&name),
                None => {}
            }
            if let Some(agent) = all.iter_mut().find(|agent| agent.name == name) {
                agent.change(setting)?;
                continue;
            }
            let mut agent = built_in::imported(&name).unwrap_or_else(|| Agent::new(name));
            agent.change(setting)?;
            all.push(agent);
        }
        all.retain(|agent| !disabled.contains(&agent.name));
        for agent in all.iter_mut().filter(|agent| agent.is_readonly) {
            agent.close();
        }
        Ok(Self(all))
    }

    /// All agents: the built-in ones, then the others in the order they were written in.
    pub fn iter(&self) -> impl Iterator<Item = &Agent> {
        self.0.iter()
    }

    /// The agent of this name, whoever may start it; `build` is `code`.
    pub fn get(&self, name: &str) -> Option<&Agent> {
        self.0.iter().find(|agent| agent.name == our_name(name))
    }

    /// The agent of this name for a person to start.
    ///
    /// # Errors
    /// [`AgentError::Unknown`], [`AgentError::System`], [`AgentError::Subagent`].
    pub fn primary(&self, name: &str) -> Result<&Agent, AgentError> {
        let known = || self.startable().map(|agent| agent.name.clone()).collect();
        let owned = name.to_owned();
        match self.get(name) {
            None => Err(AgentError::Unknown {
                name: owned,
                known: known(),
            }),
            Some(agent) if agent.is_system => Err(AgentError::System { name: owned }),
            Some(agent) if agent.mode == Mode::Subagent => Err(AgentError::Subagent {
                name: owned,
                known: known(),
            }),
            Some(agent) => Ok(agent),
        }
    }

    /// The agent of this name for another agent to start. Whether that one may is for the rules about
    /// `task` to say.
    ///
    /// # Errors
    /// [`AgentError::Unknown`], [`AgentError::System`], [`AgentError::NotForAgents`].
    pub fn subagent(&self, name: &str) -> Result<&Agent, AgentError> {
        let is_for_agents = |agent: &&Agent| agent.mode != Mode::Primary;
        let shown = self.0.iter().filter(|agent| !agent.is_hidden);
        let known = || {
            let known = shown.filter(is_for_agents);
            known.map(|agent| agent.name.clone()).collect()
        };
        let owned = name.to_owned();
        match self.get(name) {
            None => Err(AgentError::Unknown {
                name: owned,
                known: known(),
            }),
            Some(agent) if agent.is_system => Err(AgentError::System { name: owned }),
            Some(agent) if agent.mode == Mode::Primary => Err(AgentError::NotForAgents {
                name: owned,
                known: known(),
            }),
            Some(agent) => Ok(agent),
        }
    }

    /// The agent to start when nobody names one: what the key `default_agent` says, else `code`, else
    /// the first that a person may start and that is not hidden.
    ///
    /// # Errors
    /// As [`Self::primary`], [`AgentError::Hidden`] and [`AgentError::NoneLeft`].
    pub fn default_agent(&self, key: Option<&str>) -> Result<&Agent, AgentError> {
        let Some(name) = key else {
            let code = self.startable().find(|agent| agent.name == "code");
            let first = code.or_else(|| self.startable().next());
            return first.ok_or(AgentError::NoneLeft);
        };
        let agent = self.primary(name)?;
        if agent.is_hidden {
            return Err(AgentError::Hidden {
                name: name.to_owned(),
            });
        }
        Ok(agent)
    }

    fn startable(&self) -> impl Iterator<Item = &Agent> {
        let is_startable =
            |agent: &&Agent| agent.mode != Mode::Subagent && !agent.is_hidden && !agent.is_system;
        self.0.iter().filter(is_startable)
    }
}

impl Agent {
    fn new(name: String) -> Self {
        Self {
            name,
            description: String::new(),
            prompt: String::new(),
            mode: Mode::All,
            is_hidden: false,
            is_readonly: false,
            is_system: false,
            model: None,
            temperature: None,
            steps: None,
            rules: Vec::new(),
            closed: Vec::new(),
            configured: Vec::new(),
            hard: Vec::new(),
        }
    }

    /// Makes it read-only, once. What all such agents share stands before what is its own, so that a
    /// list of its own may leave a hole; only ours have one.
    pub(crate) fn close(&mut self) {
        let (rules, hard) = built_in::readonly();
        self.is_readonly = true;
        self.rules.splice(0..0, rules);
        self.hard.splice(0..0, hard);
    }

    /// Takes over what a file says. Its rules are no hard ones and need not be: nothing stands behind
    /// them in the base layer, and nothing lifts a deny of that.
    fn change(&mut self, setting: AgentSettings) -> Result<(), AgentError> {
        let is_built_readonly = !self.hard.is_empty();
        if is_built_readonly && setting.is_readonly == Some(false) {
            return Err(AgentError::StaysReadonly { name: setting.name });
        }
        if self.is_system
            && let Some(key) = opens(&setting)
        {
            let name = setting.name;
            return Err(AgentError::OpensSystem { name, key });
        }
        let AgentSettings {
            name: _,
            is_disabled: _,
            description,
            prompt,
            mode,
            is_hidden,
            is_readonly,
            model,
            temperature,
            steps,
            rules,
            delegate,
        } = setting;
        replace(&mut self.description, description);
        replace(&mut self.prompt, prompt);
        replace(&mut self.mode, mode);
        replace(&mut self.is_hidden, is_hidden);
        replace(&mut self.is_readonly, is_readonly);
        self.model = model.or(self.model.take());
        self.temperature = temperature.or(self.temperature);
        self.steps = steps.or(self.steps);
        self.configured.extend(rules);
        self.configured
            .extend(delegate.iter().flat_map(Delegate::rules));
        Ok(())
    }
}

impl Delegate {
    /// The same as rules about `task`.
    fn rules(&self) -> impl Iterator<Item = Rule> {
        let rule = |name: &str, action| {
            let origin = self.origin.clone();
            Rule::new("task", Pattern::wildcard(name), action, origin)
        };
        let allowed = self.to.iter().map(move |name| rule(name, Action::Allow));
        [rule("*", Action::Deny)].into_iter().chain(allowed)
    }
}

/// The key by which a setting would open an agent of ours, if one would.
fn opens(setting: &AgentSettings) -> Option<&'static str> {
    if setting.rules.iter().any(|it| it.action != Action::Deny) {
        return Some("permission");
    }
    if setting
        .delegate
        .as_ref()
        .is_some_and(|it| !it.to.is_empty())
    {
        return Some("delegate");
    }
    if setting.mode.is_some_and(|mode| mode != Mode::Primary) {
        return Some("mode");
    }
    (setting.is_hidden == Some(false)).then_some("hidden")
}

fn replace<T>(old: &mut T, new: Option<T>) {
    if let Some(new) = new {
        *old = new;
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Primary => "primary",
            Self::Subagent => "subagent",
            Self::All => "all",
        })
    }
}

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match word {
            "primary" => Ok(Self::Primary),
            "subagent" => Ok(Self::Subagent),
            "all" => Ok(Self::All),
            _ => Err(UnknownMode(word.to_owned())),
        }
    }
}

impl fmt::Display for UnknownMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(word) = self;
        write!(
            f,
            "unknown mode `{}`: it is `primary`, `subagent` or `all`",
            word.escape_debug()
        )
    }
}

impl std::error::Error for UnknownMode {}
