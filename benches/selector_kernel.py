"""A part of the grid of policies on the kernel: is `earliest-completion` as good there as it is in
the simulator?

The cells are drawn by a fixed seed from those in which no policy takes long, so that all of them
take about ten minutes with `--repeat 1`, which is the number of runs of each policy. Both engines
have the same scenarios and seeds; ratios of times are compared, and the table of all cells is
written to `out/selector-kernel.csv`.
"""

from __future__ import annotations

import csv
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mptcplab.engine.choice import KERNEL, SIM

from .effort import Effort
from .figures import Figure, figure
from .samples import Part, samples
from .selector import AS_GOOD, FASTER, MUCH_SLOWER
from .selector_cells import OURS, POLICIES, Cell, cells, scenario_of

_CELLS, _SEED = 30, 1
_AT_LEAST = 2
"""Cells of the shortest form."""
_LONGEST_S = 6.0
"""How long the slower path takes at most for all of a transfer."""
_ENGINES = KERNEL, SIM
Times = dict[str, float]
"""Median completion times in seconds, by policy."""


@dataclass(frozen=True)
class Both:
    """A cell on both engines."""

    cell: Cell
    kernel_s: Times
    sim_s: Times


def measure(effort: Effort) -> list[Figure]:
    """How often ours is as good on the kernel as the best other policy, and how often the simulator
    says so."""
    chosen = drawn()[: effort.sized(_CELLS, _AT_LEAST)]
    measured: list[Both] = []
    for cell in chosen:
        kernel_s, sim_s = (_times_s(engine, cell, effort.repeat) for engine in _ENGINES)
        if len(kernel_s) == len(sim_s) == len(POLICIES):
            measured.append(Both(cell, kernel_s, sim_s))
        else:
            print(f"warning: {cell}: not all policies have a time", flush=True)
    _write(measured, Path("out", "selector-kernel.csv"))
    if not measured:
        raise SystemExit(
            "no cell was measured: `mptcplab doctor` says what the kernel engine lacks"
        )
    return figures(measured)


def drawn() -> list[Cell]:
    """The cells, in the order in which they are measured."""
    short = [
        cell
        for cell in cells()
        if 8 * cell.size <= _LONGEST_S * min(path.rate_bps for path in cell.paths)
    ]
    return random.Random(_SEED).sample(short, _CELLS)


def figures(measured: Sequence[Both]) -> list[Figure]:
    """The shares on either engine, and how far their ratios are apart."""
    found = [figure("cells", "", [float(len(measured))])]
    for engine, of in zip(_ENGINES, zip(*map(_both_s, measured), strict=True), strict=True):
        best = [times_s[OURS] / min(_others_s(times_s)) for times_s in of]
        gained = [times_s[OURS] / times_s["mpsshetn"] for times_s in of]
        found += [
            figure(
                f"{engine}: cells in which {OURS} takes at most {AS_GOOD:g} times the best other's "
                "time",
                "",
                [_share([ratio <= AS_GOOD for ratio in best])],
            ),
            figure(
                f"{engine}: the same, {MUCH_SLOWER:g} times",
                "",
                [_share([ratio <= MUCH_SLOWER for ratio in best])],
            ),
            figure(f"{engine}: its time in the worst cell, beside that", "", [max(best)]),
            figure(
                f"{engine}: cells in which it takes at most {FASTER:g} times the time of mpsshetn",
                "",
                [_share([ratio <= FASTER for ratio in gained])],
            ),
        ]
    apart = [
        abs(one.sim_s[policy] / one.kernel_s[policy] - 1) for one in measured for policy in POLICIES
    ]
    found.append(figure("times of the simulator from the kernel's", "", apart))
    return found


def _times_s(engine: str, cell: Cell, repeat: int) -> Times:
    [found] = samples(engine, [Part(scenario_of(cell), POLICIES)], repeat)
    times = {policy: found.get((policy, "completion_s")) for policy in POLICIES}
    known = {policy: statistics.median(sample) for policy, sample in times.items() if sample}
    shown = ", ".join(f"{policy} {time_s:.4g} s" for policy, time_s in known.items())
    print(f"{engine}: {cell}: {shown}", flush=True)
    return known


def _both_s(one: Both) -> tuple[Times, Times]:
    return one.kernel_s, one.sim_s


def _others_s(times_s: Times) -> list[float]:
    return [time_s for policy, time_s in times_s.items() if policy != OURS]


def _share(kept: Sequence[bool]) -> float:
    return sum(kept) / len(kept)


def _write(measured: Sequence[Both], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        names = ("size_bytes", "gap", "delay_ratio", "first_slow", "first_late", "engine")
        table.writerow([*names, *(f"{policy}_s" for policy in POLICIES)])
        for one in measured:
            cell = one.cell
            place = [cell.size, cell.gap, cell.delay_ratio, cell.is_first_slow, cell.is_first_late]
            for engine, times_s in zip(_ENGINES, _both_s(one), strict=True):
                times = [f"{times_s[policy]:.6g}" for policy in POLICIES]
                table.writerow([*place, engine, *times])
    print(f"every cell: {path}")
