-- Trainings of models: each run with what came of it.

CREATE TABLE trainings (
    id        TEXT NOT NULL PRIMARY KEY, -- when it began, and sorts by it
    cluster   TEXT NOT NULL,
    cause     TEXT NOT NULL CHECK (cause IN ('schedule', 'catch-up', 'hand')),
    scheduled BIGINT, -- NULL for one by hand
    started   BIGINT NOT NULL,
    ended     BIGINT,
    state     TEXT NOT NULL CHECK (state IN ('running', 'promoted', 'kept', 'failed', 'interrupted', 'skipped')),
    step      TEXT NOT NULL, -- the latest that began
    why       TEXT NOT NULL, -- of the verdict, or of the failure
    model     TEXT NOT NULL,
    folder    TEXT NOT NULL, -- log, history and report of the run
    CHECK ((state = 'running') = (ended IS NULL))
);
-- Of one cluster one runs at a time, whoever started it.
CREATE UNIQUE INDEX one_training ON trainings (cluster) WHERE state = 'running';
