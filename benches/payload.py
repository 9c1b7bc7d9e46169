"""How much payload the runs of a scenario may carry: a bound, known before they run."""

from __future__ import annotations

import math
from itertools import accumulate

from mptcplab.engine.compile import compile_plan
from mptcplab.plan import Plan
from mptcplab.plan.link import FixedRate, TraceRate
from mptcplab.plan.link import Rate as LinkRate
from mptcplab.plan.traffic import BulkWorkload, FtpWorkload, HttpWorkload, Workload
from mptcplab.scenario import Scenario
from mptcplab.scenario.mahimahi import mean_rate_bps
from mptcplab.session import Choice


def may_carry_more(scenario: Scenario, choice: Choice, limit_bytes: int) -> bool:
    """Whether the transfers of the chosen runs may carry more than this in all.

    A transfer with a size carries that, one with a duration at most what the links of its client,
    or those of its server, can take in that time. Echoes, requests, streams, datagrams and commands
    do not count.
    """
    plans = (compile_plan(scenario, variant, choice.seed) for variant in choice.variants)
    sums = accumulate(choice.repetitions * _most_bytes(plan) for plan in plans)
    return any(most > limit_bytes for most in sums)


def _most_bytes(plan: Plan) -> float:
    rates = [0.0] * len(plan.nodes)
    for link in plan.links:
        rate = max(_rate_bps(direction.rate) for direction in link.config.directions)
        for end in link.ends:
            rates[end.node] += rate
    return sum(
        _of_workload(item.workload, min(rates[item.client], rates[item.server]))
        for item in plan.traffic
    )


def _of_workload(workload: Workload, rate_bps: float) -> float:
    match workload:
        case HttpWorkload() | FtpWorkload():
            return workload.bytes * workload.count
        case BulkWorkload():
            ways = 2 if workload.way == "both" else 1
            if workload.bytes is not None:
                return ways * workload.streams * workload.bytes
            assert workload.duration_ns is not None
            return ways * min(rate_bps, workload.rate_bps or math.inf) * workload.duration_ns / 8e9
    return 0.0


def _rate_bps(rate: LinkRate) -> float:
    match rate:
        case FixedRate():
            return rate.bits_per_second
        case TraceRate():
            return mean_rate_bps(list(rate.opportunities_ms))
    return math.inf
