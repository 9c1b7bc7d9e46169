"""Some of the cells on both engines, for machines on which other programs run: no cell may be far
apart.

A cell runs once on the kernel. Only where the simulator's median is more than a quarter away from
what its runs so far have between them it runs again, three times at most.
"""

from __future__ import annotations

import math

from mptcplab.engine.choice import KERNEL, SIM, refusals

from .cells import Cell, cells, drawn
from .cross_cells import FAR_APART, compared
from .effort import Effort
from .figures import Figure, figure
from .samples import Part, Samples, samples

NAMES = (
    "birzeit 1 MiB, gap 0.4",
    "birzeit 5 MiB, gap 0.2",
    "birzeit long, gap 0.4",
    "rates 1:1, delays 1:1, loss 0 %",
    "rates 1:1, delays 1:10, loss 0.1 %",
    "rates 3:1, delays 1:3, loss 0 %",
    "three paths, one a backup, none fails",
    "three paths, one a backup, b fails",
    "ndiffports 2",
    "tcp both ways, rates 1:1",
    "mptcp both ways, rates 10:1",
    "mptcp, five streams",
)
"""Cells of each kind whose runs in the kernel are close together.

Shorter flows are not: whether their second path takes part is a race of some tens of microseconds,
which another program that runs decides.
"""
_MOST_RUNS = 3
_SIM_RUNS = 3


def measure(effort: Effort) -> list[Figure]:
    """The largest difference, and how often the kernel ran."""
    by_name = {cell.name: cell for cell in (*cells(), *drawn())}
    chosen = [by_name[name] for name in NAMES[: effort.sized(len(NAMES), 1)]]
    refused = refusals(KERNEL, chosen[0].scenario, [chosen[0].variant])
    if refused:
        print(f"skipped the subset of the cross-check: {refused[0].reason}", flush=True)
        return []
    parts = [Part(cell.scenario, [cell.variant]) for cell in chosen]
    by_sim = samples(SIM, parts, _SIM_RUNS)
    every = [_settled(cell, sim) for cell, sim in zip(chosen, by_sim, strict=True)]
    return [
        figure("difference, largest", "", [max(apart for apart, _ in every)], high=FAR_APART),
        figure("runs of the kernel", "", [float(sum(runs for _, runs in every))]),
    ]


def _settled(cell: Cell, sim: Samples) -> tuple[float, int]:
    """How far apart a cell is, and after how many runs of the kernel."""
    kernel: Samples = {}
    for seed in range(1, _MOST_RUNS + 1):
        [found] = samples(KERNEL, [Part(cell.scenario, [cell.variant])], 1, seed)
        for key, sample in found.items():
            kernel.setdefault(key, []).extend(sample)
        one = compared(cell, kernel, sim)
        apart = math.inf if one is None else abs(one.difference)
        if one is not None:
            print(f"{cell.name}: {one.metric} {one.kernel}, simulator {one.sim}", flush=True)
        if apart <= FAR_APART:
            break
    return apart, seed
