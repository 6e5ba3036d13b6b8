-- What a person approved for more than once. Revoking keeps the row: it says who approved what.
CREATE TABLE approval (
    id           TEXT NOT NULL PRIMARY KEY,
    at_ms        INTEGER NOT NULL,
    scope        TEXT NOT NULL CHECK (scope IN ('session', 'project', 'global')),
    session      TEXT NOT NULL, -- in which it was given
    workspace    TEXT NOT NULL, -- real path, in which it was given
    message      TEXT NOT NULL,
    tool_call_id TEXT NOT NULL,
    who          TEXT NOT NULL,
    permission   TEXT NOT NULL,
    pattern      TEXT NOT NULL,
    is_exact     INTEGER NOT NULL CHECK (is_exact IN (0, 1)),
    revoked_ms   INTEGER
) STRICT;

CREATE INDEX approval_of_workspace ON approval (workspace);
