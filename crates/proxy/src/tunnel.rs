//! Bytes copied both ways until both sides have ended, or neither has said anything for too long.
//!
//! Must not look at what passes.

use std::{
    io,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt},
    time::{Instant, sleep_until},
};

use crate::stream::Side;

/// Copies between `near` and `far`. That one side has ended is passed on to the other, which may go on.
pub(crate) async fn tunnel<N, F>(near: &mut Side<N>, far: &mut Side<F>, idle: Duration)
where
    N: AsyncRead + AsyncWrite + Unpin,
    F: AsyncRead + AsyncWrite + Unpin,
{
    let beat = Beat::new();
    let both = async {
        // A failure of one direction ends both: nothing would answer for what still comes.
        let out = copy(&mut near.read, &mut far.write, &beat);
        let back = copy(&mut far.read, &mut near.write, &beat);
        tokio::try_join!(out, back)
    };
    tokio::select! {
        _ = both => {}
        () = beat.silence(idle) => {}
    }
}

/// Copies until the end, and passes that on.
pub(crate) async fn copy(
    from: &mut (impl AsyncBufRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    beat: &Beat,
) -> io::Result<()> {
    loop {
        let bytes = from.fill_buf().await?;
        if bytes.is_empty() {
            return to.shutdown().await;
        }
        beat.touch();
        let length = bytes.len();
        to.write_all(bytes).await?;
        to.flush().await?;
        from.consume(length);
        beat.touch();
    }
}

/// When something passed last, in either direction.
#[derive(Debug)]
pub(crate) struct Beat {
    start: Instant,
    last_ms: AtomicU64,
}

impl Beat {
    pub(crate) fn new() -> Self {
        Self {
            start: Instant::now(),
            last_ms: AtomicU64::new(0),
        }
    }

    fn touch(&self) {
        let now_ms = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_ms.store(now_ms, Ordering::Relaxed);
    }

    /// Waits until nothing has passed for `idle`.
    async fn silence(&self, idle: Duration) {
        loop {
            let last_ms = self.last_ms.load(Ordering::Relaxed);
            sleep_until(self.start + Duration::from_millis(last_ms) + idle).await;
            if self.last_ms.load(Ordering::Relaxed) == last_ms {
                return;
            }
        }
    }
}
