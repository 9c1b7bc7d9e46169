"""The workload of `make fast`'s instrumented build: the whole catalogue on the simulator, briefly.

The compiler then knows which way the branches mostly go. Nothing is measured here.
"""

from __future__ import annotations

from mptcplab._native import simulate
from mptcplab.engine.compile import compile_plan
from mptcplab.scenario import catalogue, load

from .shortened import shortened

_SECONDS = 4


def main() -> None:
    for entry in catalogue():
        scenario = shortened(load(entry.name), _SECONDS)
        for variant in scenario.variants:
            plan = compile_plan(scenario, variant, seed=1)
            simulate(plan.model_dump_json(), lambda _chunk: True)


if __name__ == "__main__":
    main()
