//! A model behind a chat-completions endpoint: `OpenAI`'s own, Ollama, and whatever else speaks it.
//!
//! Must not follow a redirect, read the environment (so no proxy either) or let a key into a text.
//! A turn is given whole, so a stream that breaks is simply asked for again. Dropping the future
//! ends the request.

mod draft;
mod failure;
mod options;
mod secret;
mod sse;
mod wire;

use std::{fmt, sync::Once, time::Duration};

use reqwest::{
    Client, Response, Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER},
    redirect, retry,
};
use serde_json::Value;
use tokio::time::{sleep, timeout};

use self::{
    draft::{Draft, TooManyCalls},
    failure::Failure,
    sse::Events,
    wire::Chunk,
};
use crate::{BoxFuture, Model, ModelError, Request, Turn};

pub use options::{Options, Retries, Timeouts};
pub use secret::Secret;

/// More than any answer needs; it bounds our memory.
const ANSWER_BYTES_MAX: usize = 32 * 1024 * 1024;

/// So much of an error body is read.
const ERROR_BYTES_MAX: usize = 64 * 1024;

/// How long the end of a stream is waited for once its last event is here. An answer read to its
/// end leaves the connection open for the next one.
const TAIL: Duration = Duration::from_millis(200);

/// A model at a provider.
pub struct OpenAi {
    name: String,
    model: String,
    endpoint: Url,
    headers: HeaderMap,
    secrets: Vec<Secret>,
    timeouts: Timeouts,
    retries: Retries,
    client: Client,
}

impl OpenAi {
    /// Sets a model up. Nothing is sent.
    ///
    /// # Errors
    /// [`ModelError::Settings`] if the options cannot be used; among them a key that would go over
    /// plain http to another machine.
    pub fn new(options: Options) -> Result<Self, ModelError> {
        let name = format!("{}/{}", options.name, options.model);
        let settings = |reason| ModelError::Settings {
            name: name.clone(),
            reason,
        };
        let endpoint = options::endpoint(&options.base_url).map_err(settings)?;
        let mut headers = options::headers(&options, &endpoint).map_err(settings)?;
        let json = HeaderValue::from_static("application/json");
        headers.insert(CONTENT_TYPE, json);
        let stream = HeaderValue::from_static("text/event-stream, application/json");
        headers.insert(ACCEPT, stream);
        let client = client(&endpoint).map_err(|error| settings(error.to_string()))?;
        let mut secrets: Vec<Secret> = options.api_key.into_iter().collect();
        secrets.extend(options.headers.into_iter().map(|(_, value)| value));
        secrets.extend(endpoint.query_pairs().map(|(_, value)| Secret::new(value)));
        Ok(Self {
            secrets,
            name,
            model: options.model,
            endpoint,
            headers,
            timeouts: options.timeouts,
            retries: options.retries,
            client,
        })
    }

    async fn turn(&self, request: Request<'_>) -> Result<Turn, ModelError> {
        let body = wire::request(&self.model, request).to_string();
        let mut tries = 1;
        loop {
            let failure = match self.attempt(body.clone()).await {
                Ok(draft) => return Ok(draft.into_turn(request.messages.len())),
                Err(failure) => failure,
            };
            let Some(wait) = failure.wait(&self.retries, tries) else {
                let place = options::shown(&self.endpoint);
                return Err(ModelError::Unreachable {
                    name: self.name.clone(),
                    reason: failure.line(&place, tries, &self.secrets),
                });
            };
            sleep(wait).await;
            tries += 1;
        }
    }

    async fn attempt(&self, body: String) -> Result<Draft, Failure> {
        let sent = (self.client.post(self.endpoint.clone()))
            .headers(self.headers.clone())
            .body(body)
            .send();
        let response = (timeout(self.timeouts.header, sent).await)
            .map_err(|_| Failure::no_header(self.timeouts.header))?
            .map_err(|error| Failure::connection(&error))?;

        let status = response.status();
        let after = response.headers().get(RETRY_AFTER).cloned();
        let kind = kind(&response);
        let mut answer = Answer {
            response,
            idle: self.timeouts.idle,
            left: ANSWER_BYTES_MAX,
        };
        if !status.is_success() {
            let said = complaint(&answer.start().await);
            return Err(Failure::status(status, after.as_ref(), said));
        }
        match kind.as_str() {
            "application/json" => whole(&mut answer).await,
            "text/html" => Err(Failure::garbled("the answer is a web page", None)),
            _ => stream(&mut answer).await,
        }
    }
}

impl Model for OpenAi {
    fn name(&self) -> &str {
        &self.name
    }

    fn complete<'a>(&'a self, request: Request<'a>) -> BoxFuture<'a, Result<Turn, ModelError>> {
        Box::pin(self.turn(request))
    }
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "OpenAi({} at {})",
            self.name,
            options::shown(&self.endpoint)
        )
    }
}

