//! What each preset allows, asks and denies.
//! Must not restate the files: rows here are what a person expects of them.

use policy::{Action, Origin, Pattern, Rule, Subject};
use tollgate_agent::{Preset, Tier};

use crate::{bash, classed, layers, looks, name, path};

fn plain(rules: &[Rule]) -> Vec<(&str, &str, Action)> {
    (rules.iter())
        .map(|rule| (rule.permission.as_str(), rule.pattern.text(), rule.action))
        .collect()
}

#[test]
fn unattended_is_normal_with_every_ask_a_denial() {
    for tier in Tier::ALL {
        let mut normal = Preset::Normal.rules(tier, None);
        for rule in &mut normal {
            if rule.action == Action::Ask {
                rule.action = Action::Deny;
            }
        }
        let unattended = Preset::Unattended.rules(tier, None);
        assert_eq!(plain(&unattended), plain(&normal), "{tier}");
    }
}

#[test]
fn no_preset_and_no_allow_lets_a_command_out_of_the_sandbox() {
    let free = || {
        let (every, origin) = (Pattern::wildcard("*"), Origin::named("user"));
        let allow = |name| Rule::new(name, every.clone(), Action::Allow, origin.clone());
        vec![allow("*"), allow("sandbox_escape")]
    };
    for tier in Tier::ALL {
        let escape =
            |agent, preset, user| name(&layers(agent, preset, tier, user), "sandbox_escape");
        let asks = [Preset::Cautious, Preset::Normal];
        for preset in asks {
            assert_eq!(escape("code", preset, vec![]), Action::Ask, "{preset}");
        }
        let unattended = escape("code", Preset::Unattended, vec![]);
        assert_eq!(unattended, Action::Deny);
        for preset in Preset::ALL {
            assert_eq!(escape("code", preset, free()), Action::Ask, "{preset}");
            let readonly =
                tollgate_agent::names().filter(|it| tollgate_agent::agent(it).unwrap().is_readonly);
            for agent in readonly {
                assert_eq!(
                    escape(agent, preset, free()),
                    Action::Deny,
                    "{agent} {preset}"
                );
            }
        }
    }
}

#[test]
fn cautious_is_normal_but_for_what_commands_run_and_change() {
    let rest = |preset: Preset, tier| {
        let mut rules = preset.rules(tier, None);
        let is_of_commands =
            |name: &str| name.starts_with("bash") || matches!(name, "edit.new" | "edit.command");
        rules.retain(|rule| !is_of_commands(&rule.permission));
        rules
    };
    for tier in Tier::ALL {
        assert_eq!(
            plain(&rest(Preset::Cautious, tier)),
            plain(&rest(Preset::Normal, tier)),
            "{tier}"
        );
    }
}

#[test]
fn cautious_asks_for_the_same_commands_whatever_holds_them() {
    let of_commands = |tier| {
        let mut rules = Preset::Cautious.rules(tier, None);
        rules.retain(|rule| !matches!(&*rule.permission, "edit.new" | "edit.command"));
        rules
    };
    assert_eq!(
        plain(&of_commands(Tier::Full)),
        plain(&of_commands(Tier::Partial))
    );
}

#[test]
fn whatever_a_command_reaches_of_machines_and_places_outside_is_asked() {
    for preset in [Preset::Cautious, Preset::Normal] {
        for tier in Tier::ALL {
            let layers = layers("code", preset, tier, vec![]);
            for (permission, text) in [
                ("network", "example.com:443"),
                ("external_directory", "/etc/*"),
            ] {
                let mut beside = Subject::name(permission, text);
                beside.is_beside = true;
                let got = crate::ask(&layers, beside);
                assert_eq!(got, Action::Ask, "{preset} {tier} {permission}");
            }
        }
    }
}

#[test]
fn a_command_makes_and_changes_files_only_as_far_as_the_walls_hold() {
    use Action::{Allow, Ask};
    for (preset, tier, want) in [
        (Preset::Normal, Tier::Full, [Allow, Allow, Ask]),
        (Preset::Normal, Tier::Partial, [Allow, Ask, Ask]),
        (Preset::Normal, Tier::None, [Allow, Ask, Ask]),
        (Preset::Cautious, Tier::Full, [Allow, Allow, Ask]),
        (Preset::Cautious, Tier::Partial, [Ask, Ask, Ask]),
        (Preset::Cautious, Tier::None, [Ask, Ask, Ask]),
    ] {
        let layers = layers("code", preset, tier, vec![]);
        let got = ["edit.new", "edit.command", "edit.overwrite"].map(|narrower| {
            let mut file = Subject::path("edit", "src/a", "/w/src/a", vec![]);
            (file.narrower, file.is_beside) = (Some(narrower), true);
            crate::ask(&layers, file)
        });
        assert_eq!(got, want, "{preset} {tier}");
    }
}

#[test]
fn a_rule_of_a_preset_knows_its_place() {
    let rules = Preset::Normal.rules(Tier::Partial, None);
    assert_eq!(&*rules[0].origin.source, "built-in presets/normal.jsonc");
    assert!(rules.iter().all(|rule| rule.origin.line > 0));
}

