"""The folder of a server, with a database of either kind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from mptcplab.server.state import State

from . import cluster


@contextmanager
def new_state(*, postgresql: bool) -> Iterator[State]:
    """An empty folder that goes afterwards; with a PostgreSQL of its own, with Debian's settings.

    Raises:
        RuntimeError: that is not installed, or does not start.

    """
    with TemporaryDirectory(prefix="server-", dir=os.environ.get("TMPDIR")) as folder:
        state = State(Path(folder) / "state")
        state.make()
        if postgresql:
            with cluster.started({}) as running:
                state.remember(running.new_database())
                yield state
        else:
            yield state


def is_postgresql_here() -> bool:
    """Whether it is installed; where it is not, that is told."""
    is_here = cluster.programs() is not None
    if not is_here:
        print(f"skipped the server on PostgreSQL: {cluster.MISSING}", flush=True)
    return is_here
