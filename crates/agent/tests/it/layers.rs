//! The order in which preset, agent and user rules stand.
//! Must not test `policy`: only who is above whom.

use policy::{Action, RuleBook, Subject};
use tollgate_agent::{Agent, AgentSettings, Agents, Mode, Preset, Tier, agent, names};

use crate::{bash, layers, looks, name, path, rule};

#[test]
fn the_built_in_agents_are_these() {
    use Mode::{Primary, Subagent};
    let all = [
        ("code", Primary, "works"),
        ("plan", Primary, "looks"),
        ("ask", Primary, "looks"),
        ("debug", Primary, "works"),
        ("orchestrator", Primary, "works"),
        ("general", Subagent, "works"),
        ("explore", Subagent, "looks"),
        ("scout", Subagent, "looks"),
        ("compaction", Primary, "ours"),
        ("title", Primary, "ours"),
        ("summary", Primary, "ours"),
    ];
    let what = |agent: &Agent| match (agent.is_system, agent.is_readonly) {
        (false, false) => "works",
        (false, true) => "looks",
        (true, _) => "ours",
    };
    let mut got = Vec::new();
    for name in names() {
        let agent = agent(name).unwrap();
        assert!(!agent.description.is_empty() && !agent.prompt.is_empty());
        assert_eq!(agent.is_hidden, agent.is_system, "{name}");
        got.push((name, agent.mode, what(&agent)));
    }
    assert_eq!(got, all);
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
            assert_eq!(bash(&layers, "touch a"), Action::Deny, "{preset} {tier}");
        }
    }
}

