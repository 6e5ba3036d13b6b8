//! The signals by which a person or the system asks us to end. Must not end the process: what runs is ended
//! first, and what was made for it is removed.

use crate::Exit;
use std::{
    fs,
    future::pending,
    io,
    sync::{
        LazyLock,
        atomic::{AtomicU8, Ordering},
    },
};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The code for the first of them; 0 before. A process is asked once, whatever in it listens.
static ASKED: AtomicU8 = AtomicU8::new(0);

/// Listens from when it is made, in place of the end that the system has for them. One that our starter has
/// us pass over (`nohup`) stays so.
pub(crate) struct Signals {
    hang_up: Option<Signal>,
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
}

impl Signals {
    /// Must be called within a runtime.
    ///
    /// # Errors
    /// The system does not let us listen.
    pub(crate) fn open() -> io::Result<Self> {
        let passed_over = passed_over();
        let listen = |kind: SignalKind| {
            let bit = u32::try_from(kind.as_raw_value() - 1).unwrap_or_default();
            let is_heard = passed_over.checked_shr(bit).unwrap_or_default() & 1 == 0;
            is_heard.then(|| signal(kind)).transpose()
        };
        Ok(Self {
            hang_up: listen(SignalKind::hangup())?,
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
        })
    }

    /// Waits for the next.
    pub(crate) async fn next(&mut self) {
        let exit = tokio::select! {
            () = heard(&mut self.hang_up) => Exit::HungUp,
            () = heard(&mut self.interrupt) => Exit::Interrupted,
            () = heard(&mut self.terminate) => Exit::Terminated,
        };
        let (before, after) = (Ordering::SeqCst, Ordering::SeqCst);
        // Only the first is told.
        let _is_first = ASKED.compare_exchange(0, exit as u8, before, after);
    }
}

async fn heard(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => pending().await,
    }
}

/// The signals that do nothing to this process, a bit each. Once something listens it cannot be told any more.
fn passed_over() -> u64 {
    static FIRST: LazyLock<u64> = LazyLock::new(|| {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
            .unwrap_or_default()
    });
    *FIRST
}

/// How a process ends that was asked to, if it was.
pub(crate) fn asked() -> Option<Exit> {
    let asked = ASKED.load(Ordering::SeqCst);
    [Exit::HungUp, Exit::Interrupted, Exit::Terminated]
        .into_iter()
        .find(|exit| *exit as u8 == asked)
}
