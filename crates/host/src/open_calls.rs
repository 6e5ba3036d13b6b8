//! The calls now open. An order of any other is refused, wherever it came from.
//! Must not wait: a call is closed from a `Drop`.

use gate::{call::CallId, host::HostError};
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};
use tokio::sync::watch;

/// Each open call with a channel that ends when it is closed.
#[derive(Debug, Default)]
pub(crate) struct OpenCalls(Mutex<HashMap<CallId, watch::Sender<()>>>);

/// Tells when a call is closed.
#[derive(Debug)]
pub(crate) struct Closing(watch::Receiver<()>);

impl OpenCalls {
    pub(crate) fn open(&self, call: CallId) {
        self.lock().entry(call).or_default();
    }

    pub(crate) fn close(&self, call: CallId) {
        self.lock().remove(&call);
    }

    pub(crate) fn check(&self, call: CallId) -> Result<Closing, HostError> {
        match self.lock().get(&call) {
            Some(open) => Ok(Closing(open.subscribe())),
            None => Err(HostError::Refused(format!("call {call} is not open"))),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<CallId, watch::Sender<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Closing {
    /// Waits until the call is closed.
    pub(crate) async fn closed(&mut self) {
        while self.0.changed().await.is_ok() {}
    }
}
