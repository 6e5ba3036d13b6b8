//! The built-in tools, one file and one prompt each, and the list of them.
//!
//! May not open files, sockets or processes, nor read the environment or the time: effects come
//! from the gate, with a permit.

#![forbid(clippy::disallowed_methods, clippy::disallowed_types)]
#![forbid(clippy::print_stdout, clippy::print_stderr)]

mod bash;
mod edit;
mod glob;
mod grep;
mod question;
mod read;
mod search;
mod todowrite;
mod undone;
mod wall;
mod write;

pub use bash::Bash;
pub use edit::Edit;
pub use glob::Glob;
pub use grep::Grep;
pub use question::Question;
pub use read::Read;
pub use todowrite::TodoWrite;
pub use write::Write;

use gate::{
    Problem,
    access::{Handle, WriteFile},
    g1_decode::{ArgumentFault, Scout},
    g2_admit::Permit,
    g3_confine::CallContext,
    tool::AnyTool,
};
use serde_json::{Value, json};

/// Every built-in tool, in the order in which a model sees them.
pub fn builtins() -> Vec<AnyTool> {
    vec![
        AnyTool::new(Question),
        AnyTool::new(Bash),
        AnyTool::new(Read),
        AnyTool::new(Glob),
        AnyTool::new(Grep),
        AnyTool::new(Edit),
        AnyTool::new(Write),
        AnyTool::new(TodoWrite),
    ]
}

/// Resolves a path argument, or says which argument is at fault.
fn resolve(scout: &Scout<'_>, argument: &str, path: &str) -> Result<Handle, ArgumentFault> {
    if path.is_empty() {
        return Err(ArgumentFault::at(argument, "may not be empty"));
    }
    scout
        .resolve(path)
        .map_err(|error| ArgumentFault::at(argument, error.to_string()))
}

/// A host that answers another question than it was asked.
fn mismatched() -> Problem {
    Problem::failed("the host answered another question than it was asked")
}

/// Writes what was shown, and says for front ends what that was.
async fn write_shown<'call>(
    cx: &CallContext<'call>,
    permit: Permit<'call, WriteFile>,
) -> Result<Value, Problem> {
    let file = permit.access().handle().absolute().to_owned();
    let change = permit.access().change();
    let diff = change.map_or_else(String::new, |it| it.diff().to_owned());
    cx.effects.write_file(permit).await?;
    let (additions, deletions) = count_changes(&diff);
    Ok(json!({ "file": file, "patch": diff, "additions": additions, "deletions": deletions }))
}

/// Lines that a unified diff adds and removes.
fn count_changes(diff: &str) -> (usize, usize) {
    let body = || diff.lines().skip_while(|line| !line.starts_with("@@"));
    let added = body().filter(|line| line.starts_with('+')).count();
    (added, body().filter(|line| line.starts_with('-')).count())
}
