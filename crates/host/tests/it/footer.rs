//! What real programs say at real walls, and that the footer names the path with what would open it.

use crate::world::{World, with_toolchains};
use conform::testkit::Action::{self, Allow, Ask};
use tollgate_host::LocalHost;

const RULES: &[(&str, &str, Action)] = &[
    ("read", "*.env", Ask),
    ("edit", "*", Ask),
    ("edit.new", "*", Allow),
    ("edit.command", "*", Allow),
    ("edit", "*AGENTS.md", Ask),
    ("edit", "*.cursor/*", Ask),
];

fn world() -> (World, LocalHost) {
    let world = World::under(RULES);
    let host = with_toolchains(&world);
    world.put("ws/.env", "hunter2\n");
    world.put("ws/AGENTS.md", "one\n");
    world.put("ws/a.txt", "one\n");
    (world, host)
}

/// Runs a script, of which no word of the line tells what it does, and gives the footer.
fn footer(world: &World, host: &LocalHost, script: &str) -> String {
    world.put("ws/script.sh", script);
    let (said, _) = world.bash_with_edits(host, "bash script.sh");
    let (_, footer) = said.split_once("<shell_metadata>").unwrap_or_default();
    footer.to_owned()
}

#[track_caller]
fn names(scripts: &[&str], path: &str, opens: &str) {
    let (world, host) = world();
    let path = world.path(path);
    for script in scripts {
        let footer = footer(&world, &host, script);
        let line = format!("- `{}`: ", path.display());
        let named = footer.lines().find_map(|it| it.strip_prefix(&line));
        assert!(
            named.is_some_and(|it| it.contains(opens)),
            "{script}: {footer}"
        );
    }
}

#[test]
fn a_hidden_file_is_named_with_the_rule_that_would_show_it() {
    names(
        &[
            "cat .env",
            "grep -r hunter .",
            "sh -c '. ./.env'",
            "cp .env b",
            "sed -n 1p .env",
            "tar cf b.tar .env a.txt && tar tf b.tar | grep -q .env && cat .env",
            "python3 -c 'open(\".env\")'",
            "node -e 'require(\"fs\").readFileSync(\".env\")'",
            "make -f .env",
            "git init -q . && git add .",
            "git hash-object .env",
            "git diff --no-index .env a.txt",
        ],
        "ws/.env",
        r#"`"permission": {"read":{".env":"allow"}}`"#,
    );
}

#[test]
fn a_protected_file_is_named_whatever_would_change_it() {
    names(
        &[
            "echo x > AGENTS.md",
            "sh -c 'echo x > AGENTS.md'",
            "cp a.txt AGENTS.md",
            "mv a.txt AGENTS.md",
            "rm -f AGENTS.md",
            "touch AGENTS.md",
            "chmod 600 AGENTS.md",
            "ln -sf a.txt AGENTS.md",
            "tee AGENTS.md < a.txt",
            "python3 -c 'open(\"AGENTS.md\", \"w\")'",
            "python3 -c 'import os; os.remove(\"AGENTS.md\")'",
            "node -e 'require(\"fs\").writeFileSync(\"AGENTS.md\", \"x\")'",
            "node -e 'require(\"fs\").unlinkSync(\"AGENTS.md\")'",
        ],
        "ws/AGENTS.md",
        "protected",
    );
}

#[test]
fn a_name_that_must_not_appear_is_named() {
    names(
        &[
            "mkdir .cursor",
            "rmdir .cursor",
            "python3 -c 'import os; os.mkdir(\".cursor\")'",
            "node -e 'require(\"fs\").mkdirSync(\".cursor\")'",
        ],
        "ws/.cursor",
        "protected",
    );
}

#[test]
fn a_place_outside_is_named_with_its_directory() {
    let opens = r#"`"permission": {"external_directory":{"/nowhere/*":"allow"}}`"#;
    names(
        &[
            "touch /nowhere/n",
            "echo x > /nowhere/n",
            "cat /nowhere/n",
            "sh -c 'echo x > /nowhere/n'",
            "python3 -c 'open(\"/nowhere/n\", \"w\")'",
            "node -e 'require(\"fs\").writeFileSync(\"/nowhere/n\", \"x\")'",
        ],
        "/nowhere/n",
        opens,
    );
}

#[test]
fn an_ordinary_failure_has_no_footer_about_walls() {
    let (world, host) = world();
    world.put("ws/mode.sh", "echo x");
    for script in [
        "cat nosuch",
        "nosuch",
        "mkdir a.txt",
        "ls src/nosuch",
        "python3 -c 'open(\"nosuch\")'",
        "python3 -c 'assert False'",
        "node -e 'require(\"fs\").readFileSync(\"nosuch\")'",
        "make nosuch",
        "git log nosuch",
        "grep nosuch a.txt",
        "rmdir src",
        "./mode.sh",
        "tar xf nosuch.tar",
        "cp nosuch b",
        "mv nosuch b",
        "rm nosuch",
        "sed -n 1p nosuch",
        "touch nosuch/x",
        "cd nosuch",
        "false",
    ] {
        let footer = footer(&world, &host, script);
        assert!(footer.contains("exit code"), "{script}: {footer}");
        assert!(!footer.contains("sandbox"), "{script}: {footer}");
    }
}
