//! Rules of other agents become rules of ours: the same answers as theirs, and never a milder one.
//! Must not use the importers to say what theirs are.
#![expect(clippy::panic, reason = "a test may stop where it stands")]

use ignore::gitignore::GitignoreBuilder;
use policy::{Action, RuleBook, RuleLayers, Ruleset, Subject, decide};
use serde_json::json;
use std::sync::Arc;
use tollgate_config::import::{Imported, claude, codex, gemini};
use tollgate_config::parse;

use Action::{Allow, Ask, Deny};

const HOME: &str = "/home/u";

/// So many rows of a hundred have to come out the same; the others stricter.
const SAME_OF_HUNDRED_MIN: usize = 95;

/// The rules that were imported, and no others.
fn rules(imported: &Imported) -> Arc<Ruleset> {
    let config = parse(&imported.text, "imported", Some(HOME));
    let config = config.unwrap_or_else(|error| panic!("{error:?}\n{}", imported.text));
    RuleBook::new(RuleLayers {
        base: config.rules,
        ..RuleLayers::default()
    })
    .current()
}

fn command(text: &str) -> Subject {
    Subject::command("bash", text, text, Vec::new())
}

/// A file of the workspace `/w`, or an absolute one.
fn file(permission: &str, path: &str) -> Subject {
    let absolute = if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("/w/{path}")
    };
    Subject::path(permission, path, &absolute, Vec::new())
}

fn ours(rules: &Arc<Ruleset>, subject: Subject) -> Action {
    decide(rules, &[subject].into(), None).action()
}

/// Compares what both say to every row.
#[track_caller]
fn check_same(imported: &Imported, rows: Vec<(Subject, Action)>) {
    let rules = rules(imported);
    let row_count = rows.len();
    let mut different = Vec::new();
    for (subject, theirs) in rows {
        let text = format!("{} {}", subject.permission, subject.canonical);
        let ours = ours(&rules, subject);
        assert!(theirs == Allow || ours != Allow, "{text}: theirs {theirs}");
        if ours != theirs {
            different.push(format!("{text}: theirs {theirs}, ours {ours}"));
        }
    }
    let same_count = row_count - different.len();
    assert!(
        row_count >= 100 && same_count * 100 >= row_count * SAME_OF_HUNDRED_MIN,
        "{same_count} of {row_count}: {different:#?}\n{}",
        imported.text
    );
}

/// Every program with all of these behind it.
fn commands() -> Vec<String> {
    let programs = [
        "git",
        "git status",
        "git log",
        "git push",
        "git push origin",
        "git push --force",
        "gitk",
        "npm",
        "npm run test",
        "npm run build",
        "npm run",
        "npm install",
        "npm test",
        "cargo test",
        "cargo",
        "rm",
        "rm -rf",
        "ls",
        "lsof",
        "curl http://x.org/",
        "docker compose up",
        "make",
    ];
    let ends = ["", " -v", " x", " --json x", " main", " y/z.txt"];
    let with_ends = |program| ends.iter().map(move |end| format!("{program}{end}"));
    programs.into_iter().flat_map(with_ends).collect()
}

/// A wildcard the slow way.
fn glob(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|text| {
            let mut ends = (0..=text.len()).filter(|&at| text.is_char_boundary(at));
            ends.any(|at| glob(rest, &text[at..]))
        }),
    }
}

mod of_claude {
    use super::*;

    const RULES: [(&str, &[&str]); 3] = [
        (
            "allow",
            &[
                "Bash(git status)",
                "Bash(git log:*)",
                "Bash(npm run *)",
                "Bash(cargo *)",
                "Bash(ls *)",
                "Bash(git push:*)",
                "Bash(* --json x)",
                "Bash(docker compose *)",
                "Read",
                "Edit(/src/**)",
                "Edit(docs/)",
                "Read(~/notes/**)",
                "Edit(*.md)",
                "Edit(//opt/x/**)",
            ],
        ),
        (
            "ask",
            &[
                "Bash(git push origin:*)",
                "Bash(npm run build)",
                "Edit(src/config/*)",
                "Read(//etc/**)",
            ],
        ),
        (
            "deny",
            &[
                "Bash(git push --force:*)",
                "Bash(rm -rf *)",
                "Read(**/*.pem)",
                "Edit(src/gen/**)",
                "Read(vault/)",
            ],
        ),
    ];

