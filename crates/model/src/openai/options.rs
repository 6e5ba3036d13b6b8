//! What a provider is set up with, and the checks of it. Must not read a file or the environment.

use std::{fmt, net::IpAddr, time::Duration};

use reqwest::{
    Url,
    header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue},
};

use super::Secret;

/// Where a model is and how to talk to it.
#[derive(Clone)]
pub struct Options {
    /// The provider's name, as the user wrote it.
    pub name: String,
    /// The address before `/chat/completions`, such as `http://localhost:11434/v1`. A query is
    /// kept, and treated as a key. Plain `http` is for this machine, and for servers without a key.
    pub base_url: String,
    /// Sent as bearer token.
    pub api_key: Option<Secret>,
    /// The model's id at the provider.
    pub model: String,
    /// More headers. Any value may be a key, so all are treated as one.
    pub headers: Vec<(String, Secret)>,
    /// How long to wait.
    pub timeouts: Timeouts,
    /// How often to try again.
    pub retries: Retries,
}

impl Options {
    /// A model at an address, without a key, with the default patience.
    pub fn new(
        name: impl Into<String>,
        base_url: impl Into<String>,
        model: impl Into<String>,
    ) -> Self {
        Self {
            name: name.into(),
            base_url: base_url.into(),
            api_key: None,
            model: model.into(),
            headers: Vec::new(),
            timeouts: Timeouts::default(),
            retries: Retries::default(),
        }
    }
}

// An address may hold a key as well, so it is not shown.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("name", &self.name)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

/// How long a server may be silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// From the start of connecting to the head of the answer.
    pub header: Duration,
    /// Between two pieces of the answer.
    pub idle: Duration,
}

impl Default for Timeouts {
    /// Two minutes each: a model on a small machine may read its prompt that long.
    fn default() -> Self {
        Self {
            header: Duration::from_mins(2),
            idle: Duration::from_mins(2),
        }
    }
}

/// How often a request is sent again, and how long to wait before. The wait doubles each time up to
/// its maximum, and a random part of up to half is taken off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    /// Tries after the first.
    pub count_max: u32,
    /// Before the second try.
    pub wait: Duration,
    /// Before any.
    pub wait_max: Duration,
}

impl Default for Retries {
    /// Three, after at most 0.5, 1 and 2 seconds.
    fn default() -> Self {
        Self {
            count_max: 3,
            wait: Duration::from_millis(500),
            wait_max: Duration::from_secs(8),
        }
    }
}

/// The address of the endpoint.
pub(super) fn endpoint(base_url: &str) -> Result<Url, String> {
    // What is wrong is told without the text itself: it may hold a key.
    let mut url = Url::parse(base_url).map_err(|error| format!("`base_url` is no URL: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("`base_url` must begin with `http://` or `https://`".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("`base_url` must not hold a user or password; use the key or a header".into());
    }
    url.set_fragment(None);
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(["chat", "completions"]);
    }
    Ok(url)
}

/// The headers with the keys in them.
pub(super) fn headers(options: &Options, endpoint: &Url) -> Result<HeaderMap, String> {
    let key = (options.api_key.as_ref()).filter(|key| !key.reveal().is_empty());
    // SECURITY: plain text past this machine can be read by whoever is on the way.
    let holds_key = key.is_some() || !options.headers.is_empty() || endpoint.query().is_some();
    if holds_key && !is_private(endpoint) {
        return Err(
            "a key, header or query is not sent over plain http to another machine; begin \
             `base_url` with `https`, or leave the key, the headers and the query out"
                .to_owned(),
        );
    }
    let mut headers = HeaderMap::new();
    if let Some(key) = key {
        let bearer = Secret::new(format!("Bearer {}", key.reveal()));
        headers.insert(AUTHORIZATION, value("the key", &bearer)?);
    }
    for (name, secret) in &options.headers {
        let header = HeaderName::try_from(name.as_str())
            .map_err(|_| format!("`{}` is no name of a header", name.escape_debug()))?;
        headers.insert(header, value(&format!("the header `{name}`"), secret)?);
    }
    Ok(headers)
}

fn value(what: &str, secret: &Secret) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::try_from(secret.reveal())
        .map_err(|_| format!("{what} holds a character that cannot be sent"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Whether nobody else reads what is sent there.
fn is_private(url: &Url) -> bool {
    if url.scheme() == "https" {
        return true;
    }
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    match address.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host == "localhost",
    }
}

/// The address as it may be shown: without its query.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.to_string()
}

#[cfg(test)]
mod tests {
    use super::{endpoint, is_private, shown};

    #[test]
    fn the_endpoint_is_below_the_base_and_keeps_its_query() {
        for (base, expected) in [
            (
                "http://localhost:11434/v1",
                "http://localhost:11434/v1/chat/completions",
            ),
            (
                "https://a.example/v1/#x",
                "https://a.example/v1/chat/completions",
            ),
            ("https://a.example", "https://a.example/chat/completions"),
            (
                "https://a.example/v1?v=2",
                "https://a.example/v1/chat/completions?v=2",
            ),
        ] {
            assert_eq!(endpoint(base).unwrap().as_str(), expected);
        }
        let url = endpoint("https://a.example/v1?key=abc").unwrap();
        assert_eq!(shown(&url), "https://a.example/v1/chat/completions");
    }

    #[test]
    fn plain_text_is_private_on_this_machine_only() {
        for (url, expected) in [
            ("https://a.example", true),
            ("http://a.example", false),
            ("http://localhost:1", true),
            ("http://LOCALHOST", true),
            ("http://localhost.a.example", false),
            ("http://127.0.0.1", true),
            ("http://127.1", true),
            ("http://127.0.0.1.a.example", false),
            ("http://[::1]:9", true),
            ("http://[::ffff:127.0.0.1]", false),
            ("http://192.168.0.2", false),
            ("http://0.0.0.0", false),
        ] {
            assert_eq!(is_private(&endpoint(url).unwrap()), expected, "{url}");
        }
    }
}
