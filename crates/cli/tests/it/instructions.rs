//! What the model is told before anything else, and that the rules hold for it too.

use crate::{
    server::{Server, line},
    world::{Ran, World},
};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;

const WORD: &str = "Write no semicolons.";

/// Speaks once, and gives back the system prompt.
#[track_caller]
fn told(world: &World, rules: &Value, more: Value) -> (String, Ran) {
    let server = Server::start(&json!([{"text": "hello"}]), []);
    server.configure_with(world, rules, more);
    let ran = world.run(&line("hi", &[])).ended_with(0);
    assert_eq!(ran.out, "hello\n");
    (server.system(), ran)
}

#[test]
fn the_projects_instructions_are_told() {
    let world = World::new();
    let (without, ran) = told(&world, &json!({}), json!({}));
    assert_eq!(ran.err, "", "no file is no mistake");
    world.put("ws/AGENTS.md", format!("# Style\n{WORD}\n"));
    let (system, ran) = told(&world, &json!({}), json!({}));
    assert_eq!(
        system,
        format!("{without}\n\nInstructions from: AGENTS.md\n# Style\n{WORD}")
    );
    assert_eq!(ran.err, "");
}

#[test]
fn instructions_that_the_rules_do_not_plainly_allow_are_left_out_and_that_is_said() {
    for rule in ["deny", "ask"] {
        let world = World::new();
        world.put("ws/AGENTS.md", WORD);
        let (system, ran) = told(&world, &json!({"read": {"AGENTS.md": rule}}), json!({}));
        assert!(!system.contains(WORD), "{system}");
        assert!(
            ran.err
                .contains("warning: instructions `AGENTS.md` are left out: "),
            "{ran:#?}"
        );
        assert!(ran.err.contains(&format!("AGENTS.md = {rule}")), "{ran:#?}");
    }
}

#[test]
fn a_link_out_of_the_workspace_is_judged_by_where_it_leads() {
    let world = World::new();
    symlink("../out/secret.txt", world.path("ws/AGENTS.md")).unwrap();
    for rules in [
        json!({"external_directory": "deny"}),
        json!({"external_directory": "ask"}),
        json!({"read": {"*secret*": "deny"}}),
    ] {
        let (system, ran) = told(&world, &rules, json!({}));
        assert!(!system.contains("outside secret"), "{system}");
        assert!(ran.err.contains("left out"), "{ran:#?}");
    }
    let (system, _) = told(&world, &json!({}), json!({}));
    assert!(
        system.contains("outside secret"),
        "the user allows it: {system}"
    );
}

#[test]
fn named_instructions_are_told_in_their_order_before_the_projects() {
    let world = World::new();
    world.put("ws/AGENTS.md", "third");
    world.put("ws/sub/first.md", "first");
    world.put("ws/second.md", "second");
    world.put("ws/.env", "PASSWORD=hunter2");
    let named = json!({"instructions": ["sub/first.md", "second.md", ".env", "gone.md"]});
    let (system, ran) = told(&world, &json!({"read": {"*.env": "deny"}}), named);
    let at = |word: &str| {
        system
            .find(word)
            .unwrap_or_else(|| panic!("{word} is not in {system}"))
    };
    assert!(
        at("\nfirst") < at("\nsecond") && at("\nsecond") < at("\nthird"),
        "{system}"
    );
    assert!(!system.contains("hunter2"), "{system}");
    for left_out in [".env", "gone.md"] {
        assert!(
            ran.err.contains(&format!("`{left_out}` are left out")),
            "{ran:#?}"
        );
    }
}

#[test]
fn an_agents_own_prompt_may_come_from_a_file_that_may_be_read() {
    let world = World::new();
    world.put("ws/prompt.md", WORD);
    let prompt = format!(
        "Begin. {{file:{}}} End.",
        world.path("ws/prompt.md").display()
    );
    let agent = json!({"agent": {"code": {"prompt": prompt}}});
    let (system, _) = told(&world, &json!({}), agent.clone());
    assert!(system.contains(&format!("Begin. {WORD} End.")), "{system}");
    let (system, ran) = told(&world, &json!({"read": {"*prompt.md": "deny"}}), agent);
    assert!(
        !system.contains(WORD) && ran.err.contains("left out"),
        "{system} {ran:#?}"
    );
}