    fn settings() -> String {
        let of = |name| RULES.iter().find(|(list, _)| *list == name).unwrap().1;
        let lists = json!({"allow": of("allow"), "ask": of("ask"), "deny": of("deny")});
        format!("{:#}", json!({ "permissions": lists }))
    }

    /// The first list with a rule that fits, from the strictest on.
    fn theirs(fits: impl Fn(&str, &str) -> bool) -> Action {
        for ((_, rules), action) in RULES.iter().zip([Allow, Ask, Deny]).rev() {
            let is_fit = |rule: &&str| {
                let (tool, inside) = rule.split_once('(').unwrap_or((rule, "*)"));
                fits(tool, inside.strip_suffix(')').unwrap())
            };
            if rules.iter().any(is_fit) {
                return action;
            }
        }
        Ask
    }

    fn fits_command(inside: &str, text: &str) -> bool {
        let stars = inside.matches('*').count();
        match inside.strip_suffix(":*").or(inside.strip_suffix(" *")) {
            Some(start) if stars == 1 => {
                text == start
                    || text
                        .strip_prefix(start)
                        .is_some_and(|rest| rest.starts_with(' '))
            }
            _ => glob(inside, text),
        }
    }

    fn fits_path(inside: &str, path: &str) -> bool {
        if inside == "*" {
            return true;
        }
        let (root, pattern) = if let Some(absolute) = inside.strip_prefix("//") {
            ("/", format!("/{absolute}"))
        } else if let Some(home) = inside.strip_prefix("~/") {
            (HOME, format!("/{home}"))
        } else {
            ("/w", inside.to_owned())
        };
        let path = if path.starts_with('/') {
            path.to_owned()
        } else {
            format!("/w/{path}")
        };
        let Some(below) = std::path::Path::new(&path).strip_prefix(root).ok() else {
            return false;
        };
        let mut builder = GitignoreBuilder::new(root);
        builder.add_line(None, &pattern).unwrap();
        let ignored = builder.build().unwrap();
        ignored
            .matched_path_or_any_parents(below, false)
            .is_ignore()
    }

    #[test]
    fn settings_give_the_same_answers() {
        let imported = claude(&settings(), "settings.json").unwrap();
        assert_eq!(imported.unmatched, []);
        let mut rows: Vec<(Subject, Action)> = Vec::new();
        for text in commands() {
            let action = theirs(|tool, inside| tool == "Bash" && fits_command(inside, &text));
            rows.push((command(&text), action));
        }
        for path in [
            "src/a.rs",
            "src/config/a",
            "src/config/a/b",
            "src/gen/x",
            "src",
            "docs/a",
            "docs",
            "a/docs/b",
            "README.md",
            "a/b.md",
            "b.mdx",
            "x.pem",
            "a/x.pem",
            "vault/a",
            "a/vault/b",
            "/etc/x",
            "/opt/x/y",
            "/opt/xy",
            "/home/u/notes/n",
            "/home/u/other",
            "/opt/z.md",
            "/z.md",
            "/src/a.rs",
            "/docs/a",
            "main.rs",
        ] {
            for (permission, tool) in [("read", "Read"), ("edit", "Edit")] {
                // A file that may not be read may not be written.
                let action = theirs(|it, inside| it == tool && fits_path(inside, path));
                let closed = theirs(|it, inside| it == "Read" && fits_path(inside, path));
                let is_closed = permission == "edit" && closed == Deny;
                let action = if is_closed { Deny } else { action };
                rows.push((file(permission, path), action));
            }
        }
        check_same(&imported, rows);
    }

    fn import(settings: &serde_json::Value) -> Imported {
        claude(&format!("{settings:#}"), "s.json").unwrap()
    }

    fn unmatched(imported: &Imported) -> Vec<&str> {
        imported
            .unmatched
            .iter()
            .map(|it| it.text.as_str())
            .collect()
    }

