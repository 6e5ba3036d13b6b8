//! A course of events at one desk: asks, replies, and what becomes of the calls that wait. The steps stand
//! in the row; what each does is done by the real desk and the real gates.

use gate::g2_admit::{Reply, Scope};
use policy::{Action, Origin, Pattern, Rule, RuleBook, RuleLayers};
use serde::Deserialize;
use serde_json::{Value, json};
use session::desk::{Cascade, ReplyError, Seated};
use std::sync::Arc;

use crate::testkit::DeskBench;

/// One step.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Step {
    /// A session opens before its first call, because it is a child, or elsewhere, or has rules of its own.
    Open {
        session: String,
        parent: Option<String>,
        #[serde(default = "workspace")]
        workspace: String,
        rules: Option<Vec<[String; 3]>>,
    },
    /// A call is made: a command, or a write of a file.
    Call {
        name: String,
        #[serde(default = "session")]
        session: String,
        bash: Option<String>,
        write: Option<String>,
        #[serde(default)]
        content: String,
    },
    /// A person answers the ask that a call put.
    Reply {
        to: String,
        with: With,
        word: Option<String>,
        #[serde(default)]
        scope: In,
        /// What an always keeps, as edited.
        rules: Option<Vec<[String; 3]>>,
        #[serde(default = "yes")]
        cascade: bool,
    },
    /// A deny is added to the rules of a session.
    Deny { session: String, rule: [String; 2] },
    /// What a session asks is cancelled.
    Cancel(String),
    /// A session is over.
    Close(String),
    /// A call is dropped.
    Drop(String),
    /// The deadline passes.
    Pass,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum With {
    Once,
    Always,
    Everything,
    Reject,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum In {
    #[default]
    Session,
    Project,
    Global,
}

fn workspace() -> String {
    "/w".to_owned()
}

fn session() -> String {
    "s".to_owned()
}

fn yes() -> bool {
    true
}

/// Takes the steps and says what is asked for: of `calls`, what became of each that is named; `events`;
/// `replies`; `kept`; `waiting`.
pub(crate) fn put(rules: &[Rule], steps: &str, text: &str) -> Result<String, String> {
    let steps: Vec<Step> =
        serde_json::from_str(steps).map_err(|error| format!("steps: {error}"))?;
    let expected: Value =
        serde_json::from_str(text).map_err(|error| format!("expected: {error}"))?;
    let mut course = Course::new(rules);
    for step in steps {
        course.take(step)?;
    }
    let asked_for = expected.as_object().ok_or("expected is no object")?;
    let mut got = serde_json::Map::new();
    for (key, wanted) in asked_for {
        got.insert(key.clone(), course.tell(key, wanted)?);
    }
    let got = Value::Object(got);
    if got == expected {
        return Ok(text.to_owned());
    }
    Ok(got.to_string())
}

/// A course under way.
pub(crate) struct Course<'r> {
    pub(crate) bench: DeskBench,
    rules: &'r [Rule],
    replies: Vec<String>,
}

impl<'r> Course<'r> {
    /// Sessions that are not opened otherwise have these rules.
    pub(crate) fn new(rules: &'r [Rule]) -> Self {
        let bench = DeskBench::new();
        let replies = Vec::new();
        Self {
            bench,
            rules,
            replies,
        }
    }

