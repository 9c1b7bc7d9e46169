"""Figures of several runs, and their tables."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Figure:
    """One quantity over several runs, beside what it must be."""

    name: str
    unit: str
    samples: list[float]
    target: str
    met: bool | None
    """At the median; `None` where there is no target."""

    def as_dict(self) -> dict[str, object]:
        return asdict(self) | {"median": statistics.median(self.samples)}


def figure(
    name: str,
    unit: str,
    samples: Sequence[float],
    low: float | None = None,
    high: float | None = None,
) -> Figure:
    """A figure whose median must lie between `low` and `high`."""
    median = statistics.median(samples)
    bounds = [
        f"≥ {low:g}" if low is not None else "",
        f"≤ {high:g}" if high is not None else "",
    ]
    target = ", ".join(bound for bound in bounds if bound)
    met = (low is None or median >= low) and (high is None or median <= high) if target else None
    return Figure(name, unit, list(samples), target, met)


def quantile(values: Sequence[float], q: float) -> float:
    """The smallest value that at least a share `q` of the values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(q * len(ordered)) - 1)]


def table(figures: Sequence[Figure]) -> str:
    """The figures as a Markdown table."""
    lines = [
        "| figure | median | least … most | target | |",
        "|---|---:|---:|---:|---|",
    ]
    for each in figures:
        median = _number(statistics.median(each.samples))
        spread = f"{_number(min(each.samples))} … {_number(max(each.samples))}"
        verdict = {True: "met", False: "missed", None: ""}[each.met]
        unit = f" {each.unit}" if each.unit else ""
        lines.append(f"| {each.name} | {median}{unit} | {spread} | {each.target} | {verdict} |")
    return "\n".join(lines)


def _number(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"
