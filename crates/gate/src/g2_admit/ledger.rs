//! All a call wants and how far it got with each. The untyped inside of `Grants` and `Look`.

use super::{Keepable, Permit, Question, Refusal, Reply, Scope};
use crate::{
    Fault, Problem,
    access::{Access, AnyAccess, Evidence, Kind, WriteFile},
    call::Tag,
    g1_decode::Want,
    g3_confine::{Opening, Seen},
};
use policy::{Action, Answer, Decision, Origin, Pattern, Rule, Subject, decide};
use std::{mem, sync::Arc};

pub(crate) struct Ledger<'call> {
    call: Tag<'call>,
    slots: Vec<Slot>,
    pub(super) late_count: usize,
    /// The first refusal of a late ask; it answers every later one.
    pub(super) latched: Option<Refusal>,
}

/// One thing a call wants. The subjects stay when the access has gone out with its permit, because
/// a later deny of them must still refuse the call.
struct Slot {
    subjects: Arc<[Subject]>,
    answer: Option<Answer>,
    state: State,
}

enum State {
    Open(AnyAccess),
    Granted(AnyAccess, Box<Decision>),
    Taken,
}

/// What is being settled: the reads, so that a preview may look, or all that is left.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Reads,
    Rest,
}

impl Stage {
    fn covers(self, kind: Kind) -> bool {
        match kind {
            Kind::ReadFile | Kind::ReadTree => true,
            Kind::WriteFile | Kind::Spawn | Kind::AskUser | Kind::Declare => self == Self::Rest,
        }
    }
}

impl<'call> Ledger<'call> {
    pub(super) fn open(call: Tag<'call>, wanted: Vec<AnyAccess>) -> Self {
        let mut ledger = Self {
            call,
            slots: Vec::new(),
            late_count: 0,
            latched: None,
        };
        for access in wanted {
            ledger.push(access);
        }
        ledger
    }

    pub(crate) fn call(&self) -> Tag<'call> {
        self.call
    }

    /// Adds a thing wanted. What was answered once in this call is not asked again: a listing after
    /// the read of what turned out to be a directory, say.
    pub(super) fn push(&mut self, access: AnyAccess) -> usize {
        let live = self.call.live;
        let subjects: Arc<[Subject]> = access.subjects(live.parts.host, &live.arguments).into();
        let is_plain = access.evidence() == Evidence::None;
        let same = |slot: &&Slot| is_plain && same_things(&slot.subjects, &subjects);
        let answer = self
            .slots
            .iter()
            .find(same)
            .and_then(|slot| slot.answer.clone());
        self.slots.push(Slot {
            subjects,
            answer,
            state: State::Open(access),
        });
        self.slots.len() - 1
    }

    /// What was answered before, to what is wanted now.
    pub(super) fn answer_all(&mut self, answer: Option<&Answer>) {
        for slot in &mut self.slots {
            slot.answer = answer.cloned();
        }
    }

    /// Decides every access of the call under the current rules, the spent ones too. Any deny is a
    /// refusal.
    pub(super) fn judge(&self) -> Result<Vec<Decision>, Refusal> {
        let decisions = self.decide();
        match decisions
            .iter()
            .find(|decision| decision.action() == Action::Deny)
        {
            Some(denied) => Err(Refusal::Denied(Box::new(denied.clone()))),
            None => Ok(decisions),
        }
    }

    /// What the rules say to each access, in order.
    pub(super) fn decide(&self) -> Vec<Decision> {
        let rules = self.call.live.parts.rules.current();
        self.slots
            .iter()
            .map(|slot| decide(&rules, &slot.subjects, slot.answer.as_ref()))
            .collect()
    }

    /// What each access asks and what the rules say to it, in order.
    pub(super) fn survey(self) -> Vec<(Arc<[Subject]>, Decision)> {
        let decisions = self.decide();
        self.slots
            .into_iter()
            .map(|slot| slot.subjects)
            .zip(decisions)
            .collect()
    }

    /// Pass 1 and pass 2 in one loop: judge everything, ask one thing, start over. So a deny that
    /// arrives during a wait wins before the next question, and permits are minted under one
    /// ruleset. Ends because an answered slot is never asked again.
    pub(super) async fn settle(&mut self, stage: Stage) -> Result<(), Problem> {
        if stage == Stage::Rest && self.slots.iter().any(Slot::is_unbound_write) {
            return Err(Fault::UnboundWrite.into());
        }
        loop {
            let decisions = self.judge()?;
            let open = self
                .slots
                .iter_mut()
                .zip(&decisions)
                .find(|(slot, decision)| {
                    decision.action() == Action::Ask && slot.is_open_in(stage)
                });
            let Some((slot, decision)) = open else {
                self.grant(stage, decisions);
                return Ok(());
            };
            slot.answer = Some(ask(self.call, slot, decision).await?);
        }
    }

    fn grant(&mut self, stage: Stage, decisions: Vec<Decision>) {
        let rules = self.call.live.parts.rules.current();
        for (slot, decision) in self.slots.iter_mut().zip(decisions) {
            if !slot.is_open_in(stage) {
                continue;
            }
            if let State::Open(access) = mem::replace(&mut slot.state, State::Taken) {
                for opening in Opening::of(&access, &slot.subjects, &rules) {
                    self.call.live.add_opening(opening);
                }
                slot.state = State::Granted(access, Box::new(decision));
            }
        }
    }

    pub(crate) fn take<A: Access>(&mut self, want: &Want<A>) -> Result<Permit<'call, A>, Fault> {
        if want.call != self.call.live.ids.call {
            return Err(Fault::WantOfAnotherCall);
        }
        self.take_at(want.index)
    }

    pub(super) fn take_at<A: Access>(&mut self, index: usize) -> Result<Permit<'call, A>, Fault> {
        let slot = self.slots.get_mut(index).ok_or(Fault::NoSuchWant)?;
        match mem::replace(&mut slot.state, State::Taken) {
            State::Granted(access, decision) => {
                let access = A::from_any(access).ok_or(Fault::NoSuchWant)?;
                Ok(Permit::mint(access, *decision, self.call))
            }
            State::Open(access) => {
                slot.state = State::Open(access);
                Err(Fault::NotGranted)
            }
            State::Taken => Err(Fault::TakenTwice),
        }
    }

    pub(crate) fn bind(
        &mut self,
        want: &Want<WriteFile>,
        seen: &Seen<'call>,
        after: Vec<u8>,
    ) -> Result<(), Fault> {
        let id = self.call.live.ids.call;
        if want.call != id || seen.call.live.ids.call != id {
            return Err(Fault::WantOfAnotherCall);
        }
        match self.slots.get_mut(want.index).map(|slot| &mut slot.state) {
            Some(State::Open(AnyAccess::WriteFile(write))) => write.bind(seen, after),
            Some(State::Open(_) | State::Granted(..) | State::Taken) | None => {
                Err(Fault::NoSuchWant)
            }
        }
    }
}

