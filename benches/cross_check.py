"""The catalogue on both engines: how far are their goodputs and completion times apart?

Every variant that both can run, with bulk transfers of `--seconds`; medians over `--repeat` runs.
The table of all of them is written to `out/cross-check.md`.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from mptcplab.engine.choice import KERNEL, SIM, refusals
from mptcplab.engine.job import Engine, NullProgress
from mptcplab.engine.kernel.engine import KernelEngine
from mptcplab.engine.sim.engine import SimEngine
from mptcplab.metrics import compare
from mptcplab.recording import Description, Result
from mptcplab.recording.result import ScenarioEntry, VariantEntry
from mptcplab.scenario import Scenario, catalogue, load
from mptcplab.session import Choice, jobs

from .effort import Effort
from .figures import Figure, figure, quantile
from .shortened import shortened

REPORT = Path("out", "cross-check.md")
_METRICS = ("goodput", "completion_s")
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
    on_both = samples_on_both(scenario, variants, repeat)
    for (variant, metric), (kernel, sim) in on_both.items():
        medians = statistics.median(kernel), statistics.median(sim)
        yield Compared(scenario.name, variant, metric, *medians)


def samples_on_both(
    scenario: Scenario, variants: list[str], repeat: int
) -> dict[tuple[str, str], tuple[list[float], list[float]]]:
    """Of each variant and metric that both engines have: the kernel's samples and the
    simulator's."""
    by_engine = {}
    engines: dict[str, Engine] = {KERNEL: KernelEngine(), SIM: SimEngine()}
    for name, engine in engines.items():
        folder = Path(tempfile.mkdtemp(prefix="mptcplab-"))
        try:
            by_engine[name] = _samples(scenario, Choice(variants, repeat, 1), engine, name, folder)
        finally:
            shutil.rmtree(folder)
    kernel, sim = by_engine[KERNEL], by_engine[SIM]
    return {key: (kernel[key], sim[key]) for key in kernel if key in sim}


def _samples(
    scenario: Scenario, choice: Choice, engine: Engine, name: str, folder: Path
) -> dict[tuple[str, str], list[float]]:
    variants = tuple(
        VariantEntry(name=v, protocol=scenario.variants[v].protocol) for v in choice.variants
    )
    described = Description(
        scenario=ScenarioEntry(name=scenario.name, text=scenario.text, variants=variants),
        engine=name,
        seed=choice.seed,
        repetitions=choice.repetitions,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    result = Result.create(folder, described)
    for failure in engine.execute(jobs(scenario, choice, result, captures=False), NullProgress()):
        print(f"warning: {name}: {failure}")
    found = {}
    for variant in compare(result):
        for metric in _METRICS:
            estimate = variant.metrics.get(metric)
            samples = [] if estimate is None else [s for s in estimate.samples if s]
            if samples:
                found[variant.name, metric] = samples
    return found


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
