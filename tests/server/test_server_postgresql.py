"""The server on PostgreSQL: URLs, passwords, other programs, restarts of either."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread

import psycopg
import pytest
from benches.served.cluster import USER, Cluster
from tests.server.made import AGENT, CONTACT, PLAN, encoded
from tests.server.running import Running, run
from tests.server.test_server_store import put, ranges, with_agent

from mptcplab.server.store import agents, numbers, results, settings
from mptcplab.server.store.connection import Readers, changing
from mptcplab.server.store.database import Connection, SchemaError, StoreUnavailableError
from mptcplab.server.store.postgresql import PostgresqlDatabase
from mptcplab.server.store.sqlite import SqliteDatabase
from mptcplab.server.store.writer import Writer

Columns = dict[tuple[str, str], tuple[str, bool]]
_TYPES = {"bytea": "BLOB", "bigint": "INTEGER", "double precision": "REAL", "text": "TEXT"}


@pytest.fixture
def database(postgresql: Cluster) -> PostgresqlDatabase:
    return PostgresqlDatabase(postgresql.new_database())


@pytest.fixture
def connection(database: PostgresqlDatabase) -> Iterator[Connection]:
    with closing(database.connect()) as made:
        yield made


def test_both_databases_have_the_same_columns(connection: Connection, tmp_path: Path) -> None:
    with closing(SqliteDatabase(tmp_path / "server.db").connect()) as sqlite:
        expected = columns_of_sqlite(sqlite)
    found = {
        (row["table_name"], row["column_name"]): (
            _TYPES[row["data_type"]],
            row["is_nullable"] == "NO",
        )
        for row in connection.execute(
            "SELECT * FROM information_schema.columns WHERE table_schema = 'public'"
        )
        if row["table_name"] != "mptcplab_schema"
    }
    assert found == expected


def columns_of_sqlite(connection: Connection) -> Columns:
    rows = connection.execute(
        'SELECT t.name AS "table", c.name, c.type, c."notnull" OR c.pk AS filled'
        " FROM sqlite_schema AS t, pragma_table_info(t.name) AS c"
        " WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%'"
    )
    return {(row["table"], row["name"]): (row["type"], bool(row["filled"])) for row in rows}


@pytest.mark.parametrize(
    "url",
    [
        "mysql://u:secret@h/d",
        "host=h password=secret",
        "postgresql://u:secret/x@h/d",
        "postgresql://u:12/secret@h/d",
        "postgresql://u:x@secret@h/d",
        "postgresql://u:%secret@h/d",
        "postgresql://u@h/d?secret=1",
    ],
)
def test_what_is_no_url_is_told_without_its_password(url: str, tmp_path: Path) -> None:
    told = run("--state", str(tmp_path / "state"), "--database", url, status=1)
    assert told.startswith("--database: is no URL of a database: write postgresql://USER@HOST/")
    assert told.count("\n") == 1
    assert "secret" not in told


def test_a_url_is_shown_without_its_password() -> None:
    shown = {
        "postgresql://u:secret@h:5433/d?sslmode=require": "postgresql://u@h:5433/d",
        "postgres://h/d?password=secret&user=u": "postgresql://u@h/d",
        "postgresql://u:secret@[::1]/d%20e": "postgresql://u@[::1]/d%20e",
        "postgresql:///d?host=/run/x&port=1": "postgresql:///d?host=/run/x&port=1",
    }
    assert {url: PostgresqlDatabase(url).shown for url in shown} == shown
    assert "secret" not in repr(PostgresqlDatabase(next(iter(shown))))


def test_a_database_that_is_not_reached_is_told_in_a_line(
    postgresql: Cluster, tmp_path: Path
) -> None:
    own = f"postgresql://{USER}@"
    place = f"?host={postgresql.folder}"
    for url, shown, fix in (
        ("postgresql://u:secret@127.0.0.1:1/d", "postgresql://u@127.0.0.1:1/d", "running there?"),
        (postgresql.url("d", "secret"), f"{own}/d{place}", "PGPASSWORD or ~/.pgpass"),
        (postgresql.url("absent"), f"{own}/absent{place}", "make it: createdb absent"),
    ):
        told = run(
            "--state", str(tmp_path / "state"), "--listen", "127.0.0.1:0", "--database", url,
            status=1,
        )  # fmt: skip
        assert told.startswith(f"{shown}: connection failed: ")
        assert told.endswith(f": {fix}\n") or told.endswith(f" {fix}\n")
        assert told.count("\n") == 1
        assert "secret" not in told
        assert postgresql.password not in told
        assert not (tmp_path / "state/database.url").exists()


def test_a_database_of_another_program_is_left_alone(database: PostgresqlDatabase) -> None:
    with psycopg.connect(database.url, autocommit=True) as other:
        other.execute("CREATE TABLE people (name TEXT)")
        with pytest.raises(SchemaError, match="of another program"):
            database.connect()
        found = other.execute("SELECT to_regclass('mptcplab_schema')").fetchone()
    assert found == (None,)


def test_a_database_of_a_newer_program_or_another_encoding_is_left_alone(
    postgresql: Cluster, database: PostgresqlDatabase
) -> None:
    with closing(database.connect()) as connection:
        connection.execute("UPDATE mptcplab_schema SET version = version + 1")
    with pytest.raises(SchemaError, match="take a newer one"):
        database.connect()
    latin = postgresql.new_database("TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C'")
    with pytest.raises(SchemaError, match="createdb --encoding=UTF8"):
        PostgresqlDatabase(latin).connect()


def test_a_user_without_rights_is_told_how_to_get_them(
    postgresql: Cluster, database: PostgresqlDatabase
) -> None:
    with psycopg.connect(database.url, autocommit=True) as owner:
        owner.execute("CREATE ROLE guest LOGIN PASSWORD 'guest'")
    url = database.url.replace(f"{USER}:{postgresql.password}", "guest:guest")
    with pytest.raises(StoreUnavailableError, match=r"ALTER DATABASE lab_.* OWNER TO guest"):
        PostgresqlDatabase(url).connect()


def test_changes_of_two_programs_wait_for_each_other(database: PostgresqlDatabase) -> None:
    def add(parity: int) -> None:
        with closing(database.connect()) as own:
            for number in range(parity, 60, 2):
                with changing(own):
                    numbers.add(own, AGENT, number)

    with closing(database.connect()) as connection:
        with changing(connection):
            with_agent(connection)
        both = [Thread(target=add, args=(parity,)) for parity in range(2)]
        for one in both:
            one.start()
        for one in both:
            one.join()
        assert ranges(connection) == [(0, 59)]


def test_a_failed_statement_is_no_commit(connection: Connection) -> None:
    connection.begin()
    with pytest.raises(psycopg.errors.UndefinedTable):
        connection.execute("SELECT 1 FROM nothing").fetchall()
    with pytest.raises(StoreUnavailableError):
        connection.commit()
    connection.rollback()
    # It may be told as late as this.
    connection.begin()
    connection.execute("INSERT INTO nothing VALUES (1)")
    connection.execute("INSERT INTO settings VALUES ('a', 'b')")
    with pytest.raises(psycopg.errors.UndefinedTable):
        connection.commit()
    connection.rollback()
    assert not connection.in_transaction
    assert settings.one(connection, "a") is None
    # The parts before and after one that fails are kept.
    with changing(connection):
        for key in ("a", "b", "a", "c"):
            with suppress(psycopg.errors.UniqueViolation), connection.part():
                connection.execute("INSERT INTO settings VALUES (?, '')", (f"before {key}",))
                connection.execute("INSERT INTO settings VALUES (?, '')", (key,))
    found = connection.execute("SELECT key FROM settings ORDER BY key")
    assert [row["key"] for row in found] == ["a", "b", "before a", "before b", "before c", "c"]


def test_texts_and_numbers_that_no_row_has_find_none(connection: Connection) -> None:
    with changing(connection):
        with_agent(connection)
        put(connection, 2**53)
    assert agents.one(connection, "\0") is None
    assert results.listed(connection, agent="a%s?:b\0") == []
    assert len(results.listed(connection, agent=AGENT, limit=2**60)) == 1
    told = agents.one(connection, AGENT)
    assert told is not None
    assert told["gaps"] == [[0, 2**53 - 1]]


def test_readers_cannot_change_anything(database: PostgresqlDatabase) -> None:
    database.connect().close()
    with closing(database.connect_reader()) as reader, pytest.raises(StoreUnavailableError):
        reader.execute("DELETE FROM people")


def test_connections_that_the_database_ends_are_replaced(database: PostgresqlDatabase) -> None:
    writer, readers = Writer(database), Readers(database)
    for _ in range(2):
        assert readers.ask(lambda asked: agents.listed(asked)) == []
        assert writer.submit(lambda changed: results.prune(changed, 0, 1)).result() == 0
        with psycopg.connect(database.url, autocommit=True) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
    writer.close()
    readers.close()


def test_a_server_keeps_everything_there(
    postgresql: Cluster,
    start: Callable[..., Running],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The password is not in the URL.
    url = postgresql.new_database().replace(f":{postgresql.password}", "")
    monkeypatch.setenv("PGPASSWORD", postgresql.password)
    server = start("--database", url)
    agent = server.enrolled()
    first = agent.result()
    assert agent.put(first).status == 201
    assert agent.contact(CONTACT).status == 200
    assert server.request("PUT", "/api/v1/plans/lines", encoded(PLAN), server.admin).status == 201
    for path in (
        "/api/v1/agents", f"/api/v1/agents/{agent.id}", "/api/v1/plans", "/api/v1/results",
        f"/api/v1/results/{first['id']}", "/api/v1/tokens", "/api/v1/enrolments",
    ):  # fmt: skip
        assert server.get(path).status == 200, path
    assert 'mptcplab_results{outcome="complete"} 1\n' in server.get("/metrics").body.decode()
    assert server.get("/api/v1/agents/%00").status == 404
    assert server.get("/api/v1/results?agent=%00&plan=a").json["results"] == []

    # The folder knows the database, and has none of its own.
    state = str(server.state)
    assert not (server.state / "server.db").exists()
    assert (server.state / "database.url").stat().st_mode & 0o777 == 0o600
    assert "car-7" in run("agents", "--state", state)
    assert run("export", str(tmp_path / "out"), "--state", state).endswith("out: 1 result\n")
    recordings = run("export", str(tmp_path / "recordings"), "--recording", "--state", state)
    assert recordings.endswith("of 1 result\n")
    assert "pg_dump" in run("backup", str(tmp_path / "file"), "--state", state, status=1)
    (tmp_path / "file").write_text("")
    assert "pg_restore" in run("restore", str(tmp_path / "file"), "--state", state, status=1)
    other = str(tmp_path / "other")
    told = run("--state", other, "--listen", "127.0.0.1:0", "--database", url, status=1)
    assert told.endswith("another server uses it: end that one\n")

    # Neither loses anything by the other's sudden end.
    postgresql.end()
    assert agent.put(agent.result()).status == 503
    assert server.get("/api/v1/agents").status == 503
    postgresql.start()
    second = agent.result()
    assert agent.put(second).status == 201
    server.end(signal.SIGKILL)
    server = start()
    kept = {one["id"] for one in server.get("/api/v1/results").json["results"]}
    assert kept == {first["id"], second["id"]}
    assert server.end() == 0
    assert server.errors.read_text() == ""


def test_a_password_is_found_in_a_file_and_results_are_not_left_behind(
    postgresql: Cluster,
    start: Callable[..., Running],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pgpass = tmp_path / "pgpass"
    pgpass.write_text(f"*:*:*:{USER}:{postgresql.password}\n")
    pgpass.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(pgpass))
    url = postgresql.new_database().replace(f":{postgresql.password}", "")
    assert start("--database", url).told["token"]
    own = tmp_path / "own"
    own.mkdir(0o700)
    SqliteDatabase(own / "server.db").connect().close()
    told = run("--state", str(own), "--listen", "127.0.0.1:0", "--database", url, status=1)
    assert "which are not taken along: name another folder by --state" in told
