//! One side of a connection, and waiting with an end.
//!
//! Must not grow: what it buffers is bounded by its constants.

use std::{
    io::{self, ErrorKind},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, ReadHalf, WriteHalf, split},
    time::timeout,
};

/// Bytes read ahead on either side.
const BUFFER_BYTES: usize = 16 * 1024;

/// A stream whose two directions are used by turns or at once.
#[derive(Debug)]
pub(crate) struct Side<S> {
    pub(crate) read: BufReader<ReadHalf<S>>,
    pub(crate) write: WriteHalf<S>,
}

impl<S: AsyncRead + AsyncWrite> Side<S> {
    pub(crate) fn new(stream: S) -> Self {
        let (read, write) = split(stream);
        Self {
            read: BufReader::with_capacity(BUFFER_BYTES, read),
            write,
        }
    }
}

/// Waits for `work`, but not longer than `limit`.
pub(crate) async fn within<T>(
    limit: Duration,
    work: impl Future<Output = io::Result<T>>,
) -> io::Result<T> {
    match timeout(limit, work).await {
        Ok(result) => result,
        Err(_) => Err(io::Error::new(
            ErrorKind::TimedOut,
            format!("nothing came within {} s", limit.as_secs_f32()),
        )),
    }
}

/// Writes all of `bytes` out, waiting at most `limit`.
pub(crate) async fn send(
    to: &mut (impl AsyncWrite + Unpin),
    bytes: &[u8],
    limit: Duration,
) -> io::Result<()> {
    within(limit, async {
        to.write_all(bytes).await?;
        to.flush().await
    })
    .await
}
