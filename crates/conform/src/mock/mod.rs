//! A chat-completions server on the loopback interface that plays a script, for tests and for
//! measuring. Must not be reachable from another machine, and does as it is told: it can be slow,
//! refuse, break off or talk nonsense.

mod play;

use std::{
    collections::VecDeque,
    convert::Infallible,
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use http_body_util::{BodyExt as _, Collected};
use hyper::{
    Method, Request, Response,
    body::Incoming,
    header::{AUTHORIZATION, HeaderMap},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use model::{ModelError, ScriptedModel};
use serde_json::Value;
use tokio::{
    net::TcpListener,
    task::{AbortHandle, JoinSet},
};

use self::play::Played;

/// How the server treats one request. What it says is the turn of the script that the conversation
/// has come to, that is the one after as many turns as the model has had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The turn, streamed.
    Stream,
    /// The turn as one JSON value, though a stream was asked for.
    Whole,
    /// Streamed, with this pause before each piece.
    Slow(Duration),
    /// So many pieces of the stream, then the connection is dropped.
    Cut(usize),
    /// So many pieces of the stream, then silence.
    Hang(usize),
    /// No answer at all, on an open connection.
    Silence,
    /// Not the turn, but this.
    Fixed {
        /// The status code.
        status: u16,
        /// Names and values.
        headers: Vec<(&'static str, String)>,
        /// The body, in the pieces it is sent in.
        body: Vec<Vec<u8>>,
    },
}

impl Answer {
    /// A refusal in the form of the protocol.
    pub fn refusal(status: u16, message: &str) -> Self {
        let body = serde_json::json!({"error": {"message": message, "type": "mock"}});
        Self::Fixed {
            status,
            headers: vec![("content-type", "application/json".to_owned())],
            body: vec![body.to_string().into_bytes()],
        }
    }

    /// A refusal that says when to come back.
    pub fn refusal_until(status: u16, message: &str, retry_after: &str) -> Self {
        let mut answer = Self::refusal(status, message);
        if let Self::Fixed { headers, .. } = &mut answer {
            headers.push(("retry-after", retry_after.to_owned()));
        }
        answer
    }

    /// A stream of these bytes, in these pieces.
    pub fn raw(pieces: &[&[u8]]) -> Self {
        Self::Fixed {
            status: 200,
            headers: vec![("content-type", "text/event-stream".to_owned())],
            body: pieces.iter().map(|piece| piece.to_vec()).collect(),
        }
    }
}

/// A request as it came.
#[derive(Clone, Debug, PartialEq)]
pub struct Received {
    /// Path and query.
    pub path: String,
    /// The `authorization` header.
    pub authorization: Option<String>,
    /// The body.
    pub body: Value,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MockError {
    /// The script is not one.
    #[error(transparent)]
    Script(#[from] ModelError),
    /// The port cannot be had.
    #[error("cannot listen on 127.0.0.1: {0}")]
    Listen(#[from] io::Error),
}

/// A server that runs until it is dropped. It needs the tokio runtime it was started in.
#[derive(Debug)]
pub struct Mock {
    address: SocketAddr,
    script: Arc<Script>,
    task: AbortHandle,
}

#[derive(Debug)]
struct Script {
    turns: ScriptedModel,
    answers: Mutex<VecDeque<Answer>>,
    /// None where nobody will look, so that a long run takes no memory.
    received: Option<Mutex<Vec<Received>>>,
}

impl Mock {
    /// Plays a script on a free port. The first requests get the answers listed, all others
    /// [`Answer::Stream`]; every request is kept.
    ///
    /// # Errors
    /// [`MockError`].
    pub async fn start(
        script: &str,
        answers: impl IntoIterator<Item = Answer>,
    ) -> Result<Self, MockError> {
        Self::listen(0, script, answers, Some(Mutex::default())).await
    }

    /// Plays a script on this port, 0 for any, and keeps nothing.
    ///
    /// # Errors
    /// [`MockError`].
    pub async fn on_port(port: u16, script: &str) -> Result<Self, MockError> {
        Self::listen(port, script, [], None).await
    }

    async fn listen(
        port: u16,
        script: &str,
        answers: impl IntoIterator<Item = Answer>,
        received: Option<Mutex<Vec<Received>>>,
    ) -> Result<Self, MockError> {
        let script = Arc::new(Script {
            turns: ScriptedModel::from_json(script)?,
            answers: Mutex::new(answers.into_iter().collect()),
            received,
        });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let task = tokio::spawn(accept(listener, Arc::clone(&script))).abort_handle();
        Ok(Self {
            address,
            script,
            task,
        })
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The address a provider is set up with.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests for a turn that came so far.
    pub fn received(&self) -> Vec<Received> {
        let received = self.script.received.as_ref();
        received.map_or_else(Vec::new, |received| lock(received).clone())
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Serves every connection; all of them end with this future.
async fn accept(listener: TcpListener, script: Arc<Script>) {
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        // Only speed is lost without it.
        stream.set_nodelay(true).ok();
        let script = Arc::clone(&script);
        connections.spawn(async move {
            let service = service_fn(move |request| answer(Arc::clone(&script), request));
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            // A client may go away whenever it likes.
            connection.await.ok();
        });
    }
}

async fn answer(
    script: Arc<Script>,
    request: Request<Incoming>,
) -> Result<Response<Played>, Infallible> {
    let (head, body) = request.into_parts();
    let path = head.uri.path();
    if head.method == Method::GET && path.ends_with("/models") {
        return Ok(play::models());
    }
    if head.method != Method::POST || !path.ends_with("/chat/completions") {
        return Ok(play::refusal(404, "there is only /chat/completions"));
    }
    let body = body.collect().await.map(Collected::to_bytes);
    let body = body.ok().and_then(|it| serde_json::from_slice(&it).ok());
    let Some(body) = body else {
        return Ok(play::refusal(400, "the body is not JSON"));
    };
    let response = script.answer(&body);
    if let Some(received) = &script.received {
        lock(received).push(Received {
            path: head.uri.to_string(),
            authorization: text(&head.headers),
            body,
        });
    }
    match response {
        Some(response) => Ok(response),
        None => std::future::pending().await,
    }
}

fn text(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(AUTHORIZATION)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

impl Script {
    /// The response to a request, or none for silence. A request sent again gets its turn again.
    fn answer(&self, body: &Value) -> Option<Response<Played>> {
        let messages = body.get("messages").and_then(Value::as_array);
        let is_turn = |message: &&Value| message.get("role") == Some(&"assistant".into());
        let at = messages.map_or(0, |list| list.iter().filter(is_turn).count());
        let answer = lock(&self.answers).pop_front().unwrap_or(Answer::Stream);
        play::answer(answer, &self.turns.turn(at), body)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
