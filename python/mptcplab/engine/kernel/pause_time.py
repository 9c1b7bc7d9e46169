"""The moment at which a run pauses by itself."""

from __future__ import annotations

from mptcplab.engine.job import EngineError
from mptcplab.plan import Plan
from mptcplab.scenario.problem import did_you_mean
from mptcplab.scenario.units import UnitError, parse_time


def pause_ns(at: str, plan: Plan) -> int:
    """Nanoseconds after the run's zero of a time (`2 s`) or of an event, by its label.

    Raises:
        EngineError: it is neither.

    """
    events = {event.label: event.at_ns for event in plan.events}
    if at in events:
        return events[at]
    try:
        return parse_time(at, usual="s")
    except UnitError as error:
        hint = did_you_mean(at, events) if events else "there are none"
        raise EngineError(f"--pause-at: '{at}' is no event ({hint}), and {error}") from error
