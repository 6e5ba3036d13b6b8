//! Leaving the sandbox is said yes to by a person, each time: no allow answers it, whoever wrote it and
//! however narrow it is, and no answer to it is kept.
//!
//! Must not: know what would run.

use super::{Around, Guarded};
use crate::pattern::Pattern;
use crate::rule::{Action, Origin, Rule};
use crate::subject::Subject;
use std::sync::LazyLock;

/// The permission to run a command outside the sandbox, once.
pub const SANDBOX_ESCAPE: &str = "sandbox_escape";

/// What asks.
static GUARD: LazyLock<Rule> = LazyLock::new(|| {
    let origin = Origin::named("hardening: leaving the sandbox");
    Rule::new(SANDBOX_ESCAPE, Pattern::wildcard("*"), Action::Ask, origin)
});

/// Speaks whatever the rules say but a deny.
pub(crate) fn guard(subject: &Subject, _around: Around<'_>) -> Option<Guarded> {
    (subject.permission == SANDBOX_ESCAPE).then(|| Guarded {
        rule: &GUARD,
        note: "no rule allows leaving the sandbox",
        once_only: Some("it leaves the sandbox"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ruleset::{RuleBook, RuleLayers};
    use crate::{Answer, decide};
    use std::sync::Arc;

    #[test]
    fn every_allow_of_every_layer_together_is_not_enough() {
        let allow = |pattern| {
            let origin = Origin::named("t");
            Rule::new(SANDBOX_ESCAPE, pattern, Action::Allow, origin)
        };
        let all = || vec![allow(Pattern::wildcard("*")), allow(Pattern::exact("make"))];
        let layers = RuleLayers {
            base: all(),
            project: all(),
            session: all(),
            saved: all(),
            hard: all(),
            is_configuration_open: true,
        };
        let rules = RuleBook::new(layers).current();
        let subjects: Arc<[Subject]> = [Subject::name(SANDBOX_ESCAPE, "make")].into();
        let decision = decide(&rules, &subjects, None);
        assert_eq!(decision.action(), Action::Ask);
        assert_eq!(decision.once_only(), Some("it leaves the sandbox"));
        let answer = Answer {
            who: "ann".into(),
            at_ms: 7,
        };
        let answered = decide(&rules, &subjects, Some(&answer));
        assert_eq!(answered.action(), Action::Allow);
        assert_eq!(answered.answer(), Some(&answer));
    }
}
