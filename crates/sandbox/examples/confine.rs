//! Runs one command behind walls and ends as it ended:
//! `confine [--read PATH]... [--write PATH]... [--protect PATH]... [--mask PATH]... -- PROGRAM [ARG]...`
//! Must stay a thin use of the crate. The tests use it as their supervisor program.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::ExitCode;

use tollgate_sandbox::{
    Confinement, Ended, Launcher, Spawn, Walls, run_if_helper, system_readable,
};

fn main() -> ExitCode {
    run_if_helper();
    match run() {
        Ok(Ended::Code(code)) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        Ok(Ended::Signal(signal)) => ExitCode::from(128 + u8::try_from(signal).unwrap_or(0)),
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "an example speaks to whoever runs it")]
            {
                eprintln!("confine: {error}");
            }
            ExitCode::from(125)
        }
    }
}

fn run() -> Result<Ended, Box<dyn std::error::Error>> {
    let mut args = std::env::args_os().skip(1);
    let mut walls = Walls {
        readable: system_readable(),
        ..Walls::default()
    };
    let mut program = None;
    while let Some(arg) = args.next() {
        let mut path = || args.next().map(PathBuf::from).ok_or("a path is missing");
        match arg.to_str() {
            Some("--read") => walls.readable.push(path()?),
            Some("--write") => walls.writable.push(path()?),
            Some("--protect") => walls.write_protected.push(path()?),
            Some("--mask") => walls.masked.push(path()?),
            Some("--") => {
                program = args.next();
                break;
            }
            _ => {
                return Err(
                    "usage: confine [--read PATH]... [--write PATH]... [--protect PATH]... \
                     [--mask PATH]... -- PROGRAM [ARG]..."
                        .into(),
                );
            }
        }
    }
    let launcher = Launcher::open()?;
    if let Confinement::NotEnforced { why } = launcher.confinement() {
        return Err(why.clone().into());
    }
    let spawn = Spawn {
        program: program.ok_or("a program is missing")?,
        args: args.collect::<Vec<OsString>>(),
        env: std::env::vars_os().collect(),
        cwd: std::env::current_dir()?,
        walls,
    };
    let mut child = launcher.start(&spawn, std::io::stdout().as_fd().try_clone_to_owned()?)?;
    Ok(child.wait()?)
}
