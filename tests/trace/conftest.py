import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables of three connections as the server's capture shows them."""
    from tests.trace.tabulate import write

    return write(tmp_path_factory.mktemp("tables"))
