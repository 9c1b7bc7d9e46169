"""The cells beyond the catalogue on both engines: how far is the simulator from what the runs of
the kernel have between them?

Goodput, or mean completion time where files are fetched. A difference is counted from the nearest
of the kernel's runs, relative to their median: none where the simulator's median lies between them.
The table of all is written to `out/cross-cells.md`, that of random cells to `out/cross-random.md`.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from . import cells
from .cross_check import samples_on_both
from .effort import Effort
from .figures import Figure, figure, quantile

RANDOM_CELLS = 100
_MEDIAN_APART, _P95_APART = 0.02, 0.10
_RANDOM_MEDIAN_APART, _RANDOM_P95_APART = 0.03, 0.12


@dataclass(frozen=True)
class Compared:
    """A cell on both engines."""

    cell: str
    metric: str
    kernel: list[float]
    sim: list[float]

    @property
    def difference(self) -> float:
        """Of the simulator's median from the nearest of the kernel's samples, relative to the
        kernel's median; 0 between them."""
        sim = statistics.median(self.sim)
        nearest = min(max(sim, min(self.kernel)), max(self.kernel))
        return (sim - nearest) / statistics.median(self.kernel)


def measure(effort: Effort) -> list[Figure]:
    """The differences of all cells."""
    every = cells.cells(effort.seconds)
    table = Path("out", "cross-cells.md")
    return _measured(every, effort, table, _MEDIAN_APART, _P95_APART)


def measure_random(effort: Effort) -> list[Figure]:
    """The differences of random cells."""
    every = cells.drawn(RANDOM_CELLS, effort.seconds)
    table = Path("out", "cross-random.md")
    return _measured(every, effort, table, _RANDOM_MEDIAN_APART, _RANDOM_P95_APART)


def _measured(
    every: Iterable[cells.Cell], effort: Effort, table: Path, median: float, p95: float
) -> list[Figure]:
    chosen = list(every)
    chosen = chosen[: effort.sized(len(chosen), 1)]
    compared = [one for cell in chosen for one in _compared(cell, effort.repeat)]
    table.parent.mkdir(parents=True, exist_ok=True)
    table.write_text(_table(compared), encoding="utf-8")
    print(f"every figure: {table}")
    apart = [abs(one.difference) for one in compared]
    return [
        figure("compared cells", "", [float(len(apart))]),
        figure("difference, median", "", [statistics.median(apart)], high=median),
        figure("difference, 95th percentile", "", [quantile(apart, 0.95)], high=p95),
    ]


def _compared(cell: cells.Cell, repeat: int) -> list[Compared]:
    found = samples_on_both(cell.scenario, [cell.variant], repeat)
    metric = "completion_s" if (cell.variant, "completion_s") in found else "goodput"
    one = found.get((cell.variant, metric))
    if one is None:
        print(f"{cell.name}: no figure on one of the engines", flush=True)
        return []
    compared = Compared(cell.name, metric, *one)
    print(f"{cell.name}: {100 * compared.difference:+.1f} %", flush=True)
    return [compared]


def _table(every: list[Compared]) -> str:
    """The figures as Markdown, those furthest apart first."""
    lines = ["| cell | metric | kernel | sim | difference |", "|---|---|---:|---:|---:|"]
    for one in sorted(every, key=lambda one: -abs(one.difference)):
        low, middle, high = min(one.kernel), statistics.median(one.kernel), max(one.kernel)
        lines.append(
            f"| {one.cell} | {one.metric} | {middle:.4g} ({low:.4g} … {high:.4g}) | "
            f"{statistics.median(one.sim):.4g} | {100 * one.difference:+.1f} % |"
        )
    return "\n".join(lines) + "\n"