    #[test]
    fn what_cannot_be_said_is_listed_and_asks_unless_it_only_allows() {
        let imported = import(&json!({
            "permissions": {
                "allow": [
                    "Bash(echo:*)", r"Bash(ls \*)", "Bash(cat a?)", "Read(*.[ch])", "Monitor",
                    "WebFetch(domain:*.x.org)", "mcp__*", "Write", "Bash(never closed",
                ],
                "deny": [r"Bash(rm \*)", "Edit(*.[ch])", "WebSearch(x)"],
            },
        }));
        assert_eq!(
            unmatched(&imported),
            [
                r"Bash(ls \*)",
                "Bash(cat a?)",
                "Read(*.[ch])",
                "Monitor",
                "WebFetch(domain:*.x.org)",
                "mcp__*",
                "Write",
                "Bash(never closed",
                "WebSearch(x)",
            ]
        );
        assert_eq!(imported.unmatched[0].line, 5);
        let rules = rules(&imported);
        for (subject, want) in [
            (command("echo x"), Allow),
            (command("ls *"), Ask),
            (command("cat ab"), Ask),
            (command("rm *"), Deny),
            (file("edit", "a.c"), Deny),
            (file("read", "a.c"), Ask),
            (Subject::name("websearch", "x"), Ask),
            (Subject::name("webfetch", "https://evil.org/.x.org/"), Ask),
            (file("edit", "a.rs"), Ask),
        ] {
            let text = format!("{} {}", subject.permission, subject.canonical);
            assert_eq!(ours(&rules, subject), want, "{text}");
        }
    }

    #[test]
    fn a_part_of_what_is_allowed_whole_is_not_missed() {
        let imported =
            import(&json!({"permissions": {"allow": ["Write", "Edit", "Bash", "Bash(a?)"]}}));
        assert_eq!(imported.unmatched, []);
    }

    #[test]
    fn a_hook_that_may_refuse_asks_and_does_not_hide_a_deny() {
        let imported = import(&json!({
            "permissions": {"allow": ["Bash(ls:*)", "Read"], "deny": ["Bash(rm:*)"]},
            "hooks": {
                "PreToolUse": [{"matcher": "Bash", "hooks": []}, {"matcher": "Edit|Write", "hooks": []}],
                "Stop": [],
            },
        }));
        let rules = rules(&imported);
        for (subject, want) in [
            (command("ls"), Ask),
            (command("rm x"), Deny),
            (file("read", "a"), Allow),
        ] {
            assert_eq!(ours(&rules, subject), want);
        }
        assert_eq!(
            unmatched(&imported),
            [
                "hooks PreToolUse Bash",
                "hooks PreToolUse Edit|Write",
                "hooks Stop"
            ]
        );
        let any = import(&json!({
            "permissions": {"allow": ["Bash(ls:*)"]},
            "hooks": {"PreToolUse": [{"matcher": "B.*"}]},
        }));
        assert_eq!(ours(&super::rules(&any), command("ls")), Ask);
    }

    #[test]
    fn modes_and_directories_become_rules_or_are_listed() {
        let with = |mode: &str| {
            import(&json!({
                "permissions": {
                    "allow": ["Bash(ls:*)", "Edit"],
                    "defaultMode": mode,
                    "additionalDirectories": ["/opt/docs/", "~/lib", "../x"],
                },
            }))
        };
        for (mode, edit, ls, count) in [
            ("default", Allow, Allow, 1),
            ("acceptEdits", Allow, Allow, 1),
            ("dontAsk", Allow, Allow, 2),
            ("plan", Ask, Ask, 3),
            ("bypassPermissions", Allow, Allow, 2),
        ] {
            let imported = with(mode);
            let rules = rules(&imported);
            assert_eq!(ours(&rules, file("edit", "a")), edit, "{mode}");
            assert_eq!(ours(&rules, command("ls")), ls, "{mode}");
            assert_ne!(ours(&rules, command("make")), Allow, "{mode}");
            assert_eq!(imported.unmatched.len(), count, "{mode}: {imported:#?}");
            for (path, want) in [
                ("/opt/docs/a/*", Allow),
                ("/home/u/lib/*", Allow),
                ("/opt/*", Ask),
            ] {
                let outside = Subject::path("external_directory", path, path, Vec::new());
                assert_eq!(ours(&rules, outside), want, "{mode} {path}");
            }
        }
        let imported = import(&json!({"permissions": {"defaultMode": "acceptEdits"}}));
        assert_eq!(ours(&rules(&imported), file("edit", "a")), Allow);
    }