#[test]
fn looking_inside_the_workspace_is_free_but_for_secrets() {
    for preset in [Preset::Cautious, Preset::Normal] {
        for tier in Tier::ALL {
            let layers = layers("code", preset, tier, vec![]);
            for file in [
                "src/main.rs",
                "README.md",
                ".env.example",
                "app/.env.example",
                ".gitignore",
            ] {
                assert_eq!(path(&layers, "read", file), Action::Allow, "{file}");
            }
            for file in [
                ".env",
                "app/.env",
                ".env.local",
                ".env.example.bak",
                ".env-prod",
                ".envrc",
                ".ssh/config",
                "/home/u/.ssh/known_hosts",
                ".ssh/x.env.example",
                "id_rsa",
                "keys/id_ed25519.pub",
                "tls/server.pem",
                "server.key",
                ".netrc",
                ".npmrc",
                ".aws/config",
                ".aws/credentials",
                ".git-credentials",
                "credentials.json",
                ".git/config",
                "sub/.git/config",
                ".kube/config",
            ] {
                assert_eq!(path(&layers, "read", file), Action::Ask, "{file}");
            }
            for permission in ["glob", "grep", "list", "todowrite", "question"] {
                assert_eq!(name(&layers, permission), Action::Allow, "{permission}");
            }
        }
    }
}

#[test]
fn changing_leaving_and_the_unknown_ask() {
    for preset in [Preset::Cautious, Preset::Normal] {
        let layers = layers("code", preset, Tier::Partial, vec![]);
        assert_eq!(path(&layers, "edit", "src/main.rs"), Action::Ask);
        assert_eq!(path(&layers, "edit", ".git/hooks/pre-commit"), Action::Ask);
        assert_eq!(path(&layers, "external_directory", "/etc/*"), Action::Ask);
        for permission in ["doom_loop", "some_server_tool", "webfetch", "task", "read2"] {
            assert_eq!(name(&layers, permission), Action::Ask, "{permission}");
        }
    }
}

#[test]
fn an_edit_of_a_protected_path_is_asked_by_its_own_rule() {
    let rules = Preset::Normal.rules(Tier::Partial, None);
    for file in [
        ".git/hooks/pre-commit",
        "sub/.git/config",
        ".vscode/tasks.json",
        "AGENTS.md",
        "sub/AGENTS.md",
        ".mcp.json",
        "opencode.jsonc",
        ".kilo/kilo.json",
        "tollgate.jsonc",
        ".tollgate/tollgate.jsonc",
    ] {
        let (_, rule) = policy::evaluate(&rules, "edit", file).unwrap();
        assert_ne!(rule.pattern.text(), "*", "{file}");
    }
    let (_, rule) = policy::evaluate(&rules, "edit", "src/main.rs").unwrap();
    assert_eq!(rule.pattern.text(), "*");
}

#[test]
fn normal_looks_with_commands_wherever_it_is() {
    for tier in Tier::ALL {
        let layers = layers("code", Preset::Normal, tier, vec![]);
        for text in ["ls", "cat a", "git log -1"] {
            assert_eq!(looks(&layers, text), Action::Allow, "{tier} {text}");
        }
    }
}

#[test]
fn normal_runs_what_does_no_more_than_its_words_say() {
    for tier in Tier::ALL {
        let layers = layers("code", Preset::Normal, tier, vec![]);
        for text in ["git add a", "git commit -m a", "mkdir a"] {
            let mut told = Subject::command("bash", text, text, vec![]);
            told.narrower = Some("bash.told");
            assert_eq!(crate::ask(&layers, told), Action::Allow, "{tier} {text}");
        }
    }
}

#[test]
fn normal_without_walls_asks_for_every_command_that_is_not_proven_to_look() {
    let layers = layers("code", Preset::Normal, Tier::None, vec![]);
    for text in ["ls", "cargo test", "touch a", "rm -rf ~", "true"] {
        assert_eq!(bash(&layers, text), Action::Ask, "{text}");
    }
}

#[test]
fn normal_behind_some_walls_runs_builds_and_tests_and_asks_for_what_it_does_not_know() {
    let layers = layers("code", Preset::Normal, Tier::Partial, vec![]);
    for text in ["cargo test", "npm run build", "make -j4", "git fetch a"] {
        assert_eq!(bash(&layers, text), Action::Allow, "{text}");
    }
    for text in [
        "./x",
        "rm a",
        "npm install x",
        "python3 a.py",
        "git config a b",
    ] {
        assert_eq!(bash(&layers, text), Action::Ask, "{text}");
    }
}

#[test]
fn normal_behind_full_walls_runs_what_it_does_not_know() {
    let layers = layers("code", Preset::Normal, Tier::Full, vec![]);
    for text in ["./x", "rm a", "python3 a.py"] {
        assert_eq!(bash(&layers, text), Action::Allow, "{text}");
    }
    let mut opaque = Subject::command("bash", "$X a", "$X a", vec![]);
    (opaque.is_literal, opaque.opaque) = (false, Some("a dynamic program".into()));
    assert_eq!(crate::ask(&layers, opaque), Action::Ask);
}

