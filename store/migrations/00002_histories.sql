-- Histories of clusters.

CREATE TABLE clusters (
    id       INTEGER NOT NULL PRIMARY KEY,
    name     TEXT NOT NULL UNIQUE CHECK (name <> ''),
    seen     BIGINT -- the latest snapshot
);

-- No foreign key: a check for each of a million rows takes longer than the rows.
CREATE TABLE jobs (
    submit     BIGINT NOT NULL,
    number     BIGINT NOT NULL,
    eligible   BIGINT,
    start_at   BIGINT,
    end_at     BIGINT,
    time_limit BIGINT NOT NULL,
    priority   BIGINT NOT NULL,
    cluster    INTEGER NOT NULL,
    sub        INTEGER NOT NULL,
    nodes      INTEGER NOT NULL,
    cpus       INTEGER NOT NULL,
    gpus       INTEGER NOT NULL,
    kind       SMALLINT NOT NULL,
    restarts   SMALLINT NOT NULL,
    exit_code  SMALLINT NOT NULL,
    signal     SMALLINT NOT NULL,
    estimated  SMALLINT NOT NULL CHECK (estimated IN (0, 1)), -- 1: from snapshots, not from accounting
    state      TEXT NOT NULL,
    name       TEXT NOT NULL,
    username   TEXT NOT NULL,
    account    TEXT NOT NULL,
    partition  TEXT NOT NULL,
    qos        TEXT NOT NULL,
    PRIMARY KEY (cluster, submit, number, sub, kind, restarts)
);

-- only postgres
-- By bytes: a comparison by the rules of a language is what an import would spend
-- most of its time on.
ALTER TABLE jobs ALTER COLUMN username TYPE TEXT COLLATE "C";
-- end

CREATE INDEX jobs_by_start ON jobs (cluster, start_at) WHERE start_at IS NOT NULL;
CREATE INDEX jobs_by_shape ON jobs (cluster, nodes, time_limit, start_at) WHERE start_at IS NOT NULL;
CREATE INDEX jobs_by_user ON jobs (cluster, username, start_at) WHERE start_at IS NOT NULL;

-- only sqlite
-- How selective the indexes are in a history of a million jobs: without it SQLite
-- guesses, and ANALYZE would take seconds now and then for the same.
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('jobs', 'sqlite_autoindex_jobs_1', '1000000 1000000 1 1 1 1 1'),
    ('jobs', 'jobs_by_start', '1000000 1000000 1'),
    ('jobs', 'jobs_by_shape', '1000000 1000000 20000 4000 1'),
    ('jobs', 'jobs_by_user', '1000000 1000000 2000 1');
ANALYZE sqlite_schema;
-- end
