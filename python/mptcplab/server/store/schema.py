"""The tables on SQLite, as migrations: `PRAGMA user_version` counts those carried out."""

from __future__ import annotations

import sqlite3

from mptcplab.server.store.database import check_version, statements

_FIRST = """
CREATE TABLE settings (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE people (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('viewer', 'operator', 'admin')),
    secret_sha256 BLOB NOT NULL UNIQUE,
    created_ms INTEGER NOT NULL,
    revoked_ms INTEGER
) STRICT;

CREATE TABLE enrolments (
    id TEXT PRIMARY KEY,
    secret_sha256 BLOB NOT NULL UNIQUE,
    agents INTEGER NOT NULL,
    used INTEGER NOT NULL DEFAULT 0 CHECK (used <= agents),
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    revoked_ms INTEGER
) STRICT;

CREATE TABLE agents (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    kernel TEXT NOT NULL,
    secret_sha256 BLOB NOT NULL UNIQUE,
    enrolment TEXT NOT NULL REFERENCES enrolments (id),
    enrolled_ms INTEGER NOT NULL,
    revoked_ms INTEGER,
    contact_ms INTEGER,
    contact TEXT,
    results INTEGER NOT NULL DEFAULT 0,
    sequences INTEGER NOT NULL DEFAULT 0,
    first_sequence INTEGER NOT NULL DEFAULT 0,
    last_sequence INTEGER,
    last_result INTEGER
) STRICT;

CREATE TABLE plans (
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    body TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    removed_ms INTEGER,
    PRIMARY KEY (name, version)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX plans_current ON plans (name) WHERE removed_ms IS NULL;

CREATE TABLE results (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    agent TEXT NOT NULL REFERENCES agents (id),
    plan TEXT NOT NULL,
    plan_name TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    reason TEXT,
    began_ms INTEGER NOT NULL,
    took_ms INTEGER NOT NULL,
    arrived_ms INTEGER NOT NULL,
    starved INTEGER NOT NULL,
    used_bytes INTEGER NOT NULL,
    interfaces TEXT NOT NULL,
    verdict TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    sha256 BLOB NOT NULL
) STRICT;
CREATE INDEX results_of_agent ON results (agent, began_ms);
CREATE INDEX results_by_sequence ON results (agent, sequence);
CREATE INDEX results_by_arrival ON results (agent, number);
CREATE INDEX results_of_plan ON results (plan_name, number);
CREATE INDEX results_by_time ON results (began_ms);
CREATE INDEX results_by_outcome ON results (outcome);

CREATE TABLE contents (
    result INTEGER PRIMARY KEY REFERENCES results (number) ON DELETE CASCADE,
    zlib BLOB NOT NULL
) STRICT;

CREATE TABLE figures (
    result INTEGER NOT NULL REFERENCES results (number) ON DELETE CASCADE,
    metric TEXT NOT NULL,
    direction TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    path INTEGER NOT NULL,
    interface TEXT NOT NULL,
    mean REAL NOT NULL,
    low REAL,
    high REAL,
    samples INTEGER NOT NULL,
    PRIMARY KEY (result, metric, direction, size_bytes, path)
) STRICT, WITHOUT ROWID;
"""

_SECOND = """
CREATE TABLE forgotten (
    agent TEXT NOT NULL REFERENCES agents (id),
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    PRIMARY KEY (agent, first)
) STRICT, WITHOUT ROWID;
INSERT INTO forgotten SELECT id, 0, first_sequence - 1 FROM agents WHERE first_sequence > 0;
UPDATE agents SET sequences = sequences + first_sequence;
ALTER TABLE agents DROP COLUMN first_sequence;
UPDATE agents SET last_result = (SELECT max(number) FROM results WHERE agent = agents.id);
DROP INDEX results_by_time;
CREATE INDEX results_by_age ON results (arrived_ms);
"""

_THIRD = """
CREATE TABLE sessions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    secret_sha256 BLOB NOT NULL UNIQUE,
    person TEXT NOT NULL REFERENCES people (id),
    began_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE alerts (
    agent TEXT NOT NULL REFERENCES agents (id),
    kind TEXT NOT NULL,
    since_ms INTEGER NOT NULL,
    PRIMARY KEY (agent, kind)
) STRICT, WITHOUT ROWID;
"""

# Ranges of the numbers of each agent's results that have ever been here, instead of a look at every
# result; and results by outcome, instead of a count.
_FOURTH = """
CREATE TABLE numbers (
    agent TEXT NOT NULL REFERENCES agents (id),
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    PRIMARY KEY (agent, first)
) STRICT, WITHOUT ROWID;
INSERT INTO numbers SELECT agent, min(first), max(last) FROM (
    SELECT agent, first, last, sum(is_apart) OVER (PARTITION BY agent ORDER BY first, last) AS range
    FROM (
        SELECT agent, first, last, first > 1 + coalesce(max(last) OVER (
            PARTITION BY agent ORDER BY first, last
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ), -2) AS is_apart
        FROM (
            SELECT agent, sequence AS first, sequence AS last FROM results
            UNION ALL SELECT agent, first, last FROM forgotten
        )
    )
) GROUP BY agent, range;
DROP TABLE forgotten;
DROP INDEX results_by_sequence;

CREATE TABLE outcomes (
    outcome TEXT PRIMARY KEY,
    results INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO outcomes SELECT outcome, count(*) FROM results GROUP BY outcome;
DROP INDEX results_by_outcome;
"""

# Results by their congestion control; empty: that of each end's system.
_FIFTH = """
ALTER TABLE results ADD COLUMN congestion_control TEXT NOT NULL DEFAULT '';
DROP INDEX results_of_agent;
CREATE INDEX results_of_agent ON results (agent, congestion_control, began_ms);
"""

# Why MPTCP was as slow as it was, as JSON, where that was asked for.
_SIXTH = """
CREATE TABLE explanations (
    result INTEGER PRIMARY KEY REFERENCES results (number) ON DELETE CASCADE,
    why TEXT NOT NULL
) STRICT;
"""

MIGRATIONS = (_FIRST, _SECOND, _THIRD, _FOURTH, _FIFTH, _SIXTH)
"""Never changed once they are released; new ones are appended."""
VERSION = len(MIGRATIONS)


def migrate(connection: sqlite3.Connection) -> None:
    """Brings the schema up to date, all of it or nothing.

    Raises:
        SchemaError: the database is newer than this program.

    """
    # Others that migrate wait here, and then have nothing to do.
    connection.execute("BEGIN IMMEDIATE")
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        check_version(version, VERSION)
        for migration in MIGRATIONS[version:]:
            # `executescript` would commit the transaction first.
            for statement in statements(migration):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        # A full disk ends it by itself.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
