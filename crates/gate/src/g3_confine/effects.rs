//! The second key: acts with a permit of the same call, and not otherwise.

use super::{Acting, Acts, Confinement, LineKey, Order, Seen, Walls};
use crate::{
    BoxFuture, Fault, Problem,
    access::{Access, AskUser, Declare, ReadFile, ReadTree, Spawn, WriteFile},
    call::Tag,
    cancel::Cancel,
    g2_admit::{Answers, Permit, Refusal},
    host::{Ended, Host, HostError, Tree},
    journal::{Event, Record},
};
use futures::channel::oneshot;
use policy::{Action, Subject, decide};
use std::sync::Arc;
use text::truncate::Limits;

/// Does what permits say. Made by gate 3 for one call.
#[derive(Clone, Copy, Debug)]
pub struct Effects<'call> {
    call: Tag<'call>,
}

/// Hears how a call gets on.
pub trait Progress: Send + Sync {
    /// A call has a new title.
    fn title(&self, call: crate::call::CallId, title: &str);
}

/// Nobody listens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn title(&self, _call: crate::call::CallId, _title: &str) {}
}

/// What a tool has at hand while it runs.
#[derive(Debug)]
pub struct CallContext<'call> {
    /// The second key.
    pub effects: Effects<'call>,
}

impl<'call> CallContext<'call> {
    pub(super) fn new(effects: Effects<'call>) -> Self {
        Self { effects }
    }

    /// Tells whoever watches what the call is doing now.
    pub fn progress(&self, title: &str) {
        let live = self.effects.call.live;
        live.parts.progress.title(live.ids.call, title);
    }

    /// Raised when the call is no longer wanted. The gate stops a call by itself; this is for tools
    /// that have something to finish.
    pub fn cancel(&self) -> &'call Cancel {
        self.effects.call.live.parts.cancel
    }

    /// The session, message and call ids.
    pub fn ids(&self) -> &'call crate::call::Ids {
        &self.effects.call.live.ids
    }

    /// The name of the agent for which the call is made.
    pub fn agent(&self) -> &'call str {
        self.effects.call.live.parts.agent
    }

    /// How much of an output the model gets; what a tool cuts itself must fit.
    pub fn limits(&self) -> Limits {
        self.effects.call.live.parts.limits
    }

    /// What the host enforces on children.
    pub fn confinement(&self) -> Confinement {
        self.effects.call.live.parts.host.confinement()
    }
}

impl<'call> Effects<'call> {
    pub(crate) fn of(call: Tag<'call>) -> Self {
        Self { call }
    }

