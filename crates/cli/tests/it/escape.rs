//! A command that the walls stop, and that a person lets out of them at a terminal.

use crate::{
    terminal::{PROMPT, Terminal},
    world::World,
};
use serde_json::{Value, json};

/// Writes beside the workspace, and makes a commit in a repository with a hook.
const WORK: &str = "\
echo x > ../out/new || exit 7
(: > /dev/tty) 2> /dev/null && touch ../out/terminal
git init -q repo && cd repo
printf '#!/bin/sh\\ntouch ../../out/hooked\\n' > .git/hooks/pre-commit
chmod +x .git/hooks/pre-commit
git -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m made && git log --format=%s
";

fn world() -> World {
    let world = World::new();
    world.put("ws/work.sh", WORK);
    world
}

fn inside() -> Value {
    json!({"command": "sh work.sh"})
}

fn outside() -> Value {
    json!({"command": "sh work.sh", "outside_sandbox": "out is where it has to go\u{1b}[2J"})
}

fn ask(world: &World) -> (Terminal, String) {
    let calls = [("bash", inside()), ("bash", outside()), ("bash", outside())];
    let mut terminal = Terminal::play(world, &calls);
    let seen = terminal.wait_for(PROMPT);
    (terminal, seen)
}

#[test]
fn it_writes_outside_after_a_whole_yes_and_only_once() {
    let world = world();
    let (mut terminal, seen) = ask(&world);
    assert!(!world.path("out/new").exists(), "the walls hold it");
    assert!(seen.contains("    sandbox_escape sh work.sh\r\n"), "{seen}");
    let (_, reason) = seen
        .split_once("  the model says why, in its own words:\r\n")
        .unwrap();
    assert!(
        reason.starts_with("    | out is where it has to go\\u{1b}[2J\r\n"),
        "{reason}"
    );
    assert!(
        seen.contains("  inside the sandbox it ended with exit code 7; the end of what it wrote:"),
        "{seen}"
    );
    assert!(
        seen.contains("  WARNING: this leaves the sandbox."),
        "{seen}"
    );
    assert!(!seen.contains("s in this session"), "{seen}");
    for no_answer in ["y\n", "o\n", "s\n", "a\n", "\n"] {
        terminal.answer(no_answer, "please type `yes` or one letter");
        assert!(!world.path("out/new").exists(), "{no_answer:?}");
    }
    terminal.wait_for(PROMPT);
    // The third call is not asked: its failure has been used up.
    terminal.answer("yes\n", "done");
    let seen = terminal.ends_with(0);
    assert_eq!(seen.matches("wants leave to").count(), 1, "{seen}");
    assert!(seen.contains("once for each failure"), "{seen}");
    assert_eq!(world.text("out/new"), "x\n");
    assert!(world.path("ws/repo/.git/refs").exists());
    assert!(!world.path("out/hooked").exists(), "no hook runs");
    let has_terminal = world.path("out/terminal").exists();
    assert!(!has_terminal, "it could draw over the next question");
    let journal = world.run(&["log"]).ended_with(0);
    let effect = "spawn outside the sandbox `sh work.sh`";
    assert!(journal.out.contains(effect), "{journal:#?}");
}

#[test]
fn a_no_leaves_everything_as_it_was() {
    let world = world();
    let before = world.files();
    let (mut terminal, _) = ask(&world);
    terminal.answer("r\n", "refused:");
    terminal.ends_with(3);
    assert_eq!(world.files(), before);
}

#[test]
fn with_nobody_at_a_terminal_it_is_denied_at_once() {
    let world = world();
    let before = world.files();
    let calls = json!([
        {"calls": [{"tool": "bash", "args": inside()}]},
        {"calls": [{"tool": "bash", "args": outside()}]},
    ]);
    let mut played = world.play(&calls, &[]);
    let ran = crate::world::ran(&mut played).ended_with(3);
    assert!(
        ran.said().contains("asks are denied by --on-ask deny"),
        "{ran:#?}"
    );
    assert_eq!(world.files(), before);
}

#[test]
fn a_script_that_was_rewritten_since_it_failed_stays_inside() {
    let world = world();
    let turn = |args: Value| json!({"calls": [{"tool": "bash", "args": args}]});
    let rewrite = json!({"command": "echo touch ../out/evil > work.sh"});
    let calls = json!([turn(inside()), turn(rewrite), turn(outside())]);
    let mut played = world.play(&calls, &[]);
    let ran = crate::world::ran(&mut played).ended_with(0);
    assert!(ran.said().contains("run it without this first"), "{ran:#?}");
    assert_eq!(world.text("ws/work.sh"), "touch ../out/evil\n");
    assert!(!world.path("out/evil").exists());
}

#[test]
fn a_single_call_has_no_failure_to_show() {
    let world = world();
    let before = world.files();
    let ran = world.call("bash", &outside()).ended_with(2);
    assert!(ran.said().contains("run it without this first"), "{ran:#?}");
    assert_eq!(world.files(), before);
}
