//! The chain of the journal: each record holds a digest over itself and over the digest before it, so
//! that no record can be changed, taken out or put in without a trace.
//!
//! Must not be taken for a seal: who may write the file can make the whole chain anew, or cut its end
//! off. What holds against that is a head that was written down elsewhere, see [`Verified::head`].

use crate::{
    error::StoreError,
    store::{Store, signed},
};
use rusqlite::{Row, types::ValueRef};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// The columns that a digest is over, in this order; what a later schema adds comes behind them.
pub(crate) const COLUMNS: [&str; 18] = [
    "id",
    "at_ms",
    "session",
    "message",
    "process",
    "pid",
    "call",
    "tool_call_id",
    "tool",
    "kind",
    "effect",
    "result",
    "action",
    "decided_by",
    "gate",
    "generation",
    "trace",
    "subjects",
];

/// What came of holding the journal against its chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// How many records have a digest.
    pub count: u64,
    /// How many are older than the chain and have none.
    pub older_count: u64,
    /// The digest of the last record, in hexadecimal; to be written down elsewhere. `None`: no record
    /// has one.
    pub head: Option<String>,
    /// The first record that does not fit, and why.
    pub broken: Option<Broken>,
    /// Whether a head that was written down before is the digest of one of the records; `None`: none
    /// was given.
    pub holds_head: Option<bool>,
}

/// A record that does not fit the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Its number.
    pub id: i64,
    /// What is wrong, in a few words.
    pub why: &'static str,
}

impl Store {
    /// Holds every record against the chain. `head` is one that was written down before.
    ///
    /// # Errors
    /// The store could not be read.
    pub fn verify(&self, head: Option<&str>) -> Result<Verified, StoreError> {
        self.read(|connection| {
            let last_without: i64 =
                connection
                    .query_one("SELECT last_without FROM chain_start", [], |row| row.get(0))?;
            let sql = format!(
                "SELECT {}, chain FROM journal ORDER BY id",
                COLUMNS.join(", ")
            );
            let mut statement = connection.prepare(&sql)?;
            let mut rows = statement.query([])?;
            let mut verified = Verified {
                count: 0,
                older_count: 0,
                head: None,
                broken: None,
                holds_head: head.map(|_| false),
            };
            let mut next = None;
            while let Some(row) = rows.next()? {
                let id: i64 = row.get("id")?;
                let found: Option<String> = row.get("chain")?;
                let before = verified.head.as_deref().unwrap_or_default();
                let why = match &found {
                    None if id <= last_without => {
                        verified.older_count += 1;
                        continue;
                    }
                    None => Some("its digest is gone"),
                    Some(_) if next.is_some_and(|next| next != id) => {
                        Some("records before it are gone")
                    }
                    Some(found) if *found != digest_of(before, row)? => {
                        Some("it, or one before it, was changed")
                    }
                    Some(_) => None,
                };
                if let Some(why) = why {
                    verified.broken = Some(Broken { id, why });
                    break;
                }
                if head.is_some() && found.as_deref() == head {
                    verified.holds_head = Some(true);
                }
                verified.count += 1;
                verified.head = found;
                next = Some(id + 1);
            }
            Ok(verified)
        })
    }
}

/// A value of one column, as the digest takes it.
pub(crate) enum Cell<'a> {
    /// No value.
    Null,
    /// A number.
    Number(i64),
    /// A text.
    Text(&'a str),
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<Option<&'a str>> for Cell<'a> {
    fn from(text: Option<&'a str>) -> Self {
        text.map_or(Self::Null, Self::Text)
    }
}

impl From<u64> for Cell<'_> {
    fn from(number: u64) -> Self {
        Self::Number(signed(number))
    }
}

/// The digest of a record behind the digest `before`, in hexadecimal. Each value stands behind its
/// kind and its length, so that no two records give the same bytes.
pub(crate) fn digest<'a>(before: &str, cells: impl IntoIterator<Item = Cell<'a>>) -> String {
    let mut sum = Sha256::new();
    sum.update(before);
    for cell in cells {
        match cell {
            Cell::Null => sum.update("-"),
            Cell::Number(number) => sum.update(format!("n{number};")),
            Cell::Text(text) => {
                sum.update(format!("t{};", text.len()));
                sum.update(text);
            }
        }
    }
    sum.finalize().iter().fold(String::new(), |mut out, byte| {
        // Writing to a string cannot fail.
        let _ok = write!(out, "{byte:02x}");
        out
    })
}

fn digest_of(before: &str, row: &Row<'_>) -> rusqlite::Result<String> {
    let mut cells = Vec::new();
    for index in 0..COLUMNS.len() {
        cells.push(match row.get_ref(index)? {
            ValueRef::Integer(number) => Cell::Number(number),
            ValueRef::Text(text) => match std::str::from_utf8(text) {
                Ok(text) => Cell::Text(text),
                // A strict table holds text and numbers; anything else is damage, and fits no digest.
                Err(_) => Cell::Null,
            },
            ValueRef::Null | ValueRef::Real(_) | ValueRef::Blob(_) => Cell::Null,
        });
    }
    Ok(digest(before, cells))
}
