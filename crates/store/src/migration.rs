//! The schema, as the steps that lead to it. A step that was released never changes.
//!
//! Must not touch a database that is not ours, or one that a newer version wrote.

use crate::error::Cause;
use rusqlite::{Connection, TransactionBehavior};

/// What each version adds to the one before.
const STEPS: &[(i64, &str)] = &[
    (1, include_str!("migration/1.sql")),
    (2, include_str!("migration/2.sql")),
    (3, include_str!("migration/3.sql")),
    (4, include_str!("migration/4.sql")),
];

/// The version of a file that all steps were taken on.
const KNOWN: i64 = STEPS[STEPS.len() - 1].0;

/// Marks our databases: `toll` in ASCII.
const APPLICATION_ID: i64 = 0x746f_6c6c;

/// Brings the schema up to date.
pub(crate) fn migrate(connection: &mut Connection) -> Result<(), Cause> {
    // Immediate, so that of several processes that open a new file one migrates and the others wait.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let number = |sql: &str| transaction.query_one(sql, [], |row| row.get::<_, i64>(0));
    let found = number("PRAGMA user_version")?;
    let is_ours = number("PRAGMA application_id")? == APPLICATION_ID;
    let is_new = found == 0 && number("SELECT count(*) FROM sqlite_schema")? == 0;
    if !is_ours && !is_new {
        return Err(Cause::NotAStore);
    }
    if found > KNOWN {
        return Err(Cause::Newer {
            found,
            known: KNOWN,
        });
    }
    if found == KNOWN {
        return Ok(());
    }
    for (_, step) in STEPS.iter().filter(|(version, _)| *version > found) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", KNOWN)?;
    transaction.commit()?;
    Ok(())
}
