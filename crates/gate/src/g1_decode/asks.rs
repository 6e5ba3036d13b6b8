//! Where a tool states its needs while nothing has been decided yet.

use crate::{
    access::{Access, AnyAccess, Includes, Place},
    call::CallId,
};
use std::marker::PhantomData;

/// A claim on a permit not yet decided. Names its call: one kept for later is a fault.
#[derive(Debug)]
pub struct Want<A> {
    pub(crate) call: CallId,
    pub(crate) index: usize,
    kind: PhantomData<fn() -> A>,
}

/// What a call wants, in order.
pub(crate) struct Wanted {
    call: CallId,
    list: Vec<AnyAccess>,
}

impl Wanted {
    pub(crate) fn new(call: CallId) -> Self {
        Self {
            call,
            list: Vec::new(),
        }
    }
    pub(crate) fn into_list(self) -> Vec<AnyAccess> {
        self.list
    }
}

/// Takes the needs of one call; `K` is what its tool declared.
pub struct Asks<'w, K> {
    wanted: &'w mut Wanted,
    kinds: PhantomData<fn() -> K>,
}

impl<K> std::fmt::Debug for Asks<'_, K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(&self.wanted.list).finish()
    }
}

impl<'w, K> Asks<'w, K> {
    pub(crate) fn new(wanted: &'w mut Wanted) -> Self {
        Self {
            wanted,
            kinds: PhantomData,
        }
    }

    /// States one need; what comes back is exchanged for a permit once it is granted.
    pub fn want<A: Access, P: Place>(&mut self, access: A) -> Want<A>
    where
        K: Includes<A, P>,
    {
        let index = self.wanted.list.len();
        self.wanted.list.push(access.into_any());
        Want {
            call: self.wanted.call,
            index,
            kind: PhantomData,
        }
    }
}
