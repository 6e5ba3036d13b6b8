//! Every word the model reads from the gates: what happened, which rule, what to do instead. They
//! are prompts; snapshot tests hold them. Paths of rule files stay out: they are ours.

use crate::{
    Problem,
    call::NotRun,
    g2_admit::{LATE_ASKS_MAX, Refusal},
};
use policy::{AnsweredBy, Decision};

pub(crate) fn not_run(why: &NotRun) -> String {
    match why {
        NotRun::UnknownTool { tool, offered } => {
            let names: Vec<&str> = offered.iter().map(String::as_str).collect();
            let nearest = schema::nearest(tool, names.iter().copied());
            schema::unknown_tool(tool, nearest, &names)
        }
        NotRun::InvalidArguments { tool, faults } => schema::invalid_arguments(tool, faults),
        NotRun::Stopped(Problem::Failed(text)) => text.clone(),
        NotRun::Stopped(Problem::Refused(refusal)) => self::refusal(refusal),
        NotRun::Stopped(Problem::Fault(_)) => {
            "The call was stopped by an internal fault and may have had part of its effect. \
             Do not retry it; tell the user."
                .to_owned()
        }
    }
}

pub(crate) fn refusal(why: &Refusal) -> String {
    match why {
        Refusal::Denied(by) => format!(
            "Denied: {} is not allowed{}. Nothing was done. Do not try the same thing in another \
             spelling; do it another way or tell the user.",
            thing(by),
            rule(by)
        ),
        Refusal::Rejected {
            word: Some(word),
            asked_by,
            ..
        } => format!("The user rejected {} and says: {word}", thing(asked_by)),
        Refusal::Rejected {
            word: None,
            asked_by,
            ..
        } => format!(
            "The user rejected {}. Nothing was done. Ask what to do instead, or go on without it.",
            thing(asked_by)
        ),
        Refusal::Unanswered { why, asked_by } => format!(
            "Denied: {} needs an approval{}, and nobody can give it here ({why}). Nothing was done. \
             Go on without it and say so at the end.",
            thing(asked_by),
            rule(asked_by)
        ),
        Refusal::TooManyLateAsks => format!(
            "Denied: this call asked for more than {LATE_ASKS_MAX} things while running. \
             Split the work into smaller calls."
        ),
        Refusal::Changed(what) => format!(
            "Not done: {what}. It changed after it was read and decided about. Read it again, then \
             repeat the change on what is there now."
        ),
        Refusal::Walled(what) => {
            format!("Not done: {what}. The sandbox of this call does not allow it.")
        }
        Refusal::Cancelled => "The call was cancelled by the user.".to_owned(),
    }
}

fn thing(by: &Decision) -> String {
    let subject = by.subject();
    let text = match subject.kind {
        policy::SubjectKind::Command => &subject.source,
        policy::SubjectKind::Path | policy::SubjectKind::Name => &subject.canonical,
    };
    format!(
        "`{}` for `{}`",
        subject.permission,
        text::escape::visible(text)
    )
}

fn rule(by: &Decision) -> String {
    if let Some(why) = &by.subject().ask_because {
        return format!(" ({why})");
    }
    match (by.by(), &by.subject().opaque) {
        (_, Some(why)) => format!(" (it cannot be told what would run: {why})"),
        (AnsweredBy::Default, None) => " (no rule allows it)".to_owned(),
        (AnsweredBy::Rule { .. } | AnsweredBy::Approver(_), None) => {
            by.rule().map_or_else(String::new, |it| {
                format!(
                    " by the rule `{}: {} = {}`",
                    it.permission,
                    it.pattern.text(),
                    it.action
                )
            })
        }
    }
}
