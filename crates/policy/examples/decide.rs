//! Times decisions: for 300 and 10,000 rules, and for a path and a command, prints a line of the count,
//! the kind and the nanoseconds of one decision without a trace, the median of some batches; and the same
//! of a decision about the path with its trace.
//! Must not judge what it measures.
//!
//! `cargo run --release -p tollgate-policy --example decide`
#![expect(clippy::print_stdout, reason = "an example speaks to whoever runs it")]
#![expect(clippy::disallowed_methods, reason = "and this one measures time")]

use std::{hint::black_box, sync::Arc, time::Instant};
use tollgate_policy::{Action, Origin, Pattern, Rule, RuleBook, RuleLayers, Subject, decide};

const BATCHES: usize = 11;
/// How often a batch does what it measures.
const BATCH: usize = 1_000;

fn main() {
    let path = Subject::path(
        "read",
        "crates/area_07/src/module.rs",
        "/home/someone/project/crates/area_07/src/module.rs",
        vec!["src/module.rs".to_owned()],
    );
    let command = Subject::command(
        "bash",
        "git log --oneline -n 20",
        "git log --oneline -n 20",
        vec!["git log 20".to_owned()],
    );
    for count in [300, 10_000] {
        let layers = RuleLayers {
            base: rules(count),
            ..RuleLayers::default()
        };
        let rules = RuleBook::new(layers).current();
        let decided = |subject: &Subject| {
            let subjects: Arc<[Subject]> = Arc::new([subject.clone()]);
            let rules = Arc::clone(&rules);
            move || decide(black_box(&rules), black_box(&subjects), None)
        };
        println!("{count} path {}", median_ns(decided(&path)));
        println!("{count} command {}", median_ns(decided(&command)));
        let decide_path = decided(&path);
        println!("{count} trace {}", median_ns(|| decide_path().trace()));
    }
}

/// What one call takes, in nanoseconds: the median of some batches.
fn median_ns<T>(mut call: impl FnMut() -> T) -> u128 {
    let mut batches: Vec<u128> = (0..BATCHES)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..BATCH {
                black_box(call());
            }
            start.elapsed().as_nanos() / BATCH as u128
        })
        .collect();
    batches.sort_unstable();
    batches[BATCHES / 2]
}

/// An allow of everything, then rules in the forms people write. None of them matches what is asked, so
/// that no decision may stop at the last ones.
fn rules(count: usize) -> Vec<Rule> {
    let rule = |permission, pattern: &str, action| {
        let pattern = Pattern::wildcard(pattern);
        Rule::new(permission, pattern, action, Origin::named("measured"))
    };
    let narrow = (1..count).map(|n| match n % 6 {
        0 => rule("read", &format!("*.secret{n}"), Action::Ask),
        1 => rule("read", &format!("private_{n}/*"), Action::Deny),
        2 => rule("edit", &format!("*generated_{n}/*"), Action::Deny),
        3 => rule("bash", &format!("tool{n} *"), Action::Allow),
        4 => rule("bash", &format!("git verb{n} *"), Action::Ask),
        _ => rule("external_directory", &format!("/srv/{n}/*"), Action::Allow),
    });
    std::iter::once(rule("*", "*", Action::Allow))
        .chain(narrow)
        .collect()
}
