//! What a tool is, and the sealed form in which the gates hold one.

use crate::{
    BoxFuture, Problem,
    access::{Kind, Kinds},
    g1_decode::{Asks, Scout, Wanted},
    g2_admit::{Grants, Ledger},
    g3_confine::{CallContext, Look},
    output::ToolOutput,
};
use schema::{ArgumentFault, Decoder, RawArguments};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::{
    fmt,
    future::Future,
    sync::{Arc, OnceLock},
};

/// States what it needs, may look before it is asked about, then acts.
pub trait Tool: Send + Sync + 'static {
    /// The access kinds it may want or late-ask, as a tuple.
    type Kinds: Kinds;
    /// What the model writes. `deny_unknown_fields` belongs on it.
    type Arguments: DeserializeOwned + schemars::JsonSchema + Send;
    /// What it carries from stage to stage; holds its `Want`s.
    type Plan: Send + 'static;

    /// The name on the wire.
    fn name(&self) -> &str;

    /// The name under which rules can close it whole.
    fn permission(&self) -> &str;

    /// What the model reads about it. May not name other tools: they may be closed.
    fn describe(&self) -> &str;

    /// The JSON Schema of its arguments, where it is not the one of `Arguments`.
    fn schema(&self) -> Value {
        schema::of::<Self::Arguments>()
    }

    /// States every access. No effect is at hand.
    ///
    /// # Errors
    /// Faults of the arguments, from which the model can repair them.
    fn prepare(
        &self,
        arguments: Self::Arguments,
        scout: &Scout<'_>,
        asks: &mut Asks<'_, Self::Kinds>,
    ) -> Result<Self::Plan, ArgumentFault>;

    /// Reads what its read permits allow and binds the bytes of its writes. Runs once every need is
    /// judged and the reads are admitted. A tool that wants no `WriteFile` leaves it out.
    fn preview(
        &self,
        _plan: &mut Self::Plan,
        _look: &mut Look<'_>,
    ) -> impl Future<Output = Result<(), Problem>> + Send {
        async { Ok(()) }
    }

    /// Acts, with the permits of this call.
    fn run<'call>(
        &self,
        plan: Self::Plan,
        grants: Grants<'call, Self::Kinds>,
        cx: CallContext<'call>,
    ) -> impl Future<Output = Result<ToolOutput, Problem>> + Send;
}

/// Any tool. A struct around a private trait, not a sealed trait: other crates can neither
/// implement its stages nor call them out of order.
#[derive(Clone)]
pub struct AnyTool(Arc<dyn Erased>);

impl fmt::Debug for AnyTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AnyTool").field(&self.name()).finish()
    }
}

impl AnyTool {
    /// Holds a tool.
    pub fn new(tool: impl Tool) -> Self {
        Self(Arc::new(Held {
            tool: Arc::new(tool),
            decoder: OnceLock::new(),
        }))
    }

    /// The name on the wire.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// The permission name that closes it.
    pub fn permission(&self) -> &str {
        self.0.permission()
    }

    /// What the model reads about it.
    pub fn describe(&self) -> &str {
        self.0.describe()
    }

    /// The JSON Schema of its arguments.
    pub fn schema(&self) -> Value {
        self.0.schema()
    }

    /// The kinds of access it may ever ask for.
    pub fn kinds(&self) -> &'static [Kind] {
        self.0.kinds()
    }

    pub(crate) fn prepare(
        &self,
        raw: &RawArguments,
        scout: &Scout<'_>,
        wanted: &mut Wanted,
    ) -> Result<Box<dyn Prepared>, Vec<ArgumentFault>> {
        self.0.prepare(raw, scout, wanted)
    }
}

trait Erased: Send + Sync {
    fn name(&self) -> &str;
    fn permission(&self) -> &str;
    fn describe(&self) -> &str;
    fn schema(&self) -> Value;
    fn kinds(&self) -> &'static [Kind];
    fn prepare(
        &self,
        raw: &RawArguments,
        scout: &Scout<'_>,
        wanted: &mut Wanted,
    ) -> Result<Box<dyn Prepared>, Vec<ArgumentFault>>;
}

/// A tool with its plan, waiting for the next gate.
pub(crate) trait Prepared: Send {
    fn preview<'a>(&'a mut self, look: &'a mut Look<'_>) -> BoxFuture<'a, Result<(), Problem>>;
    fn run<'call>(
        self: Box<Self>,
        ledger: Ledger<'call>,
        cx: CallContext<'call>,
    ) -> BoxFuture<'call, Result<ToolOutput, Problem>>;
}

struct Held<T> {
    tool: Arc<T>,
    /// Compiled at the first call and kept; a schema that does not compile is a fault of every call.
    decoder: OnceLock<Result<Decoder, String>>,
}

struct Planned<T: Tool> {
    tool: Arc<T>,
    plan: T::Plan,
}

impl<T: Tool> Held<T> {
    fn decoder(&self) -> Result<&Decoder, Vec<ArgumentFault>> {
        let compile = || Decoder::new(self.tool.schema()).map_err(|error| error.to_string());
        let decoder = self.decoder.get_or_init(compile).as_ref();
        decoder.map_err(|why| {
            vec![ArgumentFault::at_root(format!(
                "the tool's own schema is broken: {why}"
            ))]
        })
    }
}

impl<T: Tool> Erased for Held<T> {
    fn name(&self) -> &str {
        self.tool.name()
    }
    fn permission(&self) -> &str {
        self.tool.permission()
    }
    fn describe(&self) -> &str {
        self.tool.describe()
    }
    fn schema(&self) -> Value {
        self.tool.schema()
    }
    fn kinds(&self) -> &'static [Kind] {
        T::Kinds::LIST
    }
    fn prepare(
        &self,
        raw: &RawArguments,
        scout: &Scout<'_>,
        wanted: &mut Wanted,
    ) -> Result<Box<dyn Prepared>, Vec<ArgumentFault>> {
        let arguments = self.decoder()?.decode(raw)?;
        let plan = self.tool.prepare(arguments, scout, &mut Asks::new(wanted));
        let plan = plan.map_err(|fault| vec![fault])?;
        Ok(Box::new(Planned {
            tool: self.tool.clone(),
            plan,
        }))
    }
}

impl<T: Tool> Prepared for Planned<T> {
    fn preview<'a>(&'a mut self, look: &'a mut Look<'_>) -> BoxFuture<'a, Result<(), Problem>> {
        Box::pin(self.tool.preview(&mut self.plan, look))
    }
    fn run<'call>(
        self: Box<Self>,
        ledger: Ledger<'call>,
        cx: CallContext<'call>,
    ) -> BoxFuture<'call, Result<ToolOutput, Problem>> {
        Box::pin(async move {
            let Self { tool, plan } = *self;
            tool.run(plan, Grants::new(ledger), cx).await
        })
    }
}