fn client(endpoint: &Url) -> reqwest::Result<Client> {
    static PROVIDER: Once = Once::new();
    // Somebody else may have installed one before; theirs is used then.
    PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    let builder = Client::builder()
        .user_agent(concat!("tollgate/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .no_proxy();
    if endpoint.scheme() == "https" {
        return builder.https_only(true).build();
    }
    // Without TLS the certificates of the machine need not be there, nor be read.
    builder.tls_certs_only([]).build()
}

/// The media type of an answer, without its parameters.
fn kind(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE);
    let text = value.and_then(|value| value.to_str().ok());
    let kind = text.unwrap_or_default().split(';').next();
    kind.unwrap_or_default().trim().to_ascii_lowercase()
}

/// The body of an answer, so much of it as we take.
struct Answer {
    response: Response,
    idle: Duration,
    left: usize,
}

impl Answer {
    async fn next(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        let chunk = (timeout(self.idle, self.response.chunk()).await)
            .map_err(|_| Failure::idle(self.idle))?
            .map_err(|error| Failure::cut(Some(&error)))?;
        let Some(chunk) = chunk else {
            return Ok(None);
        };
        let Some(left) = self.left.checked_sub(chunk.len()) else {
            let what = format!("the answer is larger than {ANSWER_BYTES_MAX} bytes");
            return Err(Failure::garbled(what, None));
        };
        self.left = left;
        Ok(Some(chunk.into()))
    }

    /// The start of a body of which nothing depends on its being whole.
    async fn start(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        while bytes.len() < ERROR_BYTES_MAX {
            match self.next().await {
                Ok(Some(chunk)) => bytes.extend(chunk),
                Ok(None) | Err(_) => break,
            }
        }
        bytes.truncate(ERROR_BYTES_MAX);
        bytes
    }

    /// Waits a moment for the end.
    async fn finish(&mut self) {
        let rest = async { while let Ok(Some(_)) = self.next().await {} };
        // Whether it came makes no difference to the turn.
        timeout(TAIL, rest).await.ok();
    }
}

async fn stream(answer: &mut Answer) -> Result<Draft, Failure> {
    let mut events = Events::default();
    let mut draft = Draft::default();
    while let Some(bytes) = answer.next().await? {
        let whole = events
            .push(&bytes)
            .map_err(|_| Failure::garbled("the stream is not UTF-8", None))?;
        for data in whole {
            match data.trim() {
                "" => {}
                "[DONE]" if !draft.is_begun() => {
                    return Err(Failure::garbled("the answer holds no turn", None));
                }
                "[DONE]" => {
                    answer.finish().await;
                    return Ok(draft);
                }
                text => add(&mut draft, text)?,
            }
        }
    }
    if draft.is_finished() {
        return Ok(draft);
    }
    Err(Failure::cut(None))
}

async fn whole(answer: &mut Answer) -> Result<Draft, Failure> {
    let mut bytes = Vec::new();
    while let Some(chunk) = answer.next().await? {
        bytes.extend(chunk);
    }
    let text =
        String::from_utf8(bytes).map_err(|_| Failure::garbled("the answer is not UTF-8", None))?;
    let mut draft = Draft::default();
    add(&mut draft, &text)?;
    if draft.is_begun() {
        return Ok(draft);
    }
    Err(Failure::garbled("the answer holds no turn", Some(text)))
}

fn add(draft: &mut Draft, text: &str) -> Result<(), Failure> {
    let chunk: Chunk = serde_json::from_str(text).map_err(|_| {
        Failure::garbled("the answer is not a chat completion", Some(text.to_owned()))
    })?;
    if let Some(error) = &chunk.error {
        return Err(broken(error));
    }
    (draft.add(chunk))
        .map_err(|TooManyCalls| Failure::garbled("the answer has too many calls", None))
}

/// An error within an answer that began well. Its code may be a status.
fn broken(error: &Value) -> Failure {
    let said = match error {
        Value::String(text) => text.clone(),
        other => (other.get("message").and_then(Value::as_str))
            .map_or_else(|| other.to_string(), str::to_owned),
    };
    let code = error.get("code").and_then(Value::as_u64);
    let status = code
        .and_then(|code| u16::try_from(code).ok())
        .and_then(|code| reqwest::StatusCode::from_u16(code).ok());
    match status {
        Some(status) => Failure::status(status, None, said),
        None => Failure::broken(said),
    }
}

/// What an error body says.
fn complaint(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let body: Option<Value> = serde_json::from_str(&text).ok();
    let said = body.as_ref().and_then(wire::complaint);
    said.unwrap_or(&text).to_owned()
}
