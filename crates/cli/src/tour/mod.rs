//! The tour: a scripted session in a small project of its own, through the real gates, and a table of
//! which gate decided what and why. All it needs is in the binary.

mod answers;
mod ledger;

use crate::{
    approver::Terminal,
    error::CliError,
    play::Play,
    report::Plain,
    workbench::{Workbench, open_store},
};
use answers::ForThisScript;
use gate::{authority::RootAuthority, cancel::Cancel, g2_admit::Approver};
use ledger::Ledger;
pub use ledger::Row;
use model::ScriptedModel;
use policy::{Rule, written};
use sandbox::Launcher;
use session::{Events, Unheard};
use std::{fs, io, path::Path};

/// The rules the tour plays by, as it prints them.
pub const RULES: &str = include_str!("rules.jsonc");

const SCRIPT: &str = include_str!("script.json");

/// Where the rules of the tour stand, in reasons.
const RULES_LABEL: &str = "tour/rules.jsonc";

/// The project, file by file.
const PROJECT: [(&str, &str); 4] = [
    ("greet.sh", include_str!("project/greet.sh")),
    ("test.sh", include_str!("project/test.sh")),
    ("phone.sh", include_str!("project/phone.sh")),
    (".env", include_str!("project/env")),
];

/// What came of a tour.
#[derive(Debug)]
pub struct Played {
    /// One row a call, in order.
    pub rows: Vec<Row>,
    /// Whether the project's test passes now.
    pub is_mended: bool,
}

/// Who answers the asks of the tour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// A person at the terminal.
    Person,
    /// Yes to the calls of this script that a person would allow, and to no others.
    OfThisScript,
}

/// Plays the tour by these rules, in folders that are gone afterwards. Says what happens on standard
/// output only to a person.
///
/// # Errors
/// The rules cannot be read, or the machine does not let the tour work: words for a person.
pub fn play_by(
    root: &RootAuthority,
    launcher: Launcher,
    rules: &str,
    answers: Answers,
    events: Option<&dyn Events>,
) -> Result<Played, String> {
    let played = set_up_and_play(root, launcher, rules, answers, events.unwrap_or(&Unheard));
    played.map_err(|error| error.message)
}

/// Plays the tour as it stands, telling a person what happens.
pub(crate) fn play_aloud(root: &RootAuthority, answers: Answers) -> Result<Played, CliError> {
    let launcher = Launcher::open().map_err(|error| CliError::fault(&error))?;
    set_up_and_play(root, launcher, RULES, answers, &Plain)
}

fn set_up_and_play(
    root: &RootAuthority,
    launcher: Launcher,
    rules: &str,
    answers: Answers,
    events: &dyn Events,
) -> Result<Played, CliError> {
    let folder = tempfile::Builder::new().prefix("tollgate-tour-").tempdir();
    let folder = folder.map_err(|error| CliError::config(format!("no scratch folder: {error}")))?;
    let workspace = folder.path().join("project");
    lay_out(&workspace).map_err(|error| CliError::config(format!("no scratch folder: {error}")))?;
    let state = folder.path().join("state");
    let bench = Workbench::for_tour(workspace.clone(), state.clone(), launcher, read(rules)?)?;
    let store = open_store(&state)?;
    let ledger = Ledger::over(store.as_ref(), events);
    let approver: Box<dyn Approver> = match answers {
        Answers::OfThisScript => Box::new(ForThisScript),
        Answers::Person => Box::new(Terminal::open().map_err(|error| CliError::fault(&error))?),
    };
    let model = ScriptedModel::from_json(SCRIPT).map_err(|error| CliError::fault(&error))?;
    let cancel = Cancel::default();
    let play = Play {
        root,
        bench: &bench,
        model: &model,
        approver: approver.as_ref(),
        store: &store,
        journal: &ledger,
        events: &ledger,
        cancel: &cancel,
    };
    play.run(None, "Mend the failing test.")?;
    let rows = ledger.into_rows();
    let is_mended = rows
        .iter()
        .any(|row| row.call_id == "test-after" && row.is_done);
    Ok(Played { rows, is_mended })
}

fn read(rules: &str) -> Result<Vec<Rule>, CliError> {
    let faults = |faults: Vec<written::WrittenFault>| {
        let lines: Vec<String> = faults
            .iter()
            .map(|it| format!("{}: {}", it.line, it.message))
            .collect();
        CliError::config(format!("{RULES_LABEL}: {}", lines.join(", ")))
    };
    written::read_rules(rules, RULES_LABEL, &["permission"], None).map_err(faults)
}

fn lay_out(workspace: &Path) -> io::Result<()> {
    fs::create_dir_all(workspace)?;
    PROJECT
        .iter()
        .try_for_each(|(name, text)| fs::write(workspace.join(name), text))
}
