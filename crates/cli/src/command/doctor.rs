//! `tollgate doctor`: what holds on this machine, what does not, and why.

use crate::{
    Exit,
    args::DoctorArgs,
    error::CliError,
    print,
    workbench::{State, Workbench, open_store, state_path},
};
use sandbox::{Confinement, Extent, Wall};
use serde_json::{Value, json};
use text::escape::visible_line;

/// One thing that commands cannot do, and what is left open of it here.
struct Guarantee {
    name: &'static str,
    about: &'static str,
    /// Why it does not hold, if it does not.
    not_held: Option<&'static str>,
    /// Where it holds: but for what.
    gaps: Vec<&'static str>,
}

pub(crate) fn doctor(args: &DoctorArgs) -> Result<Exit, CliError> {
    let bench = Workbench::set_up(&args.scene, &State::Untouched)?;
    let confinement = bench.host.launcher().confinement();
    let (tier, abi, why) = match confinement {
        Confinement::Full { abi, .. } => ("full", Some(*abi), None),
        Confinement::Partial { abi, why, .. } => ("partial", Some(*abi), Some(why)),
        Confinement::NotEnforced { why } => ("none", None, Some(why)),
    };
    let guarantees = guarantees(confinement);
    let store = store_state();
    let files: Vec<String> = bench.files.clone();
    if args.json {
        let one = |it: &Guarantee| {
            json!({
                "name": it.name, "about": it.about, "held": it.not_held.is_none(), "why": it.not_held,
                "gaps": it.gaps,
            })
        };
        let list: Vec<Value> = guarantees.iter().map(one).collect();
        print(&format!(
            "{:#}\n",
            json!({
                "sandbox": {
                    "tier": tier, "why": why, "landlock_abi": abi, "guarantees": list,
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
        print(&format!("  {held:<9} {:<15} {}\n", it.name, it.about));
        for why in it.not_held.iter().chain(&it.gaps) {
            print(&format!("            {:<15} but {why}\n", ""));
        }
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

/// What is held here of each wall.
fn guarantees(confinement: &Confinement) -> Vec<Guarantee> {
    let (gaps, is_walled) = match confinement {
        Confinement::Full { gaps, .. } | Confinement::Partial { gaps, .. } => {
            (gaps.as_slice(), true)
        }
        Confinement::NotEnforced { .. } => (&[][..], false),
    };
    let one = |wall: &Wall| {
        let of_it = gaps.iter().filter(|it| it.wall == *wall);
        let mut whole = of_it.clone().filter(|it| it.extent == Extent::Whole);
        let not_held = whole.next().map(|it| it.about);
        let (name, about) = words(*wall);
        Guarantee {
            name,
            about,
            not_held: not_held.or((!is_walled).then_some("there is no sandbox")),
            gaps: of_it
                .map(|it| it.about)
                .filter(|about| Some(*about) != not_held)
                .collect(),
        }
    };
    Wall::ALL.iter().map(one).collect()
}

/// What is promised of commands: its name, and all of it.
fn words(wall: Wall) -> (&'static str, &'static str) {
    match wall {
        Wall::Write => (
            "files outside",
            "commands write only in the workspace, a private TMPDIR and what was opened",
        ),
        Wall::Read => (
            "home and state",
            "commands read nothing of the home but toolchains and package caches, and nothing of Tollgate's own",
        ),
        Wall::Masked => (
            "secrets",
            "commands do not read what the rules close inside the workspace",
        ),
        Wall::WriteProtected => (
            "write-protected",
            "commands do not change git hooks, agents' and editors' configuration and what else the rules close",
        ),
        Wall::Names => (
            "names outside",
            "commands do not see what exists outside, nor change its mode, owner or times",
        ),
        Wall::Network => (
            "network",
            "commands reach no machine and no server on this one",
        ),
        Wall::Proxied => (
            "single hosts",
            "a machine that is allowed is reached by a proxy, and no other",
        ),
        Wall::Sockets => (
            "unix sockets",
            "commands reach no service of this machine by a socket outside of what they may read",
        ),
        Wall::End => ("processes", "everything a command starts ends with it"),
        Wall::Processes => (
            "signals",
            "commands neither signal nor trace processes outside",
        ),
        Wall::Limits => ("limits", "a command has a limited number of processes"),
        Wall::Devices => (
            "devices",
            "commands open no device but null, zero, full, random and a terminal of their own",
        ),
        Wall::Kernel => (
            "kernel",
            "commands do not mount, load code into the kernel, set clocks or gain privileges",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sandbox::Gap;

    #[test]
    fn a_wall_is_held_but_for_a_part_and_is_not_where_the_whole_is_open() {
        let gap = |wall, extent, about| Gap {
            wall,
            extent,
            about,
        };
        let found = guarantees(&Confinement::Full {
            abi: 6,
            gaps: vec![
                gap(Wall::Write, Extent::Part, "a part"),
                gap(Wall::Limits, Extent::Part, "and a part"),
                gap(Wall::Limits, Extent::Whole, "the whole"),
            ],
        });
        assert_eq!(found.len(), Wall::ALL.len());
        for it in found {
            let want: (Option<&str>, &[&str]) = match it.name {
                "files outside" => (None, &["a part"]),
                "limits" => (Some("the whole"), &["and a part"]),
                _ => (None, &[]),
            };
            assert_eq!((it.not_held, it.gaps.as_slice()), want, "{}", it.name);
        }
        let none = Confinement::NotEnforced { why: String::new() };
        assert!(guarantees(&none).iter().all(|it| it.not_held.is_some()));
    }

    #[test]
    fn the_names_of_the_walls_fit_their_column() {
        assert!(Wall::ALL.iter().all(|it| words(*it).0.len() <= 15));
    }
}
