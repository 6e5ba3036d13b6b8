//! `tollgate tools`: what a model would be offered.

use crate::{
    Exit,
    args::ToolsArgs,
    error::CliError,
    print,
    workbench::{State, Workbench},
};
use serde_json::{Value, json};

pub(crate) fn tools(args: &ToolsArgs) -> Result<Exit, CliError> {
    let bench = Workbench::set_up(&args.scene, &State::Untouched)?;
    bench.warn();
    let table = bench.table(&bench.tools)?;
    if args.json {
        let tool = |tool: &gate::tool::AnyTool| {
            json!({
                "name": tool.name(), "permission": tool.permission(),
                "description": tool.describe(), "parameters": tool.schema(),
            })
        };
        let list: Vec<Value> = table.tools().iter().map(tool).collect();
        print(&format!("{:#}\n", Value::from(list)));
        return Ok(Exit::Ok);
    }
    for tool in table.tools() {
        let first = tool.describe().lines().next().unwrap_or_default();
        print(&format!("{:<8} {first}\n", tool.name()));
    }
    let closed = bench.tools.len() - table.tools().len();
    if closed > 0 {
        print(&format!(
            "({closed} closed by the rules of agent {})\n",
            bench.agent.name
        ));
    }
    Ok(Exit::Ok)
}
