"""Scenarios: experiments described in a file, read into typed objects.

    scenario = load("lisbon/A1")            # a name of the catalogue, or a path
    faster = with_overrides(scenario, {"links.wifi.rate": "100 Mbit/s"})
    short = with_duration(scenario, 5_000_000_000)

Whatever is wrong with a scenario is raised as one `ScenarioError` that lists every problem with
file, line, key and hint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mptcplab import lazy
from mptcplab.scenario.problem import Problem, ScenarioError

if TYPE_CHECKING:
    from mptcplab.scenario.difference import Difference, differences
    from mptcplab.scenario.duration import with_duration
    from mptcplab.scenario.entries import Entry, catalogue
    from mptcplab.scenario.loading import (
        for_variant,
        load,
        loads,
        loads_kept,
        with_overrides,
    )
    from mptcplab.scenario.model import Scenario
    from mptcplab.scenario.tree import parse_value

__all__ = [
    "Difference",
    "Entry",
    "Problem",
    "Scenario",
    "ScenarioError",
    "catalogue",
    "differences",
    "for_variant",
    "load",
    "loads",
    "loads_kept",
    "parse_value",
    "with_duration",
    "with_overrides",
]

__getattr__ = lazy.names(
    __name__,
    {
        "Difference": "difference",
        "Entry": "entries",
        "Scenario": "model",
        "catalogue": "entries",
        "differences": "difference",
        "for_variant": "loading",
        "load": "loading",
        "loads": "loading",
        "loads_kept": "loading",
        "parse_value": "tree",
        "with_duration": "duration",
        "with_overrides": "loading",
    },
)
