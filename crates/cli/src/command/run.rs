//! `tollgate run`: a session in a directory.

use super::sessions::messages_of;
use crate::{
    Exit, approver,
    args::{Format, RunArgs},
    bounds,
    error::CliError,
    play::Play,
    print,
    report::{JsonLines, Plain},
    signal, speaker,
    workbench::{State, Workbench, open_store, state_dir},
};
use gate::{authority::RootAuthority, cancel::Cancel, host::Host};
use model::{Message, Model};
use session::{Ended, Events, Stop};
use std::path::Path;
use store::Store;
use text::escape::visible_line;

pub(crate) fn run(root: &RootAuthority, args: &RunArgs) -> Result<Exit, CliError> {
    let script = args.script.as_deref().map(speaker::script).transpose()?;
    let state_dir = state_dir()?;
    let earlier = earlier(args, &state_dir)?;
    let state = State::Kept(state_dir.clone());
    // Only a state folder that the workbench takes, out of every tool's reach, gets a store.
    let bench = Workbench::resume(
        &args.scene,
        &state,
        earlier.as_ref().map(|it| it.0.as_str()),
    )?;
    let store = open_store(&state_dir)?;
    bench.recall(&store)?;
    bench.warn();
    let model: Box<dyn Model> = match script {
        Some(script) => Box::new(script),
        None => speaker::chosen(
            args.model.as_deref(),
            bench.agent.model.as_deref(),
            &bench.config,
        )?,
    };
    if earlier.is_none() {
        bounds::keep(&state_dir, &bench.session, &bench.bounds)?;
    }
    let approver = approver::choose(args.on_ask);
    let events: &dyn Events = match args.format {
        Format::Text => &Plain,
        Format::Json => &JsonLines,
    };
    let play = Play {
        root,
        bench: &bench,
        model: model.as_ref(),
        approver: approver.as_ref(),
        store: &store,
        journal: store.as_ref(),
        events,
        cancel: &Cancel::default(),
    };
    let ended = play.run(earlier.map(|it| it.1), &args.prompt)?;
    let exit = exit(&ended);
    match args.format {
        Format::Json => JsonLines::end(&ended, exit),
        Format::Text => print(&summary(&ended)),
    }
    Ok(exit)
}

/// The session to go on with, and what was said in it.
fn earlier(args: &RunArgs, state_dir: &Path) -> Result<Option<(String, Vec<Message>)>, CliError> {
    if args.session.is_none() && !args.is_continued {
        return Ok(None);
    }
    let bench = Workbench::set_up(&args.scene, &State::Untouched)?;
    let workspace = bench.host.workspace().display().to_string();
    let store = open_store(state_dir)?;
    let id = match &args.session {
        Some(id) => of_workspace(&store, id, &workspace)?,
        None => last_of(&store, &workspace)?,
    };
    let messages = messages_of(&store, &id)?;
    Ok(Some((id, messages)))
}

fn of_workspace(store: &Store, id: &str, workspace: &str) -> Result<String, CliError> {
    let found = store.session(id).map_err(|error| CliError::fault(&error))?;
    match found {
        Some(session) if session.workspace == workspace => Ok(session.id),
        Some(session) => Err(CliError::usage(format!(
            "session `{}` belongs to {}",
            session.id,
            visible_line(&session.workspace)
        ))),
        None => Err(CliError::usage(format!(
            "there is no session `{}`",
            visible_line(id)
        ))),
    }
}

fn last_of(store: &Store, workspace: &str) -> Result<String, CliError> {
    let all = store.sessions().map_err(|error| CliError::fault(&error))?;
    let last = all.into_iter().find(|it| it.workspace == workspace);
    last.map(|it| it.id)
        .ok_or_else(|| CliError::usage("there is no session in this workspace yet"))
}

fn exit(ended: &Ended) -> Exit {
    match ended.stop {
        Stop::Cancelled => signal::asked().unwrap_or(Exit::Interrupted),
        Stop::Rejected | Stop::Loop => Exit::Refused,
        Stop::Model if ended.unanswered_count() > 0 => Exit::Refused,
        Stop::Model => Exit::Ok,
    }
}

fn summary(ended: &Ended) -> String {
    if ended.refused.is_empty() {
        return String::new();
    }
    let line = |it: &session::Refused| {
        let gate = it
            .gate()
            .map(|gate| format!(" at gate {} ({gate})", gate.number()));
        let (id, tool) = (visible_line(&it.call_id), visible_line(&it.tool));
        format!("  {id} {tool}{}\n", gate.unwrap_or_default())
    };
    let lines: Vec<String> = ended.refused.iter().map(line).collect();
    let why = match ended.stop {
        Stop::Loop => "ended: the model made the same calls over and over\n",
        Stop::Model | Stop::Rejected | Stop::Cancelled => "",
    };
    format!("{why}refused:\n{}", lines.concat())
}
