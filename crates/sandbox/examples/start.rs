//! Times what walls add to a command: so many times, in turn, a plain start of `/bin/true` and one behind
//! walls such as a tool's command has, each waited for; prints a line of the two, in nanoseconds.
//! With `--protected` ten names that do not exist are kept from being made there, as in a repository; with `--spared`
//! too, and what holds them is kept beside that directory in between.
//! With `--plain` it does the plain ones alone: what `time` says of both runs differs by the processor time of walls.
//! Must not judge what it measures.
//!
//! `cargo run --release -p tollgate-sandbox --example start -- COUNT [--partial | --plain | --protected | --spared]`

use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use tollgate_sandbox::{
    Confinement, Ended, Launcher, Spawn, Tier, Walls, run_if_helper, system_readable,
    toolchain_readable,
};

const TRUE: &str = "/bin/true";

fn main() -> Result<(), Box<dyn Error>> {
    run_if_helper();
    let count = std::env::args().nth(1).ok_or("how many times?")?;
    let count: usize = count.parse()?;
    let tier = match std::env::args().nth(2).as_deref() {
        None | Some("--protected" | "--spared") => Some(Tier::Full),
        Some("--partial") => Some(Tier::Partial),
        Some("--plain") => None,
        Some(_) => {
            return Err("the options are --partial, --plain, --protected and --spared".into());
        }
    };
    let most = tier.unwrap_or(Tier::Full);
    let launcher = Launcher::open_up_to(Path::new("/proc/self/exe"), most)?;
    if let Confinement::NotEnforced { why } = launcher.confinement() {
        return Err(why.clone().into());
    }
    let mut spawn = spawn()?;
    let option = std::env::args().nth(2);
    if matches!(option.as_deref(), Some("--protected" | "--spared")) {
        let names = (0..10).map(|number| spawn.cwd.join(format!(".start-{number}")));
        spawn.walls.write_protected = names.collect();
    }
    let spares = spawn
        .cwd
        .with_extension(format!("spares-{}", std::process::id()));
    if option.as_deref() == Some("--spared") {
        std::fs::create_dir(&spares)?;
        spawn.walls.spares = Some(spares.clone());
    }
    for _ in 0..count {
        let start = Instant::now();
        let status = Command::new(TRUE)
            .env_clear()
            .current_dir(&spawn.cwd)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        let plain = start.elapsed();
        if !status.success() {
            return Err(format!("{TRUE} ended with {status}").into());
        }
        if tier.is_none() {
            continue;
        }
        let start = Instant::now();
        let output = File::options().write(true).open("/dev/null")?;
        let ended = launcher.start(&spawn, output.into())?.wait()?;
        let walled = start.elapsed();
        if ended != Ended::Code(0) {
            return Err(format!("{TRUE} behind walls ended with {ended:?}").into());
        }
        #[expect(clippy::print_stdout, reason = "an example speaks to whoever runs it")]
        {
            println!("{} {}", plain.as_nanos(), walled.as_nanos());
        }
    }
    if spawn.walls.spares.is_some() {
        std::fs::remove_dir_all(&spares)?;
    }
    Ok(())
}

/// `/bin/true` in the current directory, which it may write, with the system and the toolchains to read.
fn spawn() -> Result<Spawn, Box<dyn Error>> {
    let cwd = std::env::current_dir()?.canonicalize()?;
    let mut readable = system_readable();
    if let Some(home) = std::env::var_os("HOME").map(PathBuf::from) {
        readable.extend(toolchain_readable(&home));
    }
    Ok(Spawn {
        program: Path::new(TRUE).canonicalize()?.into(),
        args: Vec::new(),
        env: Vec::new(),
        walls: Walls {
            readable,
            writable: vec![cwd.clone()],
            ..Walls::default()
        },
        cwd,
    })
}
