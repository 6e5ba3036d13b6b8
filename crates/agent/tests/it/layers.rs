//! The order in which preset, agent and user rules stand.
//! Must not test `policy`: only who is above whom.

use policy::{Action, RuleBook, disabled};
use tollgate_agent::{Preset, Tier, agent, names};

use crate::{bash, layers, name, path, rule};

#[test]
fn the_built_in_agents_are_code_and_plan() {
    assert_eq!(names().collect::<Vec<_>>(), ["code", "plan"]);
    for name in names() {
        let agent = agent(name).unwrap();
        assert_eq!(agent.name, name);
        assert!(!agent.description.is_empty() && !agent.prompt.is_empty());
    }
    assert!(!agent("code").unwrap().is_readonly);
    assert!(agent("plan").unwrap().is_readonly);
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
    assert!(disabled(&layers.base, "edit"));
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

#[test]
fn a_read_only_agents_denials_have_no_holes() {
    for name in names() {
        let agent = agent(name).unwrap();
        if agent.is_readonly {
            assert!(agent.rules.iter().all(|rule| rule.action != Action::Allow));
            assert!(agent.rules.iter().any(|rule| rule.action == Action::Deny));
        }
    }
}
