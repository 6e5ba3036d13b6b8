//! The last rule that matches, and what follows from it alone.
//!
//! Must not: be made safer. Safer answers live in later steps of `decide`, each with its own case.

use crate::rule::{Action, Rule};
use crate::wildcard::Platform;

/// The last rule about `permission` whose pattern matches `text`, with its place in `rules`.
pub fn evaluate<'r>(rules: &'r [Rule], permission: &str, text: &str) -> Option<(usize, &'r Rule)> {
    let hit = |rule: &Rule| rule.is_about(permission) && rule.pattern.matches(text);
    rules.iter().enumerate().rev().find(|(_, rule)| hit(rule))
}

/// Whether a permission is shut whole: the last rule about it, narrower denies apart, is a deny of `*`.
///
/// A deny of one pattern, or one with conditions, closes that and not the tool; nor does it open what a
/// deny of `*` before it has closed.
pub fn disabled(rules: &[Rule], permission: &str) -> bool {
    closing_rule(Platform::HERE, rules, permission).is_some()
}

/// The rule that shuts a permission whole on `platform`, see [`disabled`].
pub(crate) fn closing_rule<'r>(
    platform: Platform,
    rules: &'r [Rule],
    permission: &str,
) -> Option<&'r Rule> {
    let is_narrow_deny = |rule: &Rule| rule.action == Action::Deny && !rule.pattern.is_catch_all();
    // `bash.readonly` opens a part of `bash`, so the tool is wanted.
    let opens_part = |rule: &Rule| {
        let part = rule.permission.strip_prefix(permission);
        rule.action != Action::Deny && part.is_some_and(|part| part.starts_with('.'))
    };
    let mut about = rules.iter().filter(|rule| {
        let is_about = rule.is_about_on(platform, permission) || opens_part(rule);
        is_about && !is_narrow_deny(rule)
    });
    about.next_back().filter(|rule| rule.action == Action::Deny)
}

/// The permission under which a tool is offered: the tools that change files share `edit`, those that
/// read what an MCP server holds share `read`, every other tool has its own name.
pub fn permission_of(tool: &str) -> &str {
    match tool {
        "edit" | "write" | "apply_patch" | "multiedit" => "edit",
        "read" | "read_mcp_resource" | "list_mcp_resources" | "list_mcp_resource_templates" => {
            "read"
        }
        own => own,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Pattern;
    use crate::rule::Origin;

    fn rules(written: &[(&str, &str, Action)]) -> Vec<Rule> {
        let rule = |&(permission, pattern, action): &(&str, &str, Action)| {
            Rule::new(
                permission,
                Pattern::read(pattern).unwrap(),
                action,
                Origin::named("t"),
            )
        };
        written.iter().map(rule).collect()
    }

    #[test]
    fn the_last_match_wins_and_both_sides_are_wildcards() {
        let rules = rules(&[
            ("*", "*", Action::Ask),
            ("mcp_*", "*", Action::Allow),
            ("mcp_bad", "*", Action::Deny),
            ("edit", "src/*", Action::Deny),
            ("edit", "src/a/*", Action::Allow),
        ]);
        let at = |permission, text| evaluate(&rules, permission, text).map(|(index, _)| index);
        assert_eq!(at("mcp_good", "x"), Some(1));
        assert_eq!(at("mcp_bad", "x"), Some(2));
        assert_eq!(at("edit", "src/b"), Some(3));
        assert_eq!(at("edit", "src/a/b"), Some(4));
        assert_eq!(at("edit", "b"), Some(0));
        assert_eq!(evaluate(&[], "edit", "b"), None);
    }

    #[test]
    fn only_a_deny_of_everything_shuts_a_permission() {
        let deny = ("bash", "*", Action::Deny);
        for (written, want) in [
            (vec![], false),
            (vec![deny], true),
            (vec![("*", "*", Action::Deny)], true),
            (vec![("bash", "*", Action::Ask)], false),
            (vec![("bash", "rm *", Action::Deny)], false),
            (vec![deny, ("bash", "echo *", Action::Allow)], false),
            // The compatible systems offer the tool here, though every call of it is denied.
            (vec![deny, ("bash", "rm *", Action::Deny)], true),
            (vec![deny, ("edit", "*", Action::Allow)], true),
            (vec![deny, ("bash.readonly", "*", Action::Allow)], false),
            (vec![("bash.readonly", "*", Action::Allow), deny], true),
            (vec![deny, ("bash.readonly", "*", Action::Deny)], true),
            (vec![("bash", "arg:a=*", Action::Deny)], false),
            (vec![deny, ("bash", "arg:a=*", Action::Deny)], true),
            (vec![deny, ("bash", "arg:a=*", Action::Allow)], false),
        ] {
            assert_eq!(disabled(&rules(&written), "bash"), want, "{written:?}");
        }
    }

    #[test]
    fn tools_that_change_files_share_a_permission() {
        for (tool, want) in [
            ("write", "edit"),
            ("apply_patch", "edit"),
            ("read", "read"),
            ("mcp_x", "mcp_x"),
        ] {
            assert_eq!(permission_of(tool), want);
        }
    }
}
