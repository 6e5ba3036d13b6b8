//! `policy suggest` reads what a person answered, and its rules spare the same questions.

use crate::{
    terminal::{PROMPT, Terminal},
    world::World,
};
use serde_json::{Value, json};

const ASKING: &str = r#"{"permission": {"bash": "ask"}}"#;

/// A run of these commands, each answered with yes for once.
fn approve(world: &World, commands: &[&str]) {
    let calls: Vec<_> = commands
        .iter()
        .map(|command| ("bash", json!({ "command": command })))
        .collect();
    let mut terminal = Terminal::play(world, &calls);
    terminal.wait_for(PROMPT);
    for _ in commands.iter().skip(1) {
        terminal.answer("o\n", PROMPT);
    }
    terminal.answer("o\n", "done");
    terminal.ends_with(0);
}

fn suggested(world: &World) -> Value {
    world
        .run(&["policy", "suggest", "--json"])
        .ended_with(0)
        .json()
}

#[test]
fn what_was_allowed_by_hand_becomes_rules_that_spare_the_question() {
    let world = World::new();
    world.rules(ASKING);
    approve(
        &world,
        &["touch one", "touch two", "touch two", "$NONE touch three"],
    );
    let found = suggested(&world);
    let want = json!({"approvals": 4, "suggestions": [{
        "permission": "bash", "pattern": "touch *", "action": "allow", "approvals": 3,
        "covers": ["touch one", "touch two"],
    }]});
    assert_eq!(found, want);
    let ran = world.run(&["policy", "suggest"]).ended_with(0);
    for says in [
        "3 of the 4 questions",
        "  bash: touch * = allow\n      3 questions: `touch one`, `touch two`\n",
    ] {
        assert!(ran.out.contains(says), "{ran:#?}");
    }

    world.rules(r#"{"permission": {"bash": {"*": "ask", "touch *": "allow"}}}"#);
    world.run(&["check", "bash", "touch four"]).ended_with(0);
    assert_eq!(suggested(&world)["suggestions"], json!([]));
}

#[test]
fn what_was_allowed_in_another_workspace_is_no_reason_here() {
    let world = World::new();
    world.rules(ASKING);
    approve(&world, &["touch one"]);
    let other = world.path("out").display().to_string();
    let ran = world
        .run(&["policy", "suggest", "--dir", &other])
        .ended_with(0);
    assert!(
        ran.out.contains("nothing to suggest: 0 questions"),
        "{ran:#?}"
    );
}
