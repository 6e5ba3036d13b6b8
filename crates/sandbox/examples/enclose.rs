//! Runs one command in the current directory as a coding agent would: `enclose [OPTION]... -- PROGRAM [ARG]...`
//! The directory can be written but for what other tools execute or obey; secrets in it and in the environment are
//! hidden. `--partial` asks for no more than that tier, `--tier` tells what is enforced and runs nothing, and
//! `--pause` tells the tier and waits for a line before the start. Must stay a thin use of the crate; what is protected here is an example and no policy.

use std::error::Error;
use std::ffi::OsString;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tollgate_sandbox::{
    Confinement, Ended, Launcher, Limits, Spawn, Tier, Walls, run_if_helper, system_readable,
    toolchain_links, toolchain_readable,
};

/// What others execute or obey, in each repository.
const PROTECTED: &[&str] = &[
    ".agents",
    ".claude",
    ".codex",
    ".envrc",
    ".git/config",
    ".git/hooks",
    ".kilo",
    ".mcp.json",
    ".vscode",
    "AGENTS.md",
    "CLAUDE.md",
];
/// What nobody needs to read.
const MASKED: &[&str] = &[".env"];
/// Words in the names of variables that are not passed on.
const SECRET: &[&str] = &["AUTH", "KEY", "PASSWORD", "SECRET", "TOKEN"];

fn main() -> ExitCode {
    run_if_helper();
    match run() {
        Ok(Ended::Code(code)) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        Ok(Ended::Signal(signal)) => ExitCode::from(128 + u8::try_from(signal).unwrap_or(0)),
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "an example speaks to whoever runs it")]
            {
                eprintln!("enclose: {error}");
            }
            ExitCode::from(125)
        }
    }
}

fn run() -> Result<Ended, Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1);
    let mut tier = Tier::Full;
    let mut program = None;
    let mut is_paused = false;
    while let Some(arg) = args.next() {
        match arg.to_str() {
            Some("--partial") => tier = Tier::Partial,
            Some("--tier") => return tell_tier(tier),
            Some("--pause") => is_paused = true,
            Some("--") => program = args.next(),
            _ => {
                return Err(
                    "usage: enclose [--partial] [--pause] [--tier] -- PROGRAM [ARG]...".into(),
                );
            }
        }
        if program.is_some() {
            break;
        }
    }
    let program = std::fs::canonicalize(program.ok_or("a program is missing")?)?;
    let cwd = std::env::current_dir()?.canonicalize()?;
    let mut walls = walls(&cwd)?;
    walls.readable.push(program.clone());
    let launcher = open(tier)?;
    if is_paused {
        pause(launcher.confinement())?;
    }
    let spawn = Spawn {
        program: program.into(),
        args: args.collect::<Vec<OsString>>(),
        env: std::env::vars_os().filter(is_harmless).collect(),
        cwd,
        walls,
    };
    let mut child = launcher.start(&spawn, std::io::stdout().as_fd().try_clone_to_owned()?)?;
    Ok(child.wait()?)
}

fn open(tier: Tier) -> Result<Launcher, Box<dyn Error>> {
    let launcher = Launcher::open_up_to(Path::new("/proc/self/exe"), tier)?;
    match launcher.confinement() {
        Confinement::NotEnforced { why } => Err(why.clone().into()),
        Confinement::Partial { .. } | Confinement::Full { .. } => Ok(launcher),
    }
}

#[expect(clippy::print_stdout, reason = "an example speaks to whoever runs it")]
fn tell_tier(tier: Tier) -> Result<Ended, Box<dyn Error>> {
    println!("{:?}", open(tier)?.confinement());
    Ok(Ended::Code(0))
}

#[expect(clippy::print_stdout, reason = "an example speaks to whoever runs it")]
fn pause(confinement: &Confinement) -> Result<(), Box<dyn Error>> {
    println!(
        "{}",
        match confinement {
            Confinement::Full { .. } => "full",
            Confinement::Partial { .. } => "partial",
            Confinement::NotEnforced { .. } => "none",
        }
    );
    std::io::stdin().read_line(&mut String::new())?;
    Ok(())
}

fn is_harmless((name, _): &(OsString, OsString)) -> bool {
    let name = name.to_string_lossy();
    !SECRET.iter().any(|word| name.contains(word))
}

fn walls(cwd: &Path) -> Result<Walls, Box<dyn Error>> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let mut readable = system_readable();
    readable.extend(home.as_deref().map(toolchain_readable).unwrap_or_default());
    let mut walls = Walls {
        readable,
        writable: vec![cwd.to_owned()],
        links: home.as_deref().map(toolchain_links).unwrap_or_default(),
        limits: Limits {
            processes: Some(1000),
            memory_bytes: Some(2 << 30),
            ..Limits::default()
        },
        ..Walls::default()
    };
    // Repositories next to each other; a real search goes deeper.
    let inner = std::fs::read_dir(cwd)?.filter_map(|entry| Some(entry.ok()?.path()));
    let repositories = inner.filter(|path| path.join(".git").is_dir());
    for repository in [cwd.to_owned()].into_iter().chain(repositories) {
        let is_repository = repository.join(".git").is_dir();
        let protected = PROTECTED
            .iter()
            .filter(|name| is_repository || !name.starts_with(".git/"))
            .map(|name| repository.join(name));
        walls.write_protected.extend(protected);
        let masked = MASKED.iter().map(|name| repository.join(name));
        walls.masked.extend(masked);
    }
    Ok(walls)
}
