"""Results that are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mptcplab.server.store import results
from mptcplab.server.store.database import Connection


@dataclass(frozen=True)
class Wanted:
    """Those of an agent, of a plan, of a congestion control and of a time; null: of all."""

    agent: str | None = None
    """Its id."""
    plan: str | None = None
    """Its name, for all of its versions, or the id of one."""
    congestion_control: str | None = None
    """Its name; empty for that of each end's system."""
    begin_ms: int | None = None
    """The first moment, by the agents' clocks, at which their experiments may have begun."""
    end_ms: int | None = None
    """The first one after it."""


def every(connection: Connection, wanted: Wanted) -> Iterator[dict[str, Any]]:
    """Their columns, in the order in which they arrived."""
    since = 0
    while found := results.listed(
        connection,
        agent=wanted.agent,
        plan=wanted.plan,
        congestion_control=wanted.congestion_control,
        begin_ms=wanted.begin_ms,
        end_ms=wanted.end_ms,
        since=since,
        limit=results.MOST_LISTED,
    ):
        yield from found
        since = found[-1]["number"]
