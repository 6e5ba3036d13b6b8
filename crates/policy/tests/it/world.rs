//! Random rules and subjects from a small world in which they often meet.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use tollgate_policy as policy;

use policy::{
    Action, Layer, Origin, Pattern, Rule, RuleBook, RuleLayers, Ruleset, Subject, SubjectKind,
};

const PERMISSIONS: [&str; 6] = ["bash", "bash", "edit", "external_directory", "read", "read"];
const TEXTS: [&str; 12] = [
    "rm x",
    "/bin/rm x",
    "'rm' x",
    "git push",
    "git -C . push",
    "rm",
    "a",
    "b",
    "/w/a",
    "/w/b",
    ".env",
    "*",
];
const PATTERNS: [&str; 21] = [
    "rm *",
    "rm x",
    "rm*",
    "r? *",
    "*rm*",
    "/bin/*",
    "'rm' *",
    "'*",
    "git *",
    "git push *",
    "g*h",
    "a",
    "b",
    "?",
    "/w/*",
    "/w/a",
    "*b",
    ".env",
    "*.env*",
    "**",
    "*",
];

/// Spellings that belong together: canonical, source, others.
const FAMILIES: [(&str, &str, [&str; 2]); 6] = [
    ("/bin/rm x", "'/bin/rm' x", ["rm x", "/bin/rm x"]),
    ("rm x", "'rm' x", ["rm x", "rm x"]),
    (
        "git -C . push",
        "git -C '.' push",
        ["git push", "git -C . push"],
    ),
    ("a", "/w/a", ["b", "/w/b"]),
    ("/w/b", "/w/b", ["a", ".env"]),
    (".env", "/w/.env", ["a", "/w/a"]),
];

pub(crate) const LAYERS: [Layer; 5] = [
    Layer::Base,
    Layer::Project,
    Layer::Session,
    Layer::Saved,
    Layer::Hard,
];

/// Read once here, for a regular expression given as a string is read anew for every case.
fn odd_text() -> impl Strategy<Value = String> {
    proptest::string::string_regex("[ab/ .'é*?]{0,5}").unwrap()
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        9 => proptest::sample::select(&TEXTS[..]).prop_map(str::to_owned),
        1 => odd_text(),
    ]
}

fn pattern() -> impl Strategy<Value = Pattern> {
    prop_oneof![
        8 => proptest::sample::select(&PATTERNS[..]).prop_map(Pattern::wildcard),
        1 => odd_text().prop_map(|text| Pattern::wildcard(&text)),
        2 => text().prop_map(|text| Pattern::exact(&text)),
    ]
}

fn action() -> impl Strategy<Value = Action> {
    proptest::sample::select(&[Action::Allow, Action::Ask, Action::Deny][..])
}

fn named() -> impl Strategy<Value = String> {
    let written = ["*", "*", "bash", "bash", "edit", "external_directory", "b*"];
    proptest::sample::select(written.to_vec()).prop_map(str::to_owned)
}

fn rule_of(action: impl Strategy<Value = Action>) -> impl Strategy<Value = Rule> {
    (named(), pattern(), action).prop_map(|(permission, pattern, action)| {
        Rule::new(permission, pattern, action, Origin::named("random"))
    })
}

pub(crate) fn rule() -> impl Strategy<Value = Rule> {
    rule_of(action())
}

pub(crate) fn denial() -> impl Strategy<Value = Rule> {
    rule_of(Just(Action::Deny))
}

/// Rules of a repository.
pub(crate) fn project() -> impl Strategy<Value = Vec<Rule>> {
    vec(rule(), 1..4)
}

pub(crate) fn layers() -> impl Strategy<Value = RuleLayers> {
    (
        vec(rule(), 0..16),
        prop_oneof![Just(Vec::new()), project()],
        vec(rule(), 0..3),
        vec(rule(), 0..3),
        vec(rule(), 0..2),
    )
        .prop_map(|(base, project, session, saved, hard)| RuleLayers {
            base,
            project,
            session,
            saved,
            hard,
        })
}

pub(crate) fn subject() -> impl Strategy<Value = Subject> {
    let kinds = [
        SubjectKind::Name,
        SubjectKind::Path,
        SubjectKind::Command,
        SubjectKind::Command,
    ];
    let why = |probability| option::weighted(probability, Just("because".to_owned()));
    let names = (
        proptest::sample::select(&PERMISSIONS[..]),
        proptest::sample::select(kinds.to_vec()),
    );
    let family = proptest::sample::select(&FAMILIES[..]).prop_map(|(canonical, source, others)| {
        (
            canonical.to_owned(),
            Some(source.to_owned()),
            others.map(str::to_owned).to_vec(),
        )
    });
    let strangers = (text(), option::weighted(0.5, text()), vec(text(), 0..3));
    let texts = prop_oneof![family, strangers];
    (names, texts, any::<bool>(), why(0.2), why(0.1)).prop_map(
        |((permission, kind), (canonical, source, others), is_literal, opaque, ask_because)| {
            let source = source.unwrap_or_else(|| canonical.clone());
            let mut subject = Subject::command(permission, canonical, source, others);
            subject.kind = kind;
            subject.is_literal = is_literal;
            subject.opaque = opaque;
            subject.ask_because = ask_because;
            subject
        },
    )
}

pub(crate) fn subjects() -> impl Strategy<Value = Arc<[Subject]>> {
    vec(subject(), 0..4).prop_map(Arc::from)
}

pub(crate) fn snapshot(layers: &RuleLayers) -> Arc<Ruleset> {
    RuleBook::new(layers.clone()).current()
}
