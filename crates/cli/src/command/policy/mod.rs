//! `tollgate policy`: work on rules, one file a subcommand.
//!
//! Must not hold a subcommand.

mod diff;
mod import;
mod lint;
mod suggest;
mod test;

use crate::{
    Exit,
    args::{PolicyArgs, PolicyCommand},
    error::CliError,
};
use gate::authority::RootAuthority;

pub(crate) fn policy(root: &RootAuthority, args: &PolicyArgs) -> Result<Exit, CliError> {
    match &args.command {
        PolicyCommand::Diff(args) => diff::diff(args),
        PolicyCommand::Import(args) => import::import(args),
        PolicyCommand::Lint(args) => lint::lint(args),
        PolicyCommand::Suggest(args) => suggest::suggest(args),
        PolicyCommand::Test(args) => test::test(root, args),
    }
}
