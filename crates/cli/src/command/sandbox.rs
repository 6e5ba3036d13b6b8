//! `tollgate sandbox -- CMD`: runs a person's own command inside the walls that a tool's command has, with
//! what that person opens.

use crate::{
    Exit,
    args::SandboxArgs,
    complain,
    error::CliError,
    opening::{ByHand, Machines},
    print,
    signal::{self, Signals},
    workbench::Workbench,
};
use config::AllowedHost;
use gate::g3_confine::{ChildRules, ChildWrites};
use host::{LocalHost, Watch, point_at};
use policy::{Action, Subject, decide};
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::retry_on_intr,
};
use sandbox::{Child, Confinement, Ended, Network, PROXY_PORT, Spawn, Streams};
use std::{
    env,
    io::{self, PipeReader, Read, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};
use text::escape::visible_line;
use tokio::runtime::Builder;

/// How long it waits for another command where only one at a time may write in a workspace.
const TURN: Duration = Duration::from_secs(10);

pub(crate) fn sandbox(args: &SandboxArgs) -> Result<ExitCode, CliError> {
    let by_hand = ByHand {
        bundles: &args.bundles,
        readable: &args.readable,
        writable: &args.writable,
    };
    let bench = Workbench::by_hand(&args.scene, &by_hand)?;
    let launcher = bench.host.launcher();
    let is_full = match launcher.confinement() {
        Confinement::Full { .. } => true,
        Confinement::Partial { .. } => false,
        Confinement::NotEnforced { why } => {
            return Err(unavailable(&format!("there is no sandbox here: {why}")));
        }
    };
    let mut machines = machines(args)?;
    if !is_full && !machines.is_empty() {
        let message =
            "no machine can be opened here: the sandbox holds the network closed as a whole";
        return Err(unavailable(message));
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
    let child_rules = Arc::new(ChildRules::of(&rules));
    let spawn = bench
        .host
        .as_a_tool_would(&path, rest.to_vec(), &child_rules, child_writes);
    let mut spawn = spawn.map_err(|error| CliError {
        exit: Exit::Failed,
        message: error.to_string(),
    })?;
    // Whoever names a program wants it run, wherever it lies.
    spawn.walls.readable.extend(path.canonicalize());
    if is_full {
        let is_allowed = |host: &&AllowedHost| {
            let subject = Subject::name("network", host.to_string());
            decide(&rules, &[subject].into(), None).action() == Action::Allow
        };
        let allowed = bench.bounds.hosts.iter().filter(is_allowed);
        allowed.for_each(|host| machines.add(host));
    }
    if !machines.is_empty() {
        spawn.walls.network = Network::Proxied;
        point_at(&mut spawn.env, PROXY_PORT);
    }
    run(&bench.host, &spawn, machines)
}

fn unavailable(why: &str) -> CliError {
    CliError {
        exit: Exit::SandboxUnavailable,
        message: format!("{why}; nothing was run"),
    }
}

/// What a proxy lets through: the machines that were named, and those of the bundles.
fn machines(args: &SandboxArgs) -> Result<Machines, CliError> {
    let mut machines = Machines::default();
    let bundles = args.bundles.iter().filter_map(|name| host::bundle(name));
    for host in bundles.flat_map(|(_, bundle)| &bundle.hosts) {
        let host = AllowedHost::read(host).map_err(|error| CliError::fault(&error))?;
        machines.add(&host);
    }
    for host in &args.hosts {
        let host = AllowedHost::read(host).map_err(CliError::usage)?;
        machines.add_named(&host);
    }
    Ok(machines)
}

/// Runs it to its end, its output passed on.
fn run(host: &LocalHost, spawn: &Spawn, machines: Machines) -> Result<ExitCode, CliError> {
    let fault = |error: io::Error| CliError::fault(&error);
    // Before anything runs: from here on nobody ends us without the command's end.
    let mut asked = listen().map_err(fault)?;
    // Not our own outputs: if they are a terminal, whoever holds one could read what is typed there.
    let pipe = || io::pipe().map_err(fault);
    let ((mut output, output_end), (mut error, error_end)) = (pipe()?, pipe()?);
    let (input_end, input) = pipe()?;
    let streams = Streams {
        input: Some(input_end.into()),
        output: output_end.into(),
        error: error_end.into(),
    };
    let failed = |error: &dyn ToString| CliError {
        exit: Exit::Failed,
        message: error.to_string(),
    };
    let watch = host.watch(&spawn.walls, TURN);
    let watch = watch.map_err(|error| failed(&error))?;
    let child = host.launcher().start_with(spawn, streams);
    let mut child = child.map_err(|error| failed(&error))?;
    if let Some(listener) = child.take_listener() {
        Arc::new(machines).serve(listener)?;
    }
    // Nobody waits for this one: it may stand in a read when the command has ended.
    thread::spawn(move || pass(&mut io::stdin(), &mut { input }));
    let outputs = thread::spawn(move || pass(&mut output, &mut io::stdout()));
    let errors = thread::spawn(move || pass(&mut error, &mut io::stderr()));
    let ended = wait(&mut child, &mut asked).map_err(fault)?;
    let undone = watch.map_or(Ok(Vec::new()), Watch::end);
    let is_undone = undone.is_ok();
    match undone {
        // Each is a line that names what a command has named.
        Ok(changes) => changes.iter().for_each(|it| complain(&visible_line(it))),
        Err(error) => complain(&visible_line(&error.to_string())),
    }
    if let Some(exit) = signal::asked() {
        // Whoever wants an end does not wait for somebody to read what is left.
        return Ok(exit.into());
    }
    // Every process that held a pipe is gone.
    let is_whole = |passed: JoinHandle<bool>| passed.join().unwrap_or(false);
    let (outputs, errors) = (is_whole(outputs), is_whole(errors));
    if !(outputs && errors) {
        complain("some of its output was lost");
    }
    print("");
    if let Ended::Signal(signal) = ended {
        complain(&format!("ended by signal {signal}"));
    }
    Ok(ExitCode::from(code_of(ended, is_undone)))
}

/// How we end for a command that ended so. Where not all could be undone it did not go well, whatever it says of itself.
fn code_of(ended: Ended, is_undone: bool) -> u8 {
    let number = |number: i32, other| u8::try_from(number).unwrap_or(other);
    match ended {
        Ended::Code(0) if !is_undone => 1,
        Ended::Code(code) => number(code, 1),
        Ended::Signal(signal) => 128u8.saturating_add(number(signal, 0)),
    }
}

/// Something to read for each time that we are asked to end.
fn listen() -> io::Result<PipeReader> {
    let (told, mut teller) = io::pipe()?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let mut signals = {
        let _within = runtime.enter();
        Signals::open()?
    };
    thread::spawn(move || {
        runtime.block_on(async {
            loop {
                signals.next().await;
                if teller.write_all(&[0]).is_err() {
                    return;
                }
            }
        });
    });
    Ok(told)
}

/// Waits for its end. Asked once, it is asked in turn; asked again, it is killed.
fn wait(child: &mut Child, asked: &mut PipeReader) -> io::Result<Ended> {
    let mut times = 0;
    loop {
        if let Some(ended) = child.poll_end()? {
            return Ok(ended);
        }
        let mut waiting = [
            PollFd::new(&*child, PollFlags::IN),
            PollFd::new(&*asked, PollFlags::IN),
        ];
        retry_on_intr(|| poll(&mut waiting, None))?;
        let [_, told] = waiting;
        if !told.revents().is_empty() {
            asked.read_exact(&mut [0])?;
            times += 1;
            match times {
                1 => child.terminate(),
                _ => child.kill(),
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_whose_changes_could_not_be_undone_has_not_ended_well() {
        for (ended, is_undone, want) in [
            (Ended::Code(0), true, 0),
            (Ended::Code(0), false, 1),
            (Ended::Code(7), false, 7),
            (Ended::Code(300), true, 1),
            (Ended::Signal(9), true, 137),
            (Ended::Signal(9), false, 137),
        ] {
            assert_eq!(code_of(ended, is_undone), want, "{ended:?} {is_undone}");
        }
    }
}
