//! Protected paths: what decides what agents, editors, git and shells run or may do, see
//! `data/protected.tsv`. Changing one is an effect of its own: it asks each time, whatever tool does it
//! and whatever allows it.
//!
//! Must not: depend on which rule allows.

use super::places::{Place, Places};
use super::{Around, Guarded, spellings};
use crate::subject::Subject;
use std::sync::LazyLock;

const TABLE: &str = include_str!("../../data/protected.tsv");

static PLACES: LazyLock<Places> =
    LazyLock::new(|| Places::read(TABLE, "edit", "hardening: protected paths"));

/// Speaks of every change, and of every directory outside in which something may be changed.
pub(crate) fn guard(subject: &Subject, around: Around<'_>) -> Option<Guarded> {
    let is_change =
        subject.permission == "edit" || subject.narrower == Some("external_directory.write");
    if !is_change {
        return None;
    }
    let is_open = around.layers.is_configuration_open;
    let keep = |place: &Place| !(is_open && place.class == "agent");
    let place = spellings(subject).find_map(|path| PLACES.find(path, keep))?;
    Some(Guarded {
        rule: &place.rule,
        note: place.why,
        once_only: Some("a protected path"),
    })
}

/// Whether a path is protected, if nothing is lifted.
pub(crate) fn holds(path: &str) -> bool {
    PLACES.find(path, |_| true).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ruleset::RuleLayers;

    #[test]
    fn the_table_is_in_order() {
        super::super::places::check_table(TABLE, &["agent", "editor", "git", "shell"]);
        assert!(TABLE.lines().count() > 150);
    }

    #[test]
    fn what_is_run_or_obeyed_is_protected_at_any_depth() {
        for path in [
            ".kilo/kilo.json",
            ".kilo",
            ".KILO/kilo.json",
            "packages/sub/.kilo/config.json",
            ".kilo/plans/../kilo.json",
            ".opencode/plugin/x.ts",
            ".tollgate/agents/a.md",
            "tollgate.jsonc",
            "AGENTS.md",
            "src/AGENTS.md",
            ".mcp.json",
            ".claude/settings.local.json",
            ".cursor/mcp.json",
            ".aider.conf.yml",
            ".github/copilot-instructions.md",
            ".vscode/tasks.json",
            "a.code-workspace",
            ".git/hooks/pre-commit",
            ".git",
            ".GIT/config",
            "a/b/.git/hooks/x",
            "new/.git/info/attributes",
            "x.git/HEAD",
            "x.git/hooks/post-checkout",
            ".husky/pre-commit",
            ".envrc",
            "mise.toml",
            "/home/u/.bashrc",
            "/home/u/.config/opencode/opencode.json",
            "/home/u/.config/kilo/*",
            "/home/u/.config/git/config",
            "/home/u/.ssh/authorized_keys",
            ".claude/worktrees/one/.git",
        ] {
            assert!(holds(path), "{path}");
        }
        for path in [
            "src/index.ts",
            ".kilo/plans/plan.md",
            ".opencode/plans/a.md",
            ".kilocode/plans/a.md",
            "/p/.claude/worktrees/one/src/a.rs",
            ".gitignore",
            ".github/workflows/ci.yml",
            "src/hooks/useGit.ts",
            "git/config",
            "agents.rs",
            "/tmp/some-project/*",
            "package.json",
        ] {
            assert!(!holds(path), "{path}");
        }
    }

    #[test]
    fn it_is_the_change_that_asks() {
        let layers = RuleLayers::default();
        let open = RuleLayers {
            is_configuration_open: true,
            ..RuleLayers::default()
        };
        let asks = |subject: &Subject, layers: &RuleLayers| {
            let around = Around {
                found: None,
                layers,
            };
            guard(subject, around).map(|it| it.once_only)
        };
        let once = Some(Some("a protected path"));
        let path = |permission: &str, path: &str| Subject::name(permission, path);
        assert_eq!(asks(&path("edit", ".kilo/kilo.json"), &layers), once);
        assert_eq!(asks(&path("read", ".kilo/kilo.json"), &layers), None);

        let mut outside = path("external_directory", "/home/u/.config/kilo/*");
        assert_eq!(asks(&outside, &layers), None);
        outside.narrower = Some("external_directory.read");
        assert_eq!(asks(&outside, &layers), None);
        outside.narrower = Some("external_directory.write");
        assert_eq!(asks(&outside, &layers), once);

        let mut link = path("edit", "a.txt");
        link.others = vec![".git/config".into()];
        assert_eq!(asks(&link, &layers), once);

        assert_eq!(asks(&path("edit", ".kilo/kilo.json"), &open), None);
        assert_eq!(asks(&path("edit", ".git/config"), &open), once);
        assert_eq!(asks(&path("edit", ".kilo/x/.git/config"), &open), once);
    }
}
