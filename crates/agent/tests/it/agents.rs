//! The agents that come of the built-in ones and a configuration.
//! Must not test how rules stack: layers.rs does.

use policy::Action;
use tollgate_agent::{
    Agent, AgentError, AgentSettings, Agents, Delegate, Mode, Preset, Tier, UnknownMode,
};

use crate::{bash, path, rule};

fn named(name: &str) -> AgentSettings {
    AgentSettings {
        name: name.to_owned(),
        ..AgentSettings::default()
    }
}

fn disabled(name: &str, is_disabled: bool) -> AgentSettings {
    AgentSettings {
        is_disabled: Some(is_disabled),
        ..named(name)
    }
}

fn to(names: &[&str]) -> Delegate {
    Delegate {
        to: names.iter().map(|&name| name.to_owned()).collect(),
        origin: policy::Origin::named("test"),
    }
}

fn all(settings: Vec<AgentSettings>) -> Agents {
    Agents::with(settings).unwrap()
}

fn names(agents: &Agents) -> Vec<&str> {
    agents.iter().map(|agent| agent.name.as_str()).collect()
}

fn layers(agent: &Agent, user: Vec<policy::Rule>) -> policy::RuleLayers {
    tollgate_agent::layers(agent, Preset::Normal, Tier::Partial, user, None)
}

#[test]
fn settings_replace_what_they_name_and_leave_the_rest() {
    let agents = all(vec![
        AgentSettings {
            prompt: Some("You are terse.".into()),
            temperature: Some(0.1),
            steps: Some(9),
            ..named("build")
        },
        AgentSettings {
            temperature: Some(0.2),
            model: Some("local/qwen".into()),
            mode: Some(Mode::All),
            ..named("code")
        },
    ]);
    let code = agents.get("build").unwrap();
    assert_eq!(
        (code.name.as_str(), code.prompt.as_str()),
        ("code", "You are terse.")
    );
    assert_eq!((code.temperature, code.steps), (Some(0.2), Some(9)));
    assert_eq!(
        (code.model.as_deref(), code.mode),
        (Some("local/qwen"), Mode::All)
    );
    assert!(code.description.starts_with("does the work"));
    assert_eq!(names(&agents).len(), 11);
}

#[test]
fn a_new_agent_may_be_started_by_anybody_and_comes_last() {
    let agents = all(vec![named("z"), named("a")]);
    assert_eq!(names(&agents)[11..], ["z", "a"]);
    let new = agents.primary("a").unwrap();
    assert_eq!(
        (new.mode, new.is_readonly, new.is_hidden),
        (Mode::All, false, false)
    );
    assert!(new.rules.is_empty() && new.hard.is_empty());
}

#[test]
fn a_disabled_agent_is_gone_until_a_later_file_brings_it_back_whole() {
    let agents = all(vec![disabled("plan", true), disabled("build", true)]);
    assert_eq!(names(&agents)[..2], ["ask", "debug"]);
    assert!(agents.get("plan").is_none() && agents.get("code").is_none());
    assert_eq!(agents.default_agent(None).unwrap().name, "ask");
    let back = all(vec![disabled("plan", true), disabled("plan", false)]);
    assert!(back.get("plan").unwrap().is_readonly);
}

#[test]
fn an_agents_own_rules_stand_below_those_for_everybody() {
    let settings = AgentSettings {
        rules: vec![
            rule("edit", "*.md", Action::Allow),
            rule("bash", "*", Action::Deny),
        ],
        ..named("writer")
    };
    let agents = all(vec![settings]);
    let user = vec![
        rule("edit", "*", Action::Deny),
        rule("bash", "*", Action::Allow),
    ];
    let writer = layers(agents.get("writer").unwrap(), user.clone());
    assert_eq!(path(&writer, "edit", "a.md"), Action::Allow);
    assert_eq!(path(&writer, "edit", "a.rs"), Action::Deny);
    assert_eq!(bash(&writer, "ls"), Action::Deny);
    let code = layers(agents.get("code").unwrap(), user);
    assert_eq!(path(&code, "edit", "a.md"), Action::Deny);
    assert_eq!(bash(&code, "ls"), Action::Allow);
}

