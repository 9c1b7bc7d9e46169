"""Events that happen in a session, as those of a scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mptcplab.engine.compile import compile_plan
from mptcplab.plan import Action
from mptcplab.scenario import Scenario, with_overrides


@dataclass(frozen=True)
class Done:
    """An event that has happened."""

    at_ns: int
    event: Mapping[str, Any]
    """As a scenario has it, without its time."""


def actions(
    scenario: Scenario, variant: str, before: Sequence[Done], event: Done
) -> Sequence[Action]:
    """The plan's actions of an event, after those that have happened before.

    Raises:
        ScenarioError: it is no event of this scenario.

    """
    own = list(scenario.provenance.tree.get("events", []))
    earlier = _events(scenario, variant, [*own, *map(_written, before)], event.at_ns)
    every = _events(scenario, variant, [*own, *map(_written, [*before, event])], event.at_ns)
    return every[len(earlier) :]


def text(scenario: Scenario, events: Sequence[Done]) -> str:
    """The scenario as YAML, with these events among its own."""
    if not events:
        return scenario.provenance.text()
    own = list(scenario.provenance.tree.get("events", []))
    made = with_overrides(scenario, {"events": [*own, *map(_written, events)]})
    return made.provenance.text()


def _written(done: Done) -> dict[str, Any]:
    return {"at": f"{done.at_ns} ns", **done.event}


def _events(scenario: Scenario, variant: str, events: list[Any], at_ns: int) -> list[Action]:
    """The actions at a time, in their order."""
    made = with_overrides(scenario, {"events": events})
    plan = compile_plan(made, variant, seed=0)
    return [event.action for event in plan.events if event.at_ns == at_ns]
