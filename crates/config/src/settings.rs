//! What configuration files say, as values; and how one file's words follow another's.
//! Must not read a file or a value.

use std::{fmt, mem};

use agent::{AgentSettings, Delegate, Preset};
use policy::{Action, Rule};

use crate::error::visible;
use crate::text::{Reference, Secret, Text, Unresolved};

/// What one configuration file says, or several one after another.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The rules of `permission` (the older `tools` in front of them, the newer `permissions` behind), in
    /// file order.
    pub rules: Vec<Rule>,
    /// The entries of `agent` (the older `mode` in front of them, the newer `agents` behind), in file order.
    pub agents: Vec<AgentEntry>,
    /// The providers of language models, each once.
    pub providers: Vec<Provider>,
    /// The key `model`: `NAME/MODEL`.
    pub model: Option<Text>,
    /// The key `default_agent`.
    pub default_agent: Option<Text>,
    /// The key `instructions`: files for the system prompt, from all files.
    pub instructions: Vec<Text>,
    /// The key `sandbox`.
    pub sandbox: Sandbox,
    /// The key `preset`, if given.
    pub preset: Option<Preset>,
    /// The key `tool_output`, if given.
    pub tool_output: Option<ToolOutput>,
    /// The key `require_approval_for_config_edits`, if given; never from a repository.
    pub require_approval_for_config_edits: Option<bool>,
    /// What is suspicious but does not stop anything, in file order.
    pub warnings: Vec<ConfigWarning>,
    /// Keys of the compatible systems that have no effect here, in file order.
    pub unused: Vec<Unused>,
}

/// What a file says about one agent.
#[derive(Debug, Clone, Default)]
pub struct AgentEntry {
    /// All but the three below.
    pub settings: AgentSettings,
    /// What it is for.
    pub description: Option<Text>,
    /// Its system prompt.
    pub prompt: Option<Text>,
    /// Its model, as `NAME/MODEL`.
    pub model: Option<Text>,
}

/// A provider of language models.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Provider {
    /// The name before the slash of a model's.
    pub name: String,
    /// Where it answers.
    pub base_url: Option<Text>,
    /// What it knows its customer by.
    pub api_key: Option<Secret>,
    /// Headers of every request; what they hold may be a secret too.
    pub headers: Vec<(String, Secret)>,
    /// How long one request may take.
    pub timeout: Option<Timeout>,
    /// Its models, as far as anything is said about them.
    pub models: Vec<Model>,
}

/// How long a request may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timeout {
    /// Milliseconds, at least 1.
    Ms(u64),
    /// For ever: the value `false`.
    Never,
}

/// A language model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Model {
    /// The name behind the slash.
    pub name: String,
    /// The name its provider knows it by, if another one.
    pub id: Option<Text>,
    /// The most tokens of request and answer together.
    pub context_tokens_max: Option<usize>,
    /// The most tokens of an answer.
    pub output_tokens_max: Option<usize>,
}

/// The walls that were asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sandbox {
    /// Whether there are any.
    pub is_enabled: Option<bool>,
    /// Whether the network is reachable.
    pub network: Option<Network>,
    /// Further folders that may be written to.
    pub writable_paths: Option<Vec<Text>>,
    /// Hosts that may be reached.
    pub allowed_hosts: Option<Vec<Text>>,
    /// Named openings for kinds of work; never from a repository.
    pub bundles: Option<Vec<Text>>,
    /// Whether git in commands runs hooks; never from a repository.
    pub has_git_hooks: Option<bool>,
}

/// Whether the network is reachable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// It is.
    Allow,
    /// It is not.
    Deny,
}

/// How much of a tool's output the model gets to see.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolOutput {
    /// The most lines, at least 1.
    pub max_lines: Option<usize>,
    /// The most bytes, at least 1.
    pub max_bytes: Option<usize>,
}

/// Something a person should know about their configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigWarning {
    /// The file as it was named, or the folder.
    pub source: String,
    /// The line, from 1; 0 when there is no place.
    pub line: u32,
    /// The column in characters, from 1; 0 when there is no place.
    pub column: u32,
    /// What is suspicious.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// A key of the compatible systems that has no effect here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unused {
    /// The file as it was named.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The key, with those it stands in: `agent.plan.color`.
    pub key: String,
}

