"""The tables on PostgreSQL, as migrations: a row of `mptcplab_schema` counts those carried out.

The first one has the tables that the fourth of SQLite leaves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from psycopg import errors

from mptcplab.server.store.database import SchemaError, check_version, statements

if TYPE_CHECKING:
    from mptcplab.server.store.postgresql import PostgresqlConnection

_FIRST = """
CREATE TABLE settings (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE people (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('viewer', 'operator', 'admin')),
    secret_sha256 BYTEA NOT NULL UNIQUE,
    created_ms BIGINT NOT NULL,
    revoked_ms BIGINT
);

CREATE TABLE enrolments (
    id TEXT PRIMARY KEY,
    secret_sha256 BYTEA NOT NULL UNIQUE,
    agents BIGINT NOT NULL,
    used BIGINT NOT NULL DEFAULT 0 CHECK (used <= agents),
    created_ms BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL,
    revoked_ms BIGINT
);

CREATE TABLE agents (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    kernel TEXT NOT NULL,
    secret_sha256 BYTEA NOT NULL UNIQUE,
    enrolment TEXT NOT NULL REFERENCES enrolments (id),
    enrolled_ms BIGINT NOT NULL,
    revoked_ms BIGINT,
    contact_ms BIGINT,
    contact TEXT,
    results BIGINT NOT NULL DEFAULT 0,
    sequences BIGINT NOT NULL DEFAULT 0,
    last_sequence BIGINT,
    last_result BIGINT
);

CREATE TABLE plans (
    name TEXT NOT NULL,
    version BIGINT NOT NULL,
    body TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    removed_ms BIGINT,
    PRIMARY KEY (name, version)
);
CREATE UNIQUE INDEX plans_current ON plans (name) WHERE removed_ms IS NULL;

CREATE TABLE results (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    agent TEXT NOT NULL REFERENCES agents (id),
    plan TEXT NOT NULL,
    plan_name TEXT NOT NULL,
    sequence BIGINT NOT NULL,
    outcome TEXT NOT NULL,
    reason TEXT,
    began_ms BIGINT NOT NULL,
    took_ms BIGINT NOT NULL,
    arrived_ms BIGINT NOT NULL,
    starved BIGINT NOT NULL,
    used_bytes BIGINT NOT NULL,
    interfaces TEXT NOT NULL,
    verdict TEXT NOT NULL,
    size_bytes BIGINT NOT NULL,
    sha256 BYTEA NOT NULL
);
CREATE INDEX results_of_agent ON results (agent, began_ms);
CREATE INDEX results_by_arrival ON results (agent, number);
CREATE INDEX results_of_plan ON results (plan_name, number);
CREATE INDEX results_by_age ON results (arrived_ms);

CREATE TABLE contents (
    result BIGINT PRIMARY KEY REFERENCES results (number) ON DELETE CASCADE,
    zlib BYTEA NOT NULL
);
-- It is compressed already.
ALTER TABLE contents ALTER COLUMN zlib SET STORAGE EXTERNAL;

CREATE TABLE figures (
    result BIGINT NOT NULL REFERENCES results (number) ON DELETE CASCADE,
    metric TEXT NOT NULL,
    direction TEXT NOT NULL,
    size_bytes BIGINT NOT NULL,
    path BIGINT NOT NULL,
    interface TEXT NOT NULL,
    mean DOUBLE PRECISION NOT NULL,
    low DOUBLE PRECISION,
    high DOUBLE PRECISION,
    samples BIGINT NOT NULL,
    PRIMARY KEY (result, metric, direction, size_bytes, path)
);

CREATE TABLE sessions (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    secret_sha256 BYTEA NOT NULL UNIQUE,
    person TEXT NOT NULL REFERENCES people (id),
    began_ms BIGINT NOT NULL
);

CREATE TABLE alerts (
    agent TEXT NOT NULL REFERENCES agents (id),
    kind TEXT NOT NULL,
    since_ms BIGINT NOT NULL,
    PRIMARY KEY (agent, kind)
);

CREATE TABLE numbers (
    agent TEXT NOT NULL REFERENCES agents (id),
    first BIGINT NOT NULL,
    last BIGINT NOT NULL,
    PRIMARY KEY (agent, first)
);

CREATE TABLE outcomes (
    outcome TEXT PRIMARY KEY,
    results BIGINT NOT NULL
);
"""

# The fifth of SQLite.
_SECOND = """
ALTER TABLE results ADD COLUMN congestion_control TEXT NOT NULL DEFAULT '';
DROP INDEX results_of_agent;
CREATE INDEX results_of_agent ON results (agent, congestion_control, began_ms);
"""

# The sixth of SQLite.
_THIRD = """
CREATE TABLE explanations (
    result BIGINT PRIMARY KEY REFERENCES results (number) ON DELETE CASCADE,
    why TEXT NOT NULL
);
"""

# Texts are in the order of their bytes, as on SQLite, whatever the database's language is.
MIGRATIONS = tuple(one.replace(" TEXT", ' TEXT COLLATE "C"') for one in (_FIRST, _SECOND, _THIRD))
"""Never changed once they are released; new ones are appended."""
VERSION = len(MIGRATIONS)


def migrate(connection: PostgresqlConnection) -> None:
    """Brings the schema up to date, all of it or nothing.

    Raises:
        SchemaError: the database is newer than this program, or of another one.
        StoreUnavailableError: it cannot be changed.

    """
    # Others that migrate wait here, and then have nothing to do.
    connection.begin()
    try:
        made = connection.execute("SELECT to_regclass('mptcplab_schema') IS NOT NULL AS made")
        if not made.fetchone()["made"]:
            _check_encoding(connection)
            connection.execute("CREATE TABLE mptcplab_schema (version BIGINT NOT NULL)")
            connection.execute("INSERT INTO mptcplab_schema VALUES (0)")
        version = connection.execute("SELECT version FROM mptcplab_schema").fetchone()["version"]
        check_version(version, VERSION)
        for migration in MIGRATIONS[version:]:
            for statement in statements(migration):
                connection.execute(statement)
        if version < VERSION:
            connection.execute("UPDATE mptcplab_schema SET version = ?", (VERSION,))
        connection.commit()
    except (errors.DuplicateTable, errors.DuplicateObject):
        connection.rollback()
        raise SchemaError(
            "holds tables of another program: give the server a database of its own (createdb)"
        ) from None
    except BaseException:
        connection.rollback()
        raise


def _check_encoding(connection: PostgresqlConnection) -> None:
    encoding = connection.execute("SHOW server_encoding").fetchone()["server_encoding"]
    if encoding != "UTF8":
        raise SchemaError(
            f"has texts as {encoding}: make it by createdb --encoding=UTF8 --template=template0"
        )
