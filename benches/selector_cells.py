"""The grid on which policies of the controller are compared: two disjoint paths between two
switches, by size of the transfer, bandwidths and delays of the paths, and a run of each cell.

The better of the two values of a cell is always the same, 10 Mbit/s and 5 ms. Either path may have
it: the reference path, which is the first one by links and ports, may be the slow one, the one
with the longer delay, or both.
"""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from mptcplab.engine.compile import compile_plan
from mptcplab.scenario import Scenario, loads, with_overrides

from .simulated import transfer_of, transfers_of

SIZES = tuple(1000 * round(10 * 5000 ** (step / 7)) for step in range(8))
"""Bytes: 10 KB to 50 MB, evenly on a logarithmic scale."""
GAPS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.99)
"""How much less the slow path carries than the fast one, as a part of it."""
DELAY_RATIOS = (1, 2, 3, 5, 10, 30)
POLICIES = ("tcp", "disjoint", "mpsshetn", "earliest-completion")
OURS = POLICIES[-1]
TCP_FALLBACK = f"{OURS}-tcp-fallback"
"""Ours where it may take MPTCP from a connection."""
ALONE = "alone"
"""MPTCP over the reference path alone: what MPTCP costs where no choice of paths can help."""
RUNS = (*POLICIES, TCP_FALLBACK, ALONE)
SHARED = "shared"
"""MPTCP with both subflows over the reference path, which no policy of the grid has."""
RATE_BPS = 10_000_000
DELAY_NS = 5_000_000
_SMALLEST_QUEUE_BYTES = 24_000
_RATES_BPS = 2_000_000, 100_000_000
"""Of the faster path of a drawn cell."""
_DELAYS_NS = 1_000_000, 20_000_000
"""Of its path with the shorter delay."""
_MOST_TIMES_SLOWER = 100
_PATHS = ("first", "second")
_SCENARIO = """\
hosts:
  client: {interfaces: {eth1: {}, eth2: {}}, mptcp: {path_manager: subflow-signal}}
  server: {interfaces: {eth1: {}, eth2: {}}, mptcp: {path_manager: default}}
switches: {s1: {}, s2: {}}
controller: disjoint
links:
  client1: {between: [client.eth1, s1.client1], profile: ethernet-1000}
  client2: {between: [client.eth2, s1.client2], profile: ethernet-1000}
  server1: {between: [s2.server1, server.eth1], profile: ethernet-1000}
  server2: {between: [s2.server2, server.eth2], profile: ethernet-1000}
  first: {between: [s1.path1, s2.path1], rate: 10 Mbit/s, delay: 5 ms}
  second: {between: [s1.path2, s2.path2], rate: 10 Mbit/s, delay: 5 ms}
traffic: [{http: {from: client, to: server, size: 1 MB}}]
variants:
  tcp: {protocol: tcp, set: {controller: shortest}}
  disjoint: {}
  mpsshetn: {set: {controller: mpsshetn}}
  earliest-completion: {set: {controller: earliest-completion}}
  earliest-completion-tcp-fallback:
    set: {controller: {policy: earliest-completion, tcp_fallback: true}}
  alone: {set: {controller: shortest, hosts.client.mptcp.path_manager: signal}}
  shared: {set: {controller: shortest}}
sample_interval: 1 min
"""
Plan = dict[str, Any]


