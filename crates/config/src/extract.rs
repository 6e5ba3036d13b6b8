//! Takes the values of a file over. What is of the wrong kind is passed by: `check` says so.
//! Must not do IO, or follow a reference.

use agent::{AgentSettings, Delegate, Mode};
use jsonc_parser::ast::{Array, Object, ObjectProp, StringLit, Value};
use policy::{Action, Pattern, Rule, written};

use crate::known::{self, alias};
use crate::parse::{Reader, bytes, did_you_mean, kind};
use crate::text::{Text, refers};
use crate::{
    AgentEntry, AllowedHost, Config, Model, Network, Provider, Sandbox, Secret, Timeout, ToolOutput,
};

/// The key that says whether edits of configuration ask. In a repository it counts for nothing.
pub(crate) const CONFIG_EDITS: &str = "require_approval_for_config_edits";

const LISTED: &str = r#"for example {"action": "edit", "resource": "src/*", "effect": "ask"}"#;

impl Reader<'_> {
    /// What the root object says.
    pub(crate) fn config(&mut self, root: &Object<'_>) -> Config {
        let mut agents = self.agents(root, "mode");
        for entry in &mut agents {
            entry.settings.mode = Some(Mode::Primary);
        }
        agents.extend(self.agents(root, "agent"));
        agents.extend(self.agents(root, "agents"));
        Config {
            rules: self.rules(root),
            agents,
            providers: self.providers(root),
            model: self.model_name(root),
            default_agent: self.text_at(root, "default_agent"),
            instructions: self.texts(root, "instructions").unwrap_or_default(),
            sandbox: self.sandbox(root),
            require_approval_for_config_edits: flag(root, CONFIG_EDITS),
            preset: word(root, "preset").and_then(|word| word.value.parse().ok()),
            tool_output: inner(root, "tool_output").map(|limits| ToolOutput {
                max_lines: count(limits, "max_lines"),
                max_bytes: count(limits, "max_bytes"),
            }),
            ..Config::default()
        }
    }

    /// The rules of `tools`, then those of `permission`, then those of `permissions`.
    pub(crate) fn rules(&mut self, object: &Object<'_>) -> Vec<Rule> {
        let mut rules = Vec::new();
        if let Some(switches) = inner(object, "tools") {
            rules.extend(switches.properties.iter().filter_map(|it| self.switch(it)));
        }
        if let Some(value) = at(object, "permission") {
            rules.extend(self.permission(value));
        }
        if let Some(Value::Array(list)) = at(object, "permissions") {
            rules.extend(list.elements.iter().filter_map(|rule| self.listed(rule)));
        }
        rules
    }

    /// A rule of the list `permissions`.
    fn listed(&mut self, element: &Value<'_>) -> Option<Rule> {
        let Value::Object(entry) = element else {
            let message = format!(
                "a rule of `permissions` is an object, not {}",
                kind(element)
            );
            self.fault(bytes(element), &message, Some(LISTED));
            return None;
        };
        self.each_once(entry);
        for property in &entry.properties {
            if !["action", "resource", "effect"].contains(&property.name.as_str()) {
                let message = format!(
                    "a rule of `permissions` has no key `{}`",
                    property.name.as_str()
                );
                self.fault(bytes(&property.name), &message, Some(LISTED));
            }
        }
        let mut part = |key| {
            let word = word(entry, key);
            if word.is_none() {
                let message = format!("a rule of `permissions` has a string `{key}`");
                self.fault(bytes(element), &message, Some(LISTED));
            }
            word
        };
        let (name, resource, effect) = (part("action"), part("resource"), part("effect"));
        let (name, resource, effect) = (name?, resource?, effect?);
        self.permission_name(name, &name.value);
        self.no_reference(name, &name.value);
        self.no_reference(resource, &resource.value);
        let action = match effect.value.parse::<Action>() {
            Ok(action) => action,
            Err(error) => {
                self.fault(bytes(effect), &error.to_string(), Some(LISTED));
                return None;
            }
        };
        let Some(pattern) = written::at_home(&resource.value, self.place.bearings.home) else {
            let message = format!(
                "`{}` needs the home directory, which is not known",
                resource.value
            );
            self.fault(bytes(resource), &message, Some("write the directory out"));
            return None;
        };
        match Pattern::read(&pattern) {
            Ok(pattern) => {
                let origin = self.origin(bytes(element).start);
                let name = alias(&name.value).unwrap_or(&name.value);
                Some(Rule::new(name, pattern, action, origin))
            }
            Err(fault) => {
                self.fault(bytes(resource), &fault.to_string(), None);
                None
            }
        }
    }

    /// A tool that is switched on or off, as a rule.
    fn switch(&mut self, property: &ObjectProp<'_>) -> Option<Rule> {
        let Value::BooleanLit(is_on) = &property.value else {
            return None;
        };
        let action = if is_on.value {
            Action::Allow
        } else {
            Action::Deny
        };
        let name = property.name.as_str();
        // COMPAT: `patch` is an older name of `apply_patch`.
        let permission = match name {
            "patch" => "edit",
            name => alias(name).unwrap_or(policy::permission_of(name)),
        };
        if permission == name {
            self.permission_name(&property.name, name);
        }
        let origin = self.origin(bytes(&property.name).start);
        Some(Rule::new(
            permission,
            Pattern::wildcard("*"),
            action,
            origin,
        ))
    }

    /// The rules of a value of `permission`.
    pub(crate) fn permission(&mut self, value: &Value<'_>) -> Vec<Rule> {
        if let Value::Object(map) = value {
            for property in &map.properties {
                self.permission_name(&property.name, property.name.as_str());
                self.no_reference(&property.name, property.name.as_str());
                if let Value::Object(patterns) = &property.value {
                    for pattern in &patterns.properties {
                        self.no_reference(&pattern.name, pattern.name.as_str());
                    }
                }
            }
        }
        let Reader { text, place, .. } = *self;
        match written::read_rules_at(text, bytes(value), place.label, place.bearings.home) {
            Ok(mut rules) => {
                for rule in &mut rules {
                    if let Some(ours) = alias(&rule.permission) {
                        ours.clone_into(&mut rule.permission);
                    }
                }
                rules
            }
            Err(faults) => {
                for fault in faults {
                    self.fault(fault.range, &fault.message, Some(&fault.help));
                }
                Vec::new()
            }
        }
    }

    /// A rule whose pattern is not what it says until something is looked up would silently not hold.
    fn no_reference(&mut self, name: &impl jsonc_parser::common::Ranged, written: &str) {
        if refers(written) {
            let message =
                format!("`{written}` refers to something, and a rule has to say what it is about");
            let help = "write it out; the home directory may be written `~`";
            self.fault(bytes(name), &message, Some(help));
        }
    }

    fn permission_name(&mut self, at: &impl jsonc_parser::common::Ranged, name: &str) {
        let at = bytes(at).start;
        let is_known = |known: &&str| policy::wildcard(name, known);
        if alias(name).is_some() || known::PERMISSIONS.iter().any(is_known) {
            return;
        }
        let asked_as = policy::permission_of(name);
        if asked_as != name {
            let message =
                format!("`{name}` is never asked for: the tool is asked for as `{asked_as}`");
            return self.warn(at, &message, Some(&format!("write `{asked_as}`")));
        }
        let near = known::nearest(&name.replace(['*', '?'], ""), &known::PERMISSIONS);
        if near.is_none() && name.contains(['*', '?']) {
            return;
        }
        let message =
            format!("no permission `{name}` is known: this holds only for a tool of that name");
        self.warn(at, &message, near.map(did_you_mean).as_deref());
    }

    fn agents(&mut self, root: &Object<'_>, key: &str) -> Vec<AgentEntry> {
        let entries = entries(root, key);
        entries
            .map(|(name, entry)| self.agent(name, entry))
            .collect()
    }

    fn agent(&mut self, name: &str, entry: &Object<'_>) -> AgentEntry {
        AgentEntry {
            settings: AgentSettings {
                name: name.to_owned(),
                mode: word(entry, "mode").and_then(|word| word.value.parse().ok()),
                is_hidden: flag(entry, "hidden"),
                is_disabled: flag(entry, "disable").or(flag(entry, "disabled")),
                is_readonly: flag(entry, "readonly"),
                temperature: number(entry, "temperature"),
                steps: count(entry, "steps").or(count(entry, "maxSteps")),
                rules: self.rules(entry),
                delegate: self.delegate(entry),
                ..AgentSettings::default()
            },
            description: self.text_at(entry, "description"),
            prompt: self
                .text_at(entry, "prompt")
                .or(self.text_at(entry, "system")),
            model: self.model_name(entry),
        }
    }

    /// The agents that one may start. As in rules, a name says what it is about.
    fn delegate(&mut self, entry: &Object<'_>) -> Option<Delegate> {
        let Value::Array(list) = at(entry, "delegate")? else {
            return None;
        };
        let mut to = Vec::new();
        for element in &list.elements {
            if let Value::StringLit(name) = element {
                self.no_reference(name, &name.value);
                to.push(name.value.to_string());
            }
        }
        let origin = self.origin(bytes(list).start);
        Some(Delegate { to, origin })
    }

    fn providers(&mut self, root: &Object<'_>) -> Vec<Provider> {
        let entries = entries(root, "provider");
        entries
            .map(|(name, entry)| self.provider(name, entry))
            .collect()
    }

    fn provider(&mut self, name: &str, entry: &Object<'_>) -> Provider {
        let mut provider = Provider {
            name: name.to_owned(),
            ..Provider::default()
        };
        for (name, model) in entries(entry, "models") {
            let limit = inner(model, "limit");
            provider.models.push(Model {
                name: name.to_owned(),
                id: self.text_at(model, "id"),
                context_tokens_max: limit.and_then(|limit| count(limit, "context")),
                output_tokens_max: limit.and_then(|limit| count(limit, "output")),
            });
        }
        let Some(options) = inner(entry, "options") else {
            return provider;
        };
        provider.base_url = self.text_at(options, "baseURL");
        provider.api_key = self.text_at(options, "apiKey").map(Secret::new);
        provider.timeout = match at(options, "timeout") {
            Some(Value::BooleanLit(never)) if !never.value => Some(Timeout::Never),
            Some(Value::NumberLit(number)) => number.value.parse().ok().map(Timeout::Ms),
            _ => None,
        };
        if let Some(headers) = inner(options, "headers") {
            for header in &headers.properties {
                if let Value::StringLit(value) = &header.value
                    && let Some(value) = self.text(value)
                {
                    let name = header.name.as_str().to_owned();
                    provider.headers.push((name, Secret::new(value)));
                }
            }
        }
        provider
    }

    fn sandbox(&mut self, root: &Object<'_>) -> Sandbox {
        let Some(sandbox) = inner(root, "sandbox") else {
            return Sandbox::default();
        };
        if let Some(property) = sandbox.get("enabled")
            && matches!(&property.value, Value::BooleanLit(it) if !it.value)
        {
            let message =
                "`sandbox.enabled: false` has no effect: what a tool runs is always inside walls";
            let help = "a rule for `bash` says what runs unasked, `sandbox.allowed_hosts` and \
                        `sandbox.writable_paths` what it reaches";
            self.warn(bytes(&property.name).start, message, Some(help));
        }
        self.each_host(sandbox);
        Sandbox {
            is_enabled: flag(sandbox, "enabled"),
            network: word(sandbox, "network").and_then(|word| match &*word.value {
                "allow" => Some(Network::Allow),
                "deny" => Some(Network::Deny),
                _ => None,
            }),
            writable_paths: self.texts(sandbox, "writable_paths"),
            allowed_hosts: self.texts(sandbox, "allowed_hosts"),
            bundles: self.texts(sandbox, "bundles"),
            has_git_hooks: flag(sandbox, "git_hooks"),
        }
    }

    /// Told where it is written, as far as it is known before references are followed.
    fn each_host(&mut self, sandbox: &Object<'_>) {
        let Some(Value::Array(hosts)) = at(sandbox, "allowed_hosts") else {
            return;
        };
        for host in &hosts.elements {
            if let Value::StringLit(written) = host
                && !written.value.contains('{')
                && let Err(why) = AllowedHost::read(&written.value)
            {
                let help = "name each machine by itself; rules for `network` take wildcards";
                self.fault(bytes(written), &why.to_string(), Some(help));
            }
        }
    }

    fn model_name(&mut self, object: &Object<'_>) -> Option<Text> {
        let written = word(object, "model")?;
        let text = self.text(written)?;
        let is_whole = |name: &str| {
            let (provider, model) = name.split_once('/').unwrap_or_default();
            !provider.is_empty() && !model.is_empty()
        };
        if text.plain().is_some_and(|name| !is_whole(name)) {
            let message = format!("`{}` names no model of a provider", written.value);
            let help = "write `NAME/MODEL`: a name of `provider` and one of its models";
            self.fault(bytes(written), &message, Some(help));
        }
        Some(text)
    }

    fn text_at(&mut self, object: &Object<'_>, key: &str) -> Option<Text> {
        self.text(word(object, key)?)
    }

    fn texts(&mut self, object: &Object<'_>, key: &str) -> Option<Vec<Text>> {
        let Value::Array(Array { elements, .. }) = at(object, key)? else {
            return None;
        };
        let mut texts = Vec::new();
        for element in elements {
            if let Value::StringLit(written) = element {
                texts.extend(self.text(written));
            }
        }
        Some(texts)
    }

    fn text(&mut self, written: &StringLit<'_>) -> Option<Text> {
        let origin = self.origin(bytes(written).start);
        match Text::read(&written.value, origin, self.place.bearings) {
            Ok(text) => Some(text),
            Err(message) => {
                let help = "a reference is `{env:NAME}` or `{file:PATH}`";
                self.fault(bytes(written), &message, Some(help));
                None
            }
        }
    }
}