#[test]
fn architect_comes_with_the_configuration_and_writes_only_markdown_that_it_opens() {
    assert!(all(vec![]).get("architect").is_none());
    let open = |action| AgentSettings {
        rules: vec![rule("edit", "*.md", action), rule("edit", "*.rs", action)],
        ..named("architect")
    };
    let agents = all(vec![open(Action::Allow)]);
    let architect = agents.primary("architect").unwrap();
    assert!(architect.is_readonly && !architect.prompt.is_empty());
    let opened = layers(architect, vec![]);
    for (file, want) in [
        ("a.md", Action::Allow),
        ("docs/deep/a.md", Action::Allow),
        ("a.rs", Action::Deny),
        (".opencode/agent/a.md", Action::Deny),
    ] {
        assert_eq!(path(&opened, "edit", file), want, "{file}");
    }
    let broad = vec![rule("edit", "*", Action::Allow)];
    let agents = all(vec![named("architect")]);
    let plain = layers(agents.get("architect").unwrap(), broad);
    assert_eq!(path(&plain, "edit", "a.md"), Action::Deny);
}

#[test]
fn an_agent_of_ours_is_not_opened_and_not_started() {
    let loosened = [
        (
            "permission",
            AgentSettings {
                rules: vec![
                    rule("read", "*", Action::Deny),
                    rule("read", "a", Action::Ask),
                ],
                ..named("title")
            },
        ),
        (
            "mode",
            AgentSettings {
                mode: Some(Mode::All),
                ..named("title")
            },
        ),
        (
            "hidden",
            AgentSettings {
                is_hidden: Some(false),
                ..named("title")
            },
        ),
        (
            "delegate",
            AgentSettings {
                delegate: Some(to(&["general"])),
                ..named("title")
            },
        ),
    ];
    for (key, settings) in loosened {
        let error = Agents::with(vec![settings]).unwrap_err();
        let name = "title".to_owned();
        assert_eq!(error, AgentError::OpensSystem { name, key });
        let said = format!(
            "`agent.title.{key}` would open an agent that works for Tollgate itself: it stays closed"
        );
        assert_eq!(error.to_string(), said);
    }
    let agents = all(vec![AgentSettings {
        model: Some("local/small".into()),
        prompt: Some("Shorter.".into()),
        mode: Some(Mode::Primary),
        rules: vec![rule("*", "*", Action::Deny)],
        ..named("title")
    }]);
    assert_eq!(agents.get("title").unwrap().prompt, "Shorter.");
    for name in ["compaction", "title", "summary"] {
        let agent = agents.get(name).unwrap();
        let open = vec![
            rule("*", "*", Action::Allow),
            rule("read", "a", Action::Allow),
        ];
        let mut layers = layers(agent, open.clone());
        (layers.session, layers.saved) = (open.clone(), open);
        for permission in [
            "read",
            "edit",
            "bash",
            "task",
            "question",
            "external_directory",
        ] {
            assert_eq!(
                path(&layers, permission, "a"),
                Action::Deny,
                "{name} {permission}"
            );
            assert!(
                policy::RuleBook::new(layers.clone())
                    .current()
                    .disabled(permission)
            );
        }
        let system = AgentError::System { name: name.into() };
        assert_eq!(agents.primary(name).unwrap_err(), system);
        assert_eq!(agents.subagent(name).unwrap_err(), system);
        assert_eq!(agents.default_agent(Some(name)).unwrap_err(), system);
    }
}

#[test]
fn an_agent_that_delegates_starts_those_it_names_and_no_others() {
    let settings = AgentSettings {
        rules: vec![rule("task", "*", Action::Allow)],
        delegate: Some(to(&["explore", "review-*"])),
        ..named("code")
    };
    let agents = all(vec![settings]);
    let code = layers(
        agents.get("code").unwrap(),
        vec![rule("task", "*", Action::Allow)],
    );
    for (name, want) in [
        ("explore", Action::Allow),
        ("review-text", Action::Allow),
        ("general", Action::Deny),
    ] {
        let subject = policy::Subject::name("task", name);
        assert_eq!(crate::ask(&code, subject), want, "{name}");
    }
    let none = AgentSettings {
        delegate: Some(to(&[])),
        ..named("code")
    };
    let alone = layers(all(vec![none]).get("code").unwrap(), vec![]);
    assert!(policy::RuleBook::new(alone).current().disabled("task"));
}

