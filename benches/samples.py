"""Goodputs and completion times of scenarios on an engine, a sample a run."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from mptcplab.engine.choice import KERNEL
from mptcplab.engine.job import Engine, NullProgress
from mptcplab.engine.kernel.engine import KernelEngine
from mptcplab.engine.sim.engine import SimEngine
from mptcplab.metrics import compare
from mptcplab.recording import Description, Result
from mptcplab.recording.result import ScenarioEntry, VariantEntry
from mptcplab.scenario import Scenario
from mptcplab.session import Choice, jobs

METRICS = ("goodput", "completion_s")
"""Goodput of all transfers together, and mean completion time of a run's."""

Samples = dict[tuple[str, str], list[float]]
"""By variant and metric."""


@dataclass(frozen=True)
class Part:
    """Variants of a scenario, to be run."""

    scenario: Scenario
    variants: Sequence[str]


def samples(name: str, parts: Sequence[Part], repeat: int, seed: int = 1) -> list[Samples]:
    """Of each part, on the engine of this name: one sample a run, of `repeat` runs with the seeds
    from `seed` on. A metric that a run does not have is left out."""
    folder = Path(tempfile.mkdtemp(prefix="mptcplab-"))
    try:
        results, planned = [], []
        for number, part in enumerate(parts):
            choice = Choice(part.variants, repeat, seed)
            result = Result.create(folder / str(number), _described(part.scenario, choice, name))
            results.append(result)
            planned += jobs(part.scenario, choice, result, captures=False)
        engine: Engine = KernelEngine() if name == KERNEL else SimEngine()
        for failure in engine.execute(planned, NullProgress()):
            print(f"warning: {name}: {failure}", flush=True)
        return [_found(result) for result in results]
    finally:
        shutil.rmtree(folder)


def _described(scenario: Scenario, choice: Choice, name: str) -> Description:
    variants = tuple(
        VariantEntry(name=v, protocol=scenario.variants[v].protocol) for v in choice.variants
    )
    return Description(
        scenario=ScenarioEntry(name=scenario.name, text=scenario.text, variants=variants),
        engine=name,
        seed=choice.seed,
        repetitions=choice.repetitions,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _found(result: Result) -> Samples:
    found = {}
    for variant in compare(result):
        for metric in METRICS:
            estimate = variant.metrics.get(metric)
            known = [] if estimate is None else [s for s in estimate.samples if s]
            if known:
                found[variant.name, metric] = known
    return found
