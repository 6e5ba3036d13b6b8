//! The lines of a session that ran inside the walls and ended badly: what alone lets a call ask to run one
//! outside, as long as nothing of the session has run since that could have changed what they mean. Must not hold a
//! word of the model's about them, nor more than a person is shown.

use crate::{
    access::{Handle, Spawn},
    host::{Ended, Exit, Host},
    words,
};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use text::truncate::{Keep, Limits, truncate};

/// The last lines that are known of.
pub const FAILED_LINES_MAX: usize = 32;

/// Longer lines are not kept, in bytes: they cannot be asked for. A person has to see all of one at once.
const LINE_BYTES_MAX: usize = 2_000;

/// The same in lines.
const LINE_COUNT_MAX: usize = 20;

/// What is kept of the end of an output.
const OUTPUT_MAX: Limits = Limits {
    lines_max: 10,
    bytes_max: 1_024,
};

/// What is kept of the machines that a line was refused.
const REFUSED_MAX: usize = 8;

/// A line, word for word, and where it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineKey {
    command: String,
    directory: String,
}

impl LineKey {
    pub(crate) fn of(spawn: &Spawn, host: &dyn Host) -> Self {
        let workspace = host.workspace().to_string_lossy();
        let directory = spawn.workdir().map_or(&*workspace, Handle::absolute);
        Self {
            command: spawn.command().to_owned(),
            directory: directory.to_owned(),
        }
    }

    fn is_too_long(&self) -> bool {
        self.command.len() > LINE_BYTES_MAX || self.command.lines().count() > LINE_COUNT_MAX
    }
}

/// What is about to act, for what it may do to the meaning of lines.
#[derive(Debug)]
pub(crate) enum Acts {
    /// A command that is proven to change nothing, and its line.
    Looks(LineKey),
    /// A command, or a tool that writes.
    Writes,
    /// The command that failed so, outside the sandbox.
    Leaves(Arc<FailedLine>),
}

/// How one line ended inside the walls: the gate's own record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedLine {
    key: LineKey,
    exit: Exit,
    timeout_ms: u64,
    output: String,
    refused: Vec<String>,
    /// [`Record::changes`] when it ended.
    changes: u64,
}

impl FailedLine {
    /// How it ended.
    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// How long it might take, in milliseconds.
    pub fn timeout_ms(&self) -> u64 {
        self.timeout_ms
    }

    /// The end of what it wrote.
    pub fn output(&self) -> &str {
        &self.output
    }

    /// Machines that it wanted to reach and might not, `host:port` each; the first few.
    pub fn refused(&self) -> &[String] {
        &self.refused
    }

    fn of(key: LineKey, timeout_ms: u64, ended: &Ended, changes: u64) -> Self {
        let tail = String::from_utf8_lossy(&ended.tail);
        let refused = ended.refused.iter().take(REFUSED_MAX);
        Self {
            key,
            exit: ended.exit,
            timeout_ms,
            output: truncate(&tail, OUTPUT_MAX, Keep::Tail).text,
            refused: refused.cloned().collect(),
            changes,
        }
    }
}

/// The record of one session, which lives as long as it does. Whoever furnishes rooms hands the same one to
/// all that are of one session; nobody but the gate writes in it. Clones are the same record.
#[derive(Clone, Debug, Default)]
pub struct FailedLines(Arc<Mutex<Record>>);

#[derive(Debug, Default)]
struct Record {
    lines: VecDeque<Arc<FailedLine>>,
    /// How many commands and writing tools are under way.
    acting_count: usize,
    /// Whether one of them is outside the sandbox.
    is_one_outside: bool,
    /// How often something began or ended that may have changed what a line means.
    changes: u64,
}

impl Record {
    fn forget_all(&mut self) {
        self.lines.clear();
        self.changes = self.changes.wrapping_add(1);
    }
}

