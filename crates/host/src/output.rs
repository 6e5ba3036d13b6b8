//! What a child writes: its end in memory, all of it in a file once there is too much.
//! Must not grow with the output, nor wait for the disk on a thread of the runtime.

use crate::{
    keep::{KEPT_BYTES_MAX, Kept},
    local::Machine,
    options::OutputLimits,
};
use std::{io, sync::Arc};
use tokio::{
    sync::mpsc,
    task::{JoinHandle, spawn_blocking},
};

/// How many chunks may wait for the disk; then the child waits.
const CHUNKS_WAITING_MAX: usize = 16;

pub(crate) struct Output {
    machine: Arc<Machine>,
    tail: Tail,
    lines: u64,
    pub(crate) bytes_total: u64,
    keeper: Option<Keeper>,
}

/// Writes to a file on a thread that may wait.
struct Keeper {
    chunks: mpsc::Sender<Vec<u8>>,
    kept_at: JoinHandle<io::Result<String>>,
}

impl Output {
    pub(crate) fn new(machine: Arc<Machine>) -> Self {
        // At least twice as many bytes as go on to the model.
        let tail = Tail {
            bytes: Vec::new(),
            bytes_max: machine.limits.bytes_max.saturating_mul(2),
        };
        Self {
            machine,
            tail,
            lines: 0,
            bytes_total: 0,
            keeper: None,
        }
    }

    pub(crate) async fn take(&mut self, chunk: &[u8]) {
        self.bytes_total += chunk.len() as u64;
        self.lines += chunk
            .iter()
            .map(|byte| u64::from(*byte == b'\n'))
            .sum::<u64>();
        if let Some(keeper) = &self.keeper {
            keeper.take(chunk.to_vec()).await;
        } else if self.is_too_much() {
            // Until now the tail is all there was.
            let keeper = Keeper::start(Arc::clone(&self.machine));
            keeper.take([&self.tail.bytes, chunk].concat()).await;
            self.keeper = Some(keeper);
        }
        self.tail.push(chunk);
    }

    fn is_too_much(&self) -> bool {
        let OutputLimits {
            lines_max,
            bytes_max,
        } = self.machine.limits;
        self.bytes_total > bytes_max as u64 || self.lines > lines_max
    }

    /// The last bytes, and where all of them are kept.
    pub(crate) async fn finish(self) -> (Vec<u8>, Option<String>) {
        let kept_at = match self.keeper {
            Some(keeper) => keeper.finish().await,
            None => None,
        };
        (self.tail.bytes, kept_at)
    }
}

impl Keeper {
    fn start(machine: Arc<Machine>) -> Self {
        let (chunks, mut waiting) = mpsc::channel::<Vec<u8>>(CHUNKS_WAITING_MAX);
        let kept_at = spawn_blocking(move || {
            let (path, file) = machine.new_kept()?;
            let mut kept = Kept::new(file, KEPT_BYTES_MAX);
            while let Some(chunk) = waiting.blocking_recv() {
                kept.write(&chunk)?;
            }
            kept.finish()?;
            Ok(path)
        });
        Self { chunks, kept_at }
    }

    async fn take(&self, chunk: Vec<u8>) {
        // A keeper that could not go on has ended, and says why when asked where the file is.
        let _taken = self.chunks.send(chunk).await;
    }

    /// Where the output is; `None` if the disk would not take it: the tail is still there.
    async fn finish(self) -> Option<String> {
        drop(self.chunks);
        self.kept_at.await.ok()?.ok()
    }
}

/// The last bytes of a stream: at least `bytes_max`, if there were so many, and at most twice that
/// and a chunk.
#[derive(Debug)]
struct Tail {
    bytes: Vec<u8>,
    bytes_max: usize,
}

impl Tail {
    fn push(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
        if self.bytes.len() > self.bytes_max.saturating_mul(2) {
            self.bytes.drain(..self.bytes.len() - self.bytes_max);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_tail_is_the_end_of_what_went_in(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..40), max in 0usize..30) {
            let mut tail = Tail { bytes: Vec::new(), bytes_max: max };
            for chunk in &chunks {
                tail.push(chunk);
            }
            let all = chunks.concat();
            prop_assert!(all.ends_with(&tail.bytes));
            prop_assert!(tail.bytes.len() >= max.min(all.len()));
            prop_assert!(tail.bytes.len() <= 2 * max);
        }
    }
}
