//! `tollgate doctor`: what holds on this machine, what does not, and why.

use crate::{
    Exit,
    args::DoctorArgs,
    error::CliError,
    print,
    workbench::{State, Workbench, open_store, state_path},
};
use sandbox::Confinement;
use serde_json::{Value, json};
use text::escape::visible_line;

/// One thing that is held or not.
struct Guarantee {
    name: &'static str,
    is_held: bool,
    why: String,
}

pub(crate) fn doctor(args: &DoctorArgs) -> Result<Exit, CliError> {
    let bench = Workbench::set_up(&args.scene, &State::Untouched)?;
    let confinement = bench.host.launcher().confinement();
    let (tier, abi) = match confinement {
        Confinement::Full => ("full", None),
        Confinement::Partial { abi, .. } => ("partial", Some(*abi)),
        Confinement::NotEnforced { .. } => ("none", None),
    };
    let guarantees = guarantees(confinement);
    let store = store_state();
    let files: Vec<String> = bench.files.clone();
    if args.json {
        let one = |it: &Guarantee| json!({ "name": it.name, "held": it.is_held, "why": it.why });
        let list: Vec<Value> = guarantees.iter().map(one).collect();
        print(&format!(
            "{:#}\n",
            json!({
                "sandbox": { "tier": tier, "landlock_abi": abi, "guarantees": list },
                "store": { "path": store.path, "ok": store.problem.is_none(), "problem": store.problem },
                "agent": bench.agent.name, "config": files, "inert": bench.inert, "warnings": bench.warnings,
            })
        ));
        return Ok(exit(confinement, &store));
    }
    let abi = abi.map_or_else(String::new, |abi| format!(" (Landlock interface {abi})"));
    print(&format!("sandbox    {tier}{abi}\n"));
    for it in &guarantees {
        let held = if it.is_held { "held" } else { "NOT HELD" };
        let why = if it.why.is_empty() {
            String::new()
        } else {
            format!(": {}", it.why)
        };
        print(&format!("  {held:<9} {}{why}\n", it.name));
    }
    let state = store.problem.as_deref().unwrap_or("ok");
    print(&format!(
        "store      {}: {}\n",
        visible_line(&store.path),
        visible_line(state)
    ));
    print(&format!("agent      {}\n", bench.agent.name));
    let none = ["none found".to_owned()];
    for file in if files.is_empty() { &none[..] } else { &files } {
        print(&format!("config     {}\n", visible_line(file)));
    }
    bench
        .inert
        .iter()
        .for_each(|it| print(&format!("inert      {}\n", visible_line(it))));
    if !bench.inert.is_empty() {
        print("trust      `tollgate trust` shows what is inert, and asks\n");
    }
    bench
        .warnings
        .iter()
        .for_each(|it| print(&format!("warning    {}\n", visible_line(it))));
    Ok(exit(confinement, &store))
}

/// Findings are an exit code, so that a script can rely on a clean machine.
fn exit(confinement: &Confinement, store: &StoreState) -> Exit {
    let is_walled = !matches!(confinement, Confinement::NotEnforced { .. });
    if is_walled && store.problem.is_none() {
        Exit::Ok
    } else {
        Exit::Failed
    }
}

struct StoreState {
    path: String,
    problem: Option<String>,
}

fn store_state() -> StoreState {
    let Some(dir) = state_path() else {
        return StoreState {
            path: String::new(),
            problem: Some("there is no absolute HOME".into()),
        };
    };
    let path = dir.join("tollgate.db").display().to_string();
    if !dir.is_dir() {
        return StoreState {
            path,
            problem: None,
        };
    }
    let problem = open_store(&dir).err().map(|error| error.message);
    StoreState { path, problem }
}

fn guarantees(confinement: &Confinement) -> Vec<Guarantee> {
    let gaps: &[&'static str] = match confinement {
        Confinement::Partial { gaps, .. } => gaps,
        Confinement::Full | Confinement::NotEnforced { .. } => &[],
    };
    let missing = match confinement {
        Confinement::NotEnforced { why } => Some(why),
        Confinement::Full | Confinement::Partial { .. } => None,
    };
    let wall = |&name: &&'static str| Guarantee {
        name,
        is_held: missing.is_none(),
        why: missing.cloned().unwrap_or_default(),
    };
    let gap = |&name: &&'static str| Guarantee {
        name,
        is_held: false,
        why: "a gap of this tier".to_owned(),
    };
    HELD_BY_WALLS
        .iter()
        .map(wall)
        .chain(gaps.iter().map(gap))
        .collect()
}

/// What Landlock and seccomp hold for every command.
const HELD_BY_WALLS: [&str; 6] = [
    "commands write only in the workspace and a private TMPDIR",
    "commands cannot read the home directory or Tollgate's own state",
    "commands have no network and no sockets but inherited or paired ones",
    "commands cannot signal or trace processes outside",
    "commands cannot mount, load code into the kernel, or set clocks",
    "everything a command starts ends with it",
];
