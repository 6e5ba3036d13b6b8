//! Environment files hold passwords and keys. An allow of everything, or of a permission whole, is not
//! meant for them: reading one asks, unless a rule says more. `.env.example` is written to be read.
//!
//! Must not: look at anything but the path.

use super::{Around, Guarded, is_broad};
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
pub(crate) fn guard(subject: &Subject, around: Around<'_>) -> Option<Guarded> {
    let is_read = subject.kind == SubjectKind::Path && subject.permission == "read";
    if !(is_read && around.found.is_none_or(is_broad)) {
        return None;
    }
    // A link is told by its own name only: the folders above it are the workspace's as often as not.
    let names = subject.others.iter().map(|path| file_name(path));
    let mut spellings = [subject.canonical.as_str()].into_iter().chain(names);
    Some(Guarded {
        rule: spellings.find_map(guard_of)?,
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

fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ruleset::RuleLayers;

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

    #[test]
    fn a_link_is_judged_by_where_it_leads_and_by_its_own_name() {
        let layers = RuleLayers::default();
        let asks = |canonical: &str, named: &str| {
            let absolute = format!("/w/my.env-x/{canonical}");
            let others = vec![named.to_owned(), format!("/w/my.env-x/{named}")];
            let subject = Subject::path("read", canonical, absolute, others);
            let around = Around {
                found: None,
                layers: &layers,
            };
            guard(&subject, around).is_some()
        };
        assert!(asks(".env", "a.txt"));
        assert!(asks("a.txt", ".env"));
        assert!(!asks("a.txt", "b.txt"), "the workspace's own name is none");
    }
}
