"""A small run that shows whether an engine works here."""

from __future__ import annotations

from pathlib import Path

from mptcplab.engine.compile import compile_plan
from mptcplab.plan import Plan
from mptcplab.scenario import loads

_SCENARIO = Path(__file__).with_name("self_test.yaml")


def self_test(variant: str = "two-paths") -> Plan:
    """The plan of that run."""
    return compile_plan(loads(_SCENARIO.read_text(), "self-test"), variant, seed=1)
