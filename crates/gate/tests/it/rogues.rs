//! Tools for tests alone: one for each kind of access that no built-in tool has, and those that
//! misuse the contract. Must not hold a test.

use policy::{Action, Layer, Origin, Pattern, Rule, RuleBook};
use schema::ArgumentFault;
use schemars::JsonSchema;
use serde::Deserialize;
use std::{
    future::pending,
    sync::{Arc, Mutex},
};
use tollgate_gate::{
    Problem,
    access::{AskUser, Declare, Inquiry, ReadFile, Spawn, WriteFile},
    g1_decode::{Asks, Scout, Want},
    g2_admit::{Answers, Grants},
    g3_confine::{CallContext, Look},
    output::ToolOutput,
    tool::Tool,
};

/// No arguments at all.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// One path.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Path {
    path: String,
}

pub(crate) fn says(text: impl Into<String>) -> ToolOutput {
    ToolOutput {
        output: text.into(),
        ..ToolOutput::default()
    }
}

/// Wants nothing and says what it was told to say.
pub(crate) struct Says(pub(crate) Result<ToolOutput, String>);

impl Tool for Says {
    type Kinds = (Declare,);
    type Arguments = Nothing;
    type Plan = ();
    fn name(&self) -> &'static str {
        "says"
    }
    fn permission(&self) -> &'static str {
        "says"
    }
    fn describe(&self) -> &'static str {
        "Says something."
    }
    fn prepare(
        &self,
        _: Nothing,
        _: &Scout<'_>,
        _: &mut Asks<'_, (Declare,)>,
    ) -> Result<(), ArgumentFault> {
        Ok(())
    }
    async fn run<'call>(
        &self,
        (): (),
        _: Grants<'call, (Declare,)>,
        _: CallContext<'call>,
    ) -> Result<ToolOutput, Problem> {
        self.0.clone().map_err(Problem::Failed)
    }
}

/// Runs and never ends.
pub(crate) struct Hangs;

impl Tool for Hangs {
    type Kinds = (Declare,);
    type Arguments = Nothing;
    type Plan = Want<Declare>;
    fn name(&self) -> &'static str {
        "hangs"
    }
    fn permission(&self) -> &'static str {
        "hangs"
    }
    fn describe(&self) -> &'static str {
        "Never ends."
    }
    fn prepare(
        &self,
        _: Nothing,
        _: &Scout<'_>,
        asks: &mut Asks<'_, (Declare,)>,
    ) -> Result<Want<Declare>, ArgumentFault> {
        Ok(asks.want(Declare::new("hangs", "x")))
    }
    async fn run<'call>(
        &self,
        want: Want<Declare>,
        mut grants: Grants<'call, (Declare,)>,
        cx: CallContext<'call>,
    ) -> Result<ToolOutput, Problem> {
        cx.effects.declare(grants.take(&want)?).await?;
        pending().await
    }
}

/// Reads a file by way of a child, with a permit for the path.
pub(crate) struct Cat;

impl Tool for Cat {
    type Kinds = (ReadFile, Spawn);
    type Arguments = Path;
    type Plan = Want<Spawn>;
    fn name(&self) -> &'static str {
        "cat"
    }
    fn permission(&self) -> &'static str {
        "bash"
    }
    fn describe(&self) -> &'static str {
        "Shows a file."
    }
    fn prepare(
        &self,
        Path { path }: Path,
        scout: &Scout<'_>,
        asks: &mut Asks<'_, Self::Kinds>,
    ) -> Result<Want<Spawn>, ArgumentFault> {
        let resolved = scout.resolve(&path);
        let file = resolved.map_err(|error| ArgumentFault::at("path", error.to_string()))?;
        asks.want(ReadFile::new(file));
        Ok(asks.want(Spawn::new(format!("cat {path}"))))
    }
    async fn run<'call>(
        &self,
        spawn: Want<Spawn>,
        mut grants: Grants<'call, Self::Kinds>,
        cx: CallContext<'call>,
    ) -> Result<ToolOutput, Problem> {
        let ended = cx.effects.spawn(grants.take(&spawn)?).await?;
        Ok(says(String::from_utf8_lossy(&ended.tail)))
    }
}

/// Tells what its scout told it.
pub(crate) struct Exists;

impl Tool for Exists {
    type Kinds = (ReadFile,);
    type Arguments = Path;
    type Plan = Option<bool>;
    fn name(&self) -> &'static str {
        "exists"
    }
    fn permission(&self) -> &'static str {
        "exists"
    }
    fn describe(&self) -> &'static str {
        "Tells whether a file exists."
    }
    fn prepare(
        &self,
        Path { path }: Path,
        scout: &Scout<'_>,
        _: &mut Asks<'_, Self::Kinds>,
    ) -> Result<Option<bool>, ArgumentFault> {
        let resolved = scout.resolve(&path);
        let file = resolved.map_err(|error| ArgumentFault::at("path", error.to_string()))?;
        Ok(scout.exists(&file))
    }
    async fn run<'call>(
        &self,
        told: Option<bool>,
        _: Grants<'call, Self::Kinds>,
        _: CallContext<'call>,
    ) -> Result<ToolOutput, Problem> {
        Ok(says(format!("{told:?}")))
    }
}

/// Puts a question to a person.
pub(crate) struct Asker;

