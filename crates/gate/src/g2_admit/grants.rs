//! The permits of a call, as its tool holds them.

use super::{Ledger, Permit, Refusal, ledger::Stage};
use crate::{
    Fault, Problem,
    access::{Access, Includes, Place},
    g1_decode::Want,
};
use std::marker::PhantomData;

/// Late asks a call may make, granted or not (architecture: a tool that needs more is asking for
/// things it should have stated).
pub const LATE_ASKS_MAX: usize = 8;

/// Exchanges wants for permits; `K` is what the tool declared.
pub struct Grants<'call, K> {
    ledger: Ledger<'call>,
    kinds: PhantomData<fn() -> K>,
}

impl<K> std::fmt::Debug for Grants<'_, K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Grants").finish_non_exhaustive()
    }
}

impl<'call, K> Grants<'call, K> {
    pub(crate) fn new(ledger: Ledger<'call>) -> Self {
        Self {
            ledger,
            kinds: PhantomData,
        }
    }

    /// The permit of a want.
    ///
    /// # Errors
    /// A want of another call, or one already taken: a fault of the tool.
    pub fn take<A: Access>(&mut self, want: &Want<A>) -> Result<Permit<'call, A>, Fault> {
        self.ledger.take(want)
    }

    /// Asks for what could not be known before running, of a declared kind.
    ///
    /// # Errors
    /// Refused, now or by an earlier late ask of this call.
    pub async fn late<A: Access, P: Place>(
        &mut self,
        access: A,
    ) -> Result<Permit<'call, A>, Problem>
    where
        K: Includes<A, P>,
    {
        let ledger = &mut self.ledger;
        if let Some(refusal) = &ledger.latched {
            return Err(refusal.clone().into());
        }
        ledger.late_count += 1;
        let outcome = if ledger.late_count > LATE_ASKS_MAX {
            Err(Refusal::TooManyLateAsks.into())
        } else {
            let index = ledger.push(access.into_any());
            ledger.settle(Stage::Rest).await.map(|()| index)
        };
        match outcome {
            Ok(index) => Ok(ledger.take_at(index)?),
            Err(problem) => {
                if let Problem::Refused(refusal) = &problem {
                    ledger.latched = Some(refusal.clone());
                }
                Err(problem)
            }
        }
    }
}
