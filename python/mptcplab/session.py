"""A session: every repetition of every variant of a scenario, into a result.

The command `run` and the functions of the package (`mptcplab.run`, `mptcplab.sweep`) both prepare a
scenario here, give it a folder, and execute it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mptcplab.engine.choice import EngineName, choose
from mptcplab.engine.job import Engine, Job, Progress, Task
from mptcplab.interruption import Interruption
from mptcplab.scenario import (
    Problem,
    Scenario,
    ScenarioError,
    differences,
    load,
    with_duration,
    with_overrides,
)
from mptcplab.scenario.entries import catalogue_folder, names
from mptcplab.scenario.problem import did_you_mean
from mptcplab.scenario.units import UnitError, format_time, parse_time

if TYPE_CHECKING:
    from mptcplab.recording import Description, Result
    from mptcplab.recording.result import Change

OUT = Path("out")
"""Where results go that are given no folder."""

Followed = Callable[[Sequence[Job], str], AbstractContextManager[Progress]]
"""Makes what follows the progress of these jobs of a scenario of this name."""


@dataclass(frozen=True)
class Settings:
    """The chosen part of a scenario, and how it runs."""

    engine: EngineName = EngineName.AUTO
    variants: Sequence[str] = ()
    """All of them where empty."""
    repetitions: int | None = None
    """As the scenario says where null."""
    seed: int = 1
    duration: str | float | None = None
    """Of every bulk transfer."""
    vary: Mapping[str, Any] | None = None
    """The scenario's `vary`."""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """Dotted path → value."""
    captures: bool = False
    """Whether to write the packets of every host's interface."""
    workers: int | None = None
    """Runs at once; where null one a core if simulated, one on the kernel."""
    is_live: bool = False
    """Whether runs are told of while they last, and their rows kept."""
    pause_at: str | None = None
    """A time, or the label of an event, at which each run pauses by itself; on the kernel alone."""


@dataclass(frozen=True)
class Choice:
    """The part of a scenario that runs on an engine."""

    variants: Sequence[str]
    repetitions: int
    seed: int


@dataclass(frozen=True)
class Prepared:
    """A scenario that one or both engines can run as chosen."""

    scenario: Scenario
    choices: Mapping[str, Choice]
    """By engine."""
    changes: tuple[Change, ...]
    """Settings that are not the scenario's own."""
    notes: tuple[str, ...]
    """Why the kernel was not taken, or what an engine leaves out; a sentence each."""


def load_known(scenario: str | PathLike[str]) -> Scenario:
    """Loads a scenario, a name of the catalogue or a file, whose findings can be judged.

    Raises:
        ScenarioError: it has problems.

    """
    return with_known_metrics(load(scenario))


def with_known_metrics(scenario: Scenario) -> Scenario:
    """Gives the scenario back if its findings and references name metrics that there are.

    Raises:
        ScenarioError: some do not.

    """
    from mptcplab.metrics import unknown_metrics

    problems = unknown_metrics(scenario)
    if problems:
        raise ScenarioError(problems)
    return scenario


def prepare(own: Scenario, settings: Settings) -> Prepared:
    """Changes a scenario as the settings say, and finds the engines for it.

    Raises:
        ScenarioError: the settings do not fit, or no engine can run this. Their problems name the
            options of `run`.
        EngineError: a limit of the caller's keeps the kernel engine from being tried.

    """
    overridden = own
    values = dict(settings.overrides)
    if settings.vary is not None:
        values["vary"] = _checked(settings.vary)
    if values:
        overridden = with_known_metrics(with_overrides(own, values))
    scenario = overridden
    if settings.duration is not None:
        scenario = with_duration(overridden, _time("--duration", "", settings.duration, "s"))
    for variant in settings.variants:
        if variant not in scenario.variants:
            hint = did_you_mean(variant, scenario.variants)
            text = f"{scenario.name} has no variant '{variant}': {hint}"
            raise ScenarioError([Problem("--variant", None, "", text)])
    variants = [v for v in scenario.variants if not settings.variants or v in settings.variants]
    repetitions = settings.repetitions or scenario.repetitions
    chosen = choose(settings.engine, scenario, variants)
    choices = {
        engine: Choice(of_engine, repetitions, settings.seed)
        for engine, of_engine in chosen.variants.items()
    }
    return Prepared(scenario, choices, _changes(own, overridden, scenario), chosen.notes)


def fresh_folder(name: str) -> Path:
    """A folder under `out/` that is not there yet."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    folder = OUT / f"{folder_name(name)}-{stamp}"
    suffix = 2
    while folder.exists():
        folder = OUT / f"{folder_name(name)}-{stamp}-{suffix}"
        suffix += 1
    return folder


def folder_name(name: str) -> str:
    """A scenario's name as that of a folder."""
    return name.replace("/", "-").replace(" ", "-")


