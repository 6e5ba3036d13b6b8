//! The binary: becomes the sandbox helper when it is started as one, else claims the root authority
//! and hands over. Must not do anything else.

use std::process::ExitCode;

fn main() -> ExitCode {
    // First of all: the helper must be small and quick, and runs before any thread exists.
    sandbox::run_if_helper();
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place outside tests where calls begin"
    )]
    let root = gate::authority::root_authority();
    tollgate_cli::start(&root)
}