    /// Reads one file whole.
    ///
    /// # Errors
    /// Refused at the moment of use, failed, or could not be journalled.
    pub async fn read_file(&self, permit: Permit<'call, ReadFile>) -> Result<Seen<'call>, Problem> {
        let handle = permit.access().handle().clone();
        let content = self
            .act(permit, |host, order| host.read_file(order))
            .await?;
        Ok(Seen::new(handle, content, self.call))
    }

    /// Lists or searches what the permit names.
    ///
    /// # Errors
    /// As [`Self::read_file`].
    pub async fn read_tree(&self, permit: Permit<'call, ReadTree>) -> Result<Tree, Problem> {
        self.act(permit, |host, order| host.read_tree(order)).await
    }

    /// Writes the bytes that were shown. There is no parameter for others.
    ///
    /// # Errors
    /// As [`Self::read_file`]; also when the file is no longer the one the diff was made against.
    pub async fn write_file(&self, permit: Permit<'call, WriteFile>) -> Result<(), Problem> {
        let _acting = self.begin(Acts::Writes)?;
        self.act(permit, |host, order| host.write_file(order)).await
    }

    /// Runs the command to its end.
    ///
    /// # Errors
    /// As [`Self::read_file`]. A command that ends badly is no error; that it was asked for a machine and
    /// the answer could not be kept is one.
    pub async fn spawn(&self, permit: Permit<'call, Spawn>) -> Result<Ended, Problem> {
        let parts = self.call.live.parts;
        let is_outside = permit.access().is_outside_sandbox();
        // SECURITY: rules alone never lead here; this holds even where they did.
        if is_outside && permit.decision().answer().is_none() {
            return Err(Fault::NotGranted.into());
        }
        let line = LineKey::of(permit.access(), parts.host);
        let timeout_ms = permit.access().timeout_ms();
        let is_held = !is_outside && is_enforced(&parts.host.confinement());
        let acting = self.begin(match permit.access().failed() {
            Some(failed) => Acts::Leaves(Arc::clone(failed)),
            None if permit.access().is_for_looking() => Acts::Looks(line.clone()),
            None => Acts::Writes,
        })?;
        let (reach, watch) = super::reach::watch(self.call, &permit);
        let (tell, mut faults) = oneshot::channel();
        let ended = self
            .act(permit, |host, order| {
                let run = host.spawn(order.watched(reach));
                Box::pin(watch.until(run, tell))
            })
            .await;
        // First it is over, then it counts: its own end is no reason to doubt it.
        drop(acting);
        if let Ok(ended) = &ended
            && is_held
        {
            parts.failed_lines.note(line, timeout_ms, ended);
        }
        // A fault goes before whatever became of the command.
        match faults.try_recv() {
            Ok(Some(fault)) => Err(Fault::into(fault)),
            Ok(None) | Err(oneshot::Canceled) => ended,
        }
    }

    /// Puts the questions and brings the answers.
    ///
    /// # Errors
    /// As [`Self::read_file`].
    pub async fn ask_user(&self, permit: Permit<'call, AskUser>) -> Result<Answers, Problem> {
        let approver = self.call.live.parts.approver;
        self.act(permit, |_, order| {
            Box::pin(async move { Ok(approver.put(&order).await) })
        })
        .await
    }

    /// Spends a permit that has no effect of its own.
    ///
    /// # Errors
    /// As [`Self::read_file`].
    pub async fn declare(&self, permit: Permit<'call, Declare>) -> Result<(), Problem> {
        self.act(permit, |_, _| Box::pin(async { Ok(()) })).await
    }

    /// What acts says so, for the lines that may leave the sandbox.
    fn begin(self, acts: Acts) -> Result<Acting, Refusal> {
        let acting = self.call.live.parts.failed_lines.begin(acts);
        acting.map_err(|why| Refusal::Walled(why.to_owned()))
    }

    /// The one way from a permit to an effect.
    async fn act<A: Access, T>(
        &self,
        permit: Permit<'call, A>,
        run: impl FnOnce(&'call dyn Host, Order<A>) -> BoxFuture<'call, Result<T, HostError>> + Send,
    ) -> Result<T, Problem> {
        let (access, minted, of) = permit.spend();
        let (live, parts) = (self.call.live, self.call.live.parts);
        // The types say so already; this holds even where someone went round them.
        if of.live.ids.call != live.ids.call {
            return Err(Fault::PermitOfAnotherCall.into());
        }
        let access = access.into_any();
        let rules = parts.rules.current();
        let decision = if rules.generation() == minted.generation() {
            minted
        } else {
            // The rules changed since it was minted. Nobody is asked any more: only an allow will do.
            let subjects: Arc<[Subject]> = access.subjects(parts.host, &live.arguments).into();
            let again = decide(&rules, &subjects, minted.answer());
            match again.action() {
                Action::Allow => again,
                Action::Ask => return Err(too_late(again).into()),
                Action::Deny => return Err(Refusal::Denied(Box::new(again)).into()),
            }
        };
        let effect = access.to_string();
        self.record(Event::Intent {
            effect: effect.clone(),
            decision,
        })?;

        let access = A::from_any(access).ok_or(Fault::NoSuchWant)?;
        let order = Order::make(access, Walls::of(self.call), live.ids.call);
        let done = run(parts.host, order).await;

        let result = done.as_ref().map(|_| ()).map_err(ToString::to_string);
        self.record(Event::Outcome { effect, result })?;
        done.map_err(|error| match error {
            HostError::Changed(what) => Refusal::Changed(what).into(),
            HostError::Refused(what) => Refusal::Walled(what).into(),
            HostError::Failed(what) => Problem::Failed(what),
        })
    }

    pub(super) fn record(self, event: Event) -> Result<(), Fault> {
        let live = self.call.live;
        let record = Record {
            ids: live.ids.clone(),
            tool: live.tool.clone(),
            event,
        };
        live.parts.journal.append(record).map_err(Fault::Journal)
    }
}

fn is_enforced(confinement: &Confinement) -> bool {
    match confinement {
        Confinement::Full | Confinement::Partial { .. } => true,
        Confinement::NotEnforced { .. } => false,
    }
}

fn too_late(asked_by: policy::Decision) -> Refusal {
    let why = "the rules changed while the call was under way".to_owned();
    Refusal::Unanswered {
        why,
        asked_by: Box::new(asked_by),
    }
}
