//! `tollgate policy suggest`: rules that would have spared questions that a person answered with yes.
//!
//! Must not write them anywhere: a configuration is its user's.

use crate::{
    Exit,
    args::PolicySuggestArgs,
    error::CliError,
    print,
    workbench::{State, Workbench, open_store, state_dir},
};
use gate::host::Host;
use policy::{Asked, Subject, Suggestion, suggest as suggestions};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use store::{Filter, Store, StoreError, StoredEvent};
use text::escape::visible_line;

/// So many of the things a rule would have spared are shown.
const SHOWN_MAX: usize = 3;

pub(crate) fn suggest(args: &PolicySuggestArgs) -> Result<Exit, CliError> {
    let store = open_store(&state_dir()?)?;
    let bench = Workbench::set_up(&args.scene, &State::Untouched)?;
    bench.recall(&store)?;
    bench.warn();
    let workspace = bench.host.workspace().display().to_string();
    let asked = answered(&store, &workspace).map_err(|error| CliError::fault(&error))?;
    let found = suggestions(&bench.rules.current(), &asked);
    print(&if args.json {
        format!("{:#}\n", as_json(&asked, &found))
    } else {
        as_text(&asked, &found)
    });
    Ok(Exit::Ok)
}

/// What was allowed by hand in the sessions of a workspace, each question once.
fn answered(store: &Store, workspace: &str) -> Result<Vec<Asked>, StoreError> {
    let here = store.sessions()?.into_iter();
    let here = here.filter(|it| it.workspace == workspace);
    let here: BTreeSet<String> = here.map(|it| it.id).collect();
    let mut asked: Vec<Asked> = Vec::new();
    for record in store.journal(Filter::All)? {
        let StoredEvent::Intent { ruling, .. } = &record.event else {
            continue;
        };
        if !here.contains(&record.session) || !ruling.is_by_approver() {
            continue;
        }
        // A record from before subjects were kept tells nothing.
        let Some(subjects) = ruling.subjects() else {
            continue;
        };
        match asked
            .iter_mut()
            .find(|it| texts(&it.subjects).eq(texts(&subjects)))
        {
            Some(same) => same.count += 1,
            None => asked.push(Asked {
                subjects: subjects.into(),
                count: 1,
            }),
        }
    }
    Ok(asked)
}

fn texts(subjects: &[Subject]) -> impl Iterator<Item = (&str, &str)> {
    subjects
        .iter()
        .map(|it| (it.permission.as_str(), it.as_asked()))
}

fn as_text(asked: &[Asked], found: &[Suggestion]) -> String {
    let all: usize = asked.iter().map(|it| it.count).sum();
    if found.is_empty() {
        return format!(
            "nothing to suggest: {all} questions were answered with yes here, and none that the rules \
             still ask could be left to a narrow rule\n"
        );
    }
    let covered: BTreeSet<usize> = found
        .iter()
        .flat_map(|it| it.covers.iter().copied())
        .collect();
    let covered = covered.iter().filter_map(|&index| asked.get(index));
    let spared: usize = covered.map(|it| it.count).sum();
    let head = format!(
        "{spared} of the {all} questions that were answered with yes here would not have been asked \
         with these rules behind all others:\n"
    );
    let rules = found.iter().map(|it| {
        let about: Vec<String> = spared_by(asked, it)
            .take(SHOWN_MAX)
            .map(|text| format!("`{}`", visible_line(text)))
            .collect();
        let more = match spared_by(asked, it).count().saturating_sub(SHOWN_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!(
            "\n  {}\n      {} questions: {}{more}\n",
            visible_line(&it.rule.in_short()),
            it.approval_count,
            about.join(", ")
        )
    });
    head + &rules.collect::<String>()
}

/// The things that a rule would have allowed, in the calls it would have spared.
fn spared_by<'a>(asked: &'a [Asked], it: &'a Suggestion) -> impl Iterator<Item = &'a str> {
    let calls = it.covers.iter().filter_map(|&index| asked.get(index));
    let about = calls.flat_map(|call| call.subjects.iter());
    let about = about.filter(|subject| {
        it.rule.is_about_subject(subject) && it.rule.pattern.fits(subject.as_asked(), subject)
    });
    about.map(Subject::as_asked)
}

fn as_json(asked: &[Asked], found: &[Suggestion]) -> Value {
    let one = |it: &Suggestion| {
        json!({
            "permission": it.rule.permission,
            "pattern": it.rule.pattern.text(),
            "action": it.rule.action.to_string(),
            "approvals": it.approval_count,
            "covers": spared_by(asked, it).collect::<Vec<_>>(),
        })
    };
    let all: usize = asked.iter().map(|it| it.count).sum();
    json!({ "approvals": all, "suggestions": found.iter().map(one).collect::<Value>() })
}
