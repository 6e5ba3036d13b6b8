//! The ports of the gate in memory, for tests of every crate: a machine, an approver, a journal, a
//! clock, the least executor, and a room furnished with them. Must not touch the real machine.

mod approver;
mod desk;
mod journal;
mod machine;
mod room;

pub use approver::{Asked, ScriptedApprover};
pub use desk::{DeskBench, ManualTimer};
pub use journal::{Kept, MemoryApprovals, MemoryJournal, StoppedClock};
pub use machine::{MemoryHost, WORKSPACE};
/// What a rule says, for whoever writes the rules of a test.
pub use policy::Action;
pub use room::{Bench, always, exactly, no, nobody, yes};

use std::{
    future::Future,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Wake, Waker},
    thread,
};

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs one future on this thread.
pub fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}
