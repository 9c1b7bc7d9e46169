"""The cells beyond the catalogue: how far is the simulator from what the runs of the kernel have
between them?

Goodput, or mean completion time where files are fetched, each run of the simulator beside the
kernel's runs that are kept in `benches/kernel/cells.jsonl`. A difference is counted from the
nearest of the kernel's runs, relative to their median: none where the simulator's median lies
between them. The targets are for it. Beside it stands the difference of the medians, which counts
what the kernel's runs spread by as well. The table of all is written to `out/cross-cells.md`, that
of random cells to `out/cross-random.md`.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mptcplab.engine.choice import SIM

from . import kept
from .cells import Cell, cells, drawn
from .effort import Effort
from .figures import Figure, figure, quantile
from .samples import Part, Samples, samples

_MEDIAN_APART, _P95_APART = 0.02, 0.10
_RANDOM_MEDIAN_APART, _RANDOM_P95_APART = 0.03, 0.12
FAR_APART = 0.25
"""A cell that is further apart needs a cause."""


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

    @property
    def of_medians(self) -> float:
        """Of the simulator's median from the kernel's, relative to the latter."""
        return statistics.median(self.sim) / statistics.median(self.kernel) - 1


def measure(effort: Effort) -> list[Figure]:
    """The differences of all cells."""
    table = Path("out", "cross-cells.md")
    return _measured(list(cells()), effort, table, _MEDIAN_APART, _P95_APART)


def measure_random(effort: Effort) -> list[Figure]:
    """The differences of random cells."""
    table = Path("out", "cross-random.md")
    return _measured(list(drawn()), effort, table, _RANDOM_MEDIAN_APART, _RANDOM_P95_APART)


def _measured(
    every: Sequence[Cell], effort: Effort, table: Path, median: float, p95: float
) -> list[Figure]:
    chosen = every[: effort.sized(len(every), 1)]
    compared = list(beside_kept(chosen, effort.repeat, kept.KEPT))
    table.parent.mkdir(parents=True, exist_ok=True)
    table.write_text(as_table(compared), encoding="utf-8")
    print(f"every figure: {table}")
    apart = [abs(one.difference) for one in compared]
    return [
        figure("compared cells", "", [float(len(apart))]),
        figure("difference, median", "", [statistics.median(apart)], high=median),
        figure("difference, 95th percentile", "", [quantile(apart, 0.95)], high=p95),
        figure(f"cells more than {FAR_APART:.0%} apart", "", [_far(apart)]),
        *of_medians(compared),
    ]


def of_medians(every: Sequence[Compared]) -> list[Figure]:
    """The differences of medians, without targets."""
    apart = [abs(one.of_medians) for one in every]
    return [
        figure("difference of the medians, median", "", [statistics.median(apart)]),
        figure("difference of the medians, 95th percentile", "", [quantile(apart, 0.95)]),
        figure(f"cells whose medians are more than {FAR_APART:.0%} apart", "", [_far(apart)]),
    ]


def _far(apart: Sequence[float]) -> float:
    return float(sum(difference > FAR_APART for difference in apart))


def beside_kept(every: Sequence[Cell], repeat: int, file: Path) -> Iterator[Compared]:
    """The simulator's figures of cells beside the kernel's in a file."""
    runs = kept.latest(kept.read(file))
    known = [cell for cell in every if (cell.name, kept.settings(cell)) in runs]
    for cell in every:
        if cell not in known:
            print(f"{cell.name}: no runs of the kernel with these settings are kept", flush=True)
    parts = [Part(cell.scenario, [cell.variant]) for cell in known]
    for cell, sim in zip(known, samples(SIM, parts, repeat), strict=True):
        kernel: Samples = {}
        for run in runs[cell.name, kept.settings(cell)]:
            for metric, value in run.figures().items():
                kernel.setdefault((cell.variant, metric), []).append(value)
        if (one := compared(cell, kernel, sim)) is not None:
            yield one


def compared(cell: Cell, kernel: Samples, sim: Samples) -> Compared | None:
    """The metric that counts for a cell, of both engines; none where one has no figure."""
    key = cell.variant, "completion_s"
    if key not in kernel:
        key = cell.variant, "goodput"
    if key in kernel and key in sim:
        return Compared(cell.name, key[1], kernel[key], sim[key])
    print(f"{cell.name}: no figure on one of the engines", flush=True)
    return None


def as_table(every: Sequence[Compared]) -> str:
    """The figures as Markdown, those furthest apart first."""
    lines = [
        "| cell | metric | kernel | sim | difference | of the medians |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for one in sorted(every, key=lambda one: -abs(one.difference)):
        lines.append(
            f"| {one.cell} | {one.metric} | {_spread(one.kernel)} | {_spread(one.sim)} | "
            f"{100 * one.difference:+.1f} % | {100 * one.of_medians:+.1f} % |"
        )
    return "\n".join(lines) + "\n"


def _spread(values: list[float]) -> str:
    return f"{statistics.median(values):.4g} ({min(values):.4g} … {max(values):.4g})"
