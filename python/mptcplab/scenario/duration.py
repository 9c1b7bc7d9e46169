"""Another duration for a scenario: `--duration`."""

from __future__ import annotations

import re
from typing import Any

from mptcplab.scenario.loading import with_overrides
from mptcplab.scenario.model import Scenario
from mptcplab.scenario.problem import Problem, ScenarioError
from mptcplab.scenario.units import UnitError, parse_time

_LENGTH = re.compile(r"traffic\.\d+\.bulk\.(size|duration)")
_BULK = re.compile(r"traffic\.\d+\.bulk")
_MOMENT = re.compile(
    r"traffic\.\d+\.[a-z-]+\.start|traffic\.\d+\.datagrams\.duration|events\.\d+\.at"
)
_WHOLE = re.compile(r"traffic(\.\d+)?|events\.\d+|traffic\.\d+\.(?!bulk)[a-z-]+")


def with_duration(scenario: Scenario, duration: int | str) -> Scenario:
    """The scenario with another duration of every bulk transfer, in place of a size.

    `duration` is in nanoseconds, or has a unit: `"10 s"`. Where no transfer has a duration it is
    that of datagrams.

    Times of events, starts of traffic and the duration of datagrams are scaled by the ratio of the
    new duration to the longest old one, so that what happened in mid-flow still does and what came
    one after the other does not overlap. Where every transfer had a size there is no ratio: times
    stay. Nothing else changes.
    What variants set is treated alike.

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
        if item.datagrams is not None:
            length = item.datagrams.duration * duration_ns // longest
            values[f"traffic.{index}.datagrams.duration"] = f"{length} ns"
        if item.body.start:
            start = item.body.start * duration_ns // longest
            values[f"traffic.{index}.{item.kind}.start"] = f"{start} ns"
    for index, event in enumerate(scenario.events):
        values[f"events.{index}.at"] = f"{event.at * duration_ns // longest} ns"
    for name, variant in scenario.variants.items():
        if variant.set:
            values[f"variants.{name}.set"] = {
                path: _scaled(path, value, duration_ns, longest)
                for path, value in variant.set.items()
                if not _LENGTH.fullmatch(path)
            }
    return with_overrides(scenario, values)


def _parsed(duration: str) -> int:
    try:
        return parse_time(duration, usual="s")
    except UnitError as error:
        raise ScenarioError([Problem("--duration", None, "", str(error))]) from error


def _longest(scenario: Scenario, default_ns: int) -> int:
    """The longest duration of a bulk transfer; of datagrams where there is no bulk transfer."""
    bulks = [item.bulk for item in scenario.traffic if item.bulk is not None]
    datagrams = [item.datagrams for item in scenario.traffic if item.datagrams is not None]
    if not bulks and not datagrams:
        kinds = ", ".join(dict.fromkeys(item.kind for item in scenario.traffic)) or "none"
        text = f"{scenario.name} has no bulk transfer and no datagrams to set it of: only {kinds}"
        raise ScenarioError([Problem("--duration", None, "", text)])
    if not bulks:
        return max(one.duration for one in datagrams)
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
    if path == "events":
        return [
            event | {"at": _scaled_time(event["at"], duration_ns, longest_ns)} for event in value
        ]
    return value


def _scaled_time(value: Any, duration_ns: int, longest_ns: int) -> str:
    return f"{parse_time(value) * duration_ns // longest_ns} ns"


def _lasting(bulk: dict[str, Any], duration: str) -> dict[str, Any]:
    return {key: value for key, value in bulk.items() if key != "size"} | {"duration": duration}
