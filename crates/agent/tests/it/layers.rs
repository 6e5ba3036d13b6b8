//! The order in which preset, agent and user rules stand.
//! Must not test `policy`: only who is above whom.

use policy::{Action, RuleBook};
use tollgate_agent::{AgentSettings, Agents, Preset, Tier, agent, names};

use crate::{bash, layers, name, path, rule};

#[test]
fn the_built_in_agents_are_these_five() {
    let all = ["code", "plan", "ask", "general", "explore"];
    assert_eq!(names().collect::<Vec<_>>(), all);
    for name in names() {
        let agent = agent(name).unwrap();
        assert_eq!(agent.name, name);
        assert!(!agent.description.is_empty() && !agent.prompt.is_empty());
    }
    let readonly = ["plan", "ask", "explore"];
    for name in all {
        assert_eq!(
            agent(name).unwrap().is_readonly,
            readonly.contains(&name),
            "{name}"
        );
    }
    assert!(agent("Plan").is_none() && agent("").is_none());
}

#[test]
fn build_is_an_alias_of_code() {
    assert_eq!(agent("build").unwrap().name, "code");
}

#[test]
fn no_preset_undoes_plan() {
    for preset in Preset::ALL {
        for tier in Tier::ALL {
            let layers = layers("plan", preset, tier, vec![]);
            assert_eq!(path(&layers, "edit", "a"), Action::Deny, "{preset} {tier}");
            assert_ne!(bash(&layers, "ls"), Action::Allow, "{preset} {tier}");
        }
    }
}

#[test]
fn no_user_rule_saved_rule_or_session_rule_lets_plan_edit() {
    let open = || {
        vec![
            rule("*", "*", Action::Allow),
            rule("edit", "*", Action::Allow),
        ]
    };
    let mut layers = layers("plan", Preset::Normal, Tier::Partial, open());
    layers.saved = open();
    layers.session = open();
    for file in ["a", ".plans/a.md", ".git/config", "/etc/passwd"] {
        assert_eq!(path(&layers, "edit", file), Action::Deny, "{file}");
    }
    // The tools that edit are not offered either.
    assert!(RuleBook::new(layers).current().disabled("edit"));
}

#[test]
fn the_hard_layer_alone_holds_plans_denial() {
    let mut layers = layers("plan", Preset::Normal, Tier::Partial, vec![]);
    layers.base.clear();
    layers.base.push(rule("*", "*", Action::Allow));
    assert_eq!(path(&layers, "edit", "a"), Action::Deny);
    layers.hard.clear();
    assert_eq!(path(&layers, "edit", "a"), Action::Allow);
}

#[test]
fn a_users_rule_loosens_and_tightens_code() {
    let user = vec![
        rule("edit", "*", Action::Allow),
        rule("bash", "ls *", Action::Allow),
        rule("read", "src/*", Action::Deny),
        rule("question", "*", Action::Deny),
    ];
    let layers = layers("code", Preset::Unattended, Tier::Partial, user);
    assert_eq!(path(&layers, "edit", "a"), Action::Allow);
    assert_eq!(bash(&layers, "ls"), Action::Allow);
    assert_eq!(bash(&layers, "rm a"), Action::Deny);
    assert_eq!(path(&layers, "read", "src/a"), Action::Deny);
    assert_eq!(name(&layers, "question"), Action::Deny);
    assert!(layers.hard.is_empty() && layers.saved.is_empty() && layers.session.is_empty());
}

#[test]
fn a_users_rule_may_open_one_command_for_plan() {
    let user = vec![rule("bash", "git status *", Action::Allow)];
    let layers = layers("plan", Preset::Normal, Tier::Partial, user);
    assert_eq!(bash(&layers, "git status"), Action::Allow);
    assert_eq!(bash(&layers, "git push"), Action::Ask);
}

#[test]
fn a_users_denial_holds_for_plan() {
    let user = vec![
        rule("read", "*", Action::Deny),
        rule("bash", "*", Action::Deny),
    ];
    let layers = layers("plan", Preset::Cautious, Tier::Partial, user);
    assert_eq!(path(&layers, "read", "a"), Action::Deny);
    assert_eq!(bash(&layers, "ls"), Action::Deny);
}

const READONLY: [&str; 3] = ["plan", "ask", "explore"];

