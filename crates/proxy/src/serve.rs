//! The proxy itself: what it is made of, how many connections it has, and what it tells of them.
//!
//! Must not outlive its future: when that is dropped, every connection ends.

use std::{
    collections::BTreeSet,
    fmt, io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite},
    task::JoinSet,
    time::sleep,
};

use crate::{
    Accept, Judge, Resolver,
    dial::SystemResolver,
    host::{Host, Target},
    http, socks,
    stream::{Side, within},
};

/// What a client may take of time and room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once; further ones wait until one has ended.
    pub connections_max: usize,
    /// The longest head of a request or response in bytes.
    pub head_bytes_max: usize,
    /// How long a head, or a SOCKS greeting, may take to come.
    pub header: Duration,
    /// How long the judge may take. What was not answered then is refused.
    pub judge: Duration,
    /// How long looking up and dialling may take, each.
    pub dial: Duration,
    /// How long nothing may pass.
    pub idle: Duration,
}

impl Limits {
    /// The usual limits, and so long for the judge.
    pub fn new(judge: Duration) -> Self {
        Self {
            connections_max: 256,
            head_bytes_max: 32 * 1024,
            header: Duration::from_secs(10),
            judge,
            dial: Duration::from_secs(10),
            idle: Duration::from_mins(10),
        }
    }
}

/// What became of a connection, or of one request of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It was opened.
    Opened,
    /// It was not allowed; the reason.
    Refused(String),
    /// It was allowed and could not be opened; the reason.
    Failed(String),
    /// What was asked was not understood, or has no place here; the reason.
    Malformed(String),
}

/// What the proxy tells of each request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// What was to be reached; nothing where that was not understood.
    pub target: Option<Target>,
    /// What became of it.
    pub outcome: Outcome,
}

/// How many requests had which outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Opened.
    pub opened: u64,
    /// Refused.
    pub refused: u64,
    /// Allowed, and not opened.
    pub failed: u64,
    /// Not understood.
    pub malformed: u64,
}

#[derive(Debug, Default)]
struct Counters {
    opened: AtomicU64,
    refused: AtomicU64,
    failed: AtomicU64,
    malformed: AtomicU64,
}

type Listener = Box<dyn Fn(Heard) + Send + Sync>;

/// A proxy that asks its judge.
pub struct Proxy {
    pub(crate) judge: Arc<dyn Judge>,
    pub(crate) limits: Limits,
    pub(crate) resolver: Arc<dyn Resolver>,
    pub(crate) named_private: BTreeSet<Host>,
    listener: Option<Listener>,
    counters: Counters,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy")
            .field("limits", &self.limits)
            .field("named_private", &self.named_private)
            .field("counts", &self.counts())
            .finish_non_exhaustive()
    }
}

impl Proxy {
    /// A proxy with the resolver of the system, to which no name may lead into private.
    pub fn new(judge: Arc<dyn Judge>, limits: Limits) -> Self {
        Self {
            judge,
            limits,
            resolver: Arc::new(SystemResolver),
            named_private: BTreeSet::new(),
            listener: None,
            counters: Counters::default(),
        }
    }

    /// Lets these names, and none below them, lead to addresses that are not public. They are still
    /// put to the judge.
    #[must_use]
    pub fn with_named_private(mut self, names: impl IntoIterator<Item = Host>) -> Self {
        self.named_private = names.into_iter().collect();
        self
    }

    /// Looks names up in another way.
    #[must_use]
    pub fn with_resolver(mut self, resolver: Arc<dyn Resolver>) -> Self {
        self.resolver = resolver;
        self
    }

    /// Tells of each request, from inside its connection: it must not wait.
    #[must_use]
    pub fn on_heard(mut self, listener: impl Fn(Heard) + Send + Sync + 'static) -> Self {
        self.listener = Some(Box::new(listener));
        self
    }

    /// How many requests there were so far.
    pub fn counts(&self) -> Counts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            opened: read(&self.counters.opened),
            refused: read(&self.counters.refused),
            failed: read(&self.counters.failed),
            malformed: read(&self.counters.malformed),
        }
    }

    /// Serves `listener` until it has failed a hundred times in a row, and gives the reason. Dropped, it ends every
    /// connection at once; a question that waits is dropped with its connection.
    pub async fn serve<L: Accept>(self: Arc<Self>, mut listener: L) -> io::Error {
        const FAILURES_MAX: u32 = 100;
        let mut connections = JoinSet::new();
        let mut failure_count = 0;
        loop {
            tokio::select! {
                accepted = listener.accept(), if connections.len() < self.limits.connections_max => {
                    match accepted {
                        Ok(stream) => {
                            failure_count = 0;
                            let proxy = Arc::clone(&self);
                            connections.spawn(async move { proxy.connection(stream).await });
                        }
                        Err(error) if failure_count == FAILURES_MAX => return error,
                        // A connection that was gone again, or descriptors that ran out for now.
                        Err(_) => {
                            failure_count += 1;
                            sleep(Duration::from_millis(100)).await;
                        }
                    }
                }
                // A connection that ended in a panic of the judge ends like any other: closed.
                Some(_) = connections.join_next() => {}
            }
        }
    }

    /// Serves one connection. The first byte tells what is spoken.
    async fn connection(&self, stream: impl AsyncRead + AsyncWrite + Unpin + Send) {
        let mut client = Side::new(stream);
        let Ok(bytes) = within(self.limits.header, client.read.fill_buf()).await else {
            return;
        };
        match bytes.first() {
            None => {}
            Some(5) => socks::serve5(self, &mut client).await,
            Some(4) => socks::refuse4(self, &mut client).await,
            Some(_) => http::serve(self, &mut client).await,
        }
    }

    pub(crate) fn hear(&self, target: Option<&Target>, outcome: Outcome) {
        let counter = match &outcome {
            Outcome::Opened => &self.counters.opened,
            Outcome::Refused(_) => &self.counters.refused,
            Outcome::Failed(_) => &self.counters.failed,
            Outcome::Malformed(_) => &self.counters.malformed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        if let Some(listener) = &self.listener {
            listener(Heard {
                target: target.cloned(),
                outcome,
            });
        }
    }

    pub(crate) fn malformed(&self, reason: impl Into<String>) {
        self.hear(None, Outcome::Malformed(reason.into()));
    }
}
