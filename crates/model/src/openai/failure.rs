//! Why one try gave no turn, and the line that says so in the end. Must not let a key into it.

use std::{
    error::Error,
    hash::{BuildHasher, RandomState},
    time::{Duration, SystemTime},
};

use reqwest::{StatusCode, header::HeaderValue};

use super::{Retries, Secret};

/// So much of what the other side says is shown, in characters.
const SAID_CHARS_MAX: usize = 300;

/// A server that wants a longer wait than this is not waited for.
const RETRY_AFTER_MAX: Duration = Duration::from_mins(1);

/// A secret shorter than this is none, and striking it out would only spoil the text.
const SECRET_BYTES_MIN: usize = 4;

/// Why one try gave no turn.
#[derive(Debug)]
pub(super) struct Failure {
    /// What happened, in our words.
    pub(super) what: String,
    /// What the other side, or the machine, says of it.
    pub(super) said: Option<String>,
    /// What a person can do.
    pub(super) hint: &'static str,
    /// Whether another try makes sense.
    pub(super) retry: Retry,
}

/// Whether another try makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retry {
    /// It would fail the same way.
    No,
    /// After a while.
    Soon,
    /// When the server says.
    After(Duration),
}

impl Failure {
    /// No connection, or it broke before the head of the answer.
    pub(super) fn connection(error: &reqwest::Error) -> Self {
        let what = if error.is_connect() {
            "no connection"
        } else {
            "the connection broke before the answer"
        };
        Self {
            what: what.to_owned(),
            said: Some(root(error)),
            hint: "is the server running and `base_url` right?",
            retry: Retry::Soon,
        }
    }

    /// Silence instead of the head of an answer.
    pub(super) fn no_header(waited: Duration) -> Self {
        Self {
            what: format!("no answer within {} s", waited.as_secs_f64()),
            said: None,
            hint: "is the server busy? a larger header timeout may help",
            retry: Retry::Soon,
        }
    }

    /// Silence within an answer.
    pub(super) fn idle(waited: Duration) -> Self {
        Self {
            what: format!("the answer stopped for {} s", waited.as_secs_f64()),
            said: None,
            hint: "is the server busy? a larger idle timeout may help",
            retry: Retry::Soon,
        }
    }

    /// The answer ended before the turn did.
    pub(super) fn cut(error: Option<&reqwest::Error>) -> Self {
        Self {
            what: "the answer broke off".to_owned(),
            said: error.map(root),
            hint: "try again later",
            retry: Retry::Soon,
        }
    }

    /// An answer that is not one.
    pub(super) fn garbled(what: impl Into<String>, said: Option<String>) -> Self {
        Self {
            what: what.into(),
            said,
            hint: "does `base_url` lead to a chat-completions server?",
            retry: Retry::No,
        }
    }

    /// The server gives up within an answer.
    pub(super) fn broken(said: String) -> Self {
        Self {
            what: "the server ended the answer with an error".to_owned(),
            said: Some(said),
            hint: "the fault is the server's; try again later",
            retry: Retry::Soon,
        }
    }

    /// A status that is no success.
    pub(super) fn status(status: StatusCode, after: Option<&HeaderValue>, said: String) -> Self {
        let name = status.canonical_reason().map(|name| format!(" {name}"));
        let name = name.unwrap_or_default();
        let hint = match status.as_u16() {
            401 | 403 => "check the key of this provider",
            404 => "check `base_url` and the name of the model",
            429 => "the provider limits how much you may ask; try again later",
            300..=399 => "set `base_url` to where the server redirects",
            500..=599 => "the fault is the server's; try again later",
            _ => "the server refuses the request as it is",
        };
        let retry = match status.as_u16() {
            408 | 409 | 429 | 500..=599 => after
                .and_then(retry_after)
                .map_or(Retry::Soon, Retry::After),
            _ => Retry::No,
        };
        Self {
            what: format!("the server answers {}{name}", status.as_str()),
            said: Some(said),
            hint,
            retry,
        }
    }

    /// How long to wait before the next try, if there is to be one. `tries` counts those made.
    pub(super) fn wait(&self, retries: &Retries, tries: u32) -> Option<Duration> {
        if tries > retries.count_max {
            return None;
        }
        match self.retry {
            Retry::No => None,
            Retry::After(wait) => Some(wait).filter(|&wait| wait <= RETRY_AFTER_MAX),
            Retry::Soon => Some(backoff(retries, tries)),
        }
    }

    /// The line for a person.
    pub(super) fn line(&self, place: &str, tries: u32, secrets: &[Secret]) -> String {
        let said = match shown(self.said.as_deref().unwrap_or_default(), secrets) {
            said if said.is_empty() => said,
            said => format!(": {said}"),
        };
        let wish = match self.retry {
            Retry::After(wait) => format!(", and asks to wait {} s", wait.as_secs()),
            Retry::No | Retry::Soon => String::new(),
        };
        let times = match tries {
            1 => "once".to_owned(),
            more => format!("{more} times"),
        };
        let (what, hint) = (&self.what, self.hint);
        format!("{place}: {what}{said}{wish} (tried {times}); {hint}")
    }
}

/// The innermost cause; what is around it only says that a request failed, and where.
fn root(error: &reqwest::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    if std::ptr::addr_eq(cause, error) {
        return String::new();
    }
    cause.to_string()
}

