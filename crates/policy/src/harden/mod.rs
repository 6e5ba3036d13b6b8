//! Hardenings: where an allow is not meant for everything it matches, one a file.
//!
//! Must not: deny. A hardening asks, and says why; only some of them may be answered for good. Two more
//! are no guards: a blanket deny does not reach directories outside (`spelling`), and the hard rules
//! about what is our own are made in [`control`].

pub(crate) mod configuration;
pub(crate) mod control;
pub(crate) mod env;
pub(crate) mod escape;
mod machines;
mod places;
pub(crate) mod protected;
pub(crate) mod secrets;

use crate::rule::Rule;
use crate::ruleset::RuleLayers;
use crate::subject::Subject;

/// What a hardening says to a subject.
pub(crate) struct Guarded {
    /// What asks. A reply lifts the ask only if it lies inside this rule too.
    pub(crate) rule: &'static Rule,
    /// Why, in a few words: the note of the trace.
    pub(crate) note: &'static str,
    /// Why a yes holds once and is never kept, if so.
    pub(crate) once_only: Option<&'static str>,
}

/// What a hardening may look at beside the subject, which is not denied.
#[derive(Clone, Copy)]
pub(crate) struct Around<'r> {
    /// The base rule that decided, if one did: it allows or asks.
    pub(crate) found: Option<&'r Rule>,
    /// All rules.
    pub(crate) layers: &'r RuleLayers,
}

type Guard = fn(&Subject, Around<'_>) -> Option<Guarded>;

/// All hardenings, in the order of their trace steps.
const GUARDS: [Guard; 6] = [
    env::guard,
    secrets::guard,
    configuration::guard,
    protected::guard,
    machines::guard,
    escape::guard,
];

/// What the hardenings say to a subject that is not denied.
pub(crate) fn guards<'s>(
    subject: &'s Subject,
    around: Around<'s>,
) -> impl Iterator<Item = Guarded> + 's {
    GUARDS
        .iter()
        .filter_map(move |guard| guard(subject, around))
}

/// Whether any hardening may have a say about a path, given in its two real spellings.
pub(crate) fn may_guard(permission: &str, canonical: &str, absolute: &str) -> bool {
    match permission {
        "read" => {
            env::guard_of(canonical).is_some()
                || secrets::holds(absolute)
                || configuration::holds(absolute)
        }
        "edit" | "external_directory" => protected::holds(absolute),
        _ => false,
    }
}

/// Whether a rule says nothing of which files it means.
fn is_broad(rule: &Rule) -> bool {
    let pattern = &rule.pattern;
    let names_nothing = || !written(rule).contains(char::is_alphanumeric);
    rule.permission.contains(['*', '?'])
        || pattern.is_about_arguments()
        || (!pattern.is_exact() && names_nothing())
}

/// The pattern of a rule without what says how it is read.
fn written(rule: &Rule) -> &str {
    let text = rule.pattern.text();
    if rule.pattern.is_path() {
        return text.trim_start_matches("path:");
    }
    text
}

/// Every spelling of a subject, but the canonical one where it is the end of another.
fn spellings(subject: &Subject) -> impl Iterator<Item = &str> {
    [&subject.source]
        .into_iter()
        .chain(&subject.others)
        .map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Pattern;
    use crate::rule::{Action, Origin};

    #[test]
    fn a_rule_is_broad_if_it_names_nothing() {
        for (permission, pattern, want) in [
            ("read", "*", true),
            ("read", "**", true),
            ("read", "*.*", true),
            ("read", ".*", true),
            ("read", "/*", true),
            ("read", "path:**", true),
            ("read", "path:**/*", true),
            ("read", "arg:filePath=*", true),
            ("*", ".env", true),
            ("re?d", ".env", true),
            ("read", "src/*", false),
            ("read", "path:src/**", false),
            ("read", "*.env", false),
        ] {
            let pattern = Pattern::read(pattern).unwrap();
            let rule = Rule::new(permission, pattern, Action::Allow, Origin::named("t"));
            assert_eq!(is_broad(&rule), want, "{rule}");
        }
        let exact = Rule::new(
            "read",
            Pattern::exact("**"),
            Action::Allow,
            Origin::named("t"),
        );
        assert!(!is_broad(&exact));
    }

    #[test]
    fn whatever_guards_a_path_is_expected_to() {
        let layers = RuleLayers::default();
        let around = Around {
            found: None,
            layers: &layers,
        };
        let mut guarded = 0;
        for name in [
            ".env",
            "x.env.y/z",
            ".npmrc",
            ".SSH/x",
            "a.pem",
            ".kilo/x",
            ".git/config",
            "HEAD",
            "a.rs",
            ".bash\u{200b}rc",
            "x/../.git/y",
        ] {
            for permission in ["read", "edit", "bash"] {
                let absolute = format!("/w/{name}");
                let subject = Subject::path(permission, name, &absolute, Vec::new());
                let is_guarded = guards(&subject, around).next().is_some();
                assert_eq!(
                    may_guard(permission, name, &absolute),
                    is_guarded,
                    "{subject:?}"
                );
                guarded += u32::from(is_guarded);
            }
        }
        assert_eq!(guarded, 13);
    }
}
