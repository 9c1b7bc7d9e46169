"""Scenarios of the catalogue with another duration."""

from __future__ import annotations

from mptcplab.scenario import Scenario, with_duration


def shortened(scenario: Scenario, seconds: float) -> Scenario:
    """The scenario with bulk transfers of this length; one without a duration stays as it is."""
    if any(item.bulk or item.datagrams for item in scenario.traffic):
        return with_duration(scenario, round(seconds * 1e9))
    return scenario
