"""Agents: their state as they tell it, and results that did not come."""

from __future__ import annotations

import json
from typing import Any

from mptcplab.server.contact import Contact
from mptcplab.server.secret import digest, is_same
from mptcplab.server.store import numbers
from mptcplab.server.store.database import Connection, Row


def of_secret(connection: Connection, secret: str) -> str | None:
    """The id of the agent with this secret, which is not revoked."""
    row = connection.execute(
        "SELECT id, secret_sha256 FROM agents WHERE secret_sha256 = ? AND revoked_ms IS NULL",
        (digest(secret),),
    ).fetchone()
    if row is None or not is_same(row["secret_sha256"], digest(secret)):
        return None
    return str(row["id"])


def contacted(connection: Connection, agent: str, contact: Contact, now_ms: int) -> None:
    """Keeps an agent's state."""
    connection.execute(
        "UPDATE agents SET contact_ms = ?, contact = ?, version = ?, kernel = ? WHERE id = ?",
        (now_ms, contact.model_dump_json(), contact.version, contact.kernel, agent),
    )


def revoke(connection: Connection, agent: str, now_ms: int) -> bool:
    """Whether there is such an agent; its results stay, and its secret is not taken any more."""
    changed = connection.execute(
        "UPDATE agents SET revoked_ms = coalesce(revoked_ms, ?) WHERE id = ?", (now_ms, agent)
    )
    return changed.rowcount > 0


_AGENTS = """
SELECT a.id, a.name, a.version, a.kernel, a.enrolled_ms, a.revoked_ms, a.contact_ms, a.contact,
    a.results, a.sequences, a.last_sequence,
    r.id AS last_result, r.outcome AS last_outcome, r.began_ms AS last_began_ms,
    r.verdict AS last_verdict
FROM agents AS a LEFT JOIN results AS r ON r.number = a.last_result
"""


def listed(connection: Connection) -> list[dict[str, Any]]:
    """All agents by name, each as `one` has it without its gaps."""
    return [_told(row) for row in connection.execute(f"{_AGENTS} ORDER BY a.name, a.id")]


def one(connection: Connection, agent: str) -> dict[str, Any] | None:
    """An agent: `contact` is its state as it told it, null before it has.

    `last_result` is the id of the result that arrived last, and `last_verdict` its sentences.
    `missing` counts the sequence numbers below `next_sequence` of results that have never been
    here and, by its last contact, are not in its spool, in its quarantine, or dropped; `gaps` are
    ranges (first and last) of the numbers below the last one here that have never been here, for
    whatever reason.
    """
    row = connection.execute(f"{_AGENTS} WHERE a.id = ?", (agent,)).fetchone()
    return None if row is None else _told(row) | {"gaps": numbers.gaps(connection, agent)}


def _told(row: Row) -> dict[str, Any]:
    told = dict(row)
    contact = json.loads(told["contact"]) if told["contact"] is not None else None
    sequences, last = told.pop("sequences"), told.pop("last_sequence")
    # The contact may be older than the last result.
    following = max(
        0 if contact is None else contact["next_sequence"], 0 if last is None else last + 1
    )
    missing = following - sequences
    if contact is not None:
        if contact.get("quarantined_count") is None:
            contact["quarantined_count"] = len(contact["quarantined"])
        missing -= contact["spooled"] + contact["quarantined_count"]
        missing -= sum(contact["dropped"].values())
    verdict = told["last_verdict"]
    return told | {
        "last_verdict": None if verdict is None else json.loads(verdict),
        "contact": contact,
        "next_sequence": following,
        "missing": max(missing, 0),
    }
