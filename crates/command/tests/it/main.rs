//! The reader from outside: tables, properties, and other readers as oracles. It must not reach into the crate.
#![expect(clippy::unwrap_used, reason = "a test may stop where it stands")]

mod constructs;
mod oracle;
mod properties;
mod snippets;
mod spellings;

use tollgate_command as command;

/// The canonical forms of all commands found.
fn canonicals(text: &str) -> Vec<String> {
    command::read(text)
        .commands
        .iter()
        .map(command::Simple::canonical)
        .collect()
}
