"""A server that runs for the tests of a file, and one for a single test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.server.running import Running, started


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
