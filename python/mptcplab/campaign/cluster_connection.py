"""The connection to a Dask scheduler."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from mptcplab.campaign.cluster_address import Cluster
from mptcplab.engine.job import EngineError

if TYPE_CHECKING:
    from distributed import Client

CONNECTS_S = 20.0
"""Longest time until a scheduler, or a worker, answers."""


@contextmanager
def connected(cluster: Cluster) -> Iterator[Client]:
    """A client of the scheduler."""
    try:
        from distributed import Client
    except ImportError as error:
        raise EngineError(
            "--cluster: Dask is not there: install mptcplab[cluster] (the package distributed)"
        ) from error
    security = cluster.security()
    # The errors raised here tell what becomes of the connection.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client = Client(
            cluster.address, security=security, timeout=CONNECTS_S, set_as_default=False
        )
    except OSError as error:
        why = str(error) or type(error).__name__
        raise EngineError(f"--cluster {cluster.address}: no scheduler answers: {why}") from error
    try:
        yield client
    finally:
        with suppress(OSError):
            client.close(timeout=CONNECTS_S)


@contextmanager
def answers(cluster: Cluster) -> Iterator[None]:
    """While this lasts the scheduler is asked for something.

    Raises:
        EngineError: it does not answer.

    """
    from distributed import CancelledError

    try:
        yield
    except (OSError, CancelledError) as error:
        raise EngineError(gone(cluster)) from error


def gone(cluster: Cluster) -> str:
    """The sentence on a scheduler that has ended."""
    return (
        f"{cluster.address}: the scheduler has gone: what was done is kept; start it again, and "
        "the same command with the same --out goes on"
    )