impl Config {
    /// Takes over what a later file says. Its rules and agents come behind those that are there, so
    /// none of them moves; where both name one thing, the later word holds.
    pub(crate) fn follow(&mut self, later: Self) {
        let Self {
            rules,
            agents,
            providers,
            model,
            default_agent,
            instructions,
            sandbox,
            preset,
            tool_output,
            require_approval_for_config_edits,
            warnings,
            unused,
        } = later;
        self.rules.extend(rules);
        self.agents.extend(agents);
        for provider in providers {
            let name = provider.name.clone();
            match self.providers.iter_mut().find(|known| known.name == name) {
                Some(known) => known.follow(provider),
                None => self.providers.push(provider),
            }
        }
        replace(&mut self.model, model);
        replace(&mut self.default_agent, default_agent);
        for file in instructions {
            if !self.instructions.iter().any(|known| known.is_same(&file)) {
                self.instructions.push(file);
            }
        }
        replace(&mut self.sandbox.is_enabled, sandbox.is_enabled);
        replace(&mut self.sandbox.network, sandbox.network);
        replace(&mut self.sandbox.writable_paths, sandbox.writable_paths);
        replace(&mut self.sandbox.allowed_hosts, sandbox.allowed_hosts);
        replace(&mut self.sandbox.bundles, sandbox.bundles);
        replace(&mut self.sandbox.has_git_hooks, sandbox.has_git_hooks);
        replace(&mut self.preset, preset);
        if let Some(later) = tool_output {
            let limits = self.tool_output.get_or_insert_default();
            replace(&mut limits.max_lines, later.max_lines);
            replace(&mut limits.max_bytes, later.max_bytes);
        }
        replace(
            &mut self.require_approval_for_config_edits,
            require_approval_for_config_edits,
        );
        self.warnings.extend(warnings);
        self.unused.extend(unused);
    }

    /// Leaves of what whoever administers the machine says only what tightens. Returns the rules for
    /// everybody, whose allows may still take back what stands above them.
    pub(crate) fn only_tighten(&mut self) -> Vec<Rule> {
        for entry in &mut self.agents {
            let AgentSettings {
                rules, delegate, ..
            } = &mut entry.settings;
            rules.retain(|rule| rule.action != Action::Allow);
            // It allows what it names.
            if let Some(Delegate { origin, .. }) = delegate.take() {
                self.warnings.push(ConfigWarning {
                    source: visible(&origin.source),
                    line: origin.line,
                    column: origin.column,
                    message: "`delegate` has no effect in a managed file, which opens nothing"
                        .to_owned(),
                    help: Some("deny `task` in the agent's `permission`".to_owned()),
                });
            }
        }
        mem::take(&mut self.rules)
    }

    /// What the entries of `agent` say, with references replaced, for [`agent::Agents::with`].
    ///
    /// # Errors
    /// [`Unresolved`] for the first reference that stands for nothing.
    pub fn agent_settings(
        &self,
        look_up: &dyn Fn(&Reference) -> Option<String>,
    ) -> Result<Vec<AgentSettings>, Unresolved> {
        let resolve = |entry: &AgentEntry| {
            let resolve =
                |text: &Option<Text>| text.as_ref().map(|text| text.resolve(look_up)).transpose();
            Ok(AgentSettings {
                description: resolve(&entry.description)?,
                prompt: resolve(&entry.prompt)?,
                model: resolve(&entry.model)?,
                ..entry.settings.clone()
            })
        };
        self.agents.iter().map(resolve).collect()
    }
}

impl Provider {
    fn follow(&mut self, later: Self) {
        replace(&mut self.base_url, later.base_url);
        replace(&mut self.api_key, later.api_key);
        replace(&mut self.timeout, later.timeout);
        for (name, value) in later.headers {
            self.headers
                .retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
            self.headers.push((name, value));
        }
        for model in later.models {
            match self
                .models
                .iter_mut()
                .find(|known| known.name == model.name)
            {
                Some(known) => known.follow(model),
                None => self.models.push(model),
            }
        }
    }
}

impl Model {
    fn follow(&mut self, later: Self) {
        replace(&mut self.id, later.id);
        replace(&mut self.context_tokens_max, later.context_tokens_max);
        replace(&mut self.output_tokens_max, later.output_tokens_max);
    }
}

/// The later word holds, if there is one.
fn replace<T>(known: &mut Option<T>, later: Option<T>) {
    if later.is_some() {
        *known = later;
    }
}

impl fmt::Display for ConfigWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            source,
            line,
            column,
            message,
            help,
        } = self;
        match line {
            0 => write!(f, "{source}: {message}")?,
            line => write!(f, "{source}:{line}:{column}: {message}")?,
        }
        match help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}
