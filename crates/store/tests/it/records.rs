//! Records to keep, taken from real calls in a room: nothing else can make a decision or a call id.

use conform::testkit::{Bench, no, yes};
use gate::journal::Record;
use policy::Action;
use serde_json::json;
use std::sync::OnceLock;

/// A read that a person allowed: the intent and the outcome.
pub(crate) fn read() -> [Record; 2] {
    let bench = Bench::new(&[("read", "*", Action::Ask)]);
    bench
        .run(tools::Read, json!({"filePath": "a.txt"}), |_| yes())
        .unwrap();
    bench.journal.records().try_into().unwrap()
}

/// A read of an env file, which a rule denies.
pub(crate) fn denied() -> Record {
    let bench = Bench::new(&[
        ("read", "*", Action::Allow),
        ("read", "*.env", Action::Deny),
    ]);
    bench
        .run(tools::Read, json!({"filePath": ".env"}), |_| yes())
        .unwrap_err();
    let [record] = bench.journal.records().try_into().unwrap();
    record
}

/// A read that no rule speaks of and a person rejects.
pub(crate) fn rejected() -> Record {
    let bench = Bench::new(&[]);
    bench
        .run(tools::Read, json!({"filePath": "a.txt"}), |_| no())
        .unwrap_err();
    let [record] = bench.journal.records().try_into().unwrap();
    record
}

/// An intent that can be told from others by the name of its call.
pub(crate) fn intent(name: &str) -> Record {
    static INTENT: OnceLock<Record> = OnceLock::new();
    let mut record = INTENT.get_or_init(|| read()[0].clone()).clone();
    record.ids.tool_call_id = name.into();
    record
}