    #[test]
    fn tools_of_servers_and_addresses_have_names_here() {
        let imported = import(&json!({
            "permissions": {
                "allow": ["mcp__jira__search", "mcp__git-hub", "WebFetch(domain:x.org)", "Task(explore)"],
                "deny": ["mcp__jira__delete_*", "mcp__shell",
                "mcp__9s", "WebFetch(domain:y.org)", "Skill(a:b)"],
            },
        }));
        assert_eq!(imported.unmatched, []);
        let rules = rules(&imported);
        for (permission, text, want) in [
            ("jira_search", "*", Allow),
            ("jira_delete_issue", "*", Deny),
            ("shell_run", "*", Deny),
            ("_9s_x", "*", Deny),
            ("webfetch", "https://x.org/a", Allow),
            ("webfetch", "http://x.org", Allow),
            ("webfetch", "https://x.org.evil.org/", Ask),
            ("webfetch", "https://y.org:8080/", Deny),
            ("webfetch", "https://me@y.org/", Deny),
            ("task", "explore", Allow),
            ("skill", "a:b", Deny),
            ("skill", "a", Ask),
        ] {
            assert_eq!(
                ours(&rules, Subject::name(permission, text)),
                want,
                "{permission} {text}"
            );
        }
        // A server of a longer name is not meant.
        assert!(
            imported.text.contains(r#""git-hub/*""#),
            "{}",
            imported.text
        );
    }

    #[test]
    fn what_is_no_settings_file_is_refused() {
        for text in [
            "",
            "[]",
            "{",
            r#"{"permissions": []}"#,
            r#"{"permissions": {"allow": "Bash"}}"#,
            r#"{"permissions": {"deny": [1]}}"#,
        ] {
            assert!(claude(text, "s.json").is_err(), "{text}");
        }
        assert_eq!(claude("{}", "s.json").unwrap().unmatched, []);
    }
}

mod of_codex {
    use super::*;

    /// For each word what it may be, and the decision.
    const RULES: [(&[&[&str]], &str); 9] = [
        (&[&["git"], &["status", "log"]], "allow"),
        (&[&["git"], &["push"]], "prompt"),
        (&[&["git"], &["push"], &["--force"]], "forbidden"),
        (&[&["npm"], &["run"]], "allow"),
        (&[&["npm"], &["run"], &["build"]], "prompt"),
        (&[&["ls"]], "allow"),
        (&[&["rm"]], "forbidden"),
        (&[&["rm"], &["x"]], "allow"),
        (&[&["cargo"], &["test", "check"], &["-v", "main"]], "allow"),
    ];

    fn file_of_rules() -> String {
        let one = |(words, decision): &(&[&[&str]], &str)| {
            let words = json!(words);
            format!("prefix_rule(\n    pattern = {words},\n    decision = '{decision}',\n)\n")
        };
        format!("# rules\n{}", RULES.iter().map(one).collect::<String>())
    }

    fn theirs(command: &str) -> Action {
        let words: Vec<&str> = command.split(' ').collect();
        let fits = |pattern: &[&[&str]]| {
            pattern.len() <= words.len()
                && pattern
                    .iter()
                    .zip(&words)
                    .all(|(any, word)| any.contains(word))
        };
        let fitting = RULES.iter().filter(|(pattern, _)| fits(pattern));
        let actions = fitting.map(|(_, decision)| match *decision {
            "allow" => Allow,
            "prompt" => Ask,
            _ => Deny,
        });
        actions.max().unwrap_or(Ask)
    }

    #[test]
    fn rules_give_the_same_answers() {
        let imported = codex(&file_of_rules(), "default.rules").unwrap();
        assert_eq!(imported.unmatched, []);
        let rows = commands()
            .into_iter()
            .map(|text| (command(&text), theirs(&text)));
        check_same(&imported, rows.collect());
    }

    #[test]
    fn examples_become_cases_and_come_out_as_written() {
        let text = "prefix_rule(pattern = ['git', 'push'], decision = 'prompt',\n\
                    match = ['git push origin', ['git', 'push']], not_match = ['git status', \"echo 'a b'\"])\n\
                    prefix_rule(pattern = ['git', 'push', '--force'], decision = 'forbidden', \n\
                    match = ['git push --force'])\n";
        let imported = codex(text, "r").unwrap();
        let (_, cases) = imported.text.split_once("come to:\n").unwrap();
        let cases: Vec<&str> = cases
            .lines()
            .map(|line| line.trim_start_matches("// ").trim())
            .collect();
        assert_eq!(
            cases,
            [
                "ask bash git push origin",
                "ask bash git push",
                "ask bash git status",
                "deny bash git push --force"
            ]
        );
        let rules = rules(&imported);
        for case in cases {
            let (action, rest) = case.split_once(" bash ").unwrap();
            assert_eq!(ours(&rules, command(rest)).to_string(), action, "{case}");
        }
    }

