//! A million random pairs of rules and a subject, each decided by the engine and by the reference.

use std::sync::Arc;

use tollgate_policy as policy;

use policy::{Action, RuleBook, Subject, decide};

use crate::reference::Reference;
use crate::world::Dice;

/// Rules are made anew for every ten subjects.
const RULESETS: u64 = 100_000;
const SUBJECTS: u64 = 10;

#[test]
fn the_engine_and_the_reference_agree_on_a_million_pairs() {
    let counts = compare(0..RULESETS);
    let pairs = RULESETS * SUBJECTS;
    println!(
        "{pairs} pairs, {} decided by a rule that is no catch-all; allow, ask, deny: {:?}",
        counts.narrow, counts.actions
    );
    assert!(counts.narrow * 10 >= pairs * 3, "{counts:?}");
    assert!(
        counts.actions.iter().all(|it| it * 20 >= pairs),
        "{counts:?}"
    );
}

#[derive(Debug, Default)]
struct Counts {
    narrow: u64,
    actions: [u64; 3],
}

fn compare(seeds: impl Iterator<Item = u64>) -> Counts {
    let mut counts = Counts::default();
    for seed in seeds {
        let mut dice = Dice(seed << 32);
        let (platform, layers) = (dice.platform(), dice.layers());
        let rules = RuleBook::on(platform, layers.clone()).current();
        let reference = Reference {
            platform,
            layers: &layers,
        };
        for _ in 0..SUBJECTS {
            let subjects: Arc<[Subject]> = Arc::from([dice.subject()]);
            let decision = decide(&rules, &subjects, None);
            let want = reference.decide(&subjects, false);
            assert!(
                decision.action() == want,
                "seed {seed}: {want}, not\n{}{platform:?} {subjects:#?}\n{layers:#?}",
                decision.trace()
            );
            let is_narrow =
                |rule: &policy::Rule| !["*", "**", "path:**"].contains(&rule.pattern.text());
            counts.narrow += u64::from(decision.rule().is_some_and(is_narrow));
            counts.actions[match want {
                Action::Allow => 0,
                Action::Ask => 1,
                Action::Deny => 2,
            }] += 1;
        }
    }
    counts
}
