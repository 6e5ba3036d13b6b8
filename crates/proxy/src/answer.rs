//! What the proxy itself says to an HTTP client. All its words are here.
//!
//! Must not show more than the client asked for and why it does not get it.

use std::time::Duration;

use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt},
    time::timeout,
};

use crate::{
    dial::Shut,
    host::Target,
    stream::{Side, send},
};

/// A response of the proxy's own, after which the connection ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    status: &'static str,
    body: String,
}

impl Answer {
    pub(crate) fn bad_request(reason: impl std::fmt::Display) -> Self {
        Self {
            status: "400 Bad Request",
            body: format!("tollgate: the request was not taken: {reason}\n"),
        }
    }

    pub(crate) fn too_late() -> Self {
        Self {
            status: "408 Request Timeout",
            body: "tollgate: the request did not come in time\n".to_owned(),
        }
    }

    pub(crate) fn head_too_long() -> Self {
        Self {
            status: "431 Request Header Fields Too Large",
            body: "tollgate: the head of the request is too long\n".to_owned(),
        }
    }

    pub(crate) fn bad_gateway(target: &Target, reason: impl std::fmt::Display) -> Self {
        Self {
            status: "502 Bad Gateway",
            body: format!("tollgate: the answer of {target} was not taken: {reason}\n"),
        }
    }

    pub(crate) fn shut(target: &Target, shut: &Shut) -> Self {
        match shut {
            Shut::Refused(reason) => Self {
                status: "403 Forbidden",
                body: format!(
                    "tollgate: {target} was refused: {reason}\n\
                     This rule may allow it: \"network\": {{ \"{target}\": \"allow\" }}\n"
                ),
            },
            Shut::Closed(reason) => Self {
                status: "403 Forbidden",
                body: format!("tollgate: {target} was refused: {reason}\n"),
            },
            Shut::Failed(reason) => Self {
                status: "502 Bad Gateway",
                body: format!("tollgate: {target} cannot be reached: {reason}\n"),
            },
        }
    }

    /// Writes the answer and ends the connection so that the client can still read it.
    pub(crate) async fn close<S>(self, client: &mut Side<S>, method: Option<&str>)
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let length = self.body.len();
        let mut text = format!(
            "HTTP/1.1 {}\r\nContent-Type: text/plain; charset=utf-8\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n",
            self.status
        );
        if method != Some("HEAD") {
            text.push_str(&self.body);
        }
        linger(client, text.as_bytes()).await;
    }
}

/// Writes last words, and then takes what the client still sends for a while: closing with bytes
/// unread would reset the connection, and the words would be lost.
pub(crate) async fn linger<S>(client: &mut Side<S>, words: &[u8])
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    const WAIT: Duration = Duration::from_secs(2);
    const READS_MAX: usize = 64;
    if send(&mut client.write, words, WAIT).await.is_err() {
        return;
    }
    if client.write.shutdown().await.is_err() {
        return;
    }
    let drain = async {
        for _ in 0..READS_MAX {
            match client.read.fill_buf().await {
                Ok(bytes) if !bytes.is_empty() => {
                    let length = bytes.len();
                    client.read.consume(length);
                }
                _ => return,
            }
        }
    };
    // Too late or too much: then it is closed as it is.
    let _: Result<(), _> = timeout(WAIT, drain).await;
}
