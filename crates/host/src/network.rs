//! The one way out of a command's own network: the proxy at its listener, and the gate behind the proxy.
//! Must not decide what may be reached: the gate does, while the connection waits.

use gate::g3_confine::Reach;
use proxy::{BoxFuture, Heard, Judge, Limits, Outcome, Proxy, Target};
use std::{
    collections::BTreeSet,
    ffi::OsString,
    io,
    net::TcpListener,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::task::JoinHandle;

/// How long a connection waits for an answer. A person may sit behind it, and most programs give up sooner.
const ANSWER: Duration = Duration::from_mins(5);

/// The most machines that are told of at the end.
const TOLD_MAX: usize = 16;

/// The proxy of one command. Dropped, it ends with all its connections.
#[derive(Debug)]
pub(crate) struct WayOut {
    task: JoinHandle<()>,
    refused: Arc<Mutex<BTreeSet<String>>>,
}

/// Asks the gate.
struct Gatekeeper(Reach);

impl Judge for Gatekeeper {
    fn may_reach(&self, target: Target) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(self.0.ask(target.host.to_string(), target.port))
    }
}

impl WayOut {
    /// Serves what arrives at the listener of a command until this is dropped.
    pub(crate) fn open(listener: TcpListener, reach: Reach) -> io::Result<Self> {
        let listener = proxy::adopt(listener)?;
        let refused = Arc::<Mutex<BTreeSet<String>>>::default();
        let heard = Arc::clone(&refused);
        let proxy = Proxy::new(Arc::new(Gatekeeper(reach)), Limits::new(ANSWER));
        let proxy = Arc::new(proxy.on_heard(move |it| note(&heard, it)));
        let task = tokio::spawn(async move {
            // Without it nothing of the command leaves; its connections are refused then.
            drop(proxy.serve(listener).await);
        });
        Ok(Self { task, refused })
    }

    /// The machines that the command wanted to reach and could not, `host:port` each, and no more than a few.
    pub(crate) fn refused(&self) -> Vec<String> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.iter().cloned().collect()
    }
}

impl Drop for WayOut {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn note(refused: &Mutex<BTreeSet<String>>, heard: Heard) {
    let (Some(target), Outcome::Refused(_)) = (heard.target, heard.outcome) else {
        return;
    };
    let mut refused = refused.lock().unwrap_or_else(PoisonError::into_inner);
    if refused.len() < TOLD_MAX {
        refused.insert(target.to_string());
    }
}

/// Adds what makes programs use the proxy, in place of what the user has for the machine's own network.
pub fn point_at(environment: &mut Vec<(OsString, OsString)>, port: u16) {
    for (name, value) in proxy::proxy_environment(port) {
        environment.retain(|(known, _)| known != name);
        environment.push((name.into(), value.into()));
    }
}