impl Slot {
    fn is_open_in(&self, stage: Stage) -> bool {
        matches!(&self.state, State::Open(access) if stage.covers(access.kind()))
    }
    fn is_unbound_write(&self) -> bool {
        matches!(&self.state, State::Open(AnyAccess::WriteFile(it)) if it.change().is_none())
    }
}

fn same_things(a: &[Subject], b: &[Subject]) -> bool {
    let key = |it: &Subject| {
        (
            it.permission.clone(),
            it.narrower,
            it.canonical.clone(),
            it.source.clone(),
        )
    };
    a.iter().map(key).eq(b.iter().map(key))
}

/// Puts one question and keeps the answer.
async fn ask(call: Tag<'_>, slot: &Slot, because: &Decision) -> Result<Answer, Problem> {
    let live = call.live;
    let (evidence, failed) = match &slot.state {
        State::Open(access) => (access.evidence(), access.failed()),
        State::Granted(..) | State::Taken => (Evidence::None, None),
    };
    if let Some(failed) = failed {
        let used_up = live.parts.failed_lines.use_up(failed);
        used_up.map_err(|why| Refusal::Walled(why.to_owned()))?;
    }
    let keepable = Keepable::of(&live.parts.rules.current(), &slot.subjects);
    let question = Question {
        call: live.ids.call,
        tool_call_id: &live.ids.tool_call_id,
        tool: &live.tool,
        agent: live.parts.agent,
        session: live.parts.session,
        subjects: &slot.subjects,
        evidence,
        because,
        keepable: &keepable,
    };
    let asked_by = || Box::new(because.clone());
    let needs_person = question.needs_person();
    let reply = if needs_person {
        live.parts.approver.ask_person(question).await
    } else {
        live.parts.approver.ask(question).await
    };
    let who = match reply {
        Reply::Always { who, .. } | Reply::Everything { who, .. } if needs_person => who,
        Reply::Once { who } => who,
        Reply::Always { who, scope, rules } => {
            let kept = match &rules {
                None => keepable.usual(),
                Some(rules) => keepable.accepts(rules).is_ok().then_some(rules.as_slice()),
            };
            if let Some(rules) = kept {
                keep(call, scope, rules, &who)?;
            }
            who
        }
        Reply::Everything { who, scope } => {
            let origin = Origin::named("an answer");
            let all = Rule::new("*", Pattern::wildcard("*"), Action::Allow, origin);
            keep(call, scope, &[all], &who)?;
            who
        }
        Reply::Reject { who, word } => {
            let asked_by = asked_by();
            return Err(Refusal::Rejected {
                who,
                word,
                asked_by,
            }
            .into());
        }
        Reply::Nobody { why } => {
            let asked_by = asked_by();
            return Err(Refusal::Unanswered { why, asked_by }.into());
        }
    };
    let at_ms = live.parts.clock.now_ms();
    Ok(Answer { who, at_ms })
}

/// Keeps a yes before it is used, so that nobody relies on one that will be forgotten.
fn keep(call: Tag<'_>, scope: Scope, rules: &[Rule], who: &str) -> Result<(), Fault> {
    let parts = call.live.parts;
    let origin = Origin::named(&format!("approved by {who}"));
    let signed = |rule: &Rule| Rule {
        origin: origin.clone(),
        ..rule.clone()
    };
    let rules: Vec<Rule> = rules.iter().map(signed).collect();
    let kept = parts.approvals.keep(scope, &rules, &call.live.ids, who);
    kept.map_err(Fault::Approval)?;
    parts.rules.append(scope.layer(), rules.clone());
    parts.approvals.hold(scope, &rules, &call.live.ids, who);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_a_directory_outside_and_writing_there_are_two_things() {
        let outside = |narrower| {
            let mut subject = Subject::path("external_directory", "/o/*", "/o/*", Vec::new());
            subject.narrower = Some(narrower);
            [subject]
        };
        let [read, write] = ["external_directory.read", "external_directory.write"].map(outside);
        assert!(same_things(&read, &read));
        assert!(!same_things(&read, &write));
    }
}
