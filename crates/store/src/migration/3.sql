-- What was asked about, so that a changed policy can be held against past calls. JSON, see subjects.rs.
ALTER TABLE journal ADD COLUMN subjects TEXT;
-- Each record's digest over itself and the digest before it, see chain.rs. NULL: older than the chain.
ALTER TABLE journal ADD COLUMN chain TEXT;
-- The last record without a digest, so that none can lose its own.
CREATE TABLE chain_start (last_without INTEGER NOT NULL) STRICT;
INSERT INTO chain_start SELECT coalesce(max(id), 0) FROM journal;