impl Tool for Asker {
    type Kinds = (AskUser,);
    type Arguments = Nothing;
    type Plan = Want<AskUser>;
    fn name(&self) -> &'static str {
        "question"
    }
    fn permission(&self) -> &'static str {
        "question"
    }
    fn describe(&self) -> &'static str {
        "Asks."
    }
    fn prepare(
        &self,
        _: Nothing,
        _: &Scout<'_>,
        asks: &mut Asks<'_, Self::Kinds>,
    ) -> Result<Want<AskUser>, ArgumentFault> {
        Ok(asks.want(AskUser::new(vec![Inquiry::open("red or blue?")])))
    }
    async fn run<'call>(
        &self,
        want: Want<AskUser>,
        mut grants: Grants<'call, Self::Kinds>,
        cx: CallContext<'call>,
    ) -> Result<ToolOutput, Problem> {
        let answers = cx.effects.ask_user(grants.take(&want)?).await?;
        Ok(says(match answers {
            Answers::Given(answers) => answers.concat().concat(),
            Answers::Dismissed => "dismissed".to_owned(),
            Answers::Nobody => "nobody is there".to_owned(),
        }))
    }
}

/// Late-asks one name after another, whatever it is told, and reports the last answer.
pub(crate) struct Late(pub(crate) Vec<String>);

impl Tool for Late {
    type Kinds = (Declare,);
    type Arguments = Nothing;
    type Plan = ();
    fn name(&self) -> &'static str {
        "late"
    }
    fn permission(&self) -> &'static str {
        "late"
    }
    fn describe(&self) -> &'static str {
        "Asks late."
    }
    fn prepare(
        &self,
        _: Nothing,
        _: &Scout<'_>,
        _: &mut Asks<'_, (Declare,)>,
    ) -> Result<(), ArgumentFault> {
        Ok(())
    }
    async fn run<'call>(
        &self,
        (): (),
        mut grants: Grants<'call, (Declare,)>,
        cx: CallContext<'call>,
    ) -> Result<ToolOutput, Problem> {
        let mut last = Ok(());
        for name in &self.0 {
            last = match grants.late(Declare::new(name, "x")).await {
                Ok(permit) => cx.effects.declare(permit).await,
                Err(problem) => Err(problem),
            };
        }
        last.map(|()| says("done"))
    }
}

/// The ways to misuse an otherwise sound edit of `a.txt`.
pub(crate) enum Rogue {
    TakesTwice,
    TakesWhatPreviewTook,
    BindsNothing,
    BindsAnotherFile,
    /// Keeps the want of each call and uses the one of the call before.
    KeepsItsWant(Mutex<Option<Want<WriteFile>>>),
    /// Has a deny added between the permit and its use.
    Dawdles(Arc<RuleBook>, Action),
    /// Goes on after a refused effect as if nothing had happened.
    LooksAway(Arc<RuleBook>),
}

fn added(action: Action) -> Vec<Rule> {
    vec![Rule::new(
        "edit",
        Pattern::wildcard("*"),
        action,
        Origin::named("added"),
    )]
}

impl Tool for Rogue {
    type Kinds = (ReadFile, WriteFile);
    type Arguments = Nothing;
    type Plan = (Want<ReadFile>, Want<WriteFile>);
    fn name(&self) -> &'static str {
        "rogue"
    }
    fn permission(&self) -> &'static str {
        "edit"
    }
    fn describe(&self) -> &'static str {
        "Misbehaves."
    }
    fn prepare(
        &self,
        _: Nothing,
        scout: &Scout<'_>,
        asks: &mut Asks<'_, Self::Kinds>,
    ) -> Result<Self::Plan, ArgumentFault> {
        let resolve = |path: &str| {
            scout
                .resolve(path)
                .map_err(|error| ArgumentFault::at_root(error.to_string()))
        };
        let read = if matches!(self, Self::BindsAnotherFile) {
            "b.txt"
        } else {
            "a.txt"
        };
        let read = asks.want(ReadFile::new(resolve(read)?));
        Ok((read, asks.want(WriteFile::new(resolve("a.txt")?))))
    }
    async fn preview(&self, plan: &mut Self::Plan, look: &mut Look<'_>) -> Result<(), Problem> {
        let seen = look.read(&plan.0).await?;
        if matches!(self, Self::BindsNothing) {
            return Ok(());
        }
        Ok(look.bind(&plan.1, &seen, b"new".into())?)
    }
    async fn run<'call>(
        &self,
        plan: Self::Plan,
        mut grants: Grants<'call, Self::Kinds>,
        cx: CallContext<'call>,
    ) -> Result<ToolOutput, Problem> {
        match self {
            Self::TakesTwice => {
                let first = grants.take(&plan.1)?;
                let second = grants.take(&plan.1)?;
                cx.effects.write_file(first).await?;
                cx.effects.write_file(second).await?;
            }
            Self::TakesWhatPreviewTook => {
                cx.effects.read_file(grants.take(&plan.0)?).await?;
            }
            Self::KeepsItsWant(kept) => {
                let old = kept.lock().unwrap().replace(plan.1);
                if let Some(old) = old {
                    cx.effects.write_file(grants.take(&old)?).await?;
                }
            }
            Self::Dawdles(rules, action) => {
                let permit = grants.take(&plan.1)?;
                assert_eq!(permit.decision().generation(), 1);
                rules.append(Layer::Base, added(*action));
                cx.effects.write_file(permit).await?;
            }
            Self::LooksAway(rules) => {
                let permit = grants.take(&plan.1)?;
                rules.append(Layer::Base, added(Action::Deny));
                cx.effects.write_file(permit).await.unwrap_err();
            }
            Self::BindsNothing | Self::BindsAnotherFile => panic!("stopped in the preview"),
        }
        Ok(says("wrote"))
    }
}
