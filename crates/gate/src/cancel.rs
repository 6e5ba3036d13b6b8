//! A flag that ends a call from outside. Knows no runtime: waiting is a future, raising it wakes.

use std::{
    future::{Future, poll_fn},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Poll, Waker},
};

/// Shared by whoever may cancel and whoever must notice. Clones are the same flag.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    is_raised: AtomicBool,
    waiting: Mutex<Vec<Waker>>,
}

impl Cancel {
    /// Raises the flag, once and for good.
    pub fn cancel(&self) {
        self.0.is_raised.store(true, Ordering::SeqCst);
        let mut waiting = self
            .0
            .waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        waiting.drain(..).for_each(Waker::wake);
    }

    /// Whether the flag was raised.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_raised.load(Ordering::SeqCst)
    }

    /// Waits until the flag is raised.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + '_ {
        poll_fn(|cx| {
            let mut waiting = self
                .0
                .waiting
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            // Looked at under the lock, so that a raise in between cannot be missed.
            if self.is_cancelled() {
                return Poll::Ready(());
            }
            if !waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
                waiting.push(cx.waker().clone());
            }
            Poll::Pending
        })
    }
}
