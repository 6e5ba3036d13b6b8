//! Trust: which items of repositories' files a person said yes to, and what they said then.
//!
//! Must not judge whether an item is one of these: that is for whoever reads the file.

use crate::{
    error::StoreError,
    store::{Store, signed},
};
use rusqlite::Row;

/// An item that a person trusts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedItem {
    /// The real path of the repository.
    pub root: String,
    /// The real path of the file.
    pub file: String,
    /// Which of its items.
    pub key: String,
    /// The digest of what it says.
    pub digest: String,
    /// What it says, as the person saw it.
    pub text: String,
    /// Who trusts it.
    pub who: String,
}

/// An item as it was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTrust {
    /// Its number.
    pub id: i64,
    /// When it was trusted, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// The item.
    pub item: TrustedItem,
}

impl Store {
    /// Keeps an item as trusted. What was trusted at this place before no longer is.
    ///
    /// # Errors
    /// It could not be written.
    pub fn trust(&self, item: &TrustedItem) -> Result<(), StoreError> {
        let now = signed(self.now_ms());
        let TrustedItem {
            root,
            file,
            key,
            digest,
            text,
            who,
        } = item;
        self.write(|transaction| {
            let replace = "UPDATE trust SET ended_ms = ?3, ended_why = 'replaced'
                           WHERE file = ?1 AND key = ?2 AND ended_ms IS NULL";
            transaction.execute(replace, (file, key, now))?;
            let keep = "INSERT INTO trust (at_ms, root, file, key, digest, text, who)
                        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
            transaction.execute(keep, (now, root, file, key, digest, text, who))?;
            Ok(())
        })
    }

    /// What is trusted now, by file and key.
    ///
    /// # Errors
    /// The store could not be read.
    pub fn trusted(&self) -> Result<Vec<StoredTrust>, StoreError> {
        let sql = "SELECT id, at_ms, root, file, key, digest, text, who FROM trust
                   WHERE ended_ms IS NULL ORDER BY file, key";
        self.read(|connection| {
            let mut statement = connection.prepare_cached(sql)?;
            statement.query_map([], stored)?.collect()
        })
    }

    /// Takes trust back, all or none. Returns how many held until now; a running session goes on with
    /// what it started with.
    ///
    /// # Errors
    /// It could not be written.
    pub fn revoke_trust(&self, ids: &[i64]) -> Result<usize, StoreError> {
        let now = signed(self.now_ms());
        self.write(|transaction| {
            let sql = "UPDATE trust SET ended_ms = ?2, ended_why = 'revoked'
                       WHERE id = ?1 AND ended_ms IS NULL";
            let mut statement = transaction.prepare_cached(sql)?;
            let mut count = 0;
            for id in ids {
                count += statement.execute((id, now))?;
            }
            Ok(count)
        })
    }
}

fn stored(row: &Row<'_>) -> rusqlite::Result<StoredTrust> {
    Ok(StoredTrust {
        id: row.get(0)?,
        at_ms: row.get::<_, i64>(1)?.cast_unsigned(),
        item: TrustedItem {
            root: row.get(2)?,
            file: row.get(3)?,
            key: row.get(4)?,
            digest: row.get(5)?,
            text: row.get(6)?,
            who: row.get(7)?,
        },
    })
}
