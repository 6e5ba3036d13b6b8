//! `tollgate tour`: plays the tour, and prints its rules and its table.

use crate::{
    Exit,
    error::CliError,
    print,
    tour::{Answers, Played, RULES, Row, play_aloud},
};
use gate::authority::RootAuthority;
use std::{
    fmt::Write,
    io::{IsTerminal, stdin, stdout},
};
use text::escape::visible_line;

pub(crate) fn tour(root: &RootAuthority) -> Result<Exit, CliError> {
    let is_person = stdin().is_terminal() && stdout().is_terminal();
    let answers = if is_person {
        Answers::Person
    } else {
        Answers::OfThisScript
    };
    print(
        "A scripted model is to mend a failing test in a small project, and then tries what it\n",
    );
    print("should not be able to do. The rules:\n\n");
    print(RULES);
    if !is_person {
        print(
            "\nThere is no terminal: the tour itself says yes to the edit, and to nothing else.\n",
        );
    }
    print("\n");
    let played = play_aloud(root, answers)?;
    print(&table(&played));
    Ok(if is_as_promised(&played, answers) {
        Exit::Ok
    } else {
        Exit::Failed
    })
}

/// With its own answers the tour must end as it says; what a person answers is up to them.
fn is_as_promised(played: &Played, answers: Answers) -> bool {
    let must_stop = ["home", "secret", "outside", "network", "garbled"];
    let is_stopped = |row: &Row| row.gate.is_some() || !must_stop.contains(&row.call_id.as_str());
    let ends_well = played.is_mended || answers == Answers::Person;
    ends_well && played.rows.iter().all(is_stopped)
}

fn table(played: &Played) -> String {
    let width = played
        .rows
        .iter()
        .map(|row| visible_line(&row.call).chars().count())
        .max();
    let width = width.unwrap_or(0).max(4);
    let mut out = format!("\n{:<width$}  {:<12}  why\n", "call", "gate");
    for row in &played.rows {
        let gate = match row.gate {
            Some(gate) => format!("{} {gate}", gate.number()),
            None => "passed".to_owned(),
        };
        let (call, why) = (visible_line(&row.call), visible_line(&row.why));
        // Writing to a string cannot fail.
        let _ok = writeln!(out, "{call:<width$}  {gate:<12}  {why}");
    }
    out
}