pub(crate) fn at<'a, 't>(object: &'a Object<'t>, key: &str) -> Option<&'a Value<'t>> {
    let mut properties = object.properties.iter();
    let found = properties.find(|property| property.name.as_str() == key)?;
    Some(&found.value)
}

fn inner<'a, 't>(object: &'a Object<'t>, key: &str) -> Option<&'a Object<'t>> {
    match at(object, key)? {
        Value::Object(inner) => Some(inner),
        _ => None,
    }
}

/// The entries of an object of the user's names, those that are objects themselves.
fn entries<'a, 't>(
    object: &'a Object<'t>,
    key: &str,
) -> impl Iterator<Item = (&'a str, &'a Object<'t>)> {
    let properties = inner(object, key).map(|named| named.properties.iter());
    properties.into_iter().flatten().filter_map(|property| {
        let Value::Object(entry) = &property.value else {
            return None;
        };
        Some((property.name.as_str(), entry))
    })
}

fn word<'a, 't>(object: &'a Object<'t>, key: &str) -> Option<&'a StringLit<'t>> {
    match at(object, key)? {
        Value::StringLit(word) => Some(word),
        _ => None,
    }
}

fn flag(object: &Object<'_>, key: &str) -> Option<bool> {
    match at(object, key)? {
        Value::BooleanLit(flag) => Some(flag.value),
        _ => None,
    }
}

fn count(object: &Object<'_>, key: &str) -> Option<usize> {
    match at(object, key)? {
        Value::NumberLit(number) => number.value.parse().ok(),
        _ => None,
    }
}

fn number(object: &Object<'_>, key: &str) -> Option<f64> {
    match at(object, key)? {
        Value::NumberLit(number) => number.value.parse().ok(),
        _ => None,
    }
}
