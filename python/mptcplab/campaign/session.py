"""A campaign from its scenario to its folder: prepared, begun or taken up again, carried out."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mptcplab.campaign.cluster import ClusterCampaign
from mptcplab.campaign.cluster_address import Cluster
from mptcplab.campaign.description import Campaign, begun, described
from mptcplab.campaign.execute import SimCampaign
from mptcplab.campaign.kernel import UNDER_WAY, KernelCampaign
from mptcplab.campaign.ledger import Ledger
from mptcplab.campaign.store import Store
from mptcplab.engine.choice import KERNEL, EngineName, choose, unsupported
from mptcplab.interruption import Interruption
from mptcplab.progress import Display
from mptcplab.scenario import Problem, Scenario, ScenarioError, with_overrides
from mptcplab.scenario.points import at_point, check_points, checked_points
from mptcplab.scenario.sweep import point
from mptcplab.session import Prepared, Settings, describe, prepare

Execution = SimCampaign | KernelCampaign | ClusterCampaign
Shown = Callable[[str, int], Display]
"""Makes what shows the progress of so many runs of a scenario of this name."""


@dataclass(frozen=True)
class Outcome:
    """How a campaign went."""

    folder: Path
    runs: int
    found: int
    """Runs that were there before."""
    done: int
    """Runs that were done now."""
    done_again: int
    """Of these the ones that had failed before."""
    to_be_tried_again: int
    """Runs that the same command does once more."""
    notes: tuple[str, ...]
    """Sentences on what was damaged in the folder, and on workers that could not work."""

    @property
    def is_whole(self) -> bool:
        """Whether every run is there."""
        return self.found + self.done == self.runs


def refused_workers(engine: str, workers: int | None) -> str | None:
    """Why a sweep on the engine cannot have so many workers; null where it can."""
    if engine != KERNEL or workers is None or workers == 1:
        return None
    return (
        "a sweep on the kernel does one run after the other: leave it out, or choose --engine sim"
    )


def prepare_sweep(own: Scenario, settings: Settings, sweep: Any = None) -> Prepared:
    """A scenario with the sweep to be run, in place of its own where one is given.

    Raises:
        ScenarioError: it has none, or a point of it cannot be run.

    """
    try:
        swept = own if sweep is None else with_overrides(own, {"sweep": sweep})
        if swept.sweep is None:
            hint = "has no sweep: give axes (--axis links.wifi.delay=5ms,20ms), or add `sweep:`"
            raise ScenarioError([Problem(own.origin, None, "", hint)])
        prepared = prepare(swept, settings)
        problems = check_points(prepared.scenario)
        if problems:
            raise ScenarioError(problems)
    except ScenarioError as error:
        if sweep is None:
            raise
        raise ScenarioError(_of_option(problem, sweep) for problem in error.problems) from None
    (engine,) = prepared.choices
    refused = _refused(prepared, engine)
    if refused is None:
        return prepared
    if settings.engine is EngineName.AUTO and engine == KERNEL:
        return prepare_sweep(own, replace(settings, engine=EngineName.SIM), sweep)
    choose(EngineName(engine), refused, list(prepared.choices[engine].variants))
    return prepared


def _of_option(problem: Problem, sweep: Any) -> Problem:
    """The problem as that of `--axis`, where the sweep that was given has it."""
    path = problem.key.split(".")
    if problem.origin != "--set" or path[0] != "sweep":
        return problem
    groups = [sweep.get("axes", {}), *sweep.get("zipped", [])]
    keys = [key for group in groups for key in group if f".{key}." in f".{problem.key}."]
    return Problem("--axis", None, keys[0] if keys else "", problem.text)


def _refused(prepared: Prepared, engine: str) -> Scenario | None:
    """The first of the points that were checked which the engine cannot run."""
    scenario = prepared.scenario
    assert scenario.sweep is not None
    axes = scenario.sweep.every_axis
    variants = list(prepared.choices[engine].variants)
    for number in checked_points(axes):
        made = at_point(scenario, point(axes, number))
        if unsupported(engine, made, variants):
            return made
    return None


def carry_out(
    prepared: Prepared,
    folder: Path,
    *,
    samples: bool,
    workers: int | None,
    command: Sequence[str],
    interruption: Interruption,
    shown: Shown | None,
    cluster: Cluster | None = None,
) -> Outcome:
    """Runs what is missing of a sweep in its folder.

    Raises:
        RecordingError: the folder holds something else, or cannot be written.
        EngineError: the simulator's processes, or the cluster, cannot work.

    """
    ((engine, choice),) = prepared.choices.items()
    result = describe(prepared, choice, engine, command)
    campaign = described(prepared.scenario, result, samples=samples)
    begun(folder, campaign)
    ledger = Ledger(Store(folder, campaign.grid()))
    left = ledger.grid.runs - ledger.found
    try:
        execution: Execution
        if cluster is not None:
            execution = ClusterCampaign(prepared.scenario, campaign, ledger, cluster)
        else:
            execution = _execution(prepared.scenario, campaign, ledger, folder, workers)
        interruption.stop = execution.stop
        name = prepared.scenario.name
        display = None if shown is None or not left else shown(name, left)
        if left and not interruption.requested:
            with _showing(display):
                execution.execute(display, name)
        notes = execution.notes if isinstance(execution, ClusterCampaign) else []
    finally:
        interruption.stop = None
        ledger.close()
    shutil.rmtree(folder / UNDER_WAY, ignore_errors=True)
    return Outcome(
        folder,
        runs=ledger.grid.runs,
        found=ledger.found,
        done=ledger.done,
        done_again=ledger.done_again,
        to_be_tried_again=ledger.to_be_tried_again,
        notes=(*ledger.damaged, *notes),
    )


def _execution(
    scenario: Scenario, campaign: Campaign, ledger: Ledger, folder: Path, workers: int | None
) -> Execution:
    if campaign.result.engine == KERNEL:
        return KernelCampaign(scenario, campaign, ledger, folder)
    return SimCampaign(scenario, campaign, ledger, folder, workers)


def _showing(display: Display | None) -> AbstractContextManager[None]:
    return nullcontext() if display is None else _Showing(display)


class _Showing(AbstractContextManager[None]):
    """A display from its beginning to its end."""

    def __init__(self, display: Display) -> None:
        self._display = display

    def __enter__(self) -> None:
        self._display.begin()

    def __exit__(self, *_: object) -> None:
        self._display.end()