def execute(
    engine: str,
    parts: Sequence[tuple[Prepared, Path]],
    settings: Settings,
    *,
    command: Sequence[str],
    followed: Followed,
    interruption: Interruption,
    meanwhile: Callable[[], None] | None = None,
) -> tuple[list[Result], list[str]]:
    """Runs prepared scenarios on an engine, each into its folder; gives what went wrong, too.

    `command` stands in the results as what made them. The simulator runs them all side by side,
    and `meanwhile` is called while it does.

    Raises:
        RecordingError: a folder cannot be made, or holds a result already.
        ScenarioError: a variant cannot be compiled.

    """
    from mptcplab.recording import Result

    results, planned = [], []
    for prepared, folder in parts:
        choice = prepared.choices[engine]
        described = describe(prepared, choice, engine, command)
        result = Result.create(folder, described)
        results.append(result)
        planned += jobs(
            prepared.scenario,
            choice,
            result,
            captures=settings.captures,
            is_live=settings.is_live,
            pause_at=settings.pause_at,
        )
    name = parts[0][0].scenario.name
    failures = carry_out(
        engine,
        planned,
        name,
        settings.workers,
        followed=followed,
        interruption=interruption,
        meanwhile=meanwhile,
    )
    return results, failures


def carry_out(
    engine: str,
    planned: Sequence[Job],
    name: str,
    workers: int | None,
    *,
    followed: Followed,
    interruption: Interruption,
    meanwhile: Callable[[], None] | None = None,
) -> list[str]:
    """Carries out jobs on an engine, and gives what went wrong; `name` stands for them all.

    Raises:
        ScenarioError: a variant cannot be compiled.

    """
    failures: list[str] = []
    try:
        with followed(planned, name) as progress:
            executor = _engine(engine, workers, meanwhile)
            interruption.stop = executor.stop
            if not interruption.requested:
                failures += executor.execute(planned, progress)
    finally:
        interruption.stop = None
    return failures


def jobs(
    scenario: Scenario,
    choice: Choice,
    result: Result,
    *,
    captures: bool,
    is_live: bool = False,
    pause_at: str | None = None,
) -> list[Job]:
    """The runs, in order.

    Repetitions are the outer loop, so that a machine that grows slower in the course of a session
    does not favour the variant that comes first. The variants of one repetition share its seed:
    they see the same random losses as far as their packets allow.
    """
    return [
        Job(
            Task(scenario, variant, repetition, choice.seed + repetition - 1),
            result.recording_folder(variant, repetition),
            captures,
            is_live,
            pause_at,
        )
        for repetition in range(1, choice.repetitions + 1)
        for variant in choice.variants
    ]


def _engine(name: str, workers: int | None, meanwhile: Callable[[], None] | None) -> Engine:
    if name == EngineName.SIM:
        from mptcplab.engine.sim.engine import SimEngine

        return SimEngine(workers, meanwhile)
    from mptcplab.engine.kernel.engine import KernelEngine

    return KernelEngine(workers)


def _checked(vary: Mapping[str, Any]) -> dict[str, Any]:
    if "start" in vary:
        _time("--vary", "start", vary["start"], "ms")
    return dict(vary)


def _time(option: str, key: str, value: object, usual: str) -> int:
    try:
        return parse_time(value, usual=usual)
    except UnitError as error:
        raise ScenarioError([Problem(option, None, key, str(error))]) from error


def _changes(own: Scenario, overridden: Scenario, run: Scenario) -> tuple[Change, ...]:
    """Settings of the run that are not the scenario's own.

    `own` is the file as it is, `overridden` the same with other values, `run` also with another
    duration. Where the catalogue has an entry of its name, that is what the figures of a document
    belong to.
    """
    from mptcplab.recording.result import Change

    found = [
        Change(path=one.path, own=one.before, here=one.after)
        for one in differences(_of_the_catalogue(own), overridden)
    ]
    if differences(overridden, run):
        found.append(Change(path="duration", own=_longest(overridden), here=_longest(run)))
    return tuple(found)


def _of_the_catalogue(own: Scenario) -> Scenario:
    try:
        return load(catalogue_folder() / f"{own.name}.yaml") if own.name in names() else own
    except ScenarioError:
        return own


def _longest(scenario: Scenario) -> str | None:
    """Duration of the longest bulk transfer; null where each has a size."""
    durations = [item.bulk.duration for item in scenario.traffic if item.bulk is not None]
    known = [duration for duration in durations if duration is not None]
    return format_time(max(known)) if known else None


def describe(
    prepared: Prepared, choice: Choice, engine: str, command: Sequence[str]
) -> Description:
    """The content of `result.json` of a prepared scenario on an engine."""
    from mptcplab.recording.result import Description, Reference, ScenarioEntry, VariantEntry

    scenario = prepared.scenario
    return Description(
        scenario=ScenarioEntry(
            name=scenario.name,
            title=scenario.title,
            source=scenario.source,
            text=scenario.text,
            changes=prepared.changes,
            variants=tuple(
                VariantEntry(name=name, protocol=scenario.variants[name].protocol)
                for name in choice.variants
            ),
            expect=tuple(entry.finding for entry in scenario.expect),
            notes={entry.finding: entry.note for entry in scenario.expect if entry.note},
            reference=tuple(
                Reference(
                    variant=row.variant,
                    metric=row.metric,
                    value=row.value.value,
                    unit=row.value.unit,
                    note=row.note,
                )
                for row in scenario.reference
            ),
        ),
        engine=engine,
        seed=choice.seed,
        repetitions=choice.repetitions,
        command=tuple(command),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )
