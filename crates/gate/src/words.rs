//! Every word the model reads from the gates: what happened, which rule, what to do instead. They
//! are prompts; snapshot tests hold them. Paths of rule files stay out: they are ours.

use crate::{
    Problem,
    call::NotRun,
    g2_admit::{LATE_ASKS_MAX, Refusal},
    g3_confine::REACH_ASKS_MAX,
};
use policy::{
    Decision,
    explain::{for_model, named_for_model},
};

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
        NotRun::Stopped(Problem::Fault(_)) => FAULT.to_owned(),
    }
}

/// Our own mistake.
pub(crate) const FAULT: &str = "The call was stopped by an internal fault and may have had part of its \
     effect. Do not retry it; tell the user.";

/// To a wish to leave the sandbox that nothing speaks for.
pub(crate) const NOT_FAILED: &str = "may be given only for the very command line, in the same directory, that has \
     just failed inside the sandbox, of at most 20 lines and 2000 bytes, while nothing that may write has run in this \
     session since, and once for each failure: run it without this first";

/// The same, where a person is being asked about that failure for another call.
pub(crate) const FAILURE_USED_UP: &str = "the failure of this line inside the sandbox was put to a person by another call, or something has run since";

/// The same, where what the line means may have changed while a person thought.
pub(crate) const FAILURE_IS_OLD: &str = "something that may write has run since this line failed inside the sandbox, \
     so it may do something else by now: run it inside again";

/// The same, while other calls of the session act.
pub(crate) const NOT_ALONE: &str = "a command leaves the sandbox only while no other command or write of this session is under way: wait for those";

/// To whatever would act beside a command that has left the sandbox.
pub(crate) const ONE_IS_OUTSIDE: &str = "a command of this session runs outside the sandbox, and nothing else runs or writes beside it: wait for it";

/// To a connection of a command that is gone, or of which nobody is left to hear.
pub(crate) const COMMAND_IS_OVER: &str = "the command is over, so it reaches nothing any more";

/// To a connection that names no machine.
pub(crate) const NOT_A_MACHINE: &str = "that is neither a plain name of a machine nor an address";

pub(crate) fn too_many_machines() -> String {
    format!(
        "Denied: this command wanted more than {REACH_ASKS_MAX} machines that the rules do not allow. \
         Name the machines it needs, or go on without it."
    )
}

pub(crate) fn refusal(why: &Refusal) -> String {
    match why {
        Refusal::Denied(by) => format!(
            "Denied: {}. Nothing was done. Do not try the same thing in another spelling; do it \
             another way or tell the user.",
            for_model(by)
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
            "Denied: {}, and nobody can give it here ({why}). Nothing was done. Go on without it and \
             say so at the end.",
            for_model(asked_by)
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
    named_for_model(by.subject())
}
