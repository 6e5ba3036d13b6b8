//! Sessions and their messages. Must not know what a message says: it is text to be given back.

use crate::{
    error::{Cause, StoreError},
    store::{Store, signed},
};
use rusqlite::{OptionalExtension, Row, ffi};

/// A session as it was created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSession {
    /// Its id.
    pub id: String,
    /// The name of the agent it was created for.
    pub agent: String,
    /// The workspace, as it was given.
    pub workspace: String,
    /// When, in milliseconds since the Unix epoch.
    pub created_ms: u64,
}

/// A message as it was appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMessage {
    /// Its place in the session.
    pub seq: u64,
    /// Its id.
    pub id: String,
    /// When it was appended, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// The message, byte for byte.
    pub json: String,
}

impl Store {
    /// Creates a session.
    ///
    /// # Errors
    /// There is one with this id, or it could not be written.
    pub fn create_session(&self, id: &str, agent: &str, workspace: &str) -> Result<(), StoreError> {
        let created_ms = signed(self.now_ms());
        self.write(|transaction| {
            let sql =
                "INSERT INTO session (id, agent, workspace, created_ms) VALUES (?1, ?2, ?3, ?4)";
            let inserted = transaction
                .prepare_cached(sql)?
                .execute((id, agent, workspace, created_ms));
            inserted.map_err(|error| match violation(&error) {
                Some(ffi::SQLITE_CONSTRAINT_PRIMARYKEY) => Cause::SessionExists(id.into()),
                _ => error.into(),
            })?;
            Ok(())
        })
    }

    /// The session of this id, if there is one.
    ///
    /// # Errors
    /// The store could not be read.
    pub fn session(&self, id: &str) -> Result<Option<StoredSession>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT id, agent, workspace, created_ms FROM session WHERE id = ?1";
            connection
                .prepare_cached(sql)?
                .query_row([id], stored)
                .optional()
        })
    }

    /// Every session, newest first.
    ///
    /// # Errors
    /// The store could not be read.
    pub fn sessions(&self) -> Result<Vec<StoredSession>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT id, agent, workspace, created_ms FROM session ORDER BY id DESC";
            connection
                .prepare_cached(sql)?
                .query_map([], stored)?
                .collect()
        })
    }

    /// Appends a message, which takes the place `seq` of its session. Places ascend, and may be left
    /// out.
    ///
    /// # Errors
    /// That place or a later one is taken: somebody else wrote to the session. Or there is no such
    /// session, the id was used before, or it could not be written.
    pub fn append_message(
        &self,
        session: &str,
        seq: u64,
        id: &str,
        json: &str,
    ) -> Result<(), StoreError> {
        let at_ms = signed(self.now_ms());
        self.write(|transaction| {
            let sql = "SELECT max(seq) FROM message WHERE session = ?1";
            let last: Option<i64> = transaction
                .prepare_cached(sql)?
                .query_row([session], |row| row.get(0))?;
            if let Some(last) = last.filter(|last| signed(seq) <= *last) {
                let last = last.cast_unsigned();
                return Err(Cause::OutOfOrder {
                    session: session.into(),
                    seq,
                    last,
                });
            }
            let sql =
                "INSERT INTO message (session, seq, id, at_ms, json) VALUES (?1, ?2, ?3, ?4, ?5)";
            let inserted =
                transaction
                    .prepare_cached(sql)?
                    .execute((session, signed(seq), id, at_ms, json));
            inserted.map_err(|error| match violation(&error) {
                Some(ffi::SQLITE_CONSTRAINT_FOREIGNKEY) => Cause::NoSuchSession(session.into()),
                Some(ffi::SQLITE_CONSTRAINT_UNIQUE) => Cause::MessageExists(id.into()),
                _ => error.into(),
            })?;
            Ok(())
        })
    }

    /// The messages of a session, in order; none if there is no such session.
    ///
    /// # Errors
    /// The store could not be read.
    pub fn messages(&self, session: &str) -> Result<Vec<StoredMessage>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT seq, id, at_ms, json FROM message WHERE session = ?1 ORDER BY seq";
            let message = |row: &Row<'_>| {
                let seq = row.get::<_, i64>(0)?.cast_unsigned();
                let at_ms = row.get::<_, i64>(2)?.cast_unsigned();
                Ok(StoredMessage {
                    seq,
                    id: row.get(1)?,
                    at_ms,
                    json: row.get(3)?,
                })
            };
            connection
                .prepare_cached(sql)?
                .query_map([session], message)?
                .collect()
        })
    }
}

/// The constraint that a statement broke.
fn violation(error: &rusqlite::Error) -> Option<i32> {
    error.sqlite_error().map(|error| error.extended_code)
}

fn stored(row: &Row<'_>) -> rusqlite::Result<StoredSession> {
    let created_ms = row.get::<_, i64>(3)?.cast_unsigned();
    Ok(StoredSession {
        id: row.get(0)?,
        agent: row.get(1)?,
        workspace: row.get(2)?,
        created_ms,
    })
}
