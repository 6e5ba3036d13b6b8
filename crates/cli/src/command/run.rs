//! `tollgate run`: a session in a directory.

use super::block_on;
use crate::{
    Exit, approver,
    args::{Format, RunArgs},
    error::CliError,
    ports::{StoredTranscript, SystemClock},
    print,
    report::{JsonLines, Plain},
    workbench::{State, Workbench, open_store, state_dir},
};
use gate::{
    authority::RootAuthority, cancel::Cancel, g2_admit::Approver, g3_confine::Silent, host::Host,
    journal::Journal,
};
use model::ScriptedModel;
use session::{Ended, Events, Furniture, Session, SessionError, Stop};
use std::{fs, path::Path};
use store::Store;

/// The most a script may hold, in bytes.
const SCRIPT_BYTES_MAX: u64 = 16 * 1024 * 1024;

pub(crate) fn run(root: &RootAuthority, args: &RunArgs) -> Result<Exit, CliError> {
    let model = script(&args.script)?;
    let state_dir = state_dir()?;
    // Only a state folder that the workbench takes, out of every tool's reach, gets a store.
    let bench = Workbench::set_up(&args.scene, &State::Kept(state_dir.clone()))?;
    let store = open_store(&state_dir)?;
    bench.warn();
    let approver = approver::choose(args.on_ask);
    let events: &dyn Events = match args.format {
        Format::Text => &Plain,
        Format::Json => &JsonLines,
    };
    let cancel = Cancel::default();
    let told = (store.as_ref() as &dyn Journal, events);
    let ended = play(
        root,
        &bench,
        &model,
        approver.as_ref(),
        &store,
        told,
        &cancel,
        &args.prompt,
    )?;
    let exit = exit(&ended);
    match args.format {
        Format::Json => JsonLines::end(&ended, exit),
        Format::Text => print(&summary(&ended)),
    }
    Ok(exit)
}

#[expect(
    clippy::too_many_arguments,
    reason = "they are the furniture of one session"
)]
/// Plays one session to its end, and keeps it.
pub(crate) fn play(
    root: &RootAuthority,
    bench: &Workbench,
    model: &ScriptedModel,
    approver: &dyn Approver,
    store: &Store,
    (journal, events): (&dyn Journal, &dyn Events),
    cancel: &Cancel,
    prompt: &str,
) -> Result<Ended, CliError> {
    let workspace = bench.host.workspace().display().to_string();
    store
        .create_session(&bench.session, &bench.agent.name, &workspace)
        .map_err(|error| CliError::fault(&error))?;
    let transcript = StoredTranscript {
        store,
        session: &bench.session,
    };
    let mut session = Session::new(Furniture {
        root,
        model,
        tools: &bench.tools,
        rules: &bench.rules,
        approver,
        profile: &bench.profile,
        host: &bench.host,
        journal,
        transcript: &transcript,
        clock: &SystemClock,
        progress: &Silent,
        events,
        cancel,
        limits: bench.limits,
        agent: &bench.agent.name,
        system: &bench.agent.prompt,
        id: &bench.session,
    });
    let ended: Result<Ended, SessionError> = block_on(cancel, session.run(prompt))?;
    Ok(ended?)
}

fn script(path: &Path) -> Result<ScriptedModel, CliError> {
    let unreadable =
        |error: std::io::Error| CliError::usage(format!("script `{}`: {error}", path.display()));
    let found = fs::metadata(path).map_err(unreadable)?;
    if !found.is_file() || found.len() > SCRIPT_BYTES_MAX {
        let why = format!("not a regular file of at most {SCRIPT_BYTES_MAX} bytes");
        return Err(unreadable(std::io::Error::other(why)));
    }
    let text = fs::read_to_string(path).map_err(unreadable)?;
    ScriptedModel::from_json(&text).map_err(|error| unreadable(std::io::Error::other(error)))
}

fn exit(ended: &Ended) -> Exit {
    match ended.stop {
        Stop::Cancelled => Exit::Interrupted,
        Stop::Rejected => Exit::Refused,
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
        let (id, tool) = (
            text::escape::visible_line(&it.call_id),
            text::escape::visible_line(&it.tool),
        );
        format!("  {id} {tool}{}\n", gate.unwrap_or_default())
    };
    let lines: String = ended.refused.iter().map(line).collect();
    format!("refused:\n{lines}")
}
