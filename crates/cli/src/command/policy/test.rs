//! `tollgate policy test`: cases that users wrote about rules, put to the engine.
//!
//! Must not know what is right: that stands in the cases.

use crate::{
    Exit,
    approver::Nobody,
    args::PolicyTestArgs,
    error::CliError,
    ports::{NoApprovals, NoJournal},
    print,
    workbench::{self, State, Workbench},
};
use conform::literate::{Failure, InForce, Page, Report};
use gate::{
    authority::RootAuthority, call::RawCall, cancel::Cancel, check::Checked, g0_offer::Table,
    tool::AnyTool,
};
use policy::{RuleBook, RuleLayers};
use serde_json::{Value, json};
use std::{fs, path::Path};
use text::escape::visible_line;

pub(crate) fn test(root: &RootAuthority, args: &PolicyTestArgs) -> Result<Exit, CliError> {
    let pages = args.files.iter().map(|file| Labelled::read(file));
    let pages = pages.collect::<Result<Vec<_>, _>>()?;
    // Answers that were kept are left out: a case is about what is written.
    let is_complete = pages.iter().all(|it| it.page.is_complete());
    let bench = if is_complete {
        None
    } else {
        Some(Workbench::set_up(&args.scene, &State::Untouched)?)
    };
    let reports: Vec<_> = match &bench {
        None => pages.iter().map(|it| it.page.run(None)).collect(),
        Some(bench) => {
            bench.warn();
            let check = |tools: &[AnyTool], call| check(root, bench, tools, call);
            let in_force = InForce {
                rules: bench.rules.current(),
                home: workbench::home(),
                check: &check,
            };
            pages
                .iter()
                .map(|it| it.page.run(Some(&in_force)))
                .collect()
        }
    };
    let tested: Vec<_> = pages.iter().zip(reports).collect();
    print(&if args.json {
        format!("{:#}\n", as_json(&tested))
    } else {
        as_text(&tested)
    });
    let is_right = tested.iter().all(|(_, report)| report.failed.is_empty());
    Ok(if is_right { Exit::Ok } else { Exit::Failed })
}

/// A page, and the name people know it by.
struct Labelled {
    label: String,
    page: Page,
}

impl Labelled {
    fn read(file: &Path) -> Result<Self, CliError> {
        let label = file.display().to_string();
        let wrong = |line: &str| CliError::config(visible_line(line));
        let text = fs::read_to_string(file)
            .map_err(|error| wrong(&format!("`{label}` cannot be read: {error}")))?;
        let page = Page::read(&text, &label).map_err(|faults| {
            let line = |fault| visible_line(&format!("{label}: {fault}"));
            let lines: Vec<_> = faults.iter().map(line).collect();
            CliError::config(lines.join("\n"))
        })?;
        // What tests nothing has not passed.
        if page.cases().is_empty() {
            return Err(wrong(&format!(
                "`{label}` has no case in a block of `decisions`"
            )));
        }
        Ok(Self { label, page })
    }
}

/// As `tollgate check` does it, on this machine, and whatever the rules take off the table.
fn check(
    root: &RootAuthority,
    bench: &Workbench,
    tools: &[AnyTool],
    call: RawCall,
) -> Result<Checked, String> {
    let open = RuleBook::new(RuleLayers::default()).current();
    let table = Table::lay(tools, &open).map_err(|error| error.to_string())?;
    let nobody = Nobody("a test asks nobody");
    let cancel = Cancel::default();
    let room = bench.room(root, &table, (&nobody, &NoApprovals), &NoJournal, &cancel);
    room.check(call).map_err(|why| why.to_string())
}

fn counts(tested: &[(&Labelled, Report)]) -> (usize, usize) {
    let passed = tested.iter().map(|(_, report)| report.passed).sum();
    let failed = tested.iter().map(|(_, report)| report.failed.len()).sum();
    (passed, failed)
}

fn as_text(tested: &[(&Labelled, Report)]) -> String {
    let shown = tested.iter().flat_map(|(page, report)| {
        let failed = report.failed.iter();
        failed.map(|failure| failure.for_person(&page.label))
    });
    let shown: String = shown.collect();
    let (passed, failed) = counts(tested);
    format!("{shown}{passed} passed, {failed} failed\n")
}

fn as_json(tested: &[(&Labelled, Report)]) -> Value {
    let one = |label: &str, Failure { case, got }: &Failure| {
        json!({
            "file": label,
            "line": case.line,
            "permission": case.permission,
            "text": case.text,
            "expected": case.expected.to_string(),
            "got": got.as_ref().ok().map(|decision| decision.action().to_string()),
            "trace": got.as_ref().map_or_else(|_| json!([]), |it| json!(it.trace().steps)),
            "fault": got.as_ref().err(),
        })
    };
    let failed_cases = tested
        .iter()
        .flat_map(|(page, report)| report.failed.iter().map(|it| one(&page.label, it)));
    let failed_cases: Vec<_> = failed_cases.collect();
    let (passed, failed) = counts(tested);
    json!({ "passed": passed, "failed": failed, "failures": failed_cases })
}
