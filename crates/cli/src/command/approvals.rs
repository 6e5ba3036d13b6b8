//! `tollgate approvals list | revoke`: what was approved for more than once, and by whom.

use crate::{
    Exit,
    args::{ApprovalsArgs, ApprovalsCommand},
    error::CliError,
    print,
    workbench::{open_store, state_dir},
};
use serde_json::{Value, json};
use store::StoredApproval;
use text::escape::visible_line;

pub(crate) fn approvals(args: &ApprovalsArgs) -> Result<Exit, CliError> {
    let store = open_store(&state_dir()?)?;
    match &args.command {
        ApprovalsCommand::List { json } => {
            let all = store.approvals().map_err(|error| CliError::fault(&error))?;
            if *json {
                let list: Vec<Value> = all.iter().map(as_json).collect();
                print(&format!("{:#}\n", Value::from(list)));
            } else {
                for it in &all {
                    print(&as_text(it));
                }
            }
            Ok(Exit::Ok)
        }
        ApprovalsCommand::Revoke { ids } => {
            let mut exit = Exit::Ok;
            for id in ids {
                if store.revoke(id).map_err(|error| CliError::fault(&error))? {
                    print(&format!("{} revoked\n", visible_line(id)));
                } else {
                    print(&format!(
                        "{} is not an approval that holds\n",
                        visible_line(id)
                    ));
                    exit = Exit::Failed;
                }
            }
            Ok(exit)
        }
    }
}

fn as_text(it: &StoredApproval) -> String {
    let place = match it.scope {
        gate::g2_admit::Scope::Global => String::new(),
        gate::g2_admit::Scope::Project => format!(" in {}", visible_line(&it.workspace)),
        gate::g2_admit::Scope::Session => format!(" in session {}", visible_line(&it.session)),
    };
    let kind = if it.is_exact { "exactly " } else { "" };
    let revoked = if it.revoked_ms.is_some() {
        " (revoked)"
    } else {
        ""
    };
    format!(
        "{}  {} {kind}`{}`  {}{place}, by {}{revoked}\n",
        it.id,
        visible_line(&it.permission),
        visible_line(&it.pattern),
        it.scope,
        visible_line(&it.who)
    )
}

fn as_json(it: &StoredApproval) -> Value {
    json!({
        "id": it.id, "at_ms": it.at_ms, "scope": it.scope.to_string(), "session": it.session,
        "workspace": it.workspace, "message": it.message, "tool_call_id": it.tool_call_id,
        "who": it.who, "permission": it.permission, "pattern": it.pattern, "is_exact": it.is_exact,
        "revoked_ms": it.revoked_ms,
    })
}
