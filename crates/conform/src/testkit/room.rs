//! One world a test: a machine, rules, a journal and every question that was put.

use super::{
    Asked, MemoryApprovals, MemoryHost, MemoryJournal, ScriptedApprover, StoppedClock, block_on,
};
use gate::{
    authority::root_authority,
    call::{NotRun, Parts, RawCall, Room},
    cancel::Cancel,
    check::Checked,
    g0_offer::Table,
    g2_admit::{Question, Reply, Scope},
    g3_confine::{ChildWrites, FailedLines, Profile, Silent},
    host::Host,
    output::CallOutput,
    tool::{AnyTool, Tool},
};
use policy::{Action, Origin, Pattern, Rule, RuleBook, RuleLayers};
use schema::RawArguments;
use serde_json::Value;
use std::sync::{Arc, Mutex};
use text::truncate::Limits;

/// A furnished room without its tools and approver, which each run brings.
#[derive(Debug)]
pub struct Bench {
    /// The machine.
    pub host: MemoryHost,
    /// The rules in force.
    pub rules: Arc<RuleBook>,
    /// What was meant and what came of it.
    pub journal: MemoryJournal,
    /// What was approved for more than once.
    pub approvals: MemoryApprovals,
    /// The lines that failed inside the sandbox.
    pub failed_lines: FailedLines,
    /// Ends the call under way.
    pub cancel: Cancel,
    /// How much of an output comes back.
    pub limits: Limits,
    asked: Mutex<Vec<Asked>>,
}

/// Yes, this once.
pub fn yes() -> Reply {
    Reply::Once { who: "ann".into() }
}

/// Yes, and whatever a plain always keeps.
pub fn always(scope: Scope) -> Reply {
    Reply::Always {
        who: "ann".into(),
        scope,
        rules: None,
    }
}

/// Yes, and to these very words again.
pub fn exactly(question: &Question<'_>, scope: Scope) -> Reply {
    Reply::Always {
        who: "ann".into(),
        scope,
        rules: Some(
            question
                .keepable
                .levels
                .first()
                .cloned()
                .unwrap_or_default(),
        ),
    }
}

/// No, without a word.
pub fn no() -> Reply {
    Reply::Reject {
        who: "ann".into(),
        word: None,
    }
}

/// There is no one.
pub fn nobody() -> Reply {
    Reply::Nobody {
        why: "no terminal".into(),
    }
}

impl Bench {
    /// A machine with `a.txt` and `.env`, and these rules; rule `i` has the origin `user:i`.
    pub fn new(rules: &[(&str, &str, Action)]) -> Self {
        Self::on(
            MemoryHost::with(&[("a.txt", "one\ntwo\n"), (".env", "KEY=1")]),
            rules,
        )
    }

    /// On this machine.
    pub fn on(host: MemoryHost, rules: &[(&str, &str, Action)]) -> Self {
        let rule = |(at, (permission, pattern, action)): (u32, &(&str, &str, Action))| {
            let origin = Origin {
                source: "user".into(),
                line: at,
                column: 1,
            };
            Rule::new(*permission, Pattern::wildcard(pattern), *action, origin)
        };
        let base = (1..).zip(rules).map(rule).collect();
        Self::with_layers(
            host,
            RuleLayers {
                base,
                ..RuleLayers::default()
            },
        )
    }

    /// On this machine, with everything allowed.
    pub fn free(host: MemoryHost) -> Self {
        Self::on(host, &[("*", "*", Action::Allow)])
    }

    /// On this machine, under these layers.
    pub fn with_layers(host: MemoryHost, layers: RuleLayers) -> Self {
        Self {
            host,
            rules: Arc::new(RuleBook::new(layers)),
            journal: MemoryJournal::default(),
            approvals: MemoryApprovals::default(),
            failed_lines: FailedLines::default(),
            cancel: Cancel::default(),
            limits: Limits::default(),
            asked: Mutex::default(),
        }
    }

