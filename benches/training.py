"""What `make fast` lets an instrumented build run: the whole catalogue on the simulator, briefly.

The compiler then knows which way the branches mostly go. Nothing is measured here.
"""

from __future__ import annotations

import json
from typing import Any

from mptcplab._native import simulate
from mptcplab.engine.compile import compile_plan
from mptcplab.scenario import Scenario, catalogue, load, with_duration

_SECONDS = 4


def main() -> None:
    for entry in catalogue():
        scenario = _short(load(entry.name))
        for variant in scenario.variants:
            plan: dict[str, Any] = compile_plan(scenario, variant, seed=1)
            simulate(json.dumps(plan), lambda _chunk: True)


def _short(scenario: Scenario) -> Scenario:
    return with_duration(scenario, _SECONDS * 1_000_000_000)


if __name__ == "__main__":
    main()
