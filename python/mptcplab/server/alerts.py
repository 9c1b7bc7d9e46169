"""Troubles of agents that somebody is told of: when one begins, and when it ends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from mptcplab.server.period import period_words


class Kind(StrEnum):
    """A trouble of an agent."""

    NO_DATA = "no-data"
    """Neither a contact nor a result has come for a while."""
    FAILURE = "failure"
    """Its last experiment has failed."""
    BENEFIT = "benefit"
    """The delay benefit of its last result, of the largest transfers, is below a threshold; where a
    plan has several congestion controls, that of the last result of any of them."""


@dataclass(frozen=True)
class Rules:
    """The meaning of trouble."""

    silent_s: int
    """Time without any sign of an agent."""
    least_benefit: float | None
    """Null: whatever it is."""


@dataclass(frozen=True)
class Change:
    """A trouble that begins or ends."""

    agent: str
    name: str
    kind: Kind
    begins: bool
    text: str
    """A sentence."""
    result: str | None
    """The id of its last result."""

    def as_dict(self) -> dict[str, Any]:
        """As it is told."""
        return {
            "kind": self.kind.value,
            "state": "begins" if self.begins else "ends",
            "agent": self.agent,
            "name": self.name,
            "text": self.text,
            "result": self.result,
        }


def changes(
    fleet: Iterable[Mapping[str, Any]], told: set[tuple[str, str]], rules: Rules, now_ms: int
) -> list[Change]:
    """The differences between how agents are, as `store.alerts` has them, and what was told.

    `told` has agents and kinds of troubles that have begun.
    """
    found = []
    for agent in fleet:
        now = _troubles(agent, rules, now_ms)
        for kind in Kind:
            begins = kind in now
            if begins != ((agent["id"], kind.value) in told):
                text = now.get(kind) or _OVER[kind]
                found.append(
                    Change(agent["id"], agent["name"], kind, begins, text, agent["result"])
                )
    return found


_OVER = {
    Kind.NO_DATA: "It is heard of again.",
    Kind.FAILURE: "Its last experiment has not failed.",
    Kind.BENEFIT: "The benefit of its last result is not below the threshold.",
}


def _troubles(agent: Mapping[str, Any], rules: Rules, now_ms: int) -> dict[Kind, str]:
    found = {}
    signs = (agent["enrolled_ms"], agent["contact_ms"], agent["arrived_ms"])
    last_ms = max(one for one in signs if one is not None)
    if now_ms - last_ms > rules.silent_s * 1_000:
        found[Kind.NO_DATA] = f"Nothing has come for {period_words(rules.silent_s)}."
    if agent["outcome"] == "failed":
        reason = (agent["reason"] or "without a reason").removesuffix(".")
        found[Kind.FAILURE] = f"Its last experiment has failed: {reason}."
    benefit, least = agent["benefit"], rules.least_benefit
    if benefit is not None and least is not None and benefit < least:
        found[Kind.BENEFIT] = f"The delay benefit is {benefit:.2f}, below {least:g}."
    return found