#[test]
fn no_rule_of_anybody_lets_a_read_only_agent_edit_or_leave_the_sandbox() {
    let open = || {
        vec![
            rule("*", "*", Action::Allow),
            rule("edit", "*", Action::Allow),
        ]
    };
    for name in READONLY {
        let settings = AgentSettings {
            name: name.to_owned(),
            rules: open(),
            ..AgentSettings::default()
        };
        let agents = Agents::with(vec![settings]).unwrap();
        let agent = agents.get(name).unwrap();
        let mut layers = tollgate_agent::layers(agent, Preset::Normal, Tier::None, open(), None);
        (layers.project, layers.session, layers.saved) = (open(), open(), open());
        for file in [
            "a",
            "plans/a.md",
            ".tollgate/plans/a.md",
            ".git/config",
            "/etc/passwd",
        ] {
            assert_eq!(path(&layers, "edit", file), Action::Deny, "{name} {file}");
        }
        assert_eq!(
            crate::name(&layers, "sandbox_escape"),
            Action::Deny,
            "{name}"
        );
        assert!(RuleBook::new(layers).current().disabled("edit"), "{name}");
    }
}

#[test]
fn a_tool_nobody_named_is_closed_to_read_only_agents() {
    let open = vec![rule("*", "*", Action::Allow)];
    for agent in READONLY {
        let layers = layers(agent, Preset::Normal, Tier::Partial, open.clone());
        for tool in [
            "some_server_tool",
            "repo_clone",
            "background_process",
            "plan_enter",
        ] {
            assert_eq!(name(&layers, tool), Action::Deny, "{agent} {tool}");
            let book = RuleBook::new(layers.clone());
            assert!(book.current().disabled(tool), "{agent} {tool}");
        }
    }
}

#[test]
fn what_the_hard_list_leaves_open_is_as_the_preset_says() {
    for agent in READONLY {
        let layers = layers(agent, Preset::Normal, Tier::Partial, vec![]);
        let code = crate::layers("code", Preset::Normal, Tier::Partial, vec![]);
        for file in ["a", ".env", "/etc/passwd"] {
            assert_eq!(
                path(&layers, "read", file),
                path(&code, "read", file),
                "{agent} {file}"
            );
        }
        let outside = path(&layers, "external_directory", "/etc/*");
        assert_eq!(outside, Action::Ask, "{agent}");
        for permission in ["glob", "grep", "webfetch", "doom_loop", "skill"] {
            assert_eq!(
                name(&layers, permission),
                name(&code, permission),
                "{agent} {permission}"
            );
        }
        assert_eq!(bash(&layers, "ls"), Action::Ask, "{agent}");
    }
}

#[test]
fn a_read_only_agent_starts_only_agents_that_read() {
    let task = |agent: &str, child: &str| {
        let layers = layers(agent, Preset::Normal, Tier::Partial, vec![]);
        crate::ask(&layers, policy::Subject::name("task", child))
    };
    assert_eq!(task("plan", "explore"), Action::Ask);
    assert_eq!(task("plan", "general"), Action::Deny);
    assert_eq!(task("ask", "explore"), Action::Deny);
    assert_eq!(task("code", "general"), Action::Ask);
}

#[test]
fn a_broad_allow_of_the_user_does_not_run_commands_for_a_read_only_agent() {
    for broad in [
        rule("*", "*", Action::Allow),
        rule("bash", "*", Action::Allow),
        rule("b*", "git *", Action::Allow),
    ] {
        let named = rule("bash", "git log *", Action::Allow);
        let denied = rule("bash", "git log --output *", Action::Deny);
        let user = vec![named, denied, broad.clone()];
        for agent in READONLY {
            let layers = layers(agent, Preset::Normal, Tier::Partial, user.clone());
            assert_eq!(bash(&layers, "touch a"), Action::Ask, "{agent} {broad}");
            assert_eq!(
                bash(&layers, "git log -1"),
                Action::Allow,
                "{agent} {broad}"
            );
            assert_eq!(
                bash(&layers, "git log --output x"),
                Action::Deny,
                "{agent} {broad}"
            );
        }
        let code = layers("code", Preset::Normal, Tier::Partial, user);
        assert_eq!(bash(&code, "git push"), Action::Allow, "{broad}");
    }
}

#[test]
fn an_agent_that_works_for_another_does_not_talk_to_the_person() {
    for agent in ["general", "explore"] {
        let layers = layers(agent, Preset::Normal, Tier::Partial, vec![]);
        for permission in ["question", "todowrite", "suggest", "plan_exit"] {
            assert_eq!(
                name(&layers, permission),
                Action::Deny,
                "{agent} {permission}"
            );
        }
    }
}