/// Foreign text on one line: keys struck out, hidden characters spelled, and not too long.
fn shown(text: &str, secrets: &[Secret]) -> String {
    let mut text = text.trim().to_owned();
    // The longest first, for one may hold another.
    let mut keys: Vec<&str> = secrets.iter().map(Secret::reveal).collect();
    keys.sort_by_key(|key| std::cmp::Reverse(key.len()));
    for key in keys.iter().filter(|key| key.len() >= SECRET_BYTES_MIN) {
        text = text.replace(key, "[secret]");
    }
    let mut line = String::new();
    let mut chars = text.chars();
    for c in chars.by_ref().take(SAID_CHARS_MAX) {
        match c {
            '\n' | '\r' | '\t' => line.push(' '),
            '\'' | '"' | '\\' => line.push(c),
            other => line.extend(other.escape_debug()),
        }
    }
    if chars.next().is_some() {
        line.push_str("...");
    }
    line
}

/// Seconds, or a date. One that has passed means now.
fn retry_after(value: &HeaderValue) -> Option<Duration> {
    let text = value.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(SystemTime::now()).unwrap_or_default())
}

fn backoff(retries: &Retries, tries: u32) -> Duration {
    let doubled = 2_u32.saturating_pow(tries.saturating_sub(1));
    let half = retries.wait.saturating_mul(doubled).min(retries.wait_max) / 2;
    // Fresh hashers are keyed at random, which is random enough to keep callers apart.
    let share = RandomState::new().hash_one(()) % 1000;
    half + half * u32::try_from(share).unwrap_or(0) / 1000
}

#[cfg(test)]
mod tests {
    use super::{Failure, Retry, backoff, retry_after, shown};
    use crate::openai::{Retries, Secret};
    use reqwest::{StatusCode, header::HeaderValue};
    use std::time::{Duration, SystemTime};

    fn status(code: u16, after: Option<&str>) -> Failure {
        let after = after.map(|text| HeaderValue::from_str(text).unwrap());
        Failure::status(
            StatusCode::from_u16(code).unwrap(),
            after.as_ref(),
            String::new(),
        )
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        for code in [408, 409, 429, 500, 502, 503, 529] {
            assert_eq!(status(code, None).retry, Retry::Soon, "{code}");
        }
        for code in [301, 308, 400, 401, 403, 404, 413, 422] {
            assert_eq!(status(code, Some("1")).retry, Retry::No, "{code}");
        }
    }

    #[test]
    fn retry_after_is_read_as_seconds_or_a_date() {
        let read = |text: &str| retry_after(&HeaderValue::from_str(text).unwrap());
        assert_eq!(read("7"), Some(Duration::from_secs(7)));
        assert_eq!(read("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        let soon = SystemTime::now() + Duration::from_mins(50);
        let wait = read(&httpdate::fmt_http_date(soon)).unwrap();
        assert!(wait > Duration::from_secs(2000) && wait <= Duration::from_mins(50));
        assert_eq!((read("-1"), read("soon"), read("")), (None, None, None));
    }

    #[test]
    fn a_server_is_waited_for_as_long_as_it_asks_or_not_at_all() {
        let retries = Retries::default();
        let after = |text| status(429, Some(text)).wait(&retries, 1);
        assert_eq!(after("0"), Some(Duration::ZERO));
        assert_eq!(after("60"), Some(Duration::from_mins(1)));
        assert_eq!(after("61"), None);
        let line = status(503, Some("3600")).line("p", 1, &[]);
        assert_eq!(
            line,
            "p: the server answers 503 Service Unavailable, and asks to wait 3600 s (tried once); \
             the fault is the server's; try again later"
        );
    }

    #[test]
    fn the_wait_doubles_to_its_maximum_and_the_tries_end() {
        let retries = Retries {
            count_max: 6,
            wait: Duration::from_millis(400),
            wait_max: Duration::from_secs(3),
        };
        for (tries, full) in [
            (1, 400),
            (2, 800),
            (3, 1600),
            (4, 3000),
            (6, 3000),
            (40, 3000),
        ] {
            let full = Duration::from_millis(full);
            let waits: Vec<Duration> = (0..50).map(|_| backoff(&retries, tries)).collect();
            assert!(
                waits.iter().all(|wait| (full / 2..=full).contains(wait)),
                "{waits:?}"
            );
            assert!(waits.iter().any(|wait| wait != &waits[0]), "{waits:?}");
        }
        let failure = status(500, None);
        assert!(failure.wait(&retries, 6).is_some());
        assert_eq!(failure.wait(&retries, 7), None);
    }

    #[test]
    fn foreign_text_is_short_on_one_line_and_without_keys() {
        let secrets = [
            Secret::new("sk-1"),
            Secret::new("sk-1234"),
            Secret::new("a"),
        ];
        assert_eq!(
            shown("bad \"sk-1234\" sk-1\n\u{1b}[2J\u{202e}é\u{200b}", &secrets),
            "bad \"[secret]\" [secret] \\u{1b}[2J\\u{202e}é\\u{200b}"
        );
        let long = format!("{}sk-1234", "x".repeat(296));
        let line = shown(&long, &secrets);
        assert!(
            line.ends_with("x[sec...") && !line.contains("sk-"),
            "{line}"
        );
    }
}
