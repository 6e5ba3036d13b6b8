//! What each preset allows, asks and denies.
//! Must not restate the files: rows here are what a person expects of them.

use policy::{Action, Rule};
use tollgate_agent::{Preset, Tier};

use crate::{bash, layers, name, path};

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
fn cautious_is_normal_but_for_bash() {
    let without_bash = |preset: Preset, tier| {
        let mut rules = preset.rules(tier, None);
        rules.retain(|rule| rule.permission != "bash");
        rules
    };
    for tier in Tier::ALL {
        assert_eq!(
            plain(&without_bash(Preset::Cautious, tier)),
            plain(&without_bash(Preset::Normal, tier)),
            "{tier}"
        );
    }
}

#[test]
fn the_full_tier_is_the_partial_one_until_it_is_built() {
    for preset in Preset::ALL {
        assert_eq!(
            plain(&preset.rules(Tier::Full, None)),
            plain(&preset.rules(Tier::Partial, None)),
            "{preset}"
        );
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
fn normal_asks_for_every_command() {
    for tier in Tier::ALL {
        let layers = layers("code", Preset::Normal, tier, vec![]);
        for text in ["ls", "cat a", "rm -rf ~", "true"] {
            assert_eq!(bash(&layers, text), Action::Ask, "{text}");
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
            assert_eq!(bash(&layers, "ls"), Action::Deny);
            assert_eq!(path(&layers, "edit", "a"), Action::Deny);
            assert_eq!(path(&layers, "read", ".env"), Action::Deny);
            assert_eq!(path(&layers, "external_directory", "/etc/*"), Action::Deny);
            assert_eq!(name(&layers, "some_server_tool"), Action::Deny);
            assert_eq!(path(&layers, "read", "a"), Action::Allow);
        }
    }
}
