//! `tollgate call TOOL JSON`: one call, as a model would make it.

use super::block_on;
use crate::{
    Exit, approver,
    args::CallArgs,
    complain,
    error::CliError,
    ports::StoredApprovals,
    print, signal,
    workbench::{State, Workbench, open_store, state_dir},
};
use gate::{
    Problem,
    authority::RootAuthority,
    call::{NotRun, RawCall},
    cancel::Cancel,
    g2_admit::Refusal,
    host::Host,
};
use schema::RawArguments;
use session::Heard;

pub(crate) fn call(root: &RootAuthority, args: &CallArgs) -> Result<Exit, CliError> {
    let state_dir = state_dir()?;
    // Only a state folder that the workbench takes, out of every tool's reach, gets a store.
    let bench = Workbench::set_up(&args.scene, &State::Kept(state_dir.clone()))?;
    let store = open_store(&state_dir)?;
    bench.recall(&store)?;
    bench.warn();
    let workspace = bench.host.workspace().display().to_string();
    let approvals = StoredApprovals {
        store: &store,
        workspace: &workspace,
    };
    let approver = approver::choose(args.on_ask);
    let approver = Heard::by(approver.as_ref());
    let table = bench.table(&bench.tools)?;
    let cancel = Cancel::default();
    let room = bench.room(
        root,
        &table,
        (&approver, &approvals),
        store.as_ref(),
        &cancel,
    );
    let arguments = RawArguments::Text(args.arguments.clone());
    let raw = RawCall {
        id: "call_1".into(),
        tool: args.tool.clone(),
        arguments,
        repeats: None,
    };
    let ended = match block_on(&cancel, room.run(raw))? {
        Ok(output) => {
            print(&format!("{}\n", output.output));
            Exit::Ok
        }
        Err(NotRun::Stopped(Problem::Fault(fault))) => return Err(fault.into()),
        Err(why) => {
            complain(&why.to_string());
            exit(&why)
        }
    };
    // A command goes on without the machine that nobody was there to give it.
    if matches!(ended, Exit::Ok | Exit::Failed) && approver.nobody_count() > 0 {
        complain("an ask of the command went unanswered");
        return Ok(Exit::Refused);
    }
    Ok(ended)
}

fn exit(why: &NotRun) -> Exit {
    match why {
        NotRun::InvalidArguments { .. } => Exit::Usage,
        NotRun::Stopped(Problem::Refused(Refusal::Cancelled)) => {
            signal::asked().unwrap_or(Exit::Interrupted)
        }
        NotRun::UnknownTool { .. } | NotRun::Stopped(Problem::Refused(_)) => Exit::Refused,
        NotRun::Stopped(Problem::Failed(_)) => Exit::Failed,
        NotRun::Stopped(Problem::Fault(_)) => Exit::Fault,
    }
}
