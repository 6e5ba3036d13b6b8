//! `tollgate doctor`: what holds on this machine, what does not, and why.

use crate::{
    Exit,
    args::DoctorArgs,
    error::CliError,
    print,
    workbench::{State, Workbench, open_store, state_path},
};
use rustix::process::geteuid;
use sandbox::Confinement;
use serde_json::{Value, json};
use text::escape::visible_line;

/// One thing that commands cannot do, and whether that holds here.
struct Guarantee {
    name: &'static str,
    about: &'static str,
    /// Why it does not hold, if it does not.
    not_held: Option<String>,
}

pub(crate) fn doctor(args: &DoctorArgs) -> Result<Exit, CliError> {
    let bench = Workbench::set_up(&args.scene, &State::Untouched)?;
    let confinement = bench.host.launcher().confinement();
    let (tier, abi, gaps, why) = match confinement {
        Confinement::Full { abi, gaps } => ("full", Some(*abi), gaps.as_slice(), None),
        Confinement::Partial { abi, gaps, why } => {
            ("partial", Some(*abi), gaps.as_slice(), Some(why))
        }
        Confinement::NotEnforced { why } => ("none", None, &[][..], Some(why)),
    };
    let guarantees = guarantees(confinement, geteuid().is_root());
    let store = store_state();
    let files: Vec<String> = bench.files.clone();
    if args.json {
        let one = |it: &Guarantee| {
            json!({
                "name": it.name, "about": it.about, "held": it.not_held.is_none(), "why": it.not_held,
            })
        };
        let list: Vec<Value> = guarantees.iter().map(one).collect();
        print(&format!(
            "{:#}\n",
            json!({
                "sandbox": {
                    "tier": tier, "why": why, "landlock_abi": abi, "guarantees": list, "gaps": gaps,
                },
                "store": { "path": store.path, "ok": store.problem.is_none(), "problem": store.problem },
                "agent": bench.agent.name, "config": files, "inert": bench.inert, "warnings": bench.warnings,
            })
        ));
        return Ok(exit(confinement, &store));
    }
    let abi = abi.map_or_else(String::new, |abi| format!(" (Landlock interface {abi})"));
    print(&format!("sandbox    {tier}{abi}\n"));
    if let Some(why) = why {
        print(&format!("  why not more: {}\n", visible_line(why)));
    }
    for it in &guarantees {
        let held = if it.not_held.is_none() {
            "held"
        } else {
            "NOT HELD"
        };
        let why = it
            .not_held
            .as_ref()
            .map(|why| format!(": {}", visible_line(why)));
        let why = why.unwrap_or_default();
        print(&format!("  {held:<9} {:<15} {}{why}\n", it.name, it.about));
    }
    for gap in gaps {
        print(&format!("  gap       {}\n", visible_line(gap)));
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

/// What the table says of this tier.
fn guarantees(confinement: &Confinement, is_root: bool) -> Vec<Guarantee> {
    let not_held = |wall: &Wall| match confinement {
        Confinement::NotEnforced { .. } => Some("no sandbox"),
        Confinement::Partial { abi, .. } if wall.name == "signals" => {
            (*abi < SCOPES_ABI).then_some("this kernel cannot keep signals in")
        }
        Confinement::Partial { .. } => wall.gap_of_partial,
        Confinement::Full { .. } if wall.name == "limits" && is_root => {
            Some("the system does not count the processes of root")
        }
        Confinement::Full { .. } => None,
    };
    let one = |wall: &Wall| Guarantee {
        name: wall.name,
        about: wall.about,
        not_held: not_held(wall).map(str::to_owned),
    };
    WALLS.iter().map(one).collect()
}

/// Since this version of its interface Landlock keeps signals in.
const SCOPES_ABI: u32 = 6;

/// What is promised of commands where namespaces hold them, and what Landlock and seccomp alone leave of it.
struct Wall {
    name: &'static str,
    about: &'static str,
    gap_of_partial: Option<&'static str>,
}

const fn wall(
    name: &'static str,
    about: &'static str,
    gap_of_partial: Option<&'static str>,
) -> Wall {
    Wall {
        name,
        about,
        gap_of_partial,
    }
}

const WALLS: [Wall; 14] = [
    wall(
        "files outside",
        "commands write only in the workspace, a private TMPDIR and what was opened",
        None,
    ),
    wall(
        "home",
        "commands read nothing of the home but toolchains and package caches",
        None,
    ),
    wall(
        "own state",
        "commands neither read nor write what is Tollgate's own",
        None,
    ),
    wall(
        "secrets",
        "commands do not read what the rules close inside the workspace",
        Some("no single path can be closed in a directory that is open"),
    ),
    wall(
        "write-protected",
        "commands do not change git hooks, agents' and editors' configuration and what else the rules close",
        Some("no single path can be closed in a directory that is open"),
    ),
    wall(
        "names outside",
        "commands do not see what exists outside, nor change its mode, owner or times",
        Some("they can, where the owner of the files may"),
    ),
    wall(
        "network",
        "commands reach no machine and no server on this one",
        None,
    ),
    wall(
        "single hosts",
        "a machine that is allowed is reached by a proxy, and no other",
        Some("the network stays closed whatever is allowed"),
    ),
    wall(
        "unix sockets",
        "commands reach no service of this machine by a socket outside of what they may read",
        None,
    ),
    wall(
        "processes",
        "everything a command starts ends with it",
        None,
    ),
    wall(
        "signals",
        "commands neither signal nor trace processes outside",
        None,
    ),
    wall(
        "limits",
        "a command has a limited number of processes",
        Some("their number is not limited"),
    ),
    wall(
        "devices",
        "commands open no device but null, zero, full, random and a terminal of their own",
        None,
    ),
    wall(
        "kernel",
        "commands do not mount, load code into the kernel, or set clocks",
        None,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn not_held(confinement: &Confinement, is_root: bool) -> Vec<&'static str> {
        let all = guarantees(confinement, is_root).into_iter();
        all.filter(|it| it.not_held.is_some())
            .map(|it| it.name)
            .collect()
    }

    #[test]
    fn each_tier_says_what_it_does_not_hold() {
        let full = Confinement::Full {
            abi: 6,
            gaps: Vec::new(),
        };
        assert!(not_held(&full, false).is_empty());
        assert_eq!(not_held(&full, true), ["limits"]);
        let partial = |abi| Confinement::Partial {
            abi,
            gaps: Vec::new(),
            why: String::new(),
        };
        let gaps = [
            "secrets",
            "write-protected",
            "names outside",
            "single hosts",
            "limits",
        ];
        assert_eq!(not_held(&partial(6), false), gaps);
        assert!(not_held(&partial(5), false).contains(&"signals"));
        let none = Confinement::NotEnforced { why: String::new() };
        assert_eq!(not_held(&none, false).len(), WALLS.len());
    }

    #[test]
    fn the_names_of_the_walls_fit_their_column() {
        assert!(WALLS.iter().all(|it| it.name.len() <= 15));
    }
}
