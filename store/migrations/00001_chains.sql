-- Chains, their links, and the decisions that led to them. One text for both
-- engines; what stands between "only" and "end" is for one of them.
--
-- Instants and spans are BIGINT microseconds; NULL is an instant that is not
-- known, 9223372036854775807 a span without end. SQLite takes any type name:
-- BYTEA holds blobs there too.

CREATE TABLE chains (
    id            TEXT NOT NULL PRIMARY KEY CHECK (id <> ''),
    name          TEXT NOT NULL,
    username      TEXT NOT NULL,
    created       BIGINT NOT NULL,
    state         TEXT NOT NULL CHECK (state IN ('active', 'paused', 'done', 'stopped', 'failed')),
    why           TEXT NOT NULL,
    nodes         INTEGER NOT NULL,
    gpus_per_node INTEGER NOT NULL,
    time_limit    BIGINT NOT NULL,
    account       TEXT NOT NULL,
    partition     TEXT NOT NULL,
    qos           TEXT NOT NULL,
    terms         TEXT NOT NULL -- JSON
);
CREATE INDEX chains_by_user ON chains (username, created);
CREATE INDEX live_chains ON chains (created) WHERE state IN ('active', 'paused');

-- Apart from chains, since an environment is large and seldom wanted.
CREATE TABLE submissions (
    chain   TEXT NOT NULL PRIMARY KEY REFERENCES chains (id),
    content BYTEA NOT NULL -- JSON, its strings in base64: they may be any bytes
);

CREATE TABLE links (
    chain      TEXT NOT NULL REFERENCES chains (id),
    number     INTEGER NOT NULL CHECK (number >= 1),
    attempt    INTEGER NOT NULL CHECK (attempt >= 1),
    state      TEXT NOT NULL CHECK (state IN ('submitting', 'queued', 'running', 'ended', 'lost')),
    job_number BIGINT NOT NULL,
    job_sub    INTEGER NOT NULL,
    job_kind   INTEGER NOT NULL,
    planned    BIGINT,
    submitted  BIGINT,
    start_at   BIGINT,
    end_at     BIGINT,
    ready      BIGINT,
    ended      TEXT NOT NULL,
    exit_code  INTEGER NOT NULL,
    signal     INTEGER NOT NULL,
    restarts   INTEGER NOT NULL,
    PRIMARY KEY (chain, number, attempt)
);
-- One link of a chain waits, whoever submits. A link that was requeued while its
-- successor already waits is the only exception.
CREATE UNIQUE INDEX one_waiting_link ON links (chain) WHERE state = 'submitting' OR (state = 'queued' AND restarts = 0);
CREATE INDEX open_links ON links (chain) WHERE state IN ('submitting', 'queued', 'running');

CREATE TABLE decisions (
    chain        TEXT NOT NULL REFERENCES chains (id),
    number       INTEGER NOT NULL, -- of the link that it is about
    attempt      INTEGER NOT NULL,
    at           BIGINT NOT NULL,
    policy       TEXT NOT NULL,
    model        TEXT NOT NULL,
    submit       INTEGER NOT NULL CHECK (submit IN (0, 1)),
    submit_at    BIGINT,
    remaining    BIGINT NOT NULL,
    prefer       DOUBLE PRECISION NOT NULL,
    request      TEXT NOT NULL, -- JSON, as the next two
    forecast     TEXT NOT NULL,
    alternatives TEXT NOT NULL,
    reason       TEXT NOT NULL,
    PRIMARY KEY (chain, number, attempt, at)
);
CREATE INDEX decisions_by_time ON decisions (chain, at);

CREATE TABLE outcomes (
    chain        TEXT NOT NULL REFERENCES chains (id),
    number       INTEGER NOT NULL,
    at           BIGINT NOT NULL, -- when it was known
    interruption BIGINT NOT NULL CHECK (interruption >= 0),
    overlap      BIGINT NOT NULL CHECK (overlap >= 0),
    PRIMARY KEY (chain, number)
);

CREATE TABLE leases (
    name    TEXT NOT NULL PRIMARY KEY,
    holder  TEXT NOT NULL, -- '' when it was released
    fence   BIGINT NOT NULL,
    expires BIGINT NOT NULL
);

-- The state machines of segue.ChainState and segue.LinkState, so that not even a
-- hand with a database client breaks them.

-- only sqlite
CREATE TRIGGER chain_states BEFORE UPDATE OF state ON chains
WHEN NEW.state <> OLD.state AND OLD.state NOT IN ('active', 'paused')
BEGIN
    SELECT RAISE(ABORT, 'a chain that is done, stopped or failed stays so');
END;

CREATE TRIGGER link_states BEFORE UPDATE OF state ON links
WHEN NEW.state <> OLD.state AND NOT (
    OLD.state = 'submitting'
    OR (OLD.state = 'queued' AND NEW.state IN ('running', 'ended'))
    OR (OLD.state = 'running' AND NEW.state IN ('queued', 'ended')))
BEGIN
    SELECT RAISE(ABORT, 'a link does not go back');
END;

PRAGMA application_id = 1397049175; -- "SEGW"
-- end

-- only postgres
CREATE FUNCTION refuse_state() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%: a row may not go from % to %', TG_TABLE_NAME, OLD.state, NEW.state USING ERRCODE = 'SG001';
END
$$;

CREATE TRIGGER chain_states BEFORE UPDATE ON chains FOR EACH ROW
WHEN (NEW.state <> OLD.state AND OLD.state NOT IN ('active', 'paused'))
EXECUTE FUNCTION refuse_state();

CREATE TRIGGER link_states BEFORE UPDATE ON links FOR EACH ROW
WHEN (NEW.state <> OLD.state AND NOT (
    OLD.state = 'submitting'
    OR (OLD.state = 'queued' AND NEW.state IN ('running', 'ended'))
    OR (OLD.state = 'running' AND NEW.state IN ('queued', 'ended'))))
EXECUTE FUNCTION refuse_state();
-- end
