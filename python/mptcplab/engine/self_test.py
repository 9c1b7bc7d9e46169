"""A small run that shows whether an engine works here."""

from __future__ import annotations

from pathlib import Path

from mptcplab.engine.compile import compile_plan
from mptcplab.plan import Plan
from mptcplab.scenario import loads


def self_test(variant: str = "two-paths") -> Plan:
    """The plan of that run."""
    return _plan("self_test.yaml", variant)


def bridge_test() -> Plan:
    """The plan of a run over a bridge of Open vSwitch."""
    return _plan("self_test_bridge.yaml", "tcp")


def _plan(file: str, variant: str) -> Plan:
    text = Path(__file__).with_name(file).read_text()
    return compile_plan(loads(text, "self-test"), variant, seed=1)
