//! `tollgate policy test` on pages with rules, and on the rules that hold.

use crate::world::World;
use serde_json::json;
use std::{fs, path::Path};

const RIGHT: i32 = 0;
const WRONG: i32 = 1;
const USAGE: i32 = 2;
const CONFIG: i32 = 4;

fn test(more: &[&str]) -> Vec<String> {
    let line = ["policy", "test"].iter().chain(more);
    line.map(|&word| word.to_owned()).collect()
}

fn page(decisions: &str) -> String {
    format!("```decisions\n{decisions}\n```\n")
}

const OWN: &str =
    "# Mine\n\n```rules\n{ \"bash\": { \"*\": \"ask\", \"git *\": \"allow\" } }\n```\n\n";

#[test]
fn a_page_with_rules_is_put_to_them_and_to_no_others() {
    let world = World::new();
    world.rules(r#"{"permission": {"*": "deny"}}"#);
    let cases = page("allow bash git log\nask bash make  # why\nask read a.txt");
    world.put("ws/own.md", format!("{OWN}{cases}"));
    let ran = world.run(&test(&["own.md"])).ended_with(RIGHT);
    assert_eq!((&*ran.out, &*ran.err), ("3 passed, 0 failed\n", ""));
}

#[test]
fn what_comes_out_otherwise_is_shown_with_its_place_and_the_reason() {
    let world = World::new();
    world.put(
        "ws/own.md",
        OWN.to_owned() + &page("allow bash git log\ndeny bash make"),
    );
    let ran = world.run(&test(&["own.md"])).ended_with(WRONG);
    let mut lines = ran.out.lines();
    assert_eq!(
        lines.next(),
        Some("own.md:9: bash make: expected deny, got ask")
    );
    assert_eq!(lines.next(), Some("    ask: `make` (bash)"));
    assert_eq!(
        lines.next(),
        Some("      A rule asks: `bash: * = ask` (own.md:4:13)")
    );
    assert_eq!(lines.last(), Some("1 passed, 1 failed"));

    let ran = world.run(&test(&["own.md", "--json"])).ended_with(WRONG);
    let all = ran.json();
    assert_eq!((&all["passed"], &all["failed"]), (&json!(1), &json!(1)));
    let failure = &all["failures"][0];
    assert_eq!(failure["file"], "own.md");
    assert_eq!(failure["line"], 9);
    assert_eq!(failure["expected"], "deny");
    assert_eq!(failure["got"], "ask");
    assert_eq!(failure["trace"][0]["origin"]["line"], 4);
}

#[test]
fn a_page_without_rules_is_put_to_those_that_hold_for_the_agent_that_is_named() {
    let world = World::new();
    world.rules(
        r#"{"permission": {"bash": {"*": "ask", "make *": "allow"}, "edit": "allow", "external_directory.read": {"~/notes/*": "allow"}},
            "agent": {"plan": {"permission": {"bash": {"ls *": "allow"}}}}}"#,
    );
    world.put(
        "ws/tollgate.jsonc",
        r#"{"permission": {"edit": {"locked/*": "deny"}}}"#,
    );
    world.put(
        "ws/held.md",
        page("allow bash make\nask bash ls\nallow edit a.txt\ndeny edit locked/a\nallow read ~/notes/a.txt\nask read .env"),
    );
    let ran = world.run(&test(&["held.md"])).ended_with(RIGHT);
    assert_eq!(ran.out, "6 passed, 0 failed\n", "{}", ran.said());
    world.put(
        "ws/plan.md",
        page("allow bash ls\ndeny edit a.txt\ndeny bash rm x"),
    );
    world
        .run(&test(&["plan.md", "--agent", "plan"]))
        .ended_with(RIGHT);
    world.run(&test(&["plan.md"])).ended_with(WRONG);
}

#[test]
fn several_pages_are_counted_together() {
    let world = World::new();
    world.put("ws/a.md", OWN.to_owned() + &page("allow bash git log"));
    world.put("ws/b.md", OWN.to_owned() + &page("allow bash make"));
    let ran = world.run(&test(&["a.md", "b.md"])).ended_with(WRONG);
    assert!(ran.out.starts_with("b.md:8: "), "{}", ran.out);
    assert!(ran.out.ends_with("1 passed, 1 failed\n"), "{}", ran.out);
}

#[test]
fn what_is_no_page_or_holds_no_case_has_not_passed() {
    let world = World::new();
    world.put("ws/empty.md", OWN);
    world.put("ws/wrong.md", OWN.to_owned() + &page("perhaps bash ls"));
    for (file, said) in [
        (
            "empty.md",
            "`empty.md` has no case in a block of `decisions`",
        ),
        (
            "wrong.md",
            "wrong.md: line 8: expected `ACTION PERMISSION TEXT`",
        ),
        ("absent.md", "`absent.md` cannot be read"),
    ] {
        let ran = world.run(&test(&[file])).ended_with(CONFIG);
        assert!(ran.err.contains(said), "{}", ran.err);
    }
    world.run(&test(&[])).ended_with(USAGE);
}

#[test]
fn the_chapters_of_the_manual_come_out_as_they_say() {
    let folder = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../spec/permissions"
    ));
    let files = fs::read_dir(folder).unwrap();
    let path = |entry: fs::DirEntry| entry.path().to_str().unwrap().to_owned();
    let mut line = test(&[]);
    line.extend(files.map(|entry| path(entry.unwrap())));
    let ran = World::new().run(&line).ended_with(RIGHT);
    assert!(ran.out.ends_with(" passed, 0 failed\n"), "{}", ran.out);
}
