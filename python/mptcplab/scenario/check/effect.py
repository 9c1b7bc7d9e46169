"""Settings that would have no effect: refused, as a value is never ignored."""

from __future__ import annotations

from collections.abc import Iterator

from mptcplab.scenario.link import LinkChange, LinkSettings, LinkShape
from mptcplab.scenario.model import Scenario
from mptcplab.scenario.path_manager import clients, path_manager
from mptcplab.scenario.problem import Problem
from mptcplab.scenario.profiles import changes_of, settings_of
from mptcplab.scenario.tree import Path


def check_effect(scenario: Scenario) -> Iterator[Problem]:
    """Every setting without effect in a scenario whose names have been checked."""
    yield from _limits(scenario)
    yield from _backups_of_routers(scenario)
    yield from _rates(scenario)


def _limits(scenario: Scenario) -> Iterator[Problem]:
    for name in sorted(clients(scenario)):
        if path_manager(scenario, name).kind == "ndiffports":
            for key in sorted(scenario.hosts[name].mptcp.limits.model_fields_set):
                text = "ndiffports has no limits, it opens as many subflows as it says: remove it"
                path = ("hosts", name, "mptcp", "limits", key)
                yield scenario.provenance.problem(path, text)


def _backups_of_routers(scenario: Scenario) -> Iterator[Problem]:
    for name, router in scenario.routers.items():
        for interface, settings in router.interfaces.items():
            if settings.backup:
                text = f"{name} is a router, which has no subflows: set it at a host's interface"
                path = ("routers", name, "interfaces", interface, "backup")
                yield scenario.provenance.problem(path, text)


def _rates(scenario: Scenario) -> Iterator[Problem]:
    """Queues and buckets of directions that have no rate for them from the start to the end."""
    for name, link in scenario.links.items():
        changes: list[tuple[Path, LinkChange]] = [
            (("events", index, "change"), event.change)
            for index, event in enumerate(scenario.events)
            if event.link == name and event.change is not None
        ]
        told = [settings_of(link), *(changes_of(change) for _, change in changes)]
        shapes: list[tuple[Path, LinkShape]] = [(("links", name), link), *changes]
        for path, shape in shapes:
            for key, part, indices in (
                ((), shape, (0, 1)),
                (("up",), shape.up, (0,)),
                (("down",), shape.down, (1,)),
            ):
                rates = [pair[index] for pair in told for index in indices]
                if part is not None:
                    for wrong, text in _without_rate(name, part, rates):
                        yield scenario.provenance.problem((*path, *key, wrong), text)


def _without_rate(
    name: str, part: LinkSettings, rates: list[LinkSettings]
) -> Iterator[tuple[str, str]]:
    """Keys of settings of a link that need a rate which none of these is, and what to do."""
    is_fixed = any(isinstance(settings.rate, int) for settings in rates)
    if part.queue is not None and not is_fixed and all(one.trace is None for one in rates):
        yield "queue", f"no packet waits for {name}, whose rate is unlimited: give it a rate"
    if part.burst is not None and not is_fixed:
        yield "burst", f"is of a rate, and {name} has none: give it a rate"