    #[test]
    fn what_is_not_read_asks_for_every_command_and_hides_no_deny() {
        let allow = "prefix_rule(pattern = ['ls'])\n";
        let deny = "prefix_rule(pattern = ['rm'], decision = 'forbidden')\n";
        for odd in [
            "X = ['rm']\n",
            "prefix_rule(pattern = X, decision = 'forbidden')\n",
            "prefix_rule(pattern = ['a'], decision = 'perhaps')\n",
            "prefix_rule(pattern = ['a'], decide = 'forbidden')\n",
            "def f():\n    prefix_rule(pattern = ['rm'])\n",
        ] {
            let imported = codex(&format!("{deny}{odd}{allow}"), "r").unwrap();
            assert_eq!(imported.unmatched.len(), 1, "{odd}");
            assert_eq!(imported.unmatched[0].line, 2, "{odd}");
            let rules = rules(&imported);
            for (text, want) in [("ls", Ask), ("rm x", Deny)] {
                assert_eq!(ours(&rules, command(text)), want, "{odd}{text}");
            }
        }
        assert!(codex("prefix_rule(pattern = ['a)\n", "r").is_err());
    }

    #[test]
    fn words_that_would_say_more_here_allow_nothing_and_deny_more() {
        let text = "prefix_rule(pattern = ['echo', '*'])\n\
                    prefix_rule(pattern = ['cat', 'a b'])\n\
                    prefix_rule(pattern = ['mv', '?'], decision = 'forbidden')\n\
                    network_rule(host = 'x.org', protocol = 'https', decision = 'allow')\n\
                    host_executable(name = 'git', paths = ['/usr/bin/git'])\n";
        let imported = codex(text, "r").unwrap();
        let lines: Vec<u32> = imported.unmatched.iter().map(|it| it.line).collect();
        assert_eq!(lines, [1, 2, 4, 5]);
        let rules = rules(&imported);
        for (text, want) in [
            ("echo x", Ask),
            ("cat a b", Ask),
            ("mv ?", Deny),
            ("mv x", Deny),
        ] {
            assert_eq!(ours(&rules, command(text)), want, "{text}");
        }
    }
}

mod of_gemini {
    use super::*;

    /// Beginnings of commands, decision, priority.
    const RULES: [(&[&str], &str, u32); 9] = [
        (&["git"], "allow", 10),
        (&["git push"], "ask_user", 50),
        (&["git push --force"], "deny", 90),
        (&["git push --force main"], "allow", 95),
        (&["npm", "cargo test"], "allow", 20),
        (&["npm install"], "deny", 20),
        (&["npm run", "ls"], "ask_user", 20),
        (&["rm"], "deny", 30),
        (&["rm"], "allow", 5),
    ];

    fn policy() -> String {
        let one = |(prefixes, decision, priority): &(&[&str], &str, u32)| {
            let prefixes = match prefixes {
                [one] => json!(one),
                several => json!(several),
            };
            format!(
                "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = {prefixes}\n\
                 decision = \"{decision}\"\npriority = {priority}\n\n"
            )
        };
        RULES.iter().map(one).collect()
    }

    fn theirs(command: &str) -> Action {
        let fits = |start: &&str| command == *start || command.starts_with(&format!("{start} "));
        let mut best: Option<(u32, &str)> = None;
        for (prefixes, decision, priority) in RULES {
            if prefixes.iter().any(fits) && best.is_none_or(|(known, _)| priority > known) {
                best = Some((priority, decision));
            }
        }
        match best {
            Some((_, "allow")) => Allow,
            Some((_, "deny")) => Deny,
            _ => Ask,
        }
    }

    #[test]
    fn policies_give_the_same_answers() {
        let imported = gemini(&policy(), "p.toml").unwrap();
        assert_eq!(imported.unmatched, []);
        let rows = commands()
            .into_iter()
            .map(|text| (command(&text), theirs(&text)));
        check_same(&imported, rows.collect());
    }

