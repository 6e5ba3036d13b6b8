-- What of repositories' files a person trusts: exactly this text at exactly this place. What no longer holds
-- keeps its row: it says who trusted what.
CREATE TABLE trust (
    id        INTEGER PRIMARY KEY,
    at_ms     INTEGER NOT NULL,
    root      TEXT NOT NULL, -- real path of the repository
    file      TEXT NOT NULL, -- real path
    key       TEXT NOT NULL, -- which of its items
    digest    TEXT NOT NULL, -- of what the item says
    text      TEXT NOT NULL, -- as it was shown
    who       TEXT NOT NULL,
    ended_ms  INTEGER,
    ended_why TEXT CHECK (ended_why IN ('revoked', 'replaced')),
    CHECK ((ended_ms IS NULL) = (ended_why IS NULL))
) STRICT;

CREATE UNIQUE INDEX trust_that_holds ON trust (file, key) WHERE ended_ms IS NULL;
