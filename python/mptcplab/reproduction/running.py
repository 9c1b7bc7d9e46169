"""Carries out the runs that a choice of tables and figures needs, and goes on where one stopped."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from mptcplab.engine.choice import EngineName
from mptcplab.engine.job import Job, Task
from mptcplab.interruption import Interruption
from mptcplab.metrics import compare
from mptcplab.recording import RecordingError, Result, Status
from mptcplab.recording.manifest import MANIFEST, RUNNING
from mptcplab.reproduction.beside import Known
from mptcplab.reproduction.expected import ByScenario
from mptcplab.reproduction.figures import figures
from mptcplab.reproduction.folder import RECORDINGS
from mptcplab.reproduction.manner import Manner
from mptcplab.reproduction.model import Document
from mptcplab.reproduction.needs import Need, needs, with_compared
from mptcplab.scenario import Scenario, ScenarioError
from mptcplab.scenario.units import parse_time
from mptcplab.session import (
    Choice,
    Followed,
    Prepared,
    Settings,
    carry_out,
    describe,
    load_known,
    prepare,
)


@dataclass(frozen=True)
class Part:
    """A need as it is run."""

    need: Need
    scenario: Scenario
    prepared: Prepared | None
    """Of the variants that the engine can run; null where there is none."""
    refusals: Mapping[str, str] = field(default_factory=dict)
    """Why the engine does not run the others, by their names."""


@dataclass(frozen=True)
class Progressed:
    """How much was there, and how much was done."""

    found: int
    done: int
    failures: tuple[str, ...]


def parts(document: Document, manner: Manner) -> list[Part]:
    """The needs of a document, prepared for the engine.

    Raises:
        ScenarioError: a scenario has problems.
        EngineError: a limit of the caller's keeps the kernel engine from being tried.

    """
    return [_part(need, document, manner) for need in needs(document)]


def _part(need: Need, document: Document, manner: Manner) -> Part:
    scenario = load_known(need.scenario)
    need = with_compared(need, scenario)
    usual = max(scenario.repetitions, need.repetitions)
    repetitions = manner.repetitions or (1 if manner.quick else usual)
    settings = Settings(
        engine=EngineName(manner.engine),
        variants=need.variants,
        repetitions=1 if need.captured_size else repetitions,
        seed=manner.seed,
        duration=None if need.captured_size else _duration(scenario, document, manner),
        overrides=_sized(need.captured_size),
    )
    try:
        return Part(need, scenario, prepare(scenario, settings))
    except ScenarioError:
        if any(variant not in scenario.variants for variant in need.variants):
            raise
    refusals = {name: why for name in need.variants if (why := _refusal(name, scenario, settings))}
    able = tuple(name for name in need.variants if name not in refusals)
    prepared = prepare(scenario, replace(settings, variants=able)) if able else None
    return Part(need, scenario, prepared, refusals)


def _refusal(variant: str, scenario: Scenario, settings: Settings) -> str:
    """Why an engine does not run a variant; empty where it does."""
    try:
        prepare(scenario, replace(settings, variants=(variant,)))
    except ScenarioError as error:
        return " ".join(dict.fromkeys(problem.text for problem in error.problems))
    return ""


def _sized(size: str | None) -> dict[str, str | None]:
    """Settings that give the first bulk transfer a size."""
    if size is None:
        return {}
    return {"traffic.0.bulk.size": size, "traffic.0.bulk.duration": None}


def _duration(scenario: Scenario, document: Document, manner: Manner) -> str | None:
    """Another duration of the bulk transfers, if they are longer and nothing happens meanwhile."""
    most = document.quick if manner.quick else manner.duration
    if most is None or scenario.events or _sets_moments(scenario):
        return None
    bulks = [one.bulk for one in scenario.traffic if one.bulk is not None]
    durations = [bulk.duration or 0 for bulk in bulks]
    are_all = len(bulks) == len(scenario.traffic) and all(durations)
    return most if are_all and max(durations) > parse_time(most, usual="s") else None


def _sets_moments(scenario: Scenario) -> bool:
    paths = [path for variant in scenario.variants.values() for path in variant.set]
    return any(path.startswith("events") or path.endswith(".size") for path in paths)


def run(
    chosen: Sequence[Part],
    out: Path,
    manner: Manner,
    *,
    command: Sequence[str],
    followed: Followed,
    interruption: Interruption,
    meanwhile: Callable[[], None] | None = None,
) -> Progressed:
    """Carries out what is not there yet.

    Raises:
        RecordingError: a result is there that was made of another scenario or manner.
        ScenarioError: a variant cannot be compiled.

    """
    planned: list[Job] = []
    found = 0
    for part in chosen:
        if part.prepared is not None:
            wanted = _jobs(part, part.prepared, out, manner, command)
            left = [job for job in wanted if not _is_complete(job.folder)]
            planned += left
            found += len(wanted) - len(left)
    if not planned:
        return Progressed(found, 0, ())
    failures = carry_out(
        manner.engine,
        planned,
        chosen[0].scenario.name,
        manner.workers,
        followed=followed,
        interruption=interruption,
        meanwhile=meanwhile,
    )
    done = sum(_is_complete(job.folder) for job in planned)
    return Progressed(found, done, tuple(failures))


def _jobs(
    part: Part, prepared: Prepared, out: Path, manner: Manner, command: Sequence[str]
) -> list[Job]:
    choice = prepared.choices[manner.engine]
    result = _result(part, prepared, choice, out, manner, command)
    return [
        Job(
            Task(prepared.scenario, variant, repetition, choice.seed + repetition - 1),
            result.recording_folder(variant, repetition),
            part.need.captured_size is not None,
        )
        for repetition in range(1, choice.repetitions + 1)
        for variant in choice.variants
    ]


def _result(
    part: Part,
    prepared: Prepared,
    choice: Choice,
    out: Path,
    manner: Manner,
    command: Sequence[str],
) -> Result:
    """The result of a part, made or opened; it names all variants, as others may be run later."""
    every = replace(choice, variants=tuple(prepared.scenario.variants))
    described = describe(prepared, every, manner.engine, command)
    folder = result_folder(out, part.need)
    if not folder.exists():
        return Result.create(folder, described)
    result = Result.open(folder)
    same = {"command": described.command, "created": described.created}
    if result.description.model_copy(update=same) != described:
        raise RecordingError(
            f"{folder}: was made of another {part.need.scenario}: choose another folder"
        )
    return result


def result_folder(out: Path, need: Need) -> Path:
    """Where the result of a need is."""
    return out / RECORDINGS / need.folder


def _is_complete(folder: Path) -> bool:
    """Whether there is a whole recording; one that was interrupted is removed.

    Raises:
        RecordingError: it is going on, or cannot be read.

    """
    from mptcplab.recording.reader import Recording

    if not folder.exists():
        return False
    if any((folder / name).exists() for name in (MANIFEST, RUNNING)):
        status = Recording.open(folder).manifest.status
    else:
        # Killed before its manifest was written.
        status = Status.INTERRUPTED
    if status is Status.RUNNING:
        raise RecordingError(f"{folder}: is running: wait until it has ended")
    if status is Status.COMPLETE:
        return True
    shutil.rmtree(folder)
    return False


def measured(chosen: Sequence[Part], out: Path, expected: ByScenario) -> Mapping[str, Known]:
    """The figures of what was run, and those that are expected, by scenario.

    Raises:
        RecordingError: a recording is damaged.

    """
    known: dict[str, Known] = {}
    for part in chosen:
        folder = result_folder(out, part.need)
        if part.need.captured_size:
            continue
        found = figures(compare(Result.open(folder))) if folder.is_dir() else {}
        own = expected.get(part.need.scenario)
        known[part.need.scenario] = Known(part.scenario, found, part.refusals, own)
    return known
