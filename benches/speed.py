"""How fast is the simulator? `lisbon/A1` for 100 s: MPTCP over two paths, and TCP over the faster.

`python -m benches speed --repeat 5`. How cost grows with connections is `cargo bench -p
mptcplab-engine-sim`. `make fast` makes the simulator about a quarter faster than `make setup` does.
"""

from __future__ import annotations

import json
import time

from mptcplab._native import simulate
from mptcplab.engine.compile import compile_plan
from mptcplab.plan import Plan
from mptcplab.scenario import load, with_duration

from .effort import Effort
from .figures import Figure, figure

_SECONDS = 100
_LONGEST_S = 1.3
_FEWEST_PER_SECOND = 1e6


def measure(effort: Effort) -> list[Figure]:
    """Processor time of a run, and data segments that it sends in a second of that."""
    return [
        *_of("mptcp", effort, _LONGEST_S, _FEWEST_PER_SECOND),
        *_of("tcp-eth", effort),
    ]


def _of(
    variant: str, effort: Effort, longest_s: float | None = None, fewest: float | None = None
) -> list[Figure]:
    scenario = with_duration(load("lisbon/A1"), effort.sized(_SECONDS, 1) * 1_000_000_000)
    plan = compile_plan(scenario, variant, seed=1)
    runs = [_run(plan) for _ in range(effort.repeat)]
    rates = [segments / took_s for took_s, segments in runs]
    return [
        figure(f"{variant}: processor time", "s", [took_s for took_s, _ in runs], high=longest_s),
        figure(f"{variant}: data segments a second", "", rates, low=fewest),
    ]


def _run(plan: Plan) -> tuple[float, int]:
    """Seconds of processor time, and the data segments that were sent."""
    chunks: list[bytes] = []

    def take(chunk: bytes) -> bool:
        chunks.append(chunk)
        return True

    text = plan.model_dump_json()
    begun = time.process_time()
    simulate(text, take)
    took_s = time.process_time() - begun
    rows = [json.loads(line) for line in b"".join(chunks).splitlines() if b"OrigDataSent" in line]
    return took_s, sum(row["value"] for row in rows)
