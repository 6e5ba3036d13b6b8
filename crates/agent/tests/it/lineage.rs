//! What agents may do that agents start.
//! Must not test which agent may start which: rules about `task` do.

use std::sync::Arc;

use policy::{Action, Rule, RuleBook, RuleLayers, Subject, decide};
use proptest::collection::vec;
use proptest::prelude::*;
use tollgate_agent::{
    AgentError, AgentSettings, Agents, Child, Lineage, Mode, Preset, Stack, Tier,
};

use crate::{bash, looks, name, path, rule};

/// The built-in agents, and some that a configuration may hold.
fn agents() -> Agents {
    let named = |name: &str, mode, rules: Vec<Rule>| AgentSettings {
        name: name.to_owned(),
        mode: Some(mode),
        rules,
        ..AgentSettings::default()
    };
    let open = vec![
        rule("*", "*", Action::Allow),
        rule("edit", "*", Action::Allow),
    ];
    let lists = vec![
        rule("todowrite", "*", Action::Allow),
        rule("task", "*", Action::Deny),
        rule("task", "explore", Action::Ask),
        rule("question", "*", Action::Ask),
        rule("plan_exit", "*", Action::Allow),
        rule("plan_enter", "*", Action::Allow),
    ];
    let partly = vec![rule("task", "general", Action::Deny)];
    let mut looks = named("looks", Mode::All, vec![rule("bash", "*", Action::Allow)]);
    looks.is_readonly = Some(true);
    Agents::with(vec![
        named("open", Mode::All, open),
        named("lists", Mode::All, lists),
        named("partly", Mode::Subagent, partly),
        looks,
    ])
    .unwrap()
}

const STACK: Stack<'static> = Stack {
    preset: Preset::Normal,
    tier: Tier::Partial,
    user: &[],
    home: None,
};

/// The last of a chain of agents, the first of which a person started.
fn last(chain: &[&str], user: &[Rule]) -> Child {
    let agents = agents();
    let (root, below) = chain.split_first().unwrap();
    let root = agents.get(root).unwrap();
    let mut lineage = Lineage::root(root, &root.hard);
    let mut last = None;
    for name in below {
        let stack = Stack { user, ..STACK };
        let child = lineage.child(&agents, name, &[], stack, 9).unwrap();
        lineage = child.lineage.clone();
        last = Some(child);
    }
    last.unwrap()
}

fn open() -> Vec<Rule> {
    vec![
        rule("*", "*", Action::Allow),
        rule("edit", "*", Action::Allow),
    ]
}

#[test]
fn a_child_of_a_read_only_agent_is_read_only_through_any_depth() {
    for chain in [
        &["plan", "general"][..],
        &["plan", "general", "general"],
        &["ask", "open"],
        &["looks", "open", "general"],
        &["code", "looks", "open", "general"],
    ] {
        let mut child = last(chain, &open());
        (child.layers.session, child.layers.saved) = (open(), open());
        assert!(child.agent.is_readonly, "{chain:?}");
        assert_eq!(child.lineage.depth(), chain.len() - 1);
        for file in ["a.txt", "plans/a.md", ".opencode/plans/a.md"] {
            assert_eq!(
                path(&child.layers, "edit", file),
                Action::Deny,
                "{chain:?} {file}"
            );
        }
        let escape = name(&child.layers, "sandbox_escape");
        assert_eq!(escape, Action::Deny, "{chain:?}");
        assert!(
            RuleBook::new(child.layers).current().disabled("edit"),
            "{chain:?}"
        );
    }
    let child = last(&["code", "general", "general"], &open());
    assert!(!child.agent.is_readonly);
    assert_eq!(path(&child.layers, "edit", "a.txt"), Action::Allow);
}

#[test]
fn a_child_may_use_no_tool_that_its_parent_keeps_closed() {
    let child = last(&["ask", "open"], &open());
    for tool in ["some_server_tool", "background_process", "todowrite"] {
        assert_eq!(name(&child.layers, tool), Action::Deny, "{tool}");
    }
    assert_eq!(path(&child.layers, "read", "a"), Action::Allow);
    assert_eq!(bash(&child.layers, "ls"), Action::Allow, "by its own rules");
    let general = last(&["ask", "general"], &open());
    assert_eq!(looks(&general.layers, "ls"), Action::Allow);
    assert_eq!(bash(&general.layers, "touch a"), Action::Deny);
}

