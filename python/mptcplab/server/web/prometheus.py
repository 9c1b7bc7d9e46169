"""State in numbers, in the text format of Prometheus (version 0.0.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mptcplab.server.store import agents, results
from mptcplab.server.store.database import Connection

CONTENT_TYPE = "text/plain; version=0.0.4"
Sample = tuple[Mapping[str, str], float]


def exposition(connection: Connection, statuses: Mapping[int, int], now_ms: int) -> str:
    """All numbers; `statuses` counts the answers of this process."""
    fleet = [one for one in agents.listed(connection) if one["revoked_ms"] is None]
    known = [one for one in fleet if one["contact"] is not None]
    tables: list[tuple[str, str, str, Iterable[Sample]]] = [
        ("agents", "gauge", "Agents that are enrolled and not revoked.", [({}, len(fleet))]),
        (
            "results", "gauge", "Results that are kept, by their outcome.",
            [({"outcome": key}, value) for key, value in results.counts(connection).items()],
        ),
        (
            "http_answers_total", "counter", "Answers of this process, by their status.",
            [({"status": str(key)}, value) for key, value in sorted(statuses.items())],
        ),
        ("database_bytes", "gauge", "Size of the database.", [({}, connection.size_bytes())]),
        (
            "agent_contact_age_seconds", "gauge", "Time since the last contact of an agent.",
            _of(known, lambda one: (now_ms - one["contact_ms"]) / 1e3),
        ),
        (
            "agent_missing_results", "gauge",
            "Results of an agent that are neither here nor, by its own account, with it.",
            _of(fleet, lambda one: one["missing"]),
        ),
        (
            "agent_spooled_results", "gauge", "Results that an agent has yet to send.",
            _of(known, lambda one: one["contact"]["spooled"]),
        ),
        (
            "agent_quarantined_results", "gauge", "Results of an agent that were refused.",
            _of(known, lambda one: one["contact"]["quarantined_count"]),
        ),
        (
            "agent_dropped_results_total", "counter", "Results that an agent gave up.",
            _of(known, lambda one: sum(one["contact"]["dropped"].values())),
        ),
    ]  # fmt: skip
    return "".join(line for table in tables for line in _lines(*table))


def _of(fleet: Iterable[dict[str, Any]], number: Any) -> list[Sample]:
    return [({"agent": one["id"], "name": one["name"]}, number(one)) for one in fleet]


def _lines(name: str, kind: str, about: str, samples: Iterable[Sample]) -> Iterator[str]:
    full = f"mptcplab_{name}"
    yield f"# HELP {full} {about}\n# TYPE {full} {kind}\n"
    for labels, value in samples:
        told = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        yield f"{full}{{{told}}} {value}\n" if told else f"{full} {value}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
