//! Approvals: what a person allowed for more than once, with where, when and by whom.
//!
//! Must not judge: a kept approval is a rule to be put under the others, and no more.

use crate::{
    error::{Cause, StoreError},
    id::ascending_id,
    store::{Store, signed},
};
use gate::{call::Ids, g2_admit::Scope};
use policy::{Action, Origin, Pattern, Rule};
use rusqlite::{Row, types::Type};

/// An approval as it was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredApproval {
    /// Its id.
    pub id: String,
    /// When it was given, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// Where it holds.
    pub scope: Scope,
    /// The session in which it was given.
    pub session: String,
    /// The real path of the workspace in which it was given.
    pub workspace: String,
    /// The message whose call asked.
    pub message: String,
    /// The id of the call in that message.
    pub tool_call_id: String,
    /// Who gave it.
    pub who: String,
    /// The permission name.
    pub permission: String,
    /// The text that was approved.
    pub pattern: String,
    /// Whether the text stands for itself alone and not as a wildcard.
    pub is_exact: bool,
    /// When it was revoked, in milliseconds since the Unix epoch.
    pub revoked_ms: Option<u64>,
}

impl StoredApproval {
    /// As a rule; its origin says who approved it. A pattern that cannot be read any more stands for
    /// its own text.
    pub fn rule(&self) -> Rule {
        let exact = Pattern::exact(&self.pattern);
        let pattern = if self.is_exact {
            exact
        } else {
            Pattern::read(&self.pattern).unwrap_or(exact)
        };
        let source = format!("approval {} by {}", self.id, self.who);
        let origin = Origin {
            source: source.into(),
            line: 0,
            column: 0,
        };
        Rule::new(self.permission.clone(), pattern, Action::Allow, origin)
    }
}

const COLUMNS: &str = "id, at_ms, scope, session, workspace, message, tool_call_id, who, permission, \
                       pattern, is_exact, revoked_ms";

impl Store {
    /// Keeps an approval for each of these rules, all or none. Returns their ids.
    ///
    /// # Errors
    /// They could not be written.
    pub fn approve(
        &self,
        scope: Scope,
        workspace: &str,
        rules: &[Rule],
        by: &Ids,
        who: &str,
    ) -> Result<Vec<String>, StoreError> {
        let at_ms = self.now_ms();
        let sql = format!(
            "INSERT INTO approval ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, NULL)"
        );
        self.write(|transaction| {
            let mut statement = transaction.prepare_cached(&sql)?;
            let mut keep = |rule: &Rule| -> Result<String, Cause> {
                let id = ascending_id("apr", at_ms);
                statement.execute((
                    &id,
                    signed(at_ms),
                    scope.to_string(),
                    &by.session,
                    workspace,
                    &by.message,
                    &by.tool_call_id,
                    who,
                    &rule.permission,
                    rule.pattern.text(),
                    rule.pattern.is_exact(),
                ))?;
                Ok(id)
            };
            rules.iter().map(&mut keep).collect()
        })
    }

    /// The approvals that hold in this session of this workspace, oldest first.
    ///
    /// # Errors
    /// The store could not be read.
    pub fn approvals_for(
        &self,
        session: &str,
        workspace: &str,
    ) -> Result<Vec<StoredApproval>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM approval WHERE revoked_ms IS NULL AND (scope = 'global'
             OR (scope = 'project' AND workspace = ?2)
             OR (scope = 'session' AND workspace = ?2 AND session = ?1)) ORDER BY id"
        );
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            statement
                .query_map([session, workspace], approval)?
                .collect()
        })
    }

    /// Every approval, the revoked ones too, oldest first.
    ///
    /// # Errors
    /// The store could not be read.
    pub fn approvals(&self) -> Result<Vec<StoredApproval>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM approval ORDER BY id");
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            statement.query_map([], approval)?.collect()
        })
    }

    /// Revokes one approval. Returns whether it held until now; the next session goes without it, and so
    /// does a running one from its next start.
    ///
    /// # Errors
    /// It could not be written.
    pub fn revoke(&self, id: &str) -> Result<bool, StoreError> {
        let now = signed(self.now_ms());
        self.write(|transaction| {
            let sql = "UPDATE approval SET revoked_ms = ?2 WHERE id = ?1 AND revoked_ms IS NULL";
            Ok(transaction.prepare_cached(sql)?.execute((id, now))? == 1)
        })
    }
}

fn approval(row: &Row<'_>) -> rusqlite::Result<StoredApproval> {
    let scope: String = row.get(2)?;
    let scope = match scope.as_str() {
        "session" => Scope::Session,
        "project" => Scope::Project,
        "global" => Scope::Global,
        // The table's own check keeps others out; a file that has one is damaged.
        other => {
            let unknown = format!("scope `{other}`");
            return Err(rusqlite::Error::FromSqlConversionFailure(
                2,
                Type::Text,
                unknown.into(),
            ));
        }
    };
    Ok(StoredApproval {
        id: row.get(0)?,
        at_ms: row.get::<_, i64>(1)?.cast_unsigned(),
        scope,
        session: row.get(3)?,
        workspace: row.get(4)?,
        message: row.get(5)?,
        tool_call_id: row.get(6)?,
        who: row.get(7)?,
        permission: row.get(8)?,
        pattern: row.get(9)?,
        is_exact: row.get(10)?,
        revoked_ms: row.get::<_, Option<i64>>(11)?.map(i64::cast_unsigned),
    })
}
