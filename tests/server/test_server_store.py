"""The database: migrations, changes that are committed together, results that are forgotten."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from concurrent.futures import Future
from functools import partial
from itertools import pairwise
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.made import AGENT, CONTACT, ENROLMENT, encoded, made_result, steps

from mptcplab.server import intake
from mptcplab.server.contact import Contact, Enrolment
from mptcplab.server.figure_rows import ALL_PATHS, Metric
from mptcplab.server.store import (
    agents,
    alerts,
    enrolments,
    explanations,
    figures,
    numbers,
    plans,
    results,
    settings,
    views,
)
from mptcplab.server.store.connection import changing
from mptcplab.server.store.database import Connection, Database, SchemaError, StoreUnavailableError
from mptcplab.server.store.schema import MIGRATIONS
from mptcplab.server.store.sqlite import SqliteDatabase
from mptcplab.server.store.writer import Writer
from mptcplab.server.strict_json import parse
from mptcplab.server.web.rate import Rates, network


@pytest.fixture
def database(place: Database) -> Iterator[Connection]:
    connection = place.connect()
    yield connection
    connection.close()


def with_agent(database: Connection) -> None:
    enrolments.add(database, "token", 1, 10, 0)
    own = enrolments.enrol(database, "token", Enrolment(**ENROLMENT), "secret", 5)
    database.execute("UPDATE agents SET id = ? WHERE id = ?", (AGENT, own))


def put(database: Connection, sequence: int, *, arrived_ms: int = 0, **changed: Any) -> str:
    told = made_result(sequence=sequence) | changed
    results.put(database, intake.read(encoded(told)), arrived_ms)
    return str(told["id"])


def test_a_database_of_a_newer_program_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "server.db"
    SqliteDatabase(file).connect().close()
    with sqlite3.connect(file) as database:
        database.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    before = file.read_bytes()
    with pytest.raises(SchemaError):
        SqliteDatabase(file).connect()
    assert file.read_bytes() == before


def test_a_change_that_fails_takes_no_other_along(place: Database) -> None:
    writer = Writer(place)
    hold, begun = Event(), Event()

    def wait(_database: Connection) -> None:
        begun.set()
        hold.wait()

    first = writer.submit(wait)
    begun.wait()
    # All of these wait, and are committed together.
    made: list[Future[Any]] = [
        writer.submit(partial(_add_enrolment, secret=name)) for name in ("one", "one", "two")
    ]
    hold.set()
    assert first.result() is None
    assert made[0].result()
    assert type(made[1].exception()).__name__ in ("IntegrityError", "UniqueViolation")
    assert made[2].result()
    writer.close()
    database = place.connect()
    assert len(enrolments.listed(database)) == 2
    database.close()


def test_a_result_that_comes_again_changes_nothing(place: Database) -> None:
    writer = Writer(place)

    def sent(told: dict[str, Any]) -> Any:
        arrival = intake.read(encoded(told))
        return writer.submit(lambda database: results.put(database, arrival, 0))

    writer.submit(with_agent).result()
    first = made_result(sequence=3)
    assert [sent(first).result() for _ in range(2)] == [True, False]
    refused = sent(first | {"sequence": 5})
    assert isinstance(refused.exception(), results.OtherContentError)
    writer.close()
    database = place.connect()
    assert ranges(database) == [(3, 3)]
    assert known(database)["results"] == 1
    assert results.counts(database) == {"complete": 1}
    database.close()


def _add_enrolment(database: Connection, secret: str) -> str:
    # The first step of a change that fails is undone.
    settings.put(database, secret + str(_count(database)), "x")
    return enrolments.add(database, secret, 1, 1, 0)


def _count(database: Connection) -> int:
    return int(database.execute("SELECT count(*) AS found FROM settings").fetchone()["found"])


def test_a_database_that_others_lock_is_told(
    place: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("sqlite", "postgresql"):
        monkeypatch.setattr(f"mptcplab.server.store.{module}.BUSY_S", 0.001)
    writer = Writer(place)
    other = place.connect()
    other.begin()
    refused = writer.submit(lambda database: plans.remove(database, "x", 0))
    assert isinstance(refused.exception(), StoreUnavailableError)
    other.rollback()
    assert writer.submit(lambda database: plans.remove(database, "x", 0)).result() is False
    writer.close()
    other.close()


def test_figures_over_time_are_those_of_the_results(database: Connection) -> None:
    with changing(database):
        with_agent(database)
        own = [put(database, number, began_unix_ms=1_000 + number) for number in range(3)]
    found = figures.series(
        database, AGENT, Metric.TCP_MBPS, begin_ms=1_001, end_ms=1_003, direction="down"
    )
    assert [(one["result"], one["interface"], one["mean"]) for one in found] == [
        (own[1], "wifi", 8.0),
        (own[1], "lte", 4.0),
        (own[2], "wifi", 8.0),
        (own[2], "lte", 4.0),
    ]
    every = partial(figures.series, database, AGENT, begin_ms=0, end_ms=10_000)
    (first, *_) = every(Metric.DELAY, direction="down", size_bytes=1_000_000)
    assert (first["path"], first["size_bytes"]) == (ALL_PATHS, 1_000_000)
    assert every(Metric.DELAY, size_bytes=7) == []
    assert len(every(Metric.RTT_MS)) == 6


def test_charts_and_alerts_keep_congestion_controls_apart(database: Connection) -> None:
    with changing(database):
        with_agent(database)
        for number, control in enumerate(("reno", "bbr", "reno", None)):
            put(database, number, began_unix_ms=1_000 * number, congestion_control=control)
    known = views.congestion_controls(database, AGENT)
    assert known == ["", "bbr", "reno"]
    assert views.congestion_controls(database, "0" * 16) == []
    began = {
        control: {
            row["began_ms"] for row in views.figures_over_time(database, AGENT, control, 0, 10_000)
        }
        for control in known
    }
    assert began == {"": {3_000}, "bbr": {1_000}, "reno": {0, 2_000}}
    every = results.listed(database, congestion_control="reno")
    assert [(one["sequence"], one["congestion_control"]) for one in every] == [
        (0, "reno"),
        (2, "reno"),
    ]
    (last,) = results.listed(database, congestion_control="")
    assert last["congestion_control"] is None


def test_the_least_benefit_of_all_congestion_controls_counts(database: Connection) -> None:
    slow = steps()
    # MPTCP takes 3 s in place of 0.8 s.
    mptcp = next(one for one in slow if one["kind"] == "mptcp")
    mptcp["result"]["connections"][0]["probe"]["duration_us"] = 3_000_000

    def benefit() -> float:
        (agent,) = alerts.fleet(database)
        assert agent["benefit"] is not None
        return float(agent["benefit"])

    with changing(database):
        with_agent(database)
        put(database, 0, congestion_control="bbr", steps=slow)
    low = benefit()
    assert low < 0
    with changing(database):
        # A clock that is ahead makes no result the last one.
        put(database, 1, congestion_control="reno", began_unix_ms=1)
    assert benefit() == low
    with changing(database):
        put(database, 2, congestion_control="bbr", began_unix_ms=2)
    assert benefit() > 0
    with changing(database):
        put(database, 3, congestion_control="bbr", steps=slow)
        put(database, 4, plan="lines@2")
    assert benefit() > 0


def ranges(database: Connection) -> list[tuple[int, int]]:
    rows = database.execute("SELECT first, last FROM numbers ORDER BY first")
    return [(row["first"], row["last"]) for row in rows]


def known(database: Connection) -> dict[str, Any]:
    told = agents.one(database, AGENT)
    assert told is not None
    return told


def test_results_that_are_forgotten_are_no_gaps_and_hide_none(database: Connection) -> None:
    with changing(database):
        with_agent(database)
        for number, sequence in enumerate((3, 0, 1, 4, 6)):
            # The agent's clock is of no account.
            put(database, sequence, arrived_ms=number, began_unix_ms=2**50 - number)
    assert numbers.gaps(database, AGENT) == [[2, 2], [5, 5]]
    with changing(database):
        assert results.prune(database, 3, 2) == 2
        assert results.prune(database, 3, 2) == 1
        assert results.prune(database, 3, 2) == 0
    assert numbers.gaps(database, AGENT) == [[2, 2], [5, 5]]
    assert (known(database)["results"], known(database)["missing"]) == (2, 2)
    for table in ("contents", "figures"):
        left = database.execute(f"SELECT count(DISTINCT result) AS results FROM {table}")
        assert left.fetchone()["results"] == 2
    with changing(database):
        put(database, 2, arrived_ms=9)
        assert results.prune(database, 10, 10) == 3
    told = known(database)
    assert (told["results"], told["last_result"], told["missing"]) == (0, None, 1)
    assert numbers.gaps(database, AGENT) == [[5, 5]]
    assert ranges(database) == [(0, 4), (6, 6)]
    assert results.counts(database) == {}


@given(st.lists(st.integers(0, 12), max_size=30))
def test_ranges_are_those_of_the_numbers_in_any_order(given: list[int]) -> None:
    database = SqliteDatabase(Path(":memory:")).connect()
    with_agent(database)
    for place, number in enumerate(given):
        assert numbers.add(database, AGENT, number) is (number not in given[:place])
    rows = ranges(database)
    assert {one for first, last in rows for one in range(first, last + 1)} == set(given)
    assert all(before[1] + 1 < after[0] for before, after in pairwise(rows))
    missing = {
        one for first, last in numbers.gaps(database, AGENT) for one in range(first, last + 1)
    }
    assert missing == set(range(max(given, default=-1) + 1)) - set(given)
    database.close()


def test_a_database_of_the_third_schema_keeps_its_numbers(tmp_path: Path) -> None:
    file = tmp_path / "server.db"
    database = SqliteDatabase(file).connect()
    with changing(database):
        with_agent(database)
        for sequence in (0, 1, 3, 7, 8, 8):
            put(database, sequence)
        put(database, 9, outcome="failed", reason="No", steps=[], paths=[], endpoints=None)
    # As it was before.
    with changing(database):
        database.execute("DROP TABLE explanations")
        database.execute("DROP TABLE numbers")
        database.execute("DROP TABLE outcomes")
        database.execute("CREATE TABLE forgotten (agent TEXT, first INTEGER, last INTEGER)")
        database.execute("INSERT INTO forgotten VALUES (?, 4, 5), (?, 12, 20)", (AGENT, AGENT))
        database.execute("CREATE INDEX results_by_sequence ON results (agent, sequence)")
        database.execute("CREATE INDEX results_by_outcome ON results (outcome)")
        database.execute("DROP INDEX results_of_agent")
        database.execute("ALTER TABLE results DROP COLUMN congestion_control")
        database.execute("CREATE INDEX results_of_agent ON results (agent, began_ms)")
        database.execute("PRAGMA user_version = 3")
    database.close()
    database = SqliteDatabase(file).connect()
    assert ranges(database) == [(0, 1), (3, 5), (7, 9), (12, 20)]
    assert numbers.gaps(database, AGENT) == [[2, 2], [6, 6], [10, 11]]
    assert results.counts(database) == {"complete": 6, "failed": 1}
    database.close()


def test_what_an_agent_dropped_does_not_hide_what_is_missing(database: Connection) -> None:
    with changing(database):
        with_agent(database)
        for sequence in (2, 3, 5):
            put(database, sequence, arrived_ms=sequence)
        # 0 and 1 were dropped, and 4 has been lost.
        contact = CONTACT | {"next_sequence": 6, "dropped": {"size": 2, "age": 0}}
        agents.contacted(database, AGENT, parse(Contact, encoded(contact)), 0)
    assert known(database)["missing"] == 1
    with changing(database):
        assert results.prune(database, 4, 10) == 2
    assert known(database)["missing"] == 1


def test_a_clock_that_is_ahead_does_not_pin_the_last_result(database: Connection) -> None:
    with changing(database):
        with_agent(database)
        put(database, 0, began_unix_ms=2**52)
        last = put(database, 1, began_unix_ms=5)
    assert known(database)["last_result"] == last


def test_a_database_of_the_first_schema_keeps_its_account(tmp_path: Path) -> None:
    file = tmp_path / "server.db"
    old = sqlite3.connect(file)
    old.executescript(MIGRATIONS[0])
    old.execute("INSERT INTO enrolments VALUES ('e', x'00', 1, 1, 0, 0, NULL)")
    old.execute(
        "INSERT INTO agents (id, name, version, kernel, secret_sha256, enrolment, enrolled_ms,"
        " sequences, first_sequence, last_sequence)"
        " VALUES (?, 'a', '1', '6', x'00', 'e', 0, 2, 5, 7)",
        (AGENT,),
    )
    old.execute("PRAGMA user_version = 1")
    old.commit()
    old.close()
    database = SqliteDatabase(file).connect()
    # 5 to 7 are expected, two of them are here, and all before were forgotten.
    assert known(database)["missing"] == 1
    database.close()


def test_an_explanation_goes_with_its_result(database: Connection) -> None:
    with changing(database):
        with_agent(database)
        own = put(database, 0)
        explanations.keep(database, own, "first")
        explanations.keep(database, own, "second")
        explanations.keep(database, "unknown", "none")
    assert explanations.kept(database, own) == "second"
    assert explanations.kept(database, "unknown") is None
    with changing(database):
        database.execute("DELETE FROM results WHERE id = ?", (own,))
    assert database.execute("SELECT count(*) AS count FROM explanations").fetchone()["count"] == 0


def test_a_sequence_number_that_comes_again_is_counted_once(database: Connection) -> None:
    with changing(database):
        with_agent(database)
        for sequence in (0, 0, 1):
            put(database, sequence)
    told = agents.one(database, AGENT)
    assert told is not None
    assert (told["results"], told["missing"]) == (3, 0)


def test_an_address_has_so_many_requests_a_second() -> None:
    now = [0.0]
    rates = Rates(2, lambda: now[0])
    assert [rates.take("a") for _ in range(9)] == [True] * 8 + [False]
    assert rates.take("b")
    now[0] = 1.0
    assert [rates.take("a") for _ in range(3)] == [True, True, False]


def test_a_host_has_one_network_of_ipv6() -> None:
    assert network("2001:db8::1") == network("2001:db8::ffff:1")
    assert network("2001:db8::1") != network("2001:db8:0:1::1")
    assert network("::ffff:192.0.2.1") == network("192.0.2.1")
