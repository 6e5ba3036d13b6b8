//! Gate 0: a tool that the rules close is not on the table.

use crate::{
    call::{NotRun, RawCall, Tag},
    tool::AnyTool,
};
use policy::Ruleset;
use schema::RawArguments;

/// The tools of a turn.
#[derive(Debug)]
pub struct Table(Vec<AnyTool>);

/// Two tools claim one name. Neither may shadow the other, so there is no table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("two tools are called `{0}`")]
pub struct DuplicateTool(pub String);

impl Table {
    /// Leaves out a tool only where the last rule for it is a deny of `*`.
    ///
    /// # Errors
    /// Two tools of one name.
    pub fn lay(all: &[AnyTool], rules: &Ruleset) -> Result<Self, DuplicateTool> {
        let mut names: Vec<&str> = all.iter().map(AnyTool::name).collect();
        names.sort_unstable();
        if let Some(&[name, _]) = names.array_windows().find(|[a, b]| a == b) {
            return Err(DuplicateTool(name.to_owned()));
        }
        Ok(Self(
            all.iter()
                .filter(|tool| !rules.disabled(tool.permission()))
                .cloned()
                .collect(),
        ))
    }

    /// The tools on it, in order.
    pub fn tools(&self) -> &[AnyTool] {
        &self.0
    }
}

/// Proof that the tool was on the table.
pub(crate) struct Offered {
    pub(crate) tool: AnyTool,
    pub(crate) arguments: RawArguments,
}

pub(crate) fn offer(call: Tag<'_>, raw: RawCall) -> Result<Offered, NotRun> {
    let table = call.live.parts.table;
    if let Some(tool) = table.0.iter().find(|tool| tool.name() == raw.tool) {
        return Ok(Offered {
            tool: tool.clone(),
            arguments: raw.arguments,
        });
    }
    let offered = table.0.iter().map(|tool| tool.name().to_owned()).collect();
    Err(NotRun::UnknownTool {
        tool: raw.tool,
        offered,
    })
}
