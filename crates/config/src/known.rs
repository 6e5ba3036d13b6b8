//! The names a configuration may use, and which of them a mistyped word is near.
//! Must not say what a name means.

use strsim::damerau_levenshtein;

/// The permissions that tools and gates ask for.
pub(crate) const PERMISSIONS: [&str; 36] = [
    "background_process",
    "bash",
    "bash.irreversible",
    "bash.publish",
    "bash.readonly",
    "bash.told",
    "codebase_search",
    "codesearch",
    "doom_loop",
    "edit",
    "edit.command",
    "edit.new",
    "edit.overwrite",
    "external_directory",
    "external_directory.read",
    "external_directory.write",
    "glob",
    "grep",
    "list",
    "lsp",
    "network",
    "plan_enter",
    "plan_exit",
    "question",
    "read",
    "recall",
    "repo_clone",
    "repo_overview",
    "sandbox_escape",
    "semantic_search",
    "skill",
    "suggest",
    "task",
    "todowrite",
    "webfetch",
    "websearch",
];

/// Other systems' names of permissions, with ours.
const ALIASES: [(&str, &str); 4] = [
    ("kilo_local_recall", "recall"),
    ("sandbox_escalation", "sandbox_escape"),
    ("shell", "bash"),
    ("subagent", "task"),
];

/// Our name of a permission that another system calls `name`.
pub(crate) fn alias(name: &str) -> Option<&'static str> {
    (ALIASES.iter()).find_map(|(theirs, ours)| (*theirs == name).then_some(*ours))
}

/// Longer words are near to nothing, and costly to compare.
const NEAR_CHARS_MAX: usize = 64;

/// The known name a mistyped word is nearest to, if it is near at all.
pub(crate) fn nearest(word: &str, known: &[&'static str]) -> Option<&'static str> {
    let length = word.chars().count();
    if length > NEAR_CHARS_MAX {
        return None;
    }
    let word = word.to_lowercase();
    let near_max = (length / 3).clamp(1, 3);
    (known.iter())
        .map(|name| (damerau_levenshtein(&word, name), *name))
        .filter(|(distance, _)| *distance <= near_max)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_word_finds_its_name_and_a_strange_one_does_not() {
        let keys = ["permission", "preset", "agent"];
        for (word, name) in [
            ("permision", Some("permission")),
            ("Permissions", Some("permission")),
            ("pre-set", Some("preset")),
            ("agents", Some("agent")),
            ("mcp", None),
        ] {
            assert_eq!(nearest(word, &keys), name, "{word}");
        }
        assert_eq!(nearest("raed", &PERMISSIONS), Some("read"));
        assert_eq!(nearest("web_fetch", &PERMISSIONS), Some("webfetch"));
        assert_eq!(nearest("github_list_issues", &PERMISSIONS), None);
    }
}
