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
use policy::{
    Action, Layer, Rule, RuleBook, RuleLayers, Ruleset, Step, StepKind,
    explain::{closed_for_person, for_person},
};
use serde_json::{Value, json};
use text::escape::visible;

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
        .and_then(|permission| Closed::of(&rules, permission));
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
            repeats: None,
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

/// A permission whose tools are not on the table, and the rule that takes them off.
struct Closed {
    permission: String,
    rule: Rule,
    layer: Layer,
}

impl Closed {
    fn of(rules: &Ruleset, permission: &str) -> Option<Self> {
        let (layer, rule) = rules.closing_rule(permission)?;
        let rule = rule.clone();
        let permission = permission.to_owned();
        Some(Self {
            permission,
            rule,
            layer,
        })
    }

    fn as_text(&self) -> String {
        closed_for_person(&self.permission, &self.rule, self.layer)
    }

    fn as_step(&self) -> Step {
        let Self {
            permission, rule, ..
        } = self;
        Step {
            step: StepKind::Rule,
            permission: permission.clone(),
            pattern: rule.pattern.text().to_owned(),
            rule: Some(rule.clone()),
            action: Action::Deny,
            note: String::new(),
        }
    }
}

/// What is printed.
struct Report {
    result: Result<Checked, NotRun>,
    closed: Option<Closed>,
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
        let closed = self.closed.as_ref().map(Closed::as_text);
        match (&self.result, closed) {
            (Ok(checked), closed) => {
                let decisions = checked.decisions.iter().map(for_person);
                let parts: Vec<String> = decisions.chain(closed).collect();
                match parts.as_slice() {
                    [only] => only.clone(),
                    several => format!(
                        "{}: the call needs {} things, and the strictest answer counts\n\n{}",
                        checked.action,
                        checked.decisions.len(),
                        several.join("\n")
                    ),
                }
            }
            (Err(NotRun::UnknownTool { .. }), Some(closed)) => closed,
            (Err(why), _) => format!("deny: {}\n", visible(&why.to_string())),
        }
    }

    fn as_json(&self) -> Value {
        let (action, asks, mut trace) = match &self.result {
            Ok(checked) => {
                let asks: Vec<Value> = checked.asks.iter().map(ask_as_json).collect();
                let steps = checked.decisions.iter().flat_map(|it| it.trace().steps);
                (checked.action, asks, steps.collect())
            }
            Err(_) => (Action::Deny, Vec::new(), Vec::new()),
        };
        if let (Some(closed), true) = (&self.closed, trace.is_empty()) {
            trace.push(closed.as_step());
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

fn ask_as_json(ask: &CheckedAsk) -> Value {
    json!({
        "permission": ask.permission, "patterns": ask.patterns, "always": ask.always,
        "action": ask.decision.action().to_string(),
    })
}
