//! `tollgate sessions list | show`: what was said.

use crate::{
    Exit,
    args::{SessionsArgs, SessionsCommand},
    error::CliError,
    print,
    workbench::{open_store, state_dir},
};
use model::{Arguments, Message};
use serde_json::{Value, json};
use store::{Store, StoredSession};
use text::escape::{visible, visible_line};

pub(crate) fn sessions(args: &SessionsArgs) -> Result<Exit, CliError> {
    let store = open_store(&state_dir()?)?;
    match &args.command {
        SessionsCommand::List { json } => list(&store, *json),
        SessionsCommand::Show { id, json } => show(&store, id, *json),
    }
}

fn list(store: &Store, is_json: bool) -> Result<Exit, CliError> {
    let all = store.sessions().map_err(|error| CliError::fault(&error))?;
    if is_json {
        let one = |it: &StoredSession| {
            json!({
                "id": it.id, "agent": it.agent, "workspace": it.workspace, "created_ms": it.created_ms,
            })
        };
        print(&format!("{:#}\n", all.iter().map(one).collect::<Value>()));
    } else {
        for it in &all {
            let (agent, workspace) = (visible_line(&it.agent), visible_line(&it.workspace));
            print(&format!("{}  {agent:<8} {workspace}\n", it.id));
        }
    }
    Ok(Exit::Ok)
}

fn show(store: &Store, id: &str, is_json: bool) -> Result<Exit, CliError> {
    let fault = |error: store::StoreError| CliError::fault(&error);
    if store.session(id).map_err(fault)?.is_none() {
        return Err(CliError::usage(format!(
            "there is no session `{}`",
            visible_line(id)
        )));
    }
    for stored in store.messages(id).map_err(fault)? {
        if is_json {
            print(&format!("{}\n", stored.json));
            continue;
        }
        match serde_json::from_str(&stored.json) {
            Ok(message) => print(&as_text(&message)),
            Err(error) => print(&format!("{} cannot be read: {error}\n", stored.id)),
        }
    }
    Ok(Exit::Ok)
}

fn as_text(message: &Message) -> String {
    match message {
        Message::User { text } => format!("user: {}\n", visible(text)),
        Message::Assistant { text, calls } => {
            let words = text
                .iter()
                .map(|text| format!("model: {}\n", visible(text)));
            let calls = calls.iter().map(|call| {
                let arguments = match &call.arguments {
                    Arguments::Json(value) => value.to_string(),
                    Arguments::Text(text) => text.clone(),
                };
                let (id, tool) = (visible_line(&call.id), visible_line(&call.tool));
                format!("call {id}: {tool} {}\n", visible_line(&arguments))
            });
            words.chain(calls).collect::<Vec<_>>().concat()
        }
        Message::Result {
            call_id,
            output,
            is_error,
            ..
        } => {
            let kind = if *is_error { "error" } else { "result" };
            format!("{kind} {}: {}\n", visible_line(call_id), visible(output))
        }
    }
}

/// What was said in a session, for going on with it.
pub(super) fn messages_of(store: &Store, id: &str) -> Result<Vec<Message>, CliError> {
    let stored = store
        .messages(id)
        .map_err(|error| CliError::fault(&error))?;
    let read = |it: &store::StoredMessage| {
        serde_json::from_str(&it.json).map_err(|error| {
            CliError::config(format!(
                "message `{}` of session `{id}` cannot be read: {error}",
                it.id
            ))
        })
    };
    stored.iter().map(read).collect()
}