    #[test]
    fn what_holds_only_sometimes_asks_and_hides_no_deny() {
        for condition in [
            "commandRegex = 'git (commit|push)'",
            "toolName = 'run_shell_command'\nargsPattern = 'x'",
            "toolName = 'run_shell_command'\nsubagent = 'x'",
            "toolName = 'run_shell_command'\ninteractive = true",
            "commandPrefix = 'git'\nmodes = ['yolo']",
        ] {
            let text = format!(
                "[[rule]]\ncommandPrefix = 'git'\ndecision = 'allow'\npriority = 1\n\
                 [[rule]]\ncommandPrefix = 'git clean'\ndecision = 'deny'\npriority = 2\n\
                 [[rule]]\ndecision = 'deny'\npriority = 3\n{condition}\n"
            );
            let imported = gemini(&text, "p.toml").unwrap();
            assert_eq!(imported.unmatched.len(), 1, "{condition}");
            assert_eq!(imported.unmatched[0].line, 9, "{condition}");
            let rules = rules(&imported);
            for (text, want) in [("git push", Ask), ("git clean -f", Deny)] {
                assert_eq!(ours(&rules, command(text)), want, "{condition} {text}");
            }
            let allowing = gemini(
                &text.replace("'deny'\npriority = 3", "'allow'\npriority = 3"),
                "p.toml",
            );
            let allowing = allowing.unwrap();
            assert_eq!(allowing.unmatched.len(), 1, "{condition}");
            assert_eq!(
                ours(&super::rules(&allowing), command("git clean")),
                Deny,
                "{condition}"
            );
        }
    }

    #[test]
    fn tools_have_their_names_here() {
        let text = "[[rule]]\ntoolName = '*'\ndecision = 'ask_user'\npriority = 0\n\
                    [[rule]]\ntoolName = ['read_file', 'glob']\ndecision = 'allow'\npriority = 1\n\
                    [[rule]]\ntoolName = ['write_file', 'replace']\ndecision = 'allow'\npriority = 1\n\
                    [[rule]]\nmcpName = 'jira'\ntoolName = 'search'\ndecision = 'allow'\npriority = 1\n\
                    [[rule]]\nmcpName = 'bad-one'\ndecision = 'deny'\npriority = 1\n\
                    [[rule]]\ntoolName = 'mcp_git_push'\ndecision = 'deny'\npriority = 1\n\
                    [[rule]]\ntoolName = 'google_web_search'\ndecision = 'deny'\npriority = 1\n";
        let imported = gemini(text, "p.toml").unwrap();
        assert_eq!(imported.unmatched, []);
        let rules = rules(&imported);
        for (permission, want) in [
            ("read", Allow),
            ("glob", Allow),
            ("edit", Allow),
            ("jira_search", Allow),
            ("jira_delete", Ask),
            ("bad-one_x", Deny),
            ("git_push", Deny),
            ("websearch", Deny),
            ("bash", Ask),
        ] {
            assert_eq!(
                ours(&rules, Subject::name(permission, "x")),
                want,
                "{permission}"
            );
        }
    }

    #[test]
    fn what_a_name_here_is_too_wide_for_allows_nothing() {
        for names in [
            "toolName = 'write_file'",
            "toolName = 'read_*'",
            "mcpName = '*'",
            "toolName = 'mcp_*'",
            "toolName = 'save_memory'",
        ] {
            let text = format!("[[rule]]\n{names}\ndecision = 'allow'\npriority = 1\n");
            let imported = gemini(&text, "p.toml").unwrap();
            assert_eq!(imported.unmatched.len(), 1, "{names}");
            for permission in ["edit", "read", "bash", "a_b"] {
                let action = ours(&rules(&imported), Subject::name(permission, "x"));
                assert_eq!(action, Ask, "{names} {permission}");
            }
        }
    }

    #[test]
    fn what_is_no_policy_is_refused() {
        for text in [
            "[[rule",
            "[[rule]]\ndecision = 'allow'\n",
            "[[rule]]\npriority = 1\n",
            "[[rule]]\ndecision = 'yes'\npriority = 1\n",
            "rule = [1]\n",
            "[[rule]]\ntoolName = 5\ndecision = 'allow'\npriority = 1\n",
            "[[rule]]\ncommandPrefix = [5]\ndecision = 'allow'\npriority = 1\n",
        ] {
            assert!(gemini(text, "p.toml").is_err(), "{text}");
        }
    }
}

#[test]
fn a_foreign_text_cannot_leave_its_comment_or_move_the_cursor() {
    let odd = "Bash(a\u{1b}[2J\u{202e}\n\"}, { \"action\": \"*\" b)";
    let settings = json!({"permissions": {"deny": [odd, "Bash(x\ny?)"]}}).to_string();
    let imported = claude(&settings, "s\n.json").unwrap();
    let rules = parse(&imported.text, "imported", Some(HOME)).unwrap().rules;
    assert_eq!(rules.len(), 2, "{}", imported.text);
    assert!(
        !imported.text.contains(['\u{1b}', '\u{202e}']),
        "{:?}",
        imported.text
    );
}