    fn take(&mut self, step: Step) -> Result<(), String> {
        match step {
            Step::Open {
                session,
                parent,
                workspace,
                rules,
            } => {
                let rules = rules.map(|rules| written(&rules)).transpose()?;
                let rules = rules.unwrap_or_else(|| self.rules.to_vec());
                self.bench.open(seated(session, parent, workspace, rules))
            }
            Step::Call {
                name,
                session,
                bash,
                write,
                content,
            } => match (bash, write) {
                (Some(command), None) => {
                    self.call(&name, &session, "bash", json!({ "command": command }))
                }
                (None, Some(path)) => {
                    let arguments = json!({ "filePath": path, "content": content });
                    self.call(&name, &session, "write", arguments)
                }
                _ => Err(format!("`{name}` is not one call")),
            },
            Step::Reply {
                to,
                with,
                word,
                scope,
                rules,
                cascade,
            } => {
                let rules = rules.map(|rules| written(&rules)).transpose()?;
                let cascade = if cascade {
                    Cascade::Session
                } else {
                    Cascade::Nothing
                };
                self.reply(&to, reply(with, word, scope.scope(), rules), cascade);
                Ok(())
            }
            Step::Deny {
                session,
                rule: [permission, pattern],
            } => {
                let rules = self.bench.rules(&session).ok_or("no such session")?;
                let deny = rule(&permission, &pattern, Action::Deny);
                rules.append(policy::Layer::Base, vec![deny]);
                Ok(())
            }
            Step::Cancel(session) => {
                self.bench.cancel(&session);
                Ok(())
            }
            Step::Close(session) => {
                self.bench.close(&session);
                Ok(())
            }
            Step::Drop(call) => {
                self.bench.abandon(&call);
                Ok(())
            }
            Step::Pass => {
                self.bench.pass_time();
                Ok(())
            }
        }
    }

    /// Makes a call; its session opens with its first.
    pub(crate) fn call(
        &mut self,
        name: &str,
        session: &str,
        tool: &str,
        arguments: Value,
    ) -> Result<(), String> {
        if self.bench.rules(session).is_none() {
            let rules = self.rules.to_vec();
            self.bench
                .open(seated(session.to_owned(), None, workspace(), rules))?;
        }
        self.bench.call(name, session, tool, arguments)
    }

    pub(crate) fn reply(&mut self, to: &str, reply: Reply, cascade: Cascade) -> &str {
        let taken = match self.bench.reply(to, reply, cascade) {
            Ok(()) => "taken".to_owned(),
            Err(ReplyError::NotFound) => "not found".to_owned(),
            Err(ReplyError::NotKeepable(_)) => "not keepable".to_owned(),
            Err(other) => other.to_string(),
        };
        self.replies.push(taken);
        self.replies.last().map_or("", String::as_str)
    }

    fn tell(&self, key: &str, wanted: &Value) -> Result<Value, String> {
        let bench = &self.bench;
        Ok(match key {
            "calls" => {
                let names = wanted.as_object().ok_or("`calls` is no object")?.keys();
                let told = names.map(|name| (name.clone(), json!(bench.came_to(name))));
                Value::Object(told.collect())
            }
            "events" => json!(bench.events()),
            "replies" => json!(self.replies),
            "waiting" => json!(bench.listed()),
            "kept" => {
                let kept = bench.approvals().kept();
                let line =
                    |it: &crate::testkit::Kept| format!("{}: {}", it.scope, it.rules.join(", "));
                json!(kept.iter().map(line).collect::<Vec<_>>())
            }
            _ => return Err(format!("nothing is known as `{key}`")),
        })
    }
}

impl In {
    fn scope(self) -> Scope {
        match self {
            Self::Session => Scope::Session,
            Self::Project => Scope::Project,
            Self::Global => Scope::Global,
        }
    }
}

fn reply(with: With, word: Option<String>, scope: Scope, rules: Option<Vec<Rule>>) -> Reply {
    let who = "ann".to_owned();
    match with {
        With::Once => Reply::Once { who },
        With::Always => Reply::Always { who, scope, rules },
        With::Everything => Reply::Everything { who, scope },
        With::Reject => Reply::Reject { who, word },
    }
}

fn seated(id: String, parent: Option<String>, workspace: String, base: Vec<Rule>) -> Seated {
    let layers = RuleLayers {
        base,
        ..RuleLayers::default()
    };
    Seated {
        id,
        parent,
        workspace,
        rules: Arc::new(RuleBook::new(layers)),
    }
}

fn written(rules: &[[String; 3]]) -> Result<Vec<Rule>, String> {
    let rules = rules.iter().map(|[permission, pattern, action]| {
        let action = action
            .parse()
            .map_err(|_| format!("no action `{action}`"))?;
        Ok(rule(permission, pattern, action))
    });
    rules.collect()
}

fn rule(permission: &str, pattern: &str, action: Action) -> Rule {
    let pattern = Pattern::wildcard(pattern);
    Rule::new(permission, pattern, action, Origin::named("vector"))
}