impl FailedLines {
    /// Something begins to act. What lines came to before is forgotten if it may write; of its own line it is in
    /// any case.
    ///
    /// # Errors
    /// It may not now, for the model: one runs outside, or it is to leave and is not alone, or something has acted
    /// since it failed.
    pub(crate) fn begin(&self, acts: Acts) -> Result<Acting, &'static str> {
        let mut record = self.record();
        if record.is_one_outside {
            return Err(words::ONE_IS_OUTSIDE);
        }
        let (may_write, is_outside) = match acts {
            Acts::Looks(key) => {
                record.lines.retain(|it| it.key != key);
                (false, false)
            }
            Acts::Writes => (true, false),
            Acts::Leaves(_) if record.acting_count > 0 => return Err(words::NOT_ALONE),
            Acts::Leaves(failed) if failed.changes != record.changes => {
                return Err(words::FAILURE_IS_OLD);
            }
            Acts::Leaves(_) => (true, true),
        };
        if may_write {
            record.forget_all();
        }
        record.acting_count += 1;
        record.is_one_outside = is_outside;
        Ok(Acting {
            of: self.clone(),
            may_write,
            is_outside,
        })
    }

    /// Takes note of how a line ended that ran inside. What it came to before is forgotten.
    pub(crate) fn note(&self, key: LineKey, timeout_ms: u64, ended: &Ended) {
        let mut record = self.record();
        record.lines.retain(|it| it.key != key);
        let is_well = ended.exit == Exit::Code(0) && ended.refused.is_empty();
        if is_well || key.is_too_long() {
            return;
        }
        if record.lines.len() == FAILED_LINES_MAX {
            record.lines.pop_front();
        }
        let failed = FailedLine::of(key, timeout_ms, ended, record.changes);
        record.lines.push_back(Arc::new(failed));
    }

    /// How this very line ended, if that was badly, nothing has acted since and nobody was asked about it yet.
    pub(crate) fn find(&self, key: &LineKey) -> Option<Arc<FailedLine>> {
        self.record()
            .lines
            .iter()
            .find(|it| it.key == *key)
            .cloned()
    }

    /// Strikes it out: a person is asked about it once.
    ///
    /// # Errors
    /// Nobody is to be asked, for the model: it was struck out before, or something is acting.
    pub(crate) fn use_up(&self, failed: &Arc<FailedLine>) -> Result<(), &'static str> {
        let mut record = self.record();
        let Some(at) = record.lines.iter().position(|it| Arc::ptr_eq(it, failed)) else {
            return Err(words::FAILURE_USED_UP);
        };
        if record.acting_count > 0 {
            return Err(words::NOT_ALONE);
        }
        record.lines.remove(at);
        Ok(())
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Something acts until this is dropped, on whatever path.
#[derive(Debug)]
#[must_use]
pub(crate) struct Acting {
    of: FailedLines,
    may_write: bool,
    is_outside: bool,
}

