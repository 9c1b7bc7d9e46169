"""Another duration for a scenario: `--duration`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from mptcplab.scenario.loading import for_variant, with_overrides
from mptcplab.scenario.model import Event, Scenario
from mptcplab.scenario.problem import Problem, ScenarioError
from mptcplab.scenario.units import UnitError, parse_time

_LENGTH = re.compile(r"traffic\.\d+\.bulk\.(size|duration)")
_BULK = re.compile(r"traffic\.\d+\.bulk")
_MOMENT = re.compile(r"traffic\.\d+\.[a-z-]+\.start|traffic\.\d+\.(datagrams|stream)\.duration")
_WHOLE = re.compile(r"traffic(\.\d+)?|events\.\d+|traffic\.\d+\.(?!bulk)[a-z-]+")


def with_duration(scenario: Scenario, duration: int | str) -> Scenario:
    """The scenario with another duration of every bulk transfer, in place of a size.

    `duration` is in nanoseconds, or has a unit: `"10 s"`. Where no transfer has a duration it is
    that of datagrams and streams.

    Times of events, starts of traffic and the durations of datagrams and streams are scaled by the
    ratio of the new duration to the longest old one, so that what happened in mid-flow still does
    and what came one after the other does not overlap. But an outage, from a failure to its return,
    gets no longer: what happens in it keeps its distance from the failure. Where every transfer had
    a size there is no ratio: times stay. Nothing else changes. What variants set is treated alike.

    Raises `ScenarioError` where the scenario cannot be so changed, or nothing has a duration.
    """
    duration_ns = duration if isinstance(duration, int) else _parsed(duration)
    _check(scenario)
    longest = _longest(scenario, duration_ns)
    tree = scenario.provenance.tree
    lasting = f"{duration_ns} ns"
    values: dict[str, Any] = {}
    for index, item in enumerate(scenario.traffic):
        if item.bulk is not None:
            values[f"traffic.{index}.bulk"] = _lasting(tree["traffic"][index]["bulk"], lasting)
        if (timed := item.datagrams or item.stream) is not None:
            length = timed.duration * duration_ns // longest
            values[f"traffic.{index}.{item.kind}.duration"] = f"{length} ns"
        if item.body.start:
            start = item.body.start * duration_ns // longest
            values[f"traffic.{index}.{item.kind}.start"] = f"{start} ns"
    values |= _times(scenario.events, duration_ns, longest)
    for name, variant in scenario.variants.items():
        if variant.set:
            values[f"variants.{name}.set"] = {
                path: _scaled(path, value, duration_ns, longest)
                for path, value in variant.set.items()
                if not _LENGTH.fullmatch(path)
            }
            if any(path.partition(".")[0] == "events" for path in variant.set):
                events = for_variant(scenario, name).events
                values[f"variants.{name}.set"] |= _times(events, duration_ns, longest)
    return with_overrides(scenario, values)


def _parsed(duration: str) -> int:
    try:
        return parse_time(duration, usual="s")
    except UnitError as error:
        raise ScenarioError([Problem("--duration", None, "", str(error))]) from error


def _longest(scenario: Scenario, default_ns: int) -> int:
    """The longest duration of a bulk transfer; of others where there is no bulk transfer."""
    bulks = [item.bulk for item in scenario.traffic if item.bulk is not None]
    timed = [item.datagrams or item.stream for item in scenario.traffic]
    others = [body.duration for body in timed if body is not None]
    if not bulks and not others:
        kinds = ", ".join(dict.fromkeys(item.kind for item in scenario.traffic)) or "none"
        text = (
            f"{scenario.name} has no bulk transfer, stream or datagrams to set it of: only {kinds}"
        )
        raise ScenarioError([Problem("--duration", None, "", text)])
    if not bulks:
        return max(others)
    return max((bulk.duration for bulk in bulks if bulk.duration), default=default_ns)


def _check(scenario: Scenario) -> None:
    text = "a new duration cannot be worked into this: set its keys one by one"
    places = [
        ("variants", name, "set", path)
        for name, variant in scenario.variants.items()
        for path in variant.set
        if _WHOLE.fullmatch(path)
    ]
    if places:
        raise ScenarioError(scenario.provenance.problem(place, text) for place in places)


def _scaled(path: str, value: Any, duration_ns: int, longest_ns: int) -> Any:
    """The value that a variant sets, for the new duration."""
    if _BULK.fullmatch(path):
        return _lasting(value, f"{duration_ns} ns")
    if _MOMENT.fullmatch(path):
        return _scaled_time(value, duration_ns, longest_ns)
    return value


def _times(events: Sequence[Event], duration_ns: int, longest_ns: int) -> dict[str, str]:
    """The new times of events, by path."""
    outages = _outages(events)
    return {
        f"events.{index}.at": f"{_moved(event.at, outages, duration_ns, longest_ns)} ns"
        for index, event in enumerate(events)
    }


def _outages(events: Sequence[Event]) -> list[tuple[int, int]]:
    """(failure, return) of what fails in the run and comes back, in order; none touch each other.

    What is down from the start on was never up: its first return ends no outage.
    """
    down: dict[object, int] = {}
    found: list[tuple[int, int]] = []
    for event in sorted(events, key=lambda event: event.at):
        subject = (event.link or event.carrier, event.interface)
        if event.subflow is not None or event.up is None:
            continue
        if not event.up:
            down.setdefault(subject, event.at)
            continue
        since = down.pop(subject, 0)
        if since:
            joined = [start for start, end in found if end >= since]
            found = [(start, end) for start, end in found if end < since]
            found.append((min([since, *joined]), event.at))
    return found


def _moved(at: int, outages: Sequence[tuple[int, int]], duration_ns: int, longest_ns: int) -> int:
    """A time of an event in the new duration.

    It is scaled, but where that lengthens an outage, events keep their distance from its start.
    """
    is_longer = duration_ns > longest_ns
    since = next((start for start, end in outages if is_longer and start <= at <= end), at)
    return since * duration_ns // longest_ns + at - since


def _scaled_time(value: Any, duration_ns: int, longest_ns: int) -> str:
    return f"{parse_time(value) * duration_ns // longest_ns} ns"


def _lasting(bulk: dict[str, Any], duration: str) -> dict[str, Any]:
    return {key: value for key, value in bulk.items() if key != "size"} | {"duration": duration}
