"""The catalogue on both engines: how far are their goodputs and completion times apart?

Every variant that both can run, with bulk transfers of `--seconds`; medians over `--repeat` runs.
The table of all of them is written to `out/cross-check.md`.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mptcplab.engine.choice import KERNEL, SIM, refusals
from mptcplab.scenario import Scenario, catalogue, load

from .effort import Effort
from .figures import Figure, figure, quantile
from .samples import Part, samples
from .shortened import shortened

REPORT = Path("out", "cross-check.md")
_FEWEST = ("lisbon/A1", "birzeit/long-equal")
_MEDIAN_APART, _P95_APART = 0.05, 0.15


@dataclass(frozen=True)
class Compared:
    """A metric of a variant on both engines, medians over the repetitions."""

    scenario: str
    variant: str
    metric: str
    kernel: float
    sim: float

    @property
    def difference(self) -> float:
        """Of the simulator, relative to the kernel."""
        return self.sim / self.kernel - 1


def measure(effort: Effort) -> list[Figure]:
    """The differences of all variants of the catalogue."""
    every: list[Compared] = []
    names = _FEWEST if effort.shortest else [entry.name for entry in catalogue()]
    for name in names:
        scenario = shortened(load(name), effort.seconds)
        variants = [v for v in scenario.variants if _both_can(scenario, v)]
        if variants:
            print(f"{name}: {', '.join(variants)}", flush=True)
            every += _compared(scenario, variants, effort.repeat)
    apart = [abs(one.difference) for one in every]
    goodputs = [abs(one.difference) for one in every if one.metric == "goodput"]
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(_table(every), encoding="utf-8")
    print(f"every figure: {REPORT}")
    median, p95 = statistics.median(apart), quantile(apart, 0.95)
    return [
        figure("compared figures", "", [float(len(every))]),
        figure("difference, median", "", [median], high=_MEDIAN_APART),
        figure("difference, 95th percentile", "", [p95], high=_P95_APART),
        figure("difference of goodputs, median", "", [statistics.median(goodputs)]),
        figure("difference of goodputs, 95th percentile", "", [quantile(goodputs, 0.95)]),
    ]


def _both_can(scenario: Scenario, variant: str) -> bool:
    return not any(refusals(engine, scenario, [variant]) for engine in (KERNEL, SIM))


def _compared(scenario: Scenario, variants: list[str], repeat: int) -> Iterator[Compared]:
    part = Part(scenario, variants)
    [kernel], [sim] = (samples(engine, [part], repeat) for engine in (KERNEL, SIM))
    for variant, metric in kernel.keys() & sim.keys():
        of_both = (statistics.median(found[variant, metric]) for found in (kernel, sim))
        yield Compared(scenario.name, variant, metric, *of_both)


def _table(every: list[Compared]) -> str:
    """The figures as Markdown, those furthest apart first."""
    lines = [
        "| scenario | variant | metric | kernel | sim | difference |",
        "|---|---|---|---:|---:|---:|",
    ]
    for one in sorted(every, key=lambda one: -abs(one.difference)):
        lines.append(
            f"| {one.scenario} | {one.variant} | {one.metric} | {one.kernel:.4g} | {one.sim:.4g} | "
            f"{100 * one.difference:+.1f} % |"
        )
    return "\n".join(lines) + "\n"
