-- What a scheduler showed of itself: a line for each look, and the jobs that it
-- showed at the latest. A job that is no longer shown moves to jobs.

CREATE TABLE snapshots (
    cluster       INTEGER NOT NULL REFERENCES clusters (id),
    at            BIGINT NOT NULL,
    nodes         INTEGER NOT NULL, -- in service
    gpus_per_node INTEGER NOT NULL,
    running       INTEGER NOT NULL, -- jobs
    pending       INTEGER NOT NULL,
    running_nodes BIGINT NOT NULL,
    pending_nodes BIGINT NOT NULL,
    PRIMARY KEY (cluster, at)
);

CREATE TABLE sightings (
    cluster       INTEGER NOT NULL REFERENCES clusters (id),
    number        BIGINT NOT NULL,
    sub           INTEGER NOT NULL,
    kind          SMALLINT NOT NULL,
    restarts      SMALLINT NOT NULL, -- that were seen
    submit        BIGINT NOT NULL,
    eligible      BIGINT,
    start_at      BIGINT,
    priority      BIGINT NOT NULL,
    nodes         INTEGER NOT NULL,
    gpus_per_node INTEGER NOT NULL,
    time_limit    BIGINT NOT NULL,
    username      TEXT NOT NULL,
    account       TEXT NOT NULL,
    partition     TEXT NOT NULL,
    qos           TEXT NOT NULL,
    first_pending BIGINT,
    first_running BIGINT,
    PRIMARY KEY (cluster, number, sub, kind)
);
