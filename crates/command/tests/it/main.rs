//! The reader from outside: tables, properties, and other readers as oracles. It must not reach into the crate.
#![expect(clippy::unwrap_used, reason = "a test may stop where it stands")]

mod constructs;
mod corpus;
mod flow;
mod generate;
mod grave;
mod oracle;
mod properties;
mod reaches;
mod readers;
mod snippets;
mod spellings;
mod stub;
mod table;
mod told;

use tollgate_command as command;

use command::{Line, Setting, Shell, Simple};

/// Where the texts of the tests are read.
const SETTING: Setting<'_> = Setting {
    directory: "/w",
    home: Some("/home/u"),
    shell: Shell::Bash,
};

fn read(text: &str) -> Line {
    command::read(text, &SETTING)
}

/// The canonical forms of all commands found.
fn canonicals(text: &str) -> Vec<String> {
    read(text).commands.iter().map(Simple::canonical).collect()
}

/// What was not understood.
fn unknowns(text: &str) -> Vec<String> {
    read(text)
        .unknown
        .iter()
        .map(|unknown| unknown.what.to_string())
        .collect()
}
