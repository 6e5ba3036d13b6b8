//! What `check --tool` says is what the same call then meets, read back from its journal.

use crate::world::World;
use serde_json::{Map, Value, json};
use std::{fs, os::unix::fs::symlink};
use store::{Filter, Ruling, StoredEvent};

const CASES: u64 = 50;

/// A small generator, so that every run of the test sees the same cases.
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        // Steele and others' SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % count as u64).unwrap()
    }

    fn one<'t, T: ?Sized>(&mut self, of: &[&'t T]) -> &'t T {
        of[self.below(of.len())]
    }

    /// Rules in an order that matters.
    fn rules(&mut self) -> Value {
        let mut permissions = Map::new();
        // For two of three as a start, for one ask hides every allow.
        if self.below(3) > 0 {
            permissions.insert("*".to_owned(), json!({"*": "allow"}));
        }
        for _ in 0..=self.below(6) {
            let name = self.one(&["*", "read", "edit", "bash", "external_directory", "e*"]);
            let pattern = match name {
                "bash" => self.one(&["*", "echo *", "cat *", "touch made", "rm *", "sh *"]),
                "external_directory" => self.one(&["*", "/tmp/*", "*/out/*"]),
                _ => self.one(&["*", "a.txt", "sub/*", "*.env", "*secret*", "made", "link"]),
            };
            let action = self.one(&["allow", "allow", "allow", "ask", "deny"]);
            let list = permissions.entry(name).or_insert_with(|| json!({}));
            list[pattern] = action.into();
        }
        json!({ "permission": permissions })
    }

    /// A call that succeeds if it is let.
    fn call(&mut self) -> (&'static str, Value) {
        let files = [
            "a.txt",
            "sub/b.txt",
            "sub/../a.txt",
            ".env",
            "../out/secret.txt",
            "link",
            "hard",
        ];
        let path = self.one(&files);
        match self.below(5) {
            0 => ("read", json!({"filePath": path})),
            1 => (
                "edit",
                json!({"filePath": path, "oldString": "one", "newString": "1"}),
            ),
            2 => {
                let path = self.one(&[path, "made", "sub/made", "../out/made"]);
                ("write", json!({"filePath": path, "content": "new\n"}))
            }
            _ => {
                let command = self.one(&[
                    "touch made",
                    "echo hi > made",
                    "echo hi >> sub/b.txt",
                    "cat a.txt && touch made",
                    "'touch' \"made\"",
                    "touch made; cat < ../out/secret.txt",
                    "rm a.txt",
                    "/bin/rm a.txt",
                    "$(echo touch) made",
                    "(cd sub && touch made)",
                    "for i in 1; do touch made; done",
                ]);
                ("bash", json!({"command": command}))
            }
        }
    }
}

fn scene(dice: &mut Dice) -> World {
    let world = World::new();
    world.put("ws/.env", "one secret\n");
    symlink("../out/secret.txt", world.path("ws/link")).unwrap();
    world.put("out/named", "one\n");
    fs::hard_link(world.path("out/named"), world.path("ws/hard")).unwrap();
    world.rules(&dice.rules().to_string());
    world
}

/// The steps that a record rests on.
fn steps(trace: &Value) -> Vec<Value> {
    trace.as_array().unwrap().clone()
}

fn has_tool(world: &World, name: &str) -> bool {
    let tools = world.run(&["tools", "--json"]).json();
    let mut tools = tools.as_array().unwrap().iter();
    tools.any(|tool| tool["name"] == name)
}

/// Runs one case and gives back its action.
fn check_case(dice: &mut Dice) -> String {
    let world = scene(dice);
    let (tool, arguments) = dice.call();
    let case = format!("{tool} {arguments} under {}", world.text("rules.jsonc"));
    let checked = world
        .run(&["check", "--tool", tool, &arguments.to_string(), "--json"])
        .json();
    let before = world.files();
    let ran = world.call(tool, &arguments);
    let is_changed = world.files() != before;
    let checked_steps = steps(&checked["trace"]);
    let (mut effects, mut refusals) = (Vec::new(), Vec::new());
    if checked["gate"] == 0 {
        assert_eq!((ran.code, is_changed), (Some(3), false), "{case}: {ran:#?}");
        return "not offered".to_owned();
    }
    for record in world.store().journal(Filter::All).unwrap() {
        let ruling = |ruling: &Ruling| {
            let trace = serde_json::from_str(&ruling.trace).unwrap();
            let is_known = steps(&trace)
                .iter()
                .all(|step| checked_steps.contains(step));
            assert!(is_known, "{case}: {trace} is not in {checked}");
            ruling.action.to_string()
        };
        match record.event {
            StoredEvent::Intent { ruling: by, .. } => assert_eq!(ruling(&by), "allow", "{case}"),
            StoredEvent::Outcome { effect, result } => effects.push((effect, result)),
            StoredEvent::Refused {
                gate, ruling: by, ..
            } => {
                refusals.push((gate, ruling(&by.unwrap())));
            }
        }
    }
    let action = checked["action"].as_str().unwrap();
    if action == "allow" {
        assert_eq!((ran.code, refusals.len()), (Some(0), 0), "{case}: {ran:#?}");
        assert!(
            effects.iter().any(|(_, result)| result.is_ok()),
            "{case}: {effects:?}"
        );
        // The walls hold a command to what the rules say of the file itself, and then it fails.
        let has_failed = ran.out.contains("exit code");
        let is_walled = tool == "bash" && (has_failed || !has_tool(&world, "edit"));
        assert_eq!(is_changed, tool != "read" && !is_walled, "{case}");
    } else {
        assert_eq!((ran.code, is_changed), (Some(3), false), "{case}: {ran:#?}");
        assert_eq!(
            refusals,
            [("admit".to_owned(), action.to_owned())],
            "{case}"
        );
    }
    action.to_owned()
}

#[test]
fn what_is_checked_is_what_happens() {
    let mut dice = Dice(2);
    let actions: Vec<String> = (0..CASES).map(|_| check_case(&mut dice)).collect();
    for (action, count_min) in [("allow", 10), ("ask", 3), ("deny", 3), ("not offered", 1)] {
        let count = actions.iter().filter(|it| *it == action).count();
        assert!(
            count >= count_min,
            "the cases are no good: {action} only {count} times"
        );
    }
}
