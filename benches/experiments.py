"""How long do 3000 short experiments take? Each is a download over two random paths.

Rates of 1 to 100 Mbit/s, delays of 1 to 100 ms, loss up to 1 %, files of 50 kB to 5 MB: by TCP over
each path, and by MPTCP over both. `--repeat` and `--seconds` do not matter.
"""

from __future__ import annotations

import copy
import math
import multiprocessing
import os
import random
import statistics
import time
from typing import Any

from mptcplab.engine.compile import compile_plan
from mptcplab.scenario import loads

from .effort import Effort
from .figures import Figure, figure
from .simulated import transfer_of

EXPERIMENTS = 3000
_LONGEST_S = 300.0
_SMALLEST_QUEUE_BYTES = 24_000
_SCENARIO = """\
hosts:
  client: {interfaces: {a: {}, b: {}}}
  server: {interfaces: {a: {}, b: {}}}
links:
  a: {between: [client.a, server.a], rate: 10 Mbit/s, delay: 10 ms, loss: 1 %}
  b: {between: [client.b, server.b], rate: 10 Mbit/s, delay: 10 ms, loss: 1 %}
traffic: [{http: {from: client, to: server, size: 1 MB}}]
variants:
  tcp-a: {protocol: tcp, via: a}
  tcp-b: {protocol: tcp, via: b}
  mptcp: {}
sample_interval: 1 s
"""
VARIANTS = ("tcp-a", "tcp-b", "mptcp")
Plan = dict[str, Any]


def measure(effort: Effort) -> list[Figure]:
    """Time for all of them, and what they say."""
    experiments = effort.sized(EXPERIMENTS, 20)
    begun = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(initializer=_prepare) as pool:
        outcomes = pool.map(_experiment, range(1, experiments + 1), chunksize=25)
    took_s = time.perf_counter() - begun
    known = [times for times in outcomes if all(times)]
    gains = [min(a, b) / both for a, b, both in known]
    return [
        figure(
            f"{experiments} experiments on {os.cpu_count()} processors",
            "s",
            [took_s],
            high=_LONGEST_S,
        ),
        figure("a run", "ms", [1000 * took_s / (experiments * len(VARIANTS))]),
        figure("experiments in which all three downloads ended", "", [len(known) / len(outcomes)]),
        figure("time of the better path over MPTCP's, median", "", [statistics.median(gains)]),
        figure(
            "experiments in which MPTCP was faster than either path",
            "",
            [sum(gain > 1 for gain in gains) / len(gains)],
        ),
    ]


_plans: dict[str, Plan] = {}
"""Of each variant, in a worker process."""


def _prepare() -> None:
    scenario = loads(_SCENARIO)
    _plans.update({name: compile_plan(scenario, name, seed=1).to_json() for name in VARIANTS})


def _experiment(seed: int) -> tuple[float, ...]:
    """Completion times in seconds, 0 for a download that failed."""
    drawn = random.Random(seed)
    paths = [
        (_between(drawn, 1e6, 1e8), _between(drawn, 1e6, 1e8), drawn.uniform(0, 0.01))
        for _ in range(2)
    ]
    size = _between(drawn, 5e4, 5e6)
    return tuple(_completion_s(_plan(_plans[name], seed, paths, size)) for name in VARIANTS)


def _plan(template: Plan, seed: int, paths: list[tuple[int, int, float]], size: int) -> Plan:
    plan = copy.deepcopy(template)
    plan["seed"] = seed
    plan["traffic"][0]["workload"]["bytes"] = size
    for link, (rate_bps, delay_ns, loss) in zip(plan["links"], paths, strict=True):
        for direction in link["config"]["directions"]:
            direction["rate"]["bits_per_second"] = rate_bps
            direction["delay_ns"] = delay_ns
            direction["loss"]["probability"] = loss
            product = rate_bps * 2 * delay_ns // (8 * 10**9)
            direction["queue"]["limit_bytes"] = max(product, _SMALLEST_QUEUE_BYTES)
    return plan


def _completion_s(plan: Plan) -> float:
    transfer = transfer_of(plan)
    if transfer["error"] is not None:
        return 0.0
    return float(transfer["end_ns"] - transfer["start_ns"]) / 1e9


def _between(drawn: random.Random, least: float, most: float) -> int:
    """A number whose logarithm is equally likely everywhere between the two."""
    return round(math.exp(drawn.uniform(math.log(least), math.log(most))))
