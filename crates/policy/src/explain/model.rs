//! A decision in words for the model: what was asked about, and the rule that decides.
//!
//! Must not: name a file of ours. Where a rule stands is for people.

use crate::decision::Decision;
use crate::explain::shown::{quoted, shown};
use crate::rule::Action;
use crate::subject::Subject;
use crate::trace::StepKind;

/// One clause, without a full stop: `bash` for `rm x` is not allowed by the rule `bash: rm * = deny`.
pub fn for_model(decision: &Decision) -> String {
    let says = match decision.action() {
        Action::Allow => "is allowed",
        Action::Ask => "needs an approval",
        Action::Deny => "is not allowed",
    };
    let what = named_for_model(decision.subject());
    format!("{what} {says}{}", because(decision))
}

/// A subject as the model knows it: `bash` for `rm x`.
pub fn named_for_model(subject: &Subject) -> String {
    format!(
        "{} for {}",
        quoted(&subject.permission),
        quoted(subject.as_asked())
    )
}

/// What decided, to be put behind a clause.
pub(super) fn because(decision: &Decision) -> String {
    if let Some(answer) = decision.answer() {
        return format!(" by {}", shown(&answer.who));
    }
    // The last step is the one that decided.
    let last = decision.trace().steps.pop();
    let subject = decision.subject();
    match (last.map(|step| step.step), &subject.opaque) {
        (Some(StepKind::Opaque), Some(why)) => {
            format!(" (it cannot be told what would run: {})", shown(why))
        }
        (Some(StepKind::AskBecause), _) => {
            let why = subject.ask_because.as_deref().unwrap_or_default();
            format!(" ({})", shown(why))
        }
        _ => decision.rule().map_or_else(
            || " (no rule allows it)".to_owned(),
            |rule| format!(" by the rule {}", quoted(&rule.in_short())),
        ),
    }
}