#[test]
fn what_an_agent_closes_to_itself_alone_stays_with_it() {
    let user = [
        rule("bash", "*", Action::Allow),
        rule("edit", "*", Action::Allow),
    ];
    for parent in ["code", "orchestrator"] {
        let child = last(&[parent, "general"], &user);
        assert_eq!(bash(&child.layers, "ls"), Action::Allow, "{parent}");
        assert_eq!(path(&child.layers, "edit", "a"), Action::Allow, "{parent}");
    }
}

#[test]
fn what_belongs_to_the_one_that_talks_to_the_person_is_closed_unless_granted() {
    let all = [
        "todowrite",
        "question",
        "suggest",
        "plan_enter",
        "plan_exit",
    ];
    for child in ["general", "open", "partly", "explore"] {
        let child = last(&["code", child], &open());
        for permission in all {
            assert_eq!(
                name(&child.layers, permission),
                Action::Deny,
                "{permission}"
            );
            assert!(
                RuleBook::new(child.layers.clone())
                    .current()
                    .disabled(permission)
            );
        }
    }
    let child = last(&["code", "lists"], &open());
    let got = all.map(|permission| name(&child.layers, permission));
    let want = [
        Action::Allow,
        Action::Ask,
        Action::Deny,
        Action::Deny,
        Action::Deny,
    ];
    assert_eq!(got, want);
}

#[test]
fn a_child_starts_agents_only_as_far_as_its_own_rules_grant_it() {
    let task = |chain: &[&str], user: &[Rule], to: &str| {
        crate::ask(&last(chain, user).layers, Subject::name("task", to))
    };
    assert_eq!(task(&["code", "general"], &open(), "explore"), Action::Deny);
    assert_eq!(
        task(&["code", "partly"], &open(), "explore"),
        Action::Deny,
        "a denial grants nothing"
    );
    assert_eq!(task(&["code", "lists"], &open(), "explore"), Action::Ask);
    assert_eq!(task(&["code", "lists"], &open(), "general"), Action::Deny);
    assert_eq!(task(&["ask", "lists"], &open(), "explore"), Action::Deny);
    let deny = [rule("task", "explore", Action::Deny)];
    assert_eq!(
        task(&["code", "lists"], &deny, "explore"),
        Action::Ask,
        "its own rules stand behind"
    );
}

#[test]
fn denials_and_outside_directories_of_the_session_are_handed_down() {
    let session = [
        rule("edit", "src/*", Action::Deny),
        rule("bash", "ls", Action::Allow),
        rule("read", "*", Action::Ask),
        rule("external_directory", "/o/*", Action::Allow),
        rule("external_directory.read", "/p/*", Action::Allow),
        rule("*", "secret", Action::Deny),
    ];
    let agents = agents();
    let lineage = Lineage::root(agents.get("code").unwrap(), &[]);
    let child = lineage
        .child(&agents, "general", &session, STACK, 1)
        .unwrap();
    let kept: Vec<Rule> = [0, 3, 4, 5]
        .map(|index: usize| session[index].clone())
        .into();
    assert_eq!(child.layers.session, kept);
    assert_eq!(path(&child.layers, "edit", "src/a"), Action::Deny);
    let outside = Subject::name("external_directory", "/o/a");
    assert_eq!(crate::ask(&child.layers, outside), Action::Allow);
}

#[test]
fn managed_rules_reach_every_depth() {
    let agents = agents();
    let code = agents.get("code").unwrap();
    let managed = [
        rule("bash", "git push *", Action::Deny),
        rule("read", "secret/*", Action::Ask),
    ];
    let mut lineage = Lineage::root(code, &managed);
    let user = open();
    for name in ["open", "general", "explore"] {
        let stack = Stack {
            user: &user,
            ..STACK
        };
        let child = lineage.child(&agents, name, &[], stack, 9).unwrap();
        assert_eq!(bash(&child.layers, "git push"), Action::Deny, "{name}");
        assert_eq!(
            path(&child.layers, "read", "secret/a"),
            Action::Ask,
            "{name}"
        );
        assert_eq!(path(&child.layers, "read", "a"), Action::Allow, "{name}");
        lineage = child.lineage;
    }
}

#[test]
fn nobody_starts_an_agent_that_is_a_persons_or_ours_or_too_deep() {
    let agents = agents();
    let root = Lineage::root(agents.get("code").unwrap(), &[]);
    let start = |lineage: &Lineage, name: &str| lineage.child(&agents, name, &[], STACK, 1);
    for name in ["code", "build", "plan", "title", "nobody"] {
        assert!(start(&root, name).is_err(), "{name}");
    }
    let child = start(&root, "general").unwrap();
    let error = start(&child.lineage, "general").unwrap_err();
    assert_eq!(error, AgentError::TooDeep { depth_max: 1 });
    assert_eq!(
        error.to_string(),
        "agents may start agents 1 deep, and this is one more"
    );
    assert!(root.child(&agents, "general", &[], STACK, 0).is_err());
}

