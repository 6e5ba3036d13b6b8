//! What a kept yes does to the other asks. Must not keep anything itself: that is done before, by the
//! port that this one stands in front of.

use super::{Ask, Desk, End, Seated, State};
use gate::{
    call::Ids,
    g2_admit::{Approvals, Reply, Scope},
};
use policy::Rule;
use std::{fmt, sync::Arc};

/// Keeps approvals where they were kept before, and answers with them what else waits at the desk.
#[derive(Clone, Copy)]
pub struct DeskApprovals<'d> {
    /// The desk.
    pub desk: &'d Desk,
    /// Where approvals are kept.
    pub kept: &'d dyn Approvals,
}

impl fmt::Debug for DeskApprovals<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeskApprovals").finish_non_exhaustive()
    }
}

impl Approvals for DeskApprovals<'_> {
    fn keep(&self, scope: Scope, rules: &[Rule], by: &Ids, who: &str) -> Result<(), String> {
        self.kept.keep(scope, rules, by, who)
    }

    fn hold(&self, scope: Scope, rules: &[Rule], by: &Ids, who: &str) {
        self.kept.hold(scope, rules, by, who);
        self.desk.state().hold(scope, rules, by, who);
    }
}

impl State {
    /// Brings rules that hold in the session of a call to the other sessions of their scope, and answers
    /// the asks that are none any more. Under the lock of the desk: an ask that comes later is decided
    /// under these rules before it waits.
    fn hold(&mut self, scope: Scope, rules: &[Rule], by: &Ids, who: &str) {
        let cause = self.keeping.remove(&by.call).map(|ask| ask.id.clone());
        let reached = self.reached(scope, &by.session);
        // Sessions may share a book, and that of the call has the rules already.
        let own = self.sessions.get(&by.session).map(|it| it.rules.clone());
        let mut done = Vec::from_iter(own);
        for session in reached.iter().filter_map(|id| self.sessions.get(id)) {
            if !done.iter().any(|book| Arc::ptr_eq(book, &session.rules)) {
                session.rules.append(scope.layer(), rules.to_vec());
                done.push(session.rules.clone());
            }
        }
        // SECURITY: what nobody could approve for good is not approved by the answer to another ask.
        let is_covered = |ask: &Ask| {
            ask.keepable.why_not.is_none()
                && reached.contains(&ask.session)
                && self.allows(&ask.session, &ask.subjects)
        };
        for id in self.ids(is_covered) {
            let (who, by) = (who.to_owned(), cause.clone());
            self.end(&id, Reply::Once { who }, End::Drained { by });
        }
    }

    /// The sessions in which a yes of this scope holds, given in this session.
    fn reached(&self, scope: Scope, session: &str) -> Vec<String> {
        let workspace = self.sessions.get(session).map(|it| &it.workspace);
        let is_reached = |it: &&Seated| match scope {
            Scope::Session => self.is_within(&it.id, session),
            Scope::Project => Some(&it.workspace) == workspace,
            Scope::Global => true,
        };
        let reached = self.sessions.values().filter(is_reached);
        reached.map(|it| it.id.clone()).collect()
    }
}
