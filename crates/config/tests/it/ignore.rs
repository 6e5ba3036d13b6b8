//! Files of paths to be left alone, against an implementation of `.gitignore`.
//! Must not look at a configuration of the person who runs the tests.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use policy::{Action, Origin, Pattern, Rule, RuleBook, RuleLayers, Ruleset, Subject, decide};
use tollgate_config::{Level, Loaded, Sources, discover};

use crate::discover::World;

fn load(world: &World) -> Loaded {
    let sources = Sources {
        home: Some(world.path("home").display().to_string()),
        ..world.sources()
    };
    discover(&sources).unwrap()
}

/// The rules in force where everything else is allowed.
fn rules(loaded: Loaded) -> Arc<Ruleset> {
    let all = Rule::new(
        "*",
        Pattern::wildcard("*"),
        Action::Allow,
        Origin::named("t"),
    );
    let layers = RuleLayers {
        base: vec![all],
        project: loaded.project,
        ..RuleLayers::default()
    };
    RuleBook::new(layers).current()
}

/// What is said to reading a file of the workspace.
fn action(rules: &Arc<Ruleset>, world: &World, path: &str) -> Action {
    let absolute = world.path("repo/sub/work").join(path).display().to_string();
    let subject = Subject::path("read", path, absolute, vec![]);
    decide(rules, &[subject].into(), None).action()
}

fn git(world: &World, text: &str) -> Gitignore {
    let mut builder = GitignoreBuilder::new(world.path("repo/sub/work"));
    for line in text.lines() {
        builder.add_line(None, line).unwrap();
    }
    builder.build().unwrap()
}

/// Git leaves out what lies in a folder it leaves out, whatever is said of it.
fn is_left_out(git: &Gitignore, path: &str) -> bool {
    let above = Path::new(path).ancestors().skip(1);
    let mut above = above.filter(|folder| *folder != Path::new(""));
    git.matched(path, false).is_ignore()
        || above.any(|folder| git.matched(folder, true).is_ignore())
}

const PATHS: [&str; 12] = [
    "a", "b.x", "a/a", "a/b.x", "a/a/a", "a/a/b.x", "b/a", "b/b.x", "b/a/a", "a/b/b.x", ".a",
    "a/.a",
];