#[test]
fn what_a_read_only_agent_looks_with_is_judged_as_it_is_for_everybody() {
    let asks = |permission, pattern| vec![rule(permission, pattern, Action::Ask)];
    for user in [
        vec![],
        asks("bash", "*"),
        asks("*", "*"),
        asks("bash.readonly", "*"),
        asks("b*", "git *"),
        asks("bash", "git log *"),
        vec![rule("bash", "*", Action::Deny)],
    ] {
        for preset in Preset::ALL {
            for tier in Tier::ALL {
                let code = layers("code", preset, tier, user.clone());
                for agent in ["plan", "ask", "explore"] {
                    let layers = layers(agent, preset, tier, user.clone());
                    for text in ["ls", "git log -1", "cat a"] {
                        assert_eq!(
                            looks(&layers, text),
                            looks(&code, text),
                            "{agent} {preset} {tier} {text} {user:?}"
                        );
                    }
                }
            }
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
    for file in ["a", ".git/config", "/etc/passwd", "AGENTS.md"] {
        assert_eq!(path(&layers, "edit", file), Action::Deny, "{file}");
    }
    assert_eq!(crate::name(&layers, "sandbox_escape"), Action::Deny);
}

#[test]
fn plan_writes_plans_and_no_file_that_only_looks_like_one() {
    for preset in Preset::ALL {
        let layers = layers("plan", preset, Tier::Partial, vec![]);
        for (file, want) in [
            (".opencode/plans/a.md", Action::Allow),
            (".kilo/plans/a.md", Action::Allow),
            (".plans/a.md", Action::Allow),
            ("plans/a.md", Action::Allow),
            ("plans/a.ts", Action::Deny),
            ("plans/a.md/b", Action::Deny),
            ("plans/deep/a.md", Action::Deny),
            ("plans/../src/a.md", Action::Deny),
            ("docs/plans/a.md", Action::Deny),
            ("plans.md", Action::Deny),
            (".opencode/agent/a.md", Action::Deny),
            (".opencode/plans", Action::Deny),
            ("/etc/plans/a.md", Action::Deny),
        ] {
            assert_eq!(path(&layers, "edit", file), want, "{preset} {file}");
        }
    }
}

#[test]
fn a_plan_file_is_known_by_its_real_path() {
    let layers = layers("plan", Preset::Normal, Tier::Partial, vec![]);
    let file = |real: &str, named: &str| {
        let others = vec![named.to_owned(), format!("/w/{named}")];
        let subject = Subject::path("edit", real, format!("/w/{real}"), others);
        crate::ask(&layers, subject)
    };
    assert_eq!(file("plans/a.md", "plans/a.md"), Action::Allow);
    assert_eq!(file("src/a.md", "plans/a.md"), Action::Deny);
    assert_eq!(file("plans/a.md", "notes/a.md"), Action::Allow);
    let outside = Subject::path("edit", "/o/a.md", "/o/a.md", vec!["plans/a.md".into()]);
    assert_eq!(crate::ask(&layers, outside), Action::Deny);
}

#[test]
fn a_users_denial_closes_plans_too() {
    let user = vec![rule("edit", "*", Action::Deny)];
    let layers = layers("plan", Preset::Normal, Tier::Partial, user);
    assert_eq!(path(&layers, "edit", "plans/a.md"), Action::Deny);
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
    assert_eq!(bash(&layers, "git log"), Action::Deny);
    assert_eq!(looks(&layers, "git log"), Action::Allow);
    assert_eq!(bash(&layers, "git push"), Action::Deny);
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

const READONLY: [&str; 4] = ["plan", "ask", "explore", "scout"];

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
            "docs/a.md",
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
        let is_closed = RuleBook::new(layers).current().disabled("edit");
        assert_eq!(is_closed, name != "plan", "{name}");
    }
}

#[test]
fn a_tool_nobody_named_is_closed_to_read_only_agents() {
    let open = vec![rule("*", "*", Action::Allow)];
    for agent in READONLY {
        let layers = layers(agent, Preset::Normal, Tier::Partial, open.clone());
        for tool in ["some_server_tool", "background_process", "plan_enter"] {
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
        for permission in ["glob", "grep", "webfetch", "doom_loop"] {
            assert_eq!(
                name(&layers, permission),
                name(&code, permission),
                "{agent} {permission}"
            );
        }
    }
}

#[test]
fn a_read_only_agent_looks_with_commands_and_runs_no_other() {
    let user = vec![
        rule("*", "*", Action::Allow),
        rule("bash", "*", Action::Ask),
    ];
    for agent in ["plan", "ask", "explore"] {
        for (user, want) in [(vec![], Action::Allow), (user.clone(), Action::Ask)] {
            let layers = layers(agent, Preset::Normal, Tier::Partial, user);
            for line in ["ls", "ls -la src", "git log --oneline", "git diff HEAD"] {
                assert_eq!(looks(&layers, line), want, "{agent} {line}");
                assert_eq!(
                    bash(&layers, line),
                    Action::Deny,
                    "not proven: {agent} {line}"
                );
            }
            for line in [
                "touch a",
                "rg --pre ./x pat",
                "sed -n '1w out' f",
                "find . -okdir sh -c x {} +",
                "git -C .. log",
                "git push",
                "cat .env",
            ] {
                assert_eq!(bash(&layers, line), Action::Deny, "{agent} {line}");
            }
            let mut opaque = Subject::command("bash", "$X a", "$X a", vec![]);
            (opaque.is_literal, opaque.opaque) = (false, Some("a dynamic program".into()));
            assert_eq!(crate::ask(&layers, opaque), Action::Deny, "{agent}");
        }
    }
    let scout = layers("scout", Preset::Normal, Tier::Partial, user);
    assert!(RuleBook::new(scout).current().disabled("bash"));
}

#[test]
fn a_broad_ask_of_the_user_reaches_every_allow_it_stands_behind() {
    let user = vec![
        rule("bash", "git log *", Action::Allow),
        rule("read", "src/*", Action::Allow),
        rule("bash", "*", Action::Ask),
        rule("bash", "git status *", Action::Allow),
    ];
    let layers = layers("plan", Preset::Normal, Tier::Partial, user);
    assert_eq!(looks(&layers, "git log"), Action::Ask);
    assert_eq!(looks(&layers, "ls"), Action::Ask);
    assert_eq!(looks(&layers, "git status"), Action::Allow);
    assert_eq!(path(&layers, "read", "src/.env"), Action::Allow);
}

#[test]
fn the_orchestrator_neither_edits_nor_runs_what_the_user_opened_for_all() {
    let open = vec![rule("*", "*", Action::Allow)];
    let layers = layers("orchestrator", Preset::Normal, Tier::Partial, open.clone());
    assert_eq!(path(&layers, "edit", "a"), Action::Deny);
    assert_eq!(bash(&layers, "ls"), Action::Deny);
    let delegated = crate::ask(&layers, Subject::name("task", "general"));
    assert_eq!(delegated, Action::Allow);
    for tool in ["edit", "bash"] {
        assert!(
            RuleBook::new(layers.clone()).current().disabled(tool),
            "{tool}"
        );
    }
    let settings = AgentSettings {
        name: "orchestrator".into(),
        rules: vec![rule("bash", "git status *", Action::Allow)],
        ..AgentSettings::default()
    };
    let agents = Agents::with(vec![settings]).unwrap();
    let agent = agents.get("orchestrator").unwrap();
    let own = tollgate_agent::layers(agent, Preset::Normal, Tier::Partial, open, None);
    assert_eq!(bash(&own, "git status"), Action::Allow);
    assert_eq!(bash(&own, "git push"), Action::Deny);
}

#[test]
fn a_read_only_agent_starts_only_agents_that_read() {
    let task = |agent: &str, child: &str| {
        let layers = layers(agent, Preset::Normal, Tier::Partial, vec![]);
        crate::ask(&layers, policy::Subject::name("task", child))
    };
    assert_eq!(task("plan", "explore"), Action::Ask);
    assert_eq!(task("plan", "scout"), Action::Ask);
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
        for agent in ["plan", "ask", "explore"] {
            let layers = layers(agent, Preset::Normal, Tier::Partial, user.clone());
            assert_eq!(bash(&layers, "touch a"), Action::Deny, "{agent} {broad}");
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
