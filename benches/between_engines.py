"""How far the engines are apart in the figures of the documents, from the pages that are kept.

`python -m benches.between_engines` compares each figure of `docs/reproduction/kernel/*.json` with
that of the simulator's page. No run is made; the pages say how theirs were. Deviations are left
out, as the simulator repeats a seed, and figures of one repetition alone. A difference is that of
the simulator's mean relative to the kernel's. Where the 95 % confidence interval of the kernel's
mean holds the simulator's, the two are not told apart.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mptcplab.reproduction import reading

from .figures import quantile

PAGES = Path(__file__).parents[1] / "docs" / "reproduction"
LARGEST = 5
"""Differences that are listed of each document."""


@dataclass(frozen=True)
class Compared:
    """A figure on both engines."""

    name: str
    kernel: float
    sim: float
    ci95: tuple[float, float] | None

    @property
    def difference(self) -> float:
        """Of the simulator, relative to the kernel."""
        return self.sim / self.kernel - 1

    @property
    def is_told_apart(self) -> bool:
        """Whether the kernel's interval is known and leaves the simulator's figure out."""
        return self.ci95 is not None and not self.ci95[0] <= self.sim <= self.ci95[1]


def main() -> None:
    """Prints the table of the documents, and their largest differences."""
    print("| document | figures | median | 95th percentile | told apart by the interval |")
    print("|---|---:|---:|---:|---:|")
    every = {name: compared(name) for name in reading.names()}
    for name, figures in every.items():
        apart = [abs(one.difference) for one in figures]
        intervals = [one for one in figures if one.ci95 is not None]
        told = sum(one.is_told_apart for one in intervals)
        typical = f"{statistics.median(apart):.1%} | {quantile(apart, 0.95):.1%}"
        print(f"| {name} | {len(apart)} | {typical} | {told} of {len(intervals)} |")
    print("\n| figure | kernel | sim | difference |\n|---|---:|---:|---:|")
    for figures in every.values():
        for one in sorted(figures, key=lambda one: -abs(one.difference))[:LARGEST]:
            print(f"| {one.name} | {one.kernel:.4g} | {one.sim:.4g} | {one.difference:+.0%} |")


def compared(document: str) -> list[Compared]:
    """The figures of a document that both pages have."""
    sim = {name: cell["mean"] for name, cell in _cells(PAGES / f"{document}.json")}
    pages = sorted((PAGES / "kernel").glob(f"{document}*.json"))
    kernel = {name: cell for page in pages for name, cell in _cells(page)}
    return [
        Compared(name, cell["mean"], sim[name], cell["ci95"])
        for name, cell in kernel.items()
        if name in sim and cell["mean"]
    ]


def _cells(page: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The means of all repetitions in a page, by scenario and figure."""
    for item in json.loads(page.read_text(encoding="utf-8"))["items"]:
        for row in item["rows"]:
            for cell in row:
                if not isinstance(cell, dict) or cell["mean"] is None:
                    continue
                if cell["statistic"] == "mean" and cell["repetition"] is None:
                    yield f"{cell['scenario']} {cell['here']}", cell


if __name__ == "__main__":
    main()