#[test]
fn nothing_that_git_leaves_out_gets_through_and_no_more_is_closed_where_negations_are_by_name() {
    let world = World::new();
    let parts = [
        "a", "/a/", "*.x", "/*", "*", "a/b", "a/**", "b/a/", "!a", "!/a", "!*.x", "!a/", "!/a/",
        "!/a/b.x", "!a/a", "!/a/*",
    ];
    // By name and from the top, which is said exactly.
    let is_named = |line: &str| matches!(line, "!/a" | "!/a/" | "!/a/b.x" | "!a/a");
    for first in parts {
        for second in parts {
            for third in ["", "!b.x", "!/a"] {
                let text = format!("{first}\n{second}\n{third}\n");
                world.write("repo/sub/work/.kilocodeignore", &text);
                let loaded = load(&world);
                let rules = rules(loaded);
                let git = git(&world, &text);
                let is_exact = [first, second, third]
                    .iter()
                    .all(|line| (!line.starts_with('!') || is_named(line)) && !line.contains("**"));
                for path in PATHS {
                    let is_out = is_left_out(&git, path);
                    let is_denied = action(&rules, &world, path) == Action::Deny;
                    assert!(is_denied || !is_out, "{path} gets through:\n{text}");
                    assert!(
                        !is_exact || is_denied == is_out,
                        "{path} is closed:\n{text}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_negation_that_names_a_folder_gives_back_what_lies_in_it() {
    let world = World::new();
    world.write(
        "repo/sub/work/.kilocodeignore",
        "*.pem\n/*\n!/src\n!.env.example\n",
    );
    let loaded = load(&world);
    let rules = rules(loaded);
    for (path, want) in [
        ("src/a.rs", Action::Allow),
        ("src/deep/a.rs", Action::Allow),
        ("src/a.pem", Action::Deny),
        ("doc/a", Action::Deny),
        ("x", Action::Deny),
        (".env.example", Action::Allow),
    ] {
        assert_eq!(action(&rules, &world, path), want, "{path}");
    }
}

#[test]
fn what_rules_cannot_say_denies_more_and_is_told() {
    let world = World::new();
    world.write(
        "repo/sub/work/.kilocodeignore",
        "# a comment\n\n[ab].key\n\\#x\nspace\\ \n!a.k[e]y\n*\n!src/\n",
    );
    let loaded = load(&world);
    let lines: Vec<_> = loaded.config.warnings.iter().map(|it| it.line).collect();
    assert_eq!(lines, [3, 6, 8]);
    let patterns: Vec<_> = loaded
        .project
        .iter()
        .map(|it| it.pattern.text().to_owned())
        .collect();
    let root = world.path("repo/sub/work").display().to_string();
    for pattern in ["?.key", "#x", "space "] {
        assert!(
            patterns.contains(&format!("path:{root}/**/{pattern}")),
            "{pattern}: {patterns:?}"
        );
    }
    let origin = &loaded.project[0].origin;
    assert_eq!((origin.line, origin.column), (3, 1));
}

#[test]
fn the_repository_takes_nothing_back_of_what_the_user_closes() {
    let world = World::new();
    world.write("home/.kilo/.kilocodeignore", "*.key\n");
    world.write("home/.kilocode/.kilocodeignore", "/top\n");
    world.write("repo/.kilocodeignore", "!*.key\n*.x\n!*.key\n!top\n");
    world.write(
        "repo/opencode.json",
        r#"{"permission": {"read": "allow", "edit": "allow"}}"#,
    );
    let loaded = load(&world);
    let users = loaded
        .found
        .iter()
        .filter(|it| it.level == Level::User)
        .count();
    assert_eq!(users, 2);
    let rules = rules(loaded);
    for (path, want) in [
        ("a.key", Action::Deny),
        ("a.x", Action::Deny),
        ("a.y", Action::Allow),
    ] {
        assert_eq!(action(&rules, &world, path), want, "{path}");
    }
    let outside = Subject::path("read", "/etc/a.key", "/etc/a.key", vec![]);
    assert_eq!(
        decide(&rules, &[outside].into(), None).action(),
        Action::Deny
    );
    let top = world.path("repo/top").display().to_string();
    let top = Subject::path("edit", top.clone(), top, vec![]);
    assert_eq!(decide(&rules, &[top].into(), None).action(), Action::Deny);
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_used_closes_everything() {
    let world = World::new();
    let file = world.path("repo/.kilocodeignore");
    let closes = |why: &str| {
        let loaded = load(&world);
        let told = loaded.config.warnings[0].to_string();
        assert!(
            told.contains("no file is read or edited") && told.contains(why),
            "{told}"
        );
        let rules = rules(loaded);
        assert!(rules.disabled("read") && rules.disabled("edit") && !rules.disabled("bash"));
    };
    fs::write(&file, b"a\xff").unwrap();
    closes("UTF-8");
    fs::write(&file, vec![b'a'; 1024 * 1024 + 1]).unwrap();
    closes("larger");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    closes("regular file");
    fs::remove_dir(&file).unwrap();
    world.write("repo/other", "a");
    std::os::unix::fs::symlink(Path::new("other"), &file).unwrap();
    closes("link");
    fs::remove_file(&file).unwrap();
    fs::write(&file, "").unwrap();
    assert!(load(&world).project.is_empty());
}

#[test]
fn a_file_of_very_many_negations_stays_small() {
    let world = World::new();
    let lines: Vec<_> = (0..2000).map(|n| format!("a{n}\n!/b{n}")).collect();
    world.write("repo/.kilocodeignore", &lines.join("\n"));
    let loaded = load(&world);
    assert!(loaded.project.len() < 20_000, "{}", loaded.project.len());
    assert!(
        loaded
            .config
            .warnings
            .iter()
            .any(|it| it.message.contains("too many patterns"))
    );
    let lines: Vec<_> = (0..10_001).map(|n| format!("a{n}")).collect();
    world.write("repo/.kilocodeignore", &lines.join("\n"));
    assert!(rules(load(&world)).disabled("read"));
}
