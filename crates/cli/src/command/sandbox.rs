//! `tollgate sandbox -- CMD`: runs a person's own command inside the walls that a tool's command has, with
//! what that person opens.

use crate::{
    Exit,
    args::SandboxArgs,
    complain,
    error::CliError,
    opening::{Machines, apart},
    print,
    workbench::{State, Workbench},
};
use config::AllowedHost;
use gate::g3_confine::{ChildRules, ChildWrites};
use host::{Aside, Bundle, bundles};
use sandbox::{Confinement, Ended, Network, PROXY_PORT, Spawn, Streams};
use std::{
    env,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    thread,
};

pub(crate) fn sandbox(args: &SandboxArgs) -> Result<ExitCode, CliError> {
    let bench = Workbench::set_up(&args.scene, &State::Untouched)?;
    if let Confinement::NotEnforced { why } = bench.host.launcher().confinement() {
        return Err(unavailable(&format!("there is no sandbox here: {why}")));
    }
    let (program, rest) = args
        .command
        .split_first()
        .ok_or_else(|| CliError::usage("no command"))?;
    let path = find(Path::new(program)).ok_or_else(|| {
        CliError::usage(format!(
            "`{}` is not to be found",
            Path::new(program).display()
        ))
    })?;
    // As the gate has it for a tool's command.
    let rules = bench.rules.current();
    let child_writes = if rules.disabled("edit") {
        ChildWrites::TemporaryOnly
    } else {
        bench.profile.child_writes
    };
    let mut spawn = bench
        .host
        .as_a_tool_would(&path, rest.to_vec(), child_writes);
    let walls = bench
        .host
        .walls_under(&Arc::new(ChildRules::of(&rules)), child_writes);
    spawn.walls = walls.map_err(|error| CliError {
        exit: Exit::Failed,
        message: error.to_string(),
    })?;
    // Whoever names a program wants it run, wherever it lies.
    spawn.walls.readable.extend(path.canonicalize());
    let machines = open(args, &mut spawn)?;
    if machines.is_some()
        && matches!(
            bench.host.launcher().confinement(),
            Confinement::Partial { .. }
        )
    {
        let message =
            "no machine can be opened here: the sandbox holds the network closed as a whole";
        return Err(unavailable(message));
    }
    run(bench.host.launcher(), &spawn, machines)
}

fn unavailable(why: &str) -> CliError {
    CliError {
        exit: Exit::SandboxUnavailable,
        message: format!("{why}; nothing was run"),
    }
}

/// Opens what was asked for. The machines, if there are any, are what a proxy lets through.
fn open(args: &SandboxArgs, spawn: &mut Spawn) -> Result<Option<Machines>, CliError> {
    for path in &args.readable {
        spawn.walls.readable.push(apart(path)?);
    }
    for path in &args.writable {
        spawn.walls.writable.push(apart(path)?);
    }
    let mut machines = Machines::default();
    for name in &args.bundles {
        let bundle = bundles().get(name).ok_or_else(|| unknown(name))?;
        enter(bundle, name, spawn)?;
        for host in &bundle.hosts {
            let host = AllowedHost::read(host).map_err(|error| CliError::fault(&error))?;
            machines.add(&host);
        }
    }
    for host in &args.hosts {
        let host = AllowedHost::read(host).map_err(CliError::usage)?;
        machines.add_named(&host);
    }
    if machines.is_empty() {
        return Ok(None);
    }
    spawn.walls.network = Network::Proxied;
    for (name, value) in proxy::proxy_environment(PROXY_PORT) {
        spawn.env.retain(|(known, _)| known != name);
        spawn.env.push((name.into(), value.into()));
    }
    Ok(Some(machines))
}

fn unknown(name: &str) -> CliError {
    let known: Vec<String> = bundles()
        .iter()
        .map(|(name, bundle)| format!("\n  {name:<7} {}", bundle.about))
        .collect();
    CliError::usage(format!(
        "there is no bundle `{name}`; there are{}",
        known.concat()
    ))
}

fn enter(bundle: &Bundle, name: &str, spawn: &mut Spawn) -> Result<(), CliError> {
    let home = crate::workbench::home().map(PathBuf::from);
    let home = home.filter(|home| home.is_absolute());
    let home = home.ok_or_else(|| {
        CliError::usage(format!(
            "a bundle opens parts of the home, and HOME is not absolute (`{name}`)"
        ))
    })?;
    let opened = bundle.open(&home, &|name| env::var_os(name), spawn);
    opened.map_err(|(path, error)| {
        CliError::usage(format!(
            "the bundle `{name}` needs `{}`: {error}",
            path.display()
        ))
    })
}

/// Runs it to its end, its output passed on.
fn run(
    launcher: &sandbox::Launcher,
    spawn: &Spawn,
    machines: Option<Machines>,
) -> Result<ExitCode, CliError> {
    // Not our own outputs: if they are a terminal, whoever holds one could read what is typed there.
    let pipe = || io::pipe().map_err(|error| CliError::fault(&error));
    let ((mut output, output_end), (mut error, error_end)) = (pipe()?, pipe()?);
    let (input_end, input) = pipe()?;
    let streams = Streams {
        input: Some(input_end.into()),
        output: output_end.into(),
        error: error_end.into(),
    };
    let _aside = Aside::before(&spawn.walls);
    let child = launcher.start_with(spawn, streams);
    let mut child = child.map_err(|error| CliError {
        exit: Exit::Failed,
        message: error.to_string(),
    })?;
    if let (Some(machines), Some(listener)) = (machines, child.take_listener()) {
        Arc::new(machines).serve(listener)?;
    }
    // Nobody waits for this one: it may stand in a read when the command has ended.
    thread::spawn(move || pass(&mut io::stdin(), &mut { input }));
    let errors = thread::spawn(move || pass(&mut error, &mut io::stderr()));
    // Until the last process that holds the pipe is gone; the supervisor sees to that.
    let is_lost = !pass(&mut output, &mut io::stdout());
    if errors.join().is_ok_and(|is_whole| !is_whole) || is_lost {
        complain("some of its output was lost");
    }
    print("");
    match child.wait() {
        Ok(Ended::Code(code)) => Ok(ExitCode::from(u8::try_from(code).unwrap_or(1))),
        Ok(Ended::Signal(signal)) => {
            complain(&format!("ended by signal {signal}"));
            Ok(ExitCode::from(
                128u8.saturating_add(u8::try_from(signal).unwrap_or(0)),
            ))
        }
        Err(error) => Err(CliError::fault(&error)),
    }
}

/// Passes on what comes, at once. Whether all of it came through.
fn pass(from: &mut impl Read, to: &mut impl Write) -> bool {
    let mut chunk = [0; 16 * 1024];
    loop {
        match from.read(&mut chunk) {
            Ok(0) => return true,
            Ok(count) => {
                let written = to.write_all(chunk.get(..count).unwrap_or_default());
                if written.and_then(|()| to.flush()).is_err() {
                    return false;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
}

/// The program as a shell would find it.
fn find(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return program.canonicalize().ok();
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|dir| dir.join(program))
        .find(|file| file.is_file())
}
