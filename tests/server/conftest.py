"""A server that runs for the tests of a file, and one for a single test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from benches.served import cluster
from tests.server.running import Running, started

from mptcplab.server.store.database import Database
from mptcplab.server.store.sqlite import SqliteDatabase


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One that the tests of a file share."""
    with started(tmp_path_factory.mktemp("server") / "state") as running:
        yield running


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Starts servers on one folder with further options; they end with the test."""
    with ExitStack() as stack:
        yield lambda *options: stack.enter_context(started(tmp_path / "state", *options))


@pytest.fixture(scope="session")
def postgresql() -> Iterator[cluster.Cluster]:
    """One of the tests' own, in which nothing has to outlast the machine."""
    if cluster.programs() is None:
        pytest.skip(cluster.MISSING)
    with cluster.started({"fsync": "off"}) as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    """An empty database of each kind."""
    if request.param == "sqlite":
        return SqliteDatabase(tmp_path / "server.db")
    from mptcplab.server.store.postgresql import PostgresqlDatabase

    return PostgresqlDatabase(request.getfixturevalue("postgresql").new_database())
