//! `tollgate check`: what the gates would say, and why. Nothing is run, and nothing is kept.

use super::probe::Probe;
use crate::{
    Exit,
    approver::Nobody,
    args::CheckArgs,
    error::CliError,
    ports::{NoApprovals, NoJournal},
    print,
    workbench::{State, Workbench, existing_store},
};
use gate::{
    authority::RootAuthority,
    call::{NotRun, RawCall},
    cancel::Cancel,
    check::{Checked, CheckedAsk},
    g0_offer::Table,
    g1_decode::RawArguments,
    g2_admit::Gate,
    tool::AnyTool,
};
use policy::{Action, Decision, Rule, RuleBook, RuleLayers, Ruleset, Step, StepKind};
use serde_json::{Map, Value, json};
use text::escape::{visible, visible_line};

pub(crate) fn check(root: &RootAuthority, args: &CheckArgs) -> Result<Exit, CliError> {
    let asked = Asked::of(args)?;
    let bench = Workbench::set_up(&args.scene, &State::Untouched)?;
    if let Some(store) = existing_store() {
        bench.recall(&store)?;
    }
    bench.warn();
    let rules = bench.rules.current();
    let table = match &asked.probe {
        // A question about a permission is answered by its rules, also where they close its tools.
        Some(probe) => Table::lay(
            std::slice::from_ref(probe),
            &RuleBook::new(RuleLayers::default()).current(),
        ),
        None => Table::lay(&bench.tools, &rules),
    };
    let table = table.map_err(|error| CliError::fault(&error))?;
    let nobody = Nobody("a check asks nobody");
    let cancel = Cancel::default();
    let room = bench.room(root, &table, (&nobody, &NoApprovals), &NoJournal, &cancel);
    let result = room.check(asked.call.clone());
    let closed = asked
        .permission(&bench)
        .and_then(|permission| closing(&rules, permission));
    let report = Report { result, closed };
    print(&if args.json {
        format!("{:#}\n", report.as_json())
    } else {
        report.as_text()
    });
    Ok(exit(&report.result))
}

/// What was typed: a call, of a built-in tool or of the probe.
struct Asked {
    call: RawCall,
    probe: Option<AnyTool>,
}

impl Asked {
    fn of(args: &CheckArgs) -> Result<Self, CliError> {
        let call = |tool: &str, arguments| RawCall {
            id: "check".into(),
            tool: tool.into(),
            arguments,
        };
        match (&args.tool, args.what.as_slice()) {
            (Some(tool), [arguments]) => {
                let arguments = RawArguments::Text(arguments.clone());
                Ok(Self {
                    call: call(tool, arguments),
                    probe: None,
                })
            }
            (None, [permission, pattern]) => {
                let probe = AnyTool::new(Probe {
                    permission: permission.clone(),
                });
                let arguments = RawArguments::Json(json!({ "pattern": pattern }));
                Ok(Self {
                    call: call("probe", arguments),
                    probe: Some(probe),
                })
            }
            (Some(_), _) => Err(CliError::usage(
                "check --tool TOOL takes the arguments as one JSON text",
            )),
            (None, _) => Err(CliError::usage(
                "check takes PERMISSION and PATTERN, or --tool TOOL JSON",
            )),
        }
    }

    /// The permission that could close the tool.
    fn permission<'a>(&'a self, bench: &'a Workbench) -> Option<&'a str> {
        let tool = bench
            .tools
            .iter()
            .find(|tool| tool.name() == self.call.tool);
        self.probe.as_ref().or(tool).map(AnyTool::permission)
    }
}

/// The rule that takes the tools of a permission off the table.
fn closing(rules: &Ruleset, permission: &str) -> Option<Rule> {
    if !rules.disabled(permission) {
        return None;
    }
    let lists = [&*rules.layers().base, &*rules.layers().hard].into_iter();
    let lasts = lists
        .chain(rules.base_and_project())
        .filter_map(|list| list.iter().rev().find(|rule| rule.is_about(permission)));
    let is_closing = |rule: &&Rule| rule.action == Action::Deny && rule.pattern.is_catch_all();
    lasts.into_iter().find(is_closing).cloned()
}

/// What is printed.
struct Report {
    result: Result<Checked, NotRun>,
    /// The rule that closes the tool, if one does.
    closed: Option<Rule>,
}