#[test]
fn an_agents_own_rule_opens_commands_of_a_read_only_agent() {
    let settings = AgentSettings {
        rules: vec![rule("bash", "*", Action::Allow)],
        ..named("plan")
    };
    let agents = all(vec![settings]);
    let plan = layers(agents.get("plan").unwrap(), vec![]);
    assert_eq!(bash(&plan, "ls"), Action::Allow);
    assert_eq!(path(&plan, "edit", "a"), Action::Deny);
}

#[test]
fn a_new_read_only_agent_edits_nothing_and_may_deny_broadly_first() {
    let settings = AgentSettings {
        is_readonly: Some(true),
        rules: vec![
            rule("*", "*", Action::Deny),
            rule("read", "*", Action::Allow),
            rule("edit", "*", Action::Allow),
        ],
        ..named("auditor")
    };
    let agents = all(vec![settings]);
    let mut auditor = layers(agents.get("auditor").unwrap(), vec![]);
    auditor.saved = vec![rule("*", "*", Action::Allow)];
    assert_eq!(path(&auditor, "read", "a"), Action::Allow);
    assert_eq!(path(&auditor, "edit", "a"), Action::Deny);
    assert_eq!(bash(&auditor, "ls"), Action::Deny);
}

#[test]
fn a_working_agent_may_be_made_read_only_and_a_built_in_read_only_one_not_working() {
    let readonly = |name: &str, is_readonly| AgentSettings {
        is_readonly: Some(is_readonly),
        ..named(name)
    };
    let agents = all(vec![readonly("code", true)]);
    let code = layers(
        agents.get("code").unwrap(),
        vec![rule("edit", "*", Action::Allow)],
    );
    assert_eq!(path(&code, "edit", "a"), Action::Deny);
    let error = Agents::with(vec![readonly("plan", false)]).unwrap_err();
    assert_eq!(
        error,
        AgentError::StaysReadonly {
            name: "plan".into()
        }
    );
    assert_eq!(
        error.to_string(),
        "the agent `plan` is read-only and stays so: make an agent of another name"
    );
}

#[test]
fn only_an_agent_for_agents_is_started_by_one() {
    let agents = all(vec![
        named("both"),
        AgentSettings {
            is_hidden: Some(true),
            mode: Some(Mode::Subagent),
            ..named("ghost")
        },
    ]);
    for name in ["general", "both", "ghost"] {
        assert_eq!(agents.subagent(name).unwrap().name, name);
    }
    let said = |name| agents.subagent(name).unwrap_err().to_string();
    assert_eq!(
        said("build"),
        "`build` is not for other agents to start; there are general, explore, scout, both"
    );
    assert_eq!(
        said("nobody"),
        "there is no agent `nobody`; there are general, explore, scout, both"
    );
}

#[test]
fn only_an_agent_that_a_person_may_start_is_started_or_the_default() {
    let agents = all(vec![AgentSettings {
        is_hidden: Some(true),
        ..named("secret")
    }]);
    assert_eq!(agents.default_agent(None).unwrap().name, "code");
    assert_eq!(agents.default_agent(Some("plan")).unwrap().name, "plan");
    assert_eq!(agents.primary("secret").unwrap().name, "secret");
    let said = |name| agents.default_agent(Some(name)).unwrap_err().to_string();
    assert_eq!(
        said("secret"),
        "the agent `secret` is hidden, so it cannot be `default_agent`"
    );
    assert_eq!(
        said("explore"),
        "`explore` is started by other agents only; there are code, plan, ask, debug, orchestrator"
    );
    assert_eq!(
        said("Co\u{1b}de"),
        "there is no agent `Co\\u{1b}de`; there are code, plan, ask, debug, orchestrator"
    );
}

#[test]
fn when_nothing_is_left_to_start_it_is_said() {
    let agents = all(["code", "plan", "ask", "debug", "orchestrator"]
        .map(|name| disabled(name, true))
        .to_vec());
    assert_eq!(
        agents.default_agent(None).unwrap_err(),
        AgentError::NoneLeft
    );
}

#[test]
fn a_mode_is_known_by_the_word_it_shows() {
    for mode in [Mode::Primary, Mode::Subagent, Mode::All] {
        assert_eq!(mode.to_string().parse(), Ok(mode));
    }
    assert_eq!("main".parse::<Mode>(), Err(UnknownMode("main".into())));
}
