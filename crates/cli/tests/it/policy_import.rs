//! `policy import`: foreign rules go to standard output or into a new file, and what is lost is said.

use crate::world::{World, check_plain};

const SETTINGS: &str = r#"{
  "permissions": {
    "allow": ["Bash(git log:*)", "Read"],
    "deny": ["Bash(git push:*)"]
  }
}"#;

#[test]
fn the_rules_go_to_standard_output_and_hold_as_they_are() {
    let world = World::new();
    world.put("ws/settings.json", SETTINGS);
    let ran = world
        .run(&["policy", "import", "claude", "settings.json"])
        .ended_with(0);
    assert_eq!(ran.err, "", "{ran:#?}");
    world.rules(&ran.out);
    for (text, code) in [("git log -1", 0), ("git push origin", 3)] {
        world.run(&["check", "bash", text]).ended_with(code);
    }
}

#[test]
fn every_system_is_read() {
    let world = World::new();
    let codex = "prefix_rule(pattern = ['git', 'push'], decision = 'forbidden')\n";
    let gemini = "[[rule]]\ncommandPrefix = 'git push'\ndecision = 'deny'\npriority = 1\n";
    for (system, text) in [("claude", SETTINGS), ("codex", codex), ("gemini", gemini)] {
        world.put("ws/theirs", text);
        let ran = world
            .run(&["policy", "import", system, "theirs"])
            .ended_with(0);
        let rule = r#"{ "action": "bash", "resource": "git push *", "effect": "deny" }"#;
        assert!(ran.out.contains(rule), "{ran:#?}");
    }
}

#[test]
fn a_file_is_made_anew_and_never_written_over() {
    let world = World::new();
    world.put("ws/settings.json", SETTINGS);
    let line = [
        "policy",
        "import",
        "claude",
        "settings.json",
        "--out",
        "ours.jsonc",
    ];
    let ran = world.run(&line).ended_with(0);
    assert_eq!(ran.out, "", "{ran:#?}");
    let text = world.text("ws/ours.jsonc");
    assert!(text.contains("// line 3: Bash(git log:*)"), "{text}");
    world.put("ws/settings.json", "{}");
    let ran = world.run(&line).ended_with(4);
    assert!(
        ran.err.contains("`ours.jsonc` cannot be written"),
        "{ran:#?}"
    );
    assert_eq!(world.text("ws/ours.jsonc"), text);
}

#[test]
fn what_has_no_equivalent_and_what_lint_finds_are_said_beside_it() {
    let world = World::new();
    world.put(
        "ws/settings.json",
        "{\"permissions\": {\n\"allow\": [\"Bash(ls:*)\", \"Bash(cat \u{1b}[2J?)\"],\n\"ask\": [\"Bash\"]}}",
    );
    let ran = world
        .run(&["policy", "import", "claude", "settings.json"])
        .ended_with(1);
    check_plain(&ran.said());
    for says in ["line 2: no equivalent: Bash(cat", "imported:8:5: "] {
        assert!(ran.err.contains(says), "{says}: {ran:#?}");
    }
}

#[test]
fn what_is_no_such_file_is_refused() {
    let world = World::new();
    world.put("ws/broken.json", "{");
    for file in ["broken.json", "absent.json", "."] {
        let ran = world
            .run(&["policy", "import", "claude", file])
            .ended_with(4);
        assert_eq!(ran.out, "", "{ran:#?}");
    }
    world
        .run(&["policy", "import", "other", "broken.json"])
        .ended_with(2);
}
