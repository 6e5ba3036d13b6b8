CREATE TABLE session (
    id         TEXT NOT NULL PRIMARY KEY,
    agent      TEXT NOT NULL,
    workspace  TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE message (
    session TEXT NOT NULL REFERENCES session (id),
    seq     INTEGER NOT NULL,
    id      TEXT NOT NULL UNIQUE,
    at_ms   INTEGER NOT NULL,
    json    TEXT NOT NULL,
    PRIMARY KEY (session, seq)
) STRICT;

-- No reference to session: a record must never be lost for want of one.
CREATE TABLE journal (
    id           INTEGER PRIMARY KEY,
    at_ms        INTEGER NOT NULL,
    session      TEXT NOT NULL,
    message      TEXT NOT NULL,
    process      TEXT NOT NULL, -- unique, as the number the system gives (pid) is not
    pid          INTEGER NOT NULL,
    call         INTEGER NOT NULL, -- unique in its process
    tool_call_id TEXT NOT NULL,
    tool         TEXT NOT NULL,
    kind         TEXT NOT NULL CHECK (kind IN ('intent', 'outcome', 'refused')),
    effect       TEXT CHECK ((effect IS NULL) = (kind = 'refused')),
    result       TEXT, -- why the effect was not had; NULL in an outcome: it was
    action       TEXT,
    decided_by   TEXT,
    gate         TEXT CHECK ((gate IS NULL) = (kind <> 'refused')),
    generation   INTEGER,
    trace        TEXT
) STRICT;

CREATE INDEX journal_of_session ON journal (session);
CREATE INDEX journal_of_call ON journal (process, call);
