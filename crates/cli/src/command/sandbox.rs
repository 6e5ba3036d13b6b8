//! `tollgate sandbox -- CMD`: runs a person's own command inside the walls that a tool's command has.

use crate::{
    Exit,
    args::SandboxArgs,
    complain,
    error::CliError,
    print,
    workbench::{State, Workbench},
};
use gate::g3_confine::ChildWrites;
use sandbox::{Confinement, Ended};
use std::{
    env, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

pub(crate) fn sandbox(args: &SandboxArgs) -> Result<ExitCode, CliError> {
    let bench = Workbench::set_up(&args.scene, &State::Untouched)?;
    if let Confinement::NotEnforced { why } = bench.host.launcher().confinement() {
        let message = format!("there is no sandbox here: {why}; nothing was run");
        return Err(CliError {
            exit: Exit::SandboxUnavailable,
            message,
        });
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
    let child_writes = if bench.rules.current().disabled("edit") {
        ChildWrites::TemporaryOnly
    } else {
        bench.profile.child_writes
    };
    let spawn = bench
        .host
        .as_a_tool_would(&path, rest.to_vec(), child_writes);
    let (mut reader, writer) = io::pipe().map_err(|error| CliError::fault(&error))?;
    let child = bench.host.launcher().start(&spawn, writer.into());
    let mut child = child.map_err(|error| CliError {
        exit: Exit::Failed,
        message: error.to_string(),
    })?;
    // Until the last process that holds the pipe is gone; the supervisor sees to that.
    if let Err(error) = io::copy(&mut reader, &mut io::stdout().lock()) {
        complain(&format!("its output was lost: {error}"));
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
