-- What a server keeps about those who talk to it: their tokens, what each of them
-- changed, and the answers to writes that may be asked for again.

CREATE TABLE tokens (
    id       TEXT NOT NULL PRIMARY KEY CHECK (id <> ''),
    hash     TEXT NOT NULL UNIQUE, -- SHA-256 of the secret, in hexadecimal
    username TEXT NOT NULL CHECK (username <> ''),
    scopes   TEXT NOT NULL, -- separated by spaces
    note     TEXT NOT NULL,
    created  BIGINT NOT NULL,
    expires  BIGINT, -- NULL: never
    revoked  BIGINT  -- NULL: not
);

CREATE TABLE audit (
    id       TEXT NOT NULL PRIMARY KEY CHECK (id <> ''),
    at       BIGINT NOT NULL,
    username TEXT NOT NULL,
    via      TEXT NOT NULL, -- "token ID", "socket", "command line"
    action   TEXT NOT NULL,
    object   TEXT NOT NULL,
    status   INTEGER NOT NULL, -- of HTTP; 0: begun, and nobody knows how it ended
    detail   TEXT NOT NULL
);
CREATE INDEX audit_by_time ON audit (at, id);

CREATE TABLE idempotency (
    owner       TEXT NOT NULL,
    key         TEXT NOT NULL,
    fingerprint TEXT NOT NULL, -- of the request
    at          BIGINT NOT NULL,
    status      INTEGER NOT NULL, -- of HTTP; 0: not answered yet
    kind        TEXT NOT NULL, -- Content-Type of the answer
    body        BYTEA NOT NULL,
    PRIMARY KEY (owner, key)
);
CREATE INDEX idempotency_by_time ON idempotency (at);