fn exit(result: &Result<Checked, NotRun>) -> Exit {
    match result {
        Ok(checked) => match checked.action {
            Action::Allow => Exit::Ok,
            Action::Ask => Exit::Ask,
            Action::Deny => Exit::Refused,
        },
        Err(NotRun::InvalidArguments { .. }) => Exit::Usage,
        Err(NotRun::UnknownTool { .. } | NotRun::Stopped(_)) => Exit::Refused,
    }
}

impl Report {
    fn gate(&self) -> Option<Gate> {
        match (&self.closed, &self.result) {
            (Some(_), _) => Some(Gate::Offer),
            (None, Ok(_)) => Some(Gate::Admit),
            (None, Err(why)) => why.gate(),
        }
    }

    fn as_text(&self) -> String {
        let closed = match &self.closed {
            Some(rule) => format!("  not offered at all (gate 0), by {rule}\n"),
            None => String::new(),
        };
        match &self.result {
            Ok(checked) => {
                let asks: Vec<String> = checked.asks.iter().map(ask_as_text).collect();
                let traces: Vec<String> = checked.decisions.iter().map(trace_as_text).collect();
                let (asks, traces) = (asks.concat(), traces.concat());
                format!("{}\n{asks}{closed}why:\n{traces}", checked.action)
            }
            Err(NotRun::UnknownTool { .. }) if self.closed.is_some() => format!("deny\n{closed}"),
            Err(why) => format!("deny\n  {}\n", visible(&why.to_string())),
        }
    }

    fn as_json(&self) -> Value {
        let (action, asks, mut trace) = match &self.result {
            Ok(checked) => {
                let asks: Vec<Value> = checked.asks.iter().map(ask_as_json).collect();
                let steps = checked.decisions.iter().flat_map(|it| it.trace().steps);
                (
                    checked.action,
                    asks,
                    steps.map(|step| step_as_json(&step)).collect(),
                )
            }
            Err(_) => (Action::Deny, Vec::new(), Vec::new()),
        };
        if let (Some(rule), true) = (&self.closed, trace.is_empty()) {
            let (permission, pattern) = (rule.permission.clone(), rule.pattern.text().to_owned());
            let (step, rule, action) = (StepKind::Rule, Some(rule.clone()), Action::Deny);
            trace.push(step_as_json(&Step {
                step,
                permission,
                pattern,
                rule,
                action,
                note: String::new(),
            }));
        }
        let mut out = json!({
            "action": action.to_string(), "gate": self.gate().map(Gate::number),
            "asks": asks, "trace": trace,
        });
        if let Some(faults) = self.faults() {
            out["faults"] = faults;
        }
        out
    }

    fn faults(&self) -> Option<Value> {
        let fault = |path: &str, message: &str| json!({ "path": path, "message": message });
        match &self.result {
            Ok(_) => None,
            Err(NotRun::InvalidArguments { faults, .. }) => Some(
                faults
                    .iter()
                    .map(|it| fault(&it.path, &it.message))
                    .collect(),
            ),
            Err(_) if self.closed.is_some() => None,
            Err(other) => Some(json!([fault("tool", &other.to_string())])),
        }
    }
}

fn ask_as_text(ask: &CheckedAsk) -> String {
    let patterns: Vec<String> = ask.patterns.iter().map(|it| visible_line(it)).collect();
    format!(
        "  {} {}: {}\n",
        ask.decision.action(),
        visible_line(&ask.permission),
        patterns.join(", ")
    )
}

fn trace_as_text(decision: &Decision) -> String {
    let lines: Vec<String> = decision
        .trace()
        .steps
        .iter()
        .map(|step| format!("  {step}\n"))
        .collect();
    lines.concat()
}

fn ask_as_json(ask: &CheckedAsk) -> Value {
    json!({
        "permission": ask.permission, "patterns": ask.patterns, "always": ask.always,
        "action": ask.decision.action().to_string(),
    })
}

fn step_as_json(step: &Step) -> Value {
    let mut out = Map::new();
    out.insert("step".into(), step.step.to_string().into());
    out.insert("permission".into(), step.permission.clone().into());
    out.insert("pattern".into(), step.pattern.clone().into());
    if let Some(rule) = &step.rule {
        let text = format!(
            "{}: {} = {}",
            rule.permission,
            rule.pattern.text(),
            rule.action
        );
        out.insert("rule".into(), text.into());
        let origin = &rule.origin;
        let place = json!({ "file": *origin.source, "line": origin.line, "column": origin.column });
        out.insert("origin".into(), place);
    }
    out.insert("action".into(), step.action.to_string().into());
    if !step.note.is_empty() {
        out.insert("note".into(), step.note.clone().into());
    }
    Value::Object(out)
}