const NAMES: [&str; 6] = ["general", "explore", "scout", "open", "lists", "looks"];
const ROOTS: [&str; 6] = ["code", "plan", "ask", "orchestrator", "looks", "open"];

fn any_subject() -> impl Strategy<Value = Subject> {
    let file = |permission: &str, path: &str| {
        let others = vec!["plans/x.md".to_owned()];
        Subject::path(permission, path, format!("/w/{path}"), others)
    };
    let mut all = vec![
        file("edit", "a"),
        file("edit", "plans/a.md"),
        file("read", "a"),
        file("read", "src/a"),
        Subject::command("bash", "/bin/ls", "/bin/ls", vec!["ls".into()]),
        Subject::command("bash", "git push", "'git' push", vec![]),
        Subject::name("task", "explore"),
        Subject::name("external_directory", "/o/*"),
    ];
    for permission in [
        "todowrite",
        "question",
        "plan_exit",
        "sandbox_escape",
        "mcp_x",
    ] {
        all.push(Subject::name(permission, "*"));
    }
    proptest::sample::select(all)
}

fn any_rule() -> impl Strategy<Value = Rule> {
    let permissions = [
        "*",
        "edit",
        "read",
        "bash",
        "task",
        "mcp_*",
        "external_directory",
    ];
    let patterns = ["*", "*", "a", "src/*", "ls", "git *", "/o/*", "plans/*"];
    let action = prop_oneof![Just(Action::Allow), Just(Action::Ask), Just(Action::Deny)];
    (
        proptest::sample::select(permissions.to_vec()),
        proptest::sample::select(patterns.to_vec()),
        action,
    )
        .prop_map(|(permission, pattern, action)| rule(permission, pattern, action))
}

fn action(layers: RuleLayers, subject: &Subject) -> Action {
    let subjects = Arc::from([subject.clone()]);
    decide(&RuleBook::new(layers).current(), &subjects, None).action()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn no_child_may_more_than_the_hard_rules_above_it(
        root in proptest::sample::select(&ROOTS[..]),
        chain in vec(proptest::sample::select(&NAMES[..]), 1..4),
        managed in vec(any_rule(), 0..4),
        user in vec(any_rule(), 0..4),
        lifted in vec(any_rule(), 0..4),
        subject in any_subject(),
    ) {
        let agents = agents();
        let root = agents.get(root).unwrap();
        let mut above = vec![root.hard.clone(), managed.clone()];
        let hard = tollgate_agent::strictest(&root.hard, &managed);
        let mut lineage = Lineage::root(root, &hard);
        for name in chain {
            let stack = Stack { user: &user, ..STACK };
            let child = lineage.child(&agents, name, &[], stack, 9).unwrap();
            let mut layers = child.layers.clone();
            layers.base.push(rule("*", "*", Action::Allow));
            layers.base.extend(lifted.clone());
            (layers.session, layers.saved) = (lifted.clone(), lifted.clone());
            let got = action(layers, &subject);
            for hard in &above {
                let base = vec![rule("*", "*", Action::Allow)];
                let alone = RuleLayers { base, hard: hard.clone(), ..RuleLayers::default() };
                // A hard ask counts where the rest allows; whatever the rest asks or denies is no less.
                let least = action(alone, &subject);
                prop_assert!(got >= least, "{name}: {got} < {least}");
            }
            above.push(child.agent.hard.clone());
            lineage = child.lineage;
        }
    }

    #[test]
    fn a_denial_in_the_parents_session_never_widens_a_child(
        name in proptest::sample::select(&NAMES[..]),
        session in vec(any_rule(), 0..5),
        denial in any_rule(),
        place in 0_usize..5,
        subject in any_subject(),
    ) {
        let agents = agents();
        let lineage = Lineage::root(agents.get("code").unwrap(), &[]);
        let with = |session: &[Rule]| {
            let child = lineage.child(&agents, name, session, STACK, 1).unwrap();
            action(child.layers, &subject)
        };
        let denial = Rule { action: Action::Deny, ..denial };
        let mut more = session.clone();
        more.insert(place.min(session.len()), denial);
        prop_assert!(with(&more) >= with(&session));
    }
}
