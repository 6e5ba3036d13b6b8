//! The other end for programs that know no proxy: one connection through it, on two streams.
//!
//! Must not reach anything but the proxy.

use std::{io, net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, BufReader},
    net::TcpStream,
};

use crate::{
    field::Fault,
    head::{Unread, read_head, response},
    host::Target,
    stream::{Side, send},
    tunnel::{Beat, copy},
};

/// How long the proxy may take to take the request; its answer may wait for a person.
const SEND: Duration = Duration::from_secs(10);
const HEAD_BYTES_MAX: usize = 32 * 1024;
const WORDS_BYTES_MAX: u64 = 4 * 1024;

/// Why there is no connection, or it ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The proxy is not there.
    #[error("the proxy at {proxy} cannot be reached: {source}")]
    Proxy {
        /// Where it should be.
        proxy: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// The proxy said no; its own words.
    #[error("{0}")]
    Refused(String),
    /// What answers there is no proxy.
    #[error("what answers is no proxy: {0}")]
    Answer(&'static str),
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Broken(#[from] io::Error),
}

/// Connects to `target` through `proxy`, and copies `input` to it and what it says to `output`, until
/// it ends. The end of `input` is passed on and does not end the rest.
///
/// # Errors
/// Where no connection was made, or it broke.
pub async fn connect(
    proxy: SocketAddr,
    target: &Target,
    input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
) -> Result<(), ConnectError> {
    let lost = |source| ConnectError::Proxy { proxy, source };
    let stream = TcpStream::connect(proxy).await.map_err(lost)?;
    stream.set_nodelay(true)?;
    let mut far = Side::new(stream);
    let head = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n");
    send(&mut far.write, head.as_bytes(), SEND).await?;

    let head = match read_head(&mut far.read, HEAD_BYTES_MAX).await {
        Ok(head) => head,
        Err(Unread::Lost(error)) => return Err(error.into()),
        Err(Unread::Closed) => return Err(ConnectError::Answer("it says nothing")),
        Err(Unread::TooLong) => return Err(ConnectError::Answer("its head is too long")),
        Err(Unread::Fault(Fault(reason))) => return Err(ConnectError::Answer(reason)),
    };
    let head = response(&head, "CONNECT").map_err(|Fault(reason)| ConnectError::Answer(reason))?;
    if !(200..300).contains(&head.status) {
        let mut words = Vec::new();
        far.read
            .take(WORDS_BYTES_MAX)
            .read_to_end(&mut words)
            .await?;
        let words = String::from_utf8_lossy(&words);
        return Err(ConnectError::Refused(match words.trim() {
            "" => format!("the proxy answers with status {}", head.status),
            words => words.to_owned(),
        }));
    }

    let mut input = BufReader::new(input);
    let beat = Beat::new();
    let back = copy(&mut far.read, &mut output, &beat);
    tokio::pin!(back);
    tokio::select! {
        ended = &mut back => Ok(ended?),
        sent = copy(&mut input, &mut far.write, &beat) => {
            // The other side may have stopped reading and still have something to say.
            let ended = back.await;
            sent?;
            Ok(ended?)
        }
    }
}
