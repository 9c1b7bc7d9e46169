"""How often does `earliest-completion` do as well as the best of the other policies, and what does
it gain? Mean completion times over a grid of transfers and paths, see `benches/selector_cells.py`.

Beside the policies stands what paths can give to MPTCP at all: the best of the four sets that there
are, either path alone and both in either order. It is taken from the cell and the one with the same
paths in the other order. Where TCP over the reference path is faster than that, no selector of
subflows can be as good. So ours is measured twice: as it is, and where it may take MPTCP from a
connection (`tcp_fallback`).

`--repeat` is the number of seeds; `--seconds` does not matter. The completion times of all cells
are written to `out/selector.csv`, and maps of both to `out/selector-….png`. Cells off the grid,
drawn by a fixed seed, are measured in the same way; their times are in `out/selector-drawn.csv`.
"""

from __future__ import annotations

import csv
import multiprocessing
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from . import selector_map
from .effort import Effort
from .figures import Figure, figure
from .selector_cells import (
    ALONE,
    OURS,
    POLICIES,
    RUNS,
    TCP_FALLBACK,
    AnyCell,
    Cell,
    cells,
    completions_s,
    drawn,
)

AS_GOOD, MUCH_SLOWER, FASTER = 1.02, 1.10, 0.90
"""Times of ours beside another's."""
_AS_GOOD_SHARE, _FASTER_SHARE = 0.99, 1 / 3
_DRAWN, _DRAWN_SEED = 600, 12
"""Pairs of mirrored cells off the grid, and the seed by which they are drawn."""


@dataclass(frozen=True)
class Compared:
    """The mean completion times of a cell."""

    cell: AnyCell
    times_s: dict[str, float]
    best_set_s: float
    """Of MPTCP over the best set of paths."""

    @property
    def best_other(self) -> str:
        """The policy with the least time, of the others."""
        others = [policy for policy in POLICIES if policy != OURS]
        return min(others, key=lambda policy: self.times_s[policy])

    def beside_best(self, ours: str) -> float:
        """The time of ours, relative to that of the best other."""
        return self.times_s[ours] / self.times_s[self.best_other]

    @property
    def set_beside_best(self) -> float:
        """The time over the best set, relative to that of the best other."""
        return self.best_set_s / self.times_s[self.best_other]

    @property
    def beside_set(self) -> float:
        """The time of ours, relative to that over the best set."""
        return self.times_s[OURS] / self.best_set_s

    def beside_mpsshetn(self, ours: str) -> float:
        """The time of ours, relative to that of MPSSHetN."""
        return self.times_s[ours] / self.times_s["mpsshetn"]


def measure(effort: Effort) -> list[Figure]:
    """The shares of cells that have targets, and the worst cell."""
    every = list(cells())
    compared = measured(
        [every[-1], every[-1].mirrored] if effort.shortest else every, effort.repeat
    )
    table = _kept(compared, "selector.csv")
    for ours in (OURS, TCP_FALLBACK):
        of_grid = [
            (one.cell, one.beside_best(ours)) for one in compared if isinstance(one.cell, Cell)
        ]
        selector_map.draw(of_grid, ours, table.with_name(f"selector-{ours}.png"))
    return figures(compared)


def measure_drawn(effort: Effort) -> list[Figure]:
    """The same of cells off the grid."""
    compared = measured(list(drawn(effort.sized(_DRAWN, 1), _DRAWN_SEED)), effort.repeat)
    _kept(compared, "selector-drawn.csv")
    return figures(compared)


def _kept(compared: Sequence[Compared], name: str) -> Path:
    path = Path("out", name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        write(compared, file)
    print(f"every cell: {path}")
    return path


def measured(every: Sequence[AnyCell], seeds: int) -> list[Compared]:
    """The cells in their order, several at once, those that take long first. With each cell must
    come the one that mirrors it."""
    by_size = sorted(every, key=lambda cell: -cell.size)
    with multiprocessing.get_context("spawn").Pool() as pool:
        times_s = pool.map(partial(completions_s, seeds=seeds), by_size, chunksize=1)
    known = dict(zip(by_size, times_s, strict=True))

    def best_set_s(cell: AnyCell) -> float:
        sides = known[cell], known[cell.mirrored]
        return min(side[run] for side in sides for run in (ALONE, "disjoint"))

    return [Compared(cell, known[cell], best_set_s(cell)) for cell in every]


def figures(compared: Sequence[Compared]) -> list[Figure]:
    """The figures of a grid."""

    def share(kept: Sequence[bool]) -> list[float]:
        return [sum(kept) / len(kept)]

    found = [figure("cells", "", [float(len(compared))])]
    for ours in (OURS, TCP_FALLBACK):
        ratios = [one.beside_best(ours) for one in compared]
        found += [
            figure(
                f"cells in which {ours} takes at most {AS_GOOD:g} times the best other's time",
                "",
                share([ratio <= AS_GOOD for ratio in ratios]),
                low=_AS_GOOD_SHARE,
            ),
            figure(
                f"{ours}: its time in the worst cell, relative to the best other's",
                "",
                [max(ratios)],
                high=MUCH_SLOWER,
            ),
            figure(
                f"{ours}: cells in which it takes at most {FASTER:g} times the time of mpsshetn",
                "",
                share([one.beside_mpsshetn(ours) <= FASTER for one in compared]),
                low=_FASTER_SHARE,
            ),
        ]
    return [
        *found,
        figure(
            f"cells in which MPTCP over the best set takes at most {AS_GOOD:g} times the best "
            "other's time",
            "",
            share([one.set_beside_best <= AS_GOOD for one in compared]),
        ),
        figure(
            f"cells in which {OURS} takes at most {AS_GOOD:g} times the time over the best set",
            "",
            share([one.beside_set <= AS_GOOD for one in compared]),
        ),
        figure(
            f"{OURS}: its time in the worst cell, relative to that over the best set",
            "",
            [max(one.beside_set for one in compared)],
        ),
    ]


def write(compared: Sequence[Compared], file: Any) -> None:
    """A table of all cells."""
    table = csv.writer(file, lineterminator="\n")
    names = ("size_bytes", "gap", "delay_ratio", "first_bps", "first_ns", "second_bps", "second_ns")
    table.writerow([*names, *(f"{run}_s" for run in RUNS)])
    for one in compared:
        cell = one.cell
        paths = [value for path in cell.paths for value in (path.rate_bps, path.delay_ns)]
        times = [f"{one.times_s[run]:.6g}" for run in RUNS]
        table.writerow([cell.size, cell.gap, cell.delay_ratio, *paths, *times])
