"""Agents as rows, with their state in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mptcplab.server.pages.words import ago, moment

SILENT_MS = 15 * 60_000
"""Three times the longest that an agent lets pass between contacts."""


@dataclass(frozen=True)
class AgentRow:
    """An agent."""

    id: str
    name: str
    state: str
    is_well: bool
    contact: str
    contact_at: str
    spooled: str
    dropped: str
    missing: int
    quarantined: str
    problem: str | None
    results: int
    last_result: str | None
    last_outcome: str
    verdict: Sequence[str]


def agent_row(agent: Mapping[str, Any], now_ms: int) -> AgentRow:
    """An agent as the store tells it."""
    contact = agent["contact"]
    state, is_well = _state(agent, now_ms)
    return AgentRow(
        id=agent["id"],
        name=agent["name"],
        state=state,
        is_well=is_well,
        contact=ago(agent["contact_ms"], now_ms),
        contact_at=moment(agent["contact_ms"]),
        spooled="–" if contact is None else str(contact["spooled"]),
        dropped="–" if contact is None else str(sum(contact["dropped"].values())),
        missing=agent["missing"],
        quarantined="–" if contact is None else str(len(contact["quarantined"])),
        problem=None if contact is None else contact["problem"],
        results=agent["results"],
        last_result=agent["last_result"],
        last_outcome=agent["last_outcome"] or "–",
        verdict=agent["last_verdict"] or (),
    )


def _state(agent: Mapping[str, Any], now_ms: int) -> tuple[str, bool]:
    """In a word, and whether all is well."""
    if agent["revoked_ms"] is not None:
        return "revoked", False
    if agent["contact"] is None:
        return "new", True
    if now_ms - agent["contact_ms"] > SILENT_MS:
        return "silent", False
    if agent["contact"]["problem"] is not None:
        return "problem", False
    return str(agent["contact"]["state"]), True


def states(rows: Sequence[AgentRow]) -> str:
    """`12 idle, 1 measuring, 2 silent`."""
    counts = Counter(row.state for row in rows)
    order = ("idle", "measuring", "new", "problem", "silent", "revoked")
    return ", ".join(f"{counts[one]} {one}" for one in order if counts[one])