impl Drop for Acting {
    fn drop(&mut self) {
        let mut record = self.of.record();
        record.acting_count = record.acting_count.saturating_sub(1);
        if self.is_outside {
            record.is_one_outside = false;
        }
        // A line may have failed while this one was still at it.
        if self.may_write {
            record.forget_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(command: &str) -> LineKey {
        LineKey {
            command: command.into(),
            directory: "/w".into(),
        }
    }

    fn ended(code: i32, tail: &str, refused: &[&str]) -> Ended {
        Ended {
            exit: Exit::Code(code),
            tail: tail.into(),
            bytes_total: 0,
            refused: refused.iter().map(|it| (*it).to_owned()).collect(),
            undone: Vec::new(),
            kept_at: None,
        }
    }

    #[test]
    fn only_the_last_lines_are_known_of() {
        let lines = FailedLines::default();
        for at in 0..=FAILED_LINES_MAX {
            lines.note(place(&format!("c{at}")), 7, &ended(1, "", &[]));
        }
        assert_eq!(lines.find(&place("c0")), None);
        assert!(lines.find(&place("c1")).is_some() && lines.find(&place("c32")).is_some());
        lines.note(
            place(&"x".repeat(LINE_BYTES_MAX + 1)),
            7,
            &ended(1, "", &[]),
        );
        assert_eq!(lines.record().lines.len(), FAILED_LINES_MAX);
    }

    #[test]
    fn the_last_end_of_a_line_is_the_one_that_counts() {
        let lines = FailedLines::default();
        lines.note(place("make"), 7, &ended(1, "first", &[]));
        lines.note(place("make"), 7, &ended(2, "second", &[]));
        let failed = lines.find(&place("make")).unwrap();
        assert_eq!((failed.exit(), failed.output()), (Exit::Code(2), "second"));
        assert_eq!(lines.record().lines.len(), 1);
        lines.note(place("make"), 7, &ended(0, "", &[]));
        assert_eq!(lines.find(&place("make")), None);
        assert!(lines.use_up(&failed).is_err());
    }

    #[test]
    fn a_machine_refused_is_a_bad_end_whatever_the_code() {
        let lines = FailedLines::default();
        lines.note(place("make"), 7, &ended(0, "", &["a.test:443"; 9]));
        let failed = lines.find(&place("make")).unwrap();
        assert_eq!(failed.refused(), ["a.test:443"; REFUSED_MAX]);
    }

    #[test]
    fn what_is_kept_of_an_output_is_its_end() {
        let lines = FailedLines::default();
        let tail: Vec<String> = (0..99).map(|at| format!("line{at}\n")).collect();
        let tail = tail.concat();
        lines.note(place("make"), 7, &ended(1, &tail, &[]));
        let failed = lines.find(&place("make")).unwrap();
        assert!(failed.output().ends_with("line98\n"), "{failed:?}");
        assert_eq!(failed.output().lines().count(), 10);
        lines.note(place("make"), 7, &ended(1, &"x".repeat(9_999), &[]));
        let failed = lines.find(&place("make")).unwrap();
        assert!(failed.output().len() <= 1_024, "{}", failed.output().len());
        assert!(!failed.output().is_empty());
    }

    #[test]
    fn a_failure_is_used_up_once() {
        let lines = FailedLines::default();
        lines.note(place("make"), 7, &ended(1, "", &[]));
        let failed = lines.find(&place("make")).unwrap();
        assert_eq!(lines.use_up(&failed), Ok(()));
        assert_eq!(lines.use_up(&failed), Err(words::FAILURE_USED_UP));
        lines.note(place("make"), 7, &ended(1, "", &[]));
        let again = lines.use_up(&failed);
        assert_eq!(again, Err(words::FAILURE_USED_UP), "it is another failure");
    }

    /// A record in which `make` has failed.
    fn failed() -> (FailedLines, Arc<FailedLine>) {
        let lines = FailedLines::default();
        lines.note(place("make"), 7, &ended(1, "", &[]));
        let failed = lines.find(&place("make")).unwrap();
        (lines, failed)
    }

    #[test]
    fn a_line_of_more_than_a_person_sees_at_once_is_not_known_of() {
        let lines = FailedLines::default();
        for (line, is_known) in [
            ("x".repeat(2_000), true),
            ("x".repeat(2_001), false),
            ("x\n".repeat(20), true),
            ("x\n".repeat(21), false),
        ] {
            lines.note(place(&line), 7, &ended(1, "", &[]));
            assert_eq!(lines.find(&place(&line)).is_some(), is_known, "{line}");
        }
    }

    #[test]
    fn whatever_may_write_ends_what_is_known_when_it_begins_and_when_it_ends() {
        let (lines, _) = failed();
        let acting = lines.begin(Acts::Writes).unwrap();
        assert_eq!(lines.find(&place("make")), None);
        lines.note(place("make"), 7, &ended(1, "", &[]));
        assert!(lines.find(&place("make")).is_some());
        drop(acting);
        assert_eq!(lines.find(&place("make")), None);
    }

    #[test]
    fn a_look_ends_only_what_is_known_of_its_own_line() {
        let (lines, _) = failed();
        drop(lines.begin(Acts::Looks(place("ls"))).unwrap());
        assert!(lines.find(&place("make")).is_some());
        // It was lost, so nothing is noted of it.
        drop(lines.begin(Acts::Looks(place("make"))).unwrap());
        assert_eq!(lines.find(&place("make")), None);
    }

    #[test]
    fn a_line_that_a_person_was_asked_about_stays_inside_once_anything_has_written() {
        let (lines, failed) = failed();
        lines.use_up(&failed).unwrap();
        drop(lines.begin(Acts::Writes).unwrap());
        let left = lines.begin(Acts::Leaves(failed)).map(drop);
        assert_eq!(left, Err(words::FAILURE_IS_OLD));
    }

    #[test]
    fn what_leaves_is_alone_from_the_question_to_its_end() {
        let (lines, failed) = failed();
        let look = lines.begin(Acts::Looks(place("ls"))).unwrap();
        assert_eq!(lines.use_up(&failed), Err(words::NOT_ALONE));
        drop(look);
        lines.use_up(&failed).unwrap();
        let look = lines.begin(Acts::Looks(place("ls"))).unwrap();
        let left = lines.begin(Acts::Leaves(failed.clone())).map(drop);
        assert_eq!(left, Err(words::NOT_ALONE));
        drop(look);
        let outside = lines.begin(Acts::Leaves(failed.clone())).unwrap();
        for acts in [
            Acts::Writes,
            Acts::Looks(place("ls")),
            Acts::Leaves(failed.clone()),
        ] {
            assert_eq!(lines.begin(acts).map(drop), Err(words::ONE_IS_OUTSIDE));
        }
        drop(outside);
        let left = lines.begin(Acts::Leaves(failed)).map(drop);
        assert_eq!(left, Err(words::FAILURE_IS_OLD), "once");
        lines.begin(Acts::Writes).map(drop).unwrap();
    }
}
