//! A journal in memory that can be full, and a clock that stands still.

use super::lock;
use gate::{
    call::Ids,
    g2_admit::{Approvals, Scope},
    host::Clock,
    journal::{Event, Journal, Record},
};
use policy::Rule;
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

/// One yes that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Where it holds.
    pub scope: Scope,
    /// `permission pattern` of each rule.
    pub rules: Vec<String>,
    /// Who said so.
    pub who: String,
}

/// Keeps approvals until it is told to be full.
#[derive(Debug, Default)]
pub struct MemoryApprovals {
    kept: Mutex<Vec<Kept>>,
    is_full: AtomicBool,
}

impl MemoryApprovals {
    /// All that was kept, in order.
    pub fn kept(&self) -> Vec<Kept> {
        lock(&self.kept).clone()
    }

    /// From now on nothing can be kept.
    pub fn fill_up(&self) {
        self.is_full.store(true, Ordering::Relaxed);
    }
}

impl Approvals for MemoryApprovals {
    fn keep(&self, scope: Scope, rules: &[Rule], _by: &Ids, who: &str) -> Result<(), String> {
        if self.is_full.load(Ordering::Relaxed) {
            return Err("no space left".into());
        }
        let line = |rule: &Rule| format!("{} {}", rule.permission, rule.pattern.text());
        let rules = rules.iter().map(line).collect();
        let who = who.to_owned();
        lock(&self.kept).push(Kept { scope, rules, who });
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
