//! `tollgate completions SHELL`: what a shell completes.

use crate::{Exit, args::Cli, print};
use clap::CommandFactory;
use clap_complete::{Shell, generate};

pub(crate) fn completions(shell: Shell) -> Exit {
    let mut out = Vec::new();
    generate(shell, &mut Cli::command(), "tollgate", &mut out);
    print(&String::from_utf8_lossy(&out));
    Exit::Ok
}