#[test]
fn no_walls_are_enough_for_what_destroys_or_is_shown_to_others() {
    for (preset, want) in [
        (Preset::Cautious, Action::Ask),
        (Preset::Normal, Action::Ask),
        (Preset::Unattended, Action::Deny),
    ] {
        for tier in Tier::ALL {
            let layers = layers("code", preset, tier, vec![]);
            for (class, text) in [
                ("bash.irreversible", "rm -rf ~"),
                ("bash.irreversible", "git reset --hard"),
                ("bash.irreversible", "git tag -d v1"),
                ("bash.publish", "git push"),
                ("bash.publish", "npm run test --publish"),
            ] {
                assert_eq!(
                    classed(&layers, class, text),
                    want,
                    "{preset} {tier} {text}"
                );
            }
        }
    }
}

#[test]
fn cautious_runs_only_what_tells_about_the_machine_and_only_behind_walls() {
    let walled = layers("code", Preset::Cautious, Tier::Partial, vec![]);
    let bare = layers("code", Preset::Cautious, Tier::None, vec![]);
    for text in [
        "ls",
        "ls -la src",
        "pwd",
        "uname -a",
        "which cargo",
        "whoami",
    ] {
        assert_eq!(bash(&walled, text), Action::Allow, "{text}");
        assert_eq!(bash(&bare, text), Action::Ask, "{text}");
    }
    for text in [
        "cat .env",
        "grep -r KEY .",
        "head .env",
        "wc --files0-from=.env",
        "tar cf x --checkpoint=1 --checkpoint-action=exec=sh y",
        "cp a b",
        "mv a b",
        "printenv",
        "sort -oF a",
        "uniq in out",
        "tree -o F",
        "rg --pre sh x",
        "man -Psh ls",
        "date -s now",
        "find . -delete",
        "git diff --output=F",
        "file -C -m x",
        "diff -l a b",
        "lsof",
        "pwdx 1",
    ] {
        assert_eq!(bash(&walled, text), Action::Ask, "{text}");
    }
}

#[test]
fn unattended_never_asks() {
    for tier in Tier::ALL {
        for agent in ["code", "plan"] {
            let layers = layers(agent, Preset::Unattended, tier, vec![]);
            assert!(layers.base.iter().all(|rule| rule.action != Action::Ask));
            assert_eq!(looks(&layers, "ls"), Action::Allow);
            let publishes = classed(&layers, "bash.publish", "git push");
            assert_eq!(publishes, Action::Deny);
            let is_held = tier == Tier::Full && agent == "code";
            assert_eq!(bash(&layers, "./x") == Action::Deny, !is_held, "{tier}");
            assert_eq!(path(&layers, "edit", "a"), Action::Deny);
            assert_eq!(path(&layers, "read", ".env"), Action::Deny);
            assert_eq!(path(&layers, "external_directory", "/etc/*"), Action::Deny);
            assert_eq!(name(&layers, "some_server_tool"), Action::Deny);
            assert_eq!(path(&layers, "read", "a"), Action::Allow);
        }
    }
}

#[test]
fn a_command_makes_or_changes_no_protected_path_unasked() {
    for preset in Preset::ALL {
        for tier in Tier::ALL {
            let layers = layers("code", preset, tier, vec![]);
            let unattended = preset == Preset::Unattended;
            let mut open = Vec::new();
            for file in [
                ".git/hooks/pre-commit",
                "sub/.git/config",
                ".gitmodules",
                ".gitattributes",
                ".githooks/a",
                ".husky/pre-commit",
                ".pre-commit-config.yaml",
                ".envrc",
                ".tollgate/tollgate.jsonc",
                "tollgate.json",
                "tollgate.jsonc",
                ".opencode/agent/a.md",
                "opencode.json",
                "sub/opencode.jsonc",
                ".kilo/kilo.json",
                ".kilocode/a",
                ".kilocodemodes",
                ".kilocodeignore",
                "kilo.json",
                "kilo.jsonc",
                ".claude/settings.json",
                ".codex/a",
                ".cursor/a",
                ".cursorrules",
                ".gemini/a",
                ".windsurf/a",
                ".mcp.json",
                "AGENTS.md",
                "sub/AGENTS.md",
                "CLAUDE.md",
                "GEMINI.md",
                ".vscode/tasks.json",
                ".idea/a",
                ".zed/a",
                ".devcontainer/a",
            ] {
                for narrower in ["edit.new", "edit.command", "edit.overwrite"] {
                    let mut subject = Subject::path("edit", file, format!("/w/{file}"), vec![]);
                    (subject.narrower, subject.is_beside) = (Some(narrower), true);
                    let got = crate::ask(&layers, subject);
                    // Of git's folder a command may change what git keeps there; what is named is asked.
                    let is_git = file.contains(".git/");
                    if got == Action::Allow || (unattended && got != Action::Deny && !is_git) {
                        open.push(format!("{narrower} {file} {got:?}"));
                    }
                }
            }
            assert_eq!(open, Vec::<String>::new(), "{preset} {tier}");
        }
    }
}
