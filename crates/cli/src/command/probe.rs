//! A tool that wants exactly one thing, by permission name, so that `check PERMISSION PATTERN` goes
//! through the same gates as any call. It is on no model's table.

use gate::{
    Problem,
    access::{Declare, ReadFile, Spawn, WriteFile},
    g1_decode::{Asks, Scout},
    g2_admit::Grants,
    g3_confine::CallContext,
    output::ToolOutput,
    tool::Tool,
};
use schema::ArgumentFault;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug)]
pub(crate) struct Probe {
    pub(crate) permission: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    pattern: String,
}

impl Tool for Probe {
    type Kinds = (ReadFile, WriteFile, Spawn, Declare);
    type Arguments = Arguments;
    type Plan = ();

    fn name(&self) -> &'static str {
        "probe"
    }
    fn permission(&self) -> &str {
        &self.permission
    }
    fn describe(&self) -> &'static str {
        "States one need, for a check."
    }

    fn prepare(
        &self,
        arguments: Arguments,
        scout: &Scout<'_>,
        asks: &mut Asks<'_, Self::Kinds>,
    ) -> Result<(), ArgumentFault> {
        let Arguments { pattern } = arguments;
        let resolve = |path: &str| {
            scout
                .resolve(path)
                .map_err(|error| ArgumentFault::at("pattern", error.to_string()))
        };
        match self.permission.as_str() {
            "read" => drop(asks.want(ReadFile::new(resolve(&pattern)?))),
            "edit" => drop(asks.want(WriteFile::new(resolve(&pattern)?))),
            "bash" => drop(asks.want(Spawn::new(pattern))),
            name => drop(asks.want(Declare::new(name, pattern))),
        }
        Ok(())
    }

    async fn run<'call>(
        &self,
        (): (),
        _grants: Grants<'call, Self::Kinds>,
        _cx: CallContext<'call>,
    ) -> Result<ToolOutput, Problem> {
        Err(Problem::failed("a probe is only ever checked"))
    }
}
