//! Environment files hold passwords and keys. An allow of everything, or of a permission whole, is not
//! meant for them: reading one asks, unless a rule says more. `.env.example` is written to be read.
//!
//! Must not: look at anything but the path.

use super::Guarded;
use crate::pattern::Pattern;
use crate::rule::{Action, Origin, Rule};
use crate::subject::{Subject, SubjectKind};
use std::sync::LazyLock;

/// What asks. A reply lifts it only if it lies inside.
static GUARDS: LazyLock<[Rule; 4]> = LazyLock::new(|| {
    ["*.env", "*.env.*", "*.env-*", "*.envrc"].map(|pattern| {
        let origin = Origin::named("hardening: environment files");
        Rule::new("read", Pattern::wildcard(pattern), Action::Ask, origin)
    })
});

/// Speaks where no rule, or a broad one, allows or asks; a rule that names what it allows is meant.
pub(crate) fn guard(subject: &Subject, found: Option<&Rule>) -> Option<Guarded> {
    let is_broad =
        |rule: &Rule| rule.permission.contains(['*', '?']) || rule.pattern.is_catch_all();
    let is_read = subject.kind == SubjectKind::Path && subject.permission == "read";
    if !(is_read && found.is_none_or(is_broad)) {
        return None;
    }
    Some(Guarded {
        rule: guard_of(&subject.canonical)?,
        note: "a rule this broad is not meant for environment files",
        once_only: None,
    })
}

/// The rule that asks about a path, if it is one of an environment file, in whatever case.
pub(crate) fn guard_of(path: &str) -> Option<&'static Rule> {
    let mut parts = path.as_bytes().windows(4);
    if !parts.any(|part| part.eq_ignore_ascii_case(b".env")) {
        return None;
    }
    let path = path.to_ascii_lowercase();
    let is_example = Pattern::wildcard("*.env.example").matches(&path);
    GUARDS
        .iter()
        .find(|rule| !is_example && rule.pattern.matches(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_files_are_told_by_their_names() {
        for (path, pattern) in [
            (".env", Some("*.env")),
            ("a/.ENV", Some("*.env")),
            ("prod.env", Some("*.env")),
            (".env.local", Some("*.env.*")),
            (".Env.Local", Some("*.env.*")),
            (".env.example.bak", Some("*.env.*")),
            (".env-prod", Some("*.env-*")),
            (".envrc", Some("*.envrc")),
            (".env.example", None),
            ("src/environment.rs", None),
            ("env", None),
            ("envrc", None),
        ] {
            let found = guard_of(path).map(|rule| rule.pattern.text());
            assert_eq!(found, pattern, "{path}");
        }
    }
}
