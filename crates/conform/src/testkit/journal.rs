//! A journal in memory that can be full, and a clock that stands still.

use super::lock;
use gate::{
    host::Clock,
    journal::{Event, Journal, Record},
};
use std::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering},
};

/// Keeps records until it is told to be full.
#[derive(Debug, Default)]
pub struct MemoryJournal {
    records: Mutex<Vec<Record>>,
    is_full: AtomicBool,
}

impl MemoryJournal {
    /// All records, in order.
    pub fn records(&self) -> Vec<Record> {
        lock(&self.records).clone()
    }

    /// From now on nothing can be kept.
    pub fn fill_up(&self) {
        self.is_full.store(true, Ordering::Relaxed);
    }

    /// The records as verbs: `intend read`, `did read`, `failed read`, `refused`.
    pub fn verbs(&self) -> Vec<String> {
        let verb = |effect: &str| effect.split(' ').next().unwrap_or_default().to_owned();
        let line = |record: &Record| match &record.event {
            Event::Intent { effect, .. } => format!("intend {}", verb(effect)),
            Event::Outcome {
                effect,
                result: Ok(()),
            } => format!("did {}", verb(effect)),
            Event::Outcome {
                effect,
                result: Err(_),
            } => format!("failed {}", verb(effect)),
            Event::Refused(_) => "refused".to_owned(),
        };
        lock(&self.records).iter().map(line).collect()
    }
}

impl Journal for MemoryJournal {
    fn append(&self, record: Record) -> Result<(), String> {
        if self.is_full.load(Ordering::Relaxed) {
            return Err("no space left".into());
        }
        lock(&self.records).push(record);
        Ok(())
    }
}

/// Always the same time, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct StoppedClock(pub u64);

impl Clock for StoppedClock {
    fn now_ms(&self) -> u64 {
        self.0
    }
}
