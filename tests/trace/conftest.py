from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

if TYPE_CHECKING:
    from tests.trace.runs import Runs


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables of three connections as the server's capture shows them."""
    from tests.trace.tabulate import write

    return write(tmp_path_factory.mktemp("tables"))


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    """Runs of the engines, with captures."""
    from tests.trace.runs import Runs

    shared = Runs(tmp_path_factory.mktemp("runs"))
    yield shared
    shared.stop()