@dataclass(frozen=True)
class Path:
    """A path between the switches."""

    rate_bps: int
    delay_ns: int

    @property
    def queue_bytes(self) -> int:
        """Bytes of the data under way in a round trip at its rate, or of the least queue."""
        return max(self.rate_bps * 2 * self.delay_ns // (8 * 10**9), _SMALLEST_QUEUE_BYTES)


@dataclass(frozen=True)
class Cell:
    """A transfer, and the paths that there are for it."""

    size: int
    gap: float
    delay_ratio: int
    is_first_slow: bool
    """Whether the reference path is the one with the lower rate."""
    is_first_late: bool
    """Whether the reference path is the one with the longer delay."""

    @property
    def paths(self) -> tuple[Path, Path]:
        """The reference path and the other."""
        rates = RATE_BPS, round(RATE_BPS * (1 - self.gap))
        delays = DELAY_NS, DELAY_NS * self.delay_ratio
        first, second = (
            Path(rates[is_slow], delays[is_late])
            for is_slow, is_late in (
                (self.is_first_slow, self.is_first_late),
                (not self.is_first_slow, not self.is_first_late),
            )
        )
        return first, second

    @property
    def mirrored(self) -> Cell:
        """The same paths in the other order."""
        is_slow = not self.is_first_slow and self.gap > 0
        is_late = not self.is_first_late and self.delay_ratio > 1
        return replace(self, is_first_slow=is_slow, is_first_late=is_late)


def cells() -> Iterator[Cell]:
    """All of them, each once: where both have the same rate or delay none is the worse."""
    for delay_ratio, gap, size in product(DELAY_RATIOS, GAPS, SIZES):
        for is_slow, is_late in product((False, True), repeat=2):
            if (gap or not is_slow) and (delay_ratio > 1 or not is_late):
                yield Cell(size, gap, delay_ratio, is_slow, is_late)


@dataclass(frozen=True)
class Drawn:
    """A transfer and paths that are not of the grid."""

    size: int
    paths: tuple[Path, Path]

    @property
    def gap(self) -> float:
        """How much less the slow path carries than the fast one, as a part of it."""
        rates_bps = sorted(path.rate_bps for path in self.paths)
        return 1 - rates_bps[0] / rates_bps[-1]

    @property
    def delay_ratio(self) -> float:
        """The delay of the late path relative to that of the other."""
        delays_ns = sorted(path.delay_ns for path in self.paths)
        return delays_ns[-1] / delays_ns[0]

    @property
    def mirrored(self) -> Drawn:
        """The same paths in the other order."""
        return replace(self, paths=self.paths[::-1])


AnyCell = Cell | Drawn


def drawn(count: int, seed: int) -> Iterator[Drawn]:
    """So many transfers and pairs of paths, each followed by its mirror: sizes, rates and delays
    within the bounds of the grid or a little beyond, evenly on logarithmic scales."""
    generator = random.Random(seed)

    def between(least: float, most: float) -> float:
        return math.exp(generator.uniform(math.log(least), math.log(most)))

    for _ in range(count):
        size = round(between(SIZES[0], SIZES[-1]))
        rate_bps, slower = between(*_RATES_BPS), between(1, _MOST_TIMES_SLOWER)
        delay_ns, later = between(*_DELAYS_NS), between(1, DELAY_RATIOS[-1])
        rates_bps = round(rate_bps), round(rate_bps / slower)
        delays_ns = round(delay_ns), round(delay_ns * later)
        is_late = generator.random() < 0.5
        first = Path(rates_bps[0], delays_ns[is_late])
        one = Drawn(size, (first, Path(rates_bps[1], delays_ns[not is_late])))
        yield one
        yield one.mirrored


def scenario_of(cell: AnyCell) -> Scenario:
    """The scenario of a cell, which has the policies as variants."""
    values: dict[str, Any] = {"traffic.0.http.size": f"{cell.size} B"}
    for name, path in zip(_PATHS, cell.paths, strict=True):
        values[f"links.{name}.rate"] = f"{path.rate_bps} bit/s"
        values[f"links.{name}.delay"] = f"{path.delay_ns} ns"
        values[f"links.{name}.queue"] = f"{path.queue_bytes} B"
    return with_overrides(loads(_SCENARIO), values)


def completions_s(cell: AnyCell, seeds: int) -> dict[str, float]:
    """The mean completion time of each of the runs."""
    return {
        run: math.fsum(completion_s(cell, run, seed) for seed in range(1, seeds + 1)) / seeds
        for run in RUNS
    }


def completion_s(cell: AnyCell, run: str, seed: int) -> float:
    """From the first SYN until the last byte has come, of one run."""
    return _seconds_of(transfer_of(_plan(cell, run, seed)), f"{cell}, {run}, seed {seed}")


def completions_following_s(cell: AnyCell, run: str, downloads: int) -> list[float]:
    """The same of all downloads but the first, of so many, each of which follows the one before."""
    plan = _plan(cell, run, 1)
    plan["traffic"][0]["workload"]["count"] = downloads
    plan["time_limit_ns"] *= downloads
    found = transfers_of(plan)
    if len(found) != downloads:
        raise RuntimeError(f"{cell}, {run}: {len(found)} of {downloads} downloads have ended")
    return [_seconds_of(transfer, f"{cell}, {run}") for transfer in found[1:]]


def _seconds_of(transfer: Mapping[str, Any], of: str) -> float:
    if transfer["error"] is not None:
        raise RuntimeError(f"{of}: {transfer['error']}")
    return float(transfer["end_ns"] - transfer["start_ns"]) / 1e9


def _plan(cell: AnyCell, run: str, seed: int) -> Plan:
    if run not in _plans:
        _plans[run] = compile_plan(loads(_SCENARIO), run, seed=seed).to_json()
    plan = copy.deepcopy(_plans[run])
    plan["seed"] = seed
    plan["traffic"][0]["workload"]["bytes"] = cell.size
    # Longer than any of the policies takes.
    slowest_bps = min(path.rate_bps for path in cell.paths)
    plan["time_limit_ns"] = (60 + 100 * cell.size // slowest_bps) * 10**9
    links = {link["name"]: link for link in plan["links"]}
    for name, path in zip(_PATHS, cell.paths, strict=True):
        for direction in links[name]["config"]["directions"]:
            direction["rate"]["bits_per_second"] = path.rate_bps
            direction["delay_ns"] = path.delay_ns
            direction["queue"]["limit_bytes"] = path.queue_bytes
    return plan


_plans: dict[str, Plan] = {}
"""Of each of the runs, in a process."""