    /// Adds a deny at the end of the base rules, as a person editing their rules would.
    pub fn deny(&self, permission: &str, pattern: &str) {
        let origin = Origin {
            source: "added".into(),
            line: 0,
            column: 0,
        };
        let rule = Rule::new(permission, Pattern::wildcard(pattern), Action::Deny, origin);
        self.rules.append(policy::Layer::Base, vec![rule]);
    }

    /// What was asked, as `permission pattern`.
    pub fn asked(&self) -> Vec<String> {
        super::lock(&self.asked)
            .iter()
            .map(|it| it.what.clone())
            .collect()
    }

    /// What was asked, with the diffs shown.
    pub fn asked_with_diffs(&self) -> Vec<Asked> {
        super::lock(&self.asked).clone()
    }

    /// Runs one call of one tool.
    ///
    /// # Errors
    /// As the room's.
    pub fn run(
        &self,
        tool: impl Tool,
        arguments: Value,
        answer: impl Fn(&Question<'_>) -> Reply + Send + Sync,
    ) -> Result<CallOutput, NotRun> {
        let tool = AnyTool::new(tool);
        let name = tool.name().to_owned();
        self.run_on(
            &self.host,
            &[tool],
            &name,
            RawArguments::Json(arguments),
            answer,
        )
    }

    /// Runs one call of a table of tools on any machine.
    ///
    /// # Errors
    /// As the room's.
    pub fn run_on(
        &self,
        host: &dyn Host,
        tools: &[AnyTool],
        name: &str,
        arguments: RawArguments,
        answer: impl Fn(&Question<'_>) -> Reply + Send + Sync,
    ) -> Result<CallOutput, NotRun> {
        let approver = ScriptedApprover::new(answer);
        let raw = RawCall {
            id: "call_1".into(),
            tool: name.into(),
            arguments,
            repeats: None,
        };
        let work = |room: &Room<'_>| block_on(must_be_send(room.run(raw)));
        let result = self.with_room(host, tools, &approver, work);
        super::lock(&self.asked).extend(approver.asked());
        result
    }

    /// Checks one call of a table of tools, without running it.
    ///
    /// # Errors
    /// As the room's.
    pub fn check(
        &self,
        tools: &[AnyTool],
        name: &str,
        arguments: RawArguments,
    ) -> Result<Checked, NotRun> {
        let approver = ScriptedApprover::new(|_: &Question<'_>| nobody());
        let raw = RawCall {
            id: "call_1".into(),
            tool: name.into(),
            arguments,
            repeats: None,
        };
        self.with_room(&self.host, tools, &approver, |room| room.check(raw))
    }

    /// Opens the room for a table of tools, with any machine and any approver.
    ///
    /// # Panics
    /// Two tools have one name.
    pub fn with_room<T>(
        &self,
        host: &dyn Host,
        tools: &[AnyTool],
        approver: &dyn gate::g2_admit::Approver,
        work: impl FnOnce(&Room<'_>) -> T,
    ) -> T {
        let table = Table::lay(tools, &self.rules.current());
        #[expect(
            clippy::expect_used,
            reason = "a test with two tools of one name is itself wrong"
        )]
        let table = table.expect("tools of different names");
        #[expect(
            clippy::disallowed_methods,
            reason = "the test kit is one of the two places that may"
        )]
        let root = root_authority();
        let parts = Parts {
            table: &table,
            rules: &self.rules,
            approver,
            approvals: &self.approvals,
            profile: &Profile {
                child_writes: ChildWrites::Workspace,
            },
            failed_lines: &self.failed_lines,
            host,
            journal: &self.journal,
            clock: &StoppedClock(7),
            progress: &Silent,
            cancel: &self.cancel,
            limits: self.limits,
            agent: "code",
            session: "ses_test",
            message: "msg_test",
        };
        work(&Room::open(&root, parts))
    }
}

/// What a runtime's `spawn` would ask of a call.
fn must_be_send<F: Future + Send>(future: F) -> F {
    future
}
