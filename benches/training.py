"""The workload of `make fast`'s instrumented build: the whole catalogue on the simulator, briefly.

The compiler then knows which way the branches mostly go. Nothing is measured here.
`python -m benches.training SCENARIO…` runs some of it.
"""

from __future__ import annotations

import sys

from mptcplab._native import simulate
from mptcplab.engine.compile import compile_plan
from mptcplab.scenario import catalogue, load

from .shortened import shortened

_SECONDS = 4


def main() -> None:
    for name in sys.argv[1:] or [entry.name for entry in catalogue()]:
        scenario = shortened(load(name), _SECONDS)
        for variant in scenario.variants:
            plan = compile_plan(scenario, variant, seed=1)
            simulate(plan.model_dump_json(), lambda _chunk: True)


if __name__ == "__main__":
    main()
