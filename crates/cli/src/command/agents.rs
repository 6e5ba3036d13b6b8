//! `tollgate agents`: who can act here.

use crate::{Exit, args::AgentsArgs, error::CliError, ground::Ground, print};
use serde_json::{Value, json};
use text::escape::visible_line;

pub(crate) fn agents(args: &AgentsArgs) -> Result<Exit, CliError> {
    let all = Ground::of(&args.scene)?.agents;
    if args.json {
        let one = |it: &agent::Agent| {
            json!({
                "name": it.name, "description": it.description, "readonly": it.is_readonly,
                "mode": it.mode.to_string(), "hidden": it.is_hidden,
            })
        };
        print(&format!("{:#}\n", all.iter().map(one).collect::<Value>()));
        return Ok(Exit::Ok);
    }
    for it in all.iter().filter(|it| !it.is_hidden) {
        let readonly = if it.is_readonly { " (readonly)" } else { "" };
        let (name, what) = (visible_line(&it.name), visible_line(&it.description));
        print(&format!(
            "{name:<12} {:<9} {what}{readonly}\n",
            it.mode.to_string()
        ));
    }
    Ok(Exit::Ok)
}
