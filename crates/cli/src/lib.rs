//! The composition root: puts the crates together, one file a subcommand. The only crate that
//! prints and reads the environment.
//!
//! Must not decide anything: what may be done is the gates' to say.

mod approver;
mod args;
mod bounds;
mod command;
mod error;
mod exit;
mod ground;
mod instructions;
mod opening;
mod own;
mod play;
mod ports;
mod report;
mod scratch;
mod signal;
mod speaker;
pub mod tour;
mod workbench;

pub use exit::Exit;

use args::{Cli, Command};
use clap::Parser;
use error::CliError;
use gate::authority::RootAuthority;
use std::{io::Write, process::ExitCode};
use tracing_subscriber::{EnvFilter, fmt};

/// Runs the command line of this process. `root` is what calls are opened with.
pub fn start(root: &RootAuthority) -> ExitCode {
    listen();
    let cli = Cli::parse();
    let done = match cli.command {
        Command::Run(args) => command::run(root, &args),
        Command::Call(args) => command::call(root, &args),
        Command::Tools(args) => command::tools(&args),
        Command::Check(args) => command::check(root, &args),
        Command::Policy(args) => command::policy(root, &args),
        Command::Shell(args) => command::shell(root, &args),
        Command::Tour => command::tour(root),
        Command::Agents(args) => command::agents(&args),
        Command::Approvals(args) => command::approvals(&args),
        Command::Trust(args) => command::trust(&args),
        Command::Sessions(args) => command::sessions(&args),
        Command::Log(args) => command::log(&args),
        Command::Doctor(args) => command::doctor(&args),
        Command::Completions { shell } => Ok(command::completions(shell)),
        Command::ProxyConnect(args) => return command::proxy_connect(&args),
        Command::Sandbox(args) => {
            return command::sandbox(&args).unwrap_or_else(|CliError { exit, message }| {
                complain(&message);
                exit.into()
            });
        }
    };
    let exit = done.unwrap_or_else(|CliError { exit, message }| {
        complain(&message);
        exit
    });
    ExitCode::from(exit)
}

/// Logs go to standard error, and only where `TOLLGATE_LOG` asks for them.
fn listen() {
    if let Ok(filter) = EnvFilter::try_from_env("TOLLGATE_LOG") {
        let spans = fmt::format::FmtSpan::CLOSE;
        fmt()
            .with_env_filter(filter)
            .with_span_events(spans)
            .with_writer(std::io::stderr)
            .init();
    }
}

/// One line, or several, for a person. What a model or a file said may be part of it: lines after the first are set
/// in, so that none of them can begin as ours do.
fn complain(message: &str) {
    let message = set_in(&text::escape::visible(message));
    // There is nobody left to tell if this fails.
    drop(writeln!(std::io::stderr(), "tollgate: {message}"));
}

fn set_in(message: &str) -> String {
    let mut lines = message.split('\n');
    let mut said = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        let is_in = line.is_empty() || line.starts_with(' ');
        said.push_str(if is_in { "\n" } else { "\n    " });
        said.push_str(line);
    }
    said
}

/// Data on standard output. A reader that went away is no fault of ours.
fn print(text: &str) {
    drop(std::io::stdout().write_all(text.as_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_break_in_a_complaint_begins_a_line_of_ours() {
        for (message, want) in [
            ("`a` is not there", "`a` is not there"),
            (
                "`a\ntollgate: all is well`",
                "`a\n    tollgate: all is well`",
            ),
            ("there are\n  cargo", "there are\n  cargo"),
            ("a\n\nb\n", "a\n\n    b\n"),
        ] {
            assert_eq!(set_in(message), want);
        }
    }
}
