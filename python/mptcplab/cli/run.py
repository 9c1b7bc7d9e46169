"""`run`: every variant and repetition of scenarios, with progress, and their report."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import typer

from mptcplab.cli.errors import UserError
from mptcplab.cli.interruption import INTERRUPTED_STATUS, Interruption
from mptcplab.cli.progress import RunProgress
from mptcplab.cli.scenarios import load_scenario, with_known_metrics
from mptcplab.engine.choice import EngineName, choose
from mptcplab.engine.kernel.engine import KernelEngine
from mptcplab.engine.session import Choice, jobs
from mptcplab.engine.sim.engine import SimEngine
from mptcplab.engine.task import Engine
from mptcplab.recording import Description, RecordingError, Result
from mptcplab.recording.files import publish
from mptcplab.recording.result import Reference, ScenarioEntry, VariantEntry
from mptcplab.scenario import (
    Scenario,
    ScenarioError,
    parse_value,
    with_duration,
    with_overrides,
)
from mptcplab.scenario.problem import did_you_mean
from mptcplab.scenario.units import UnitError, parse_time


@dataclass(frozen=True)
class RunOptions:
    """The command's options."""

    scenarios: tuple[str, ...]
    engine: EngineName
    workers: int | None
    variants: tuple[str, ...]
    repetitions: int | None
    seed: int
    duration: str | None
    overrides: tuple[str, ...]
    capture: bool
    out: Path | None
    as_json: bool


@dataclass(frozen=True)
class Prepared:
    """A scenario that an engine can run as chosen."""

    scenario: Scenario
    choices: Mapping[str, Choice]
    """By engine."""


def run_scenarios(options: RunOptions) -> None:
    """Runs what the options say and reports on it."""
    prepared = [_prepare(name, options) for name in options.scenarios]
    interruption = Interruption()
    reported: list[tuple[Path, list[Result]]] = []
    failures: list[str] = []
    with interruption.listening():
        for one in prepared:
            if interruption.requested:
                break
            folder = _folder(one.scenario, options, alone=len(prepared) == 1)
            results: list[Result] = []
            for engine in one.choices:
                if not interruption.requested:
                    own = folder if len(one.choices) == 1 else folder / engine
                    results.append(_run(one, engine, own, options, interruption, failures))
            reported.append((folder, results))
        _report(reported, as_json=options.as_json)
    if failures:
        raise UserError("\n".join(failures))
    if interruption.requested:
        typer.echo("interrupted: what was measured until then is kept", err=True)
        raise typer.Exit(INTERRUPTED_STATUS)


def _prepare(name: str, options: RunOptions) -> Prepared:
    scenario = load_scenario(name)
    try:
        if options.overrides:
            values = dict(_override(text) for text in options.overrides)
            scenario = with_known_metrics(with_overrides(scenario, values))
        if options.duration is not None:
            scenario = with_duration(scenario, parse_time(options.duration))
    except ScenarioError as error:
        raise UserError(str(error)) from error
    except UnitError as error:
        raise UserError(f"--duration: {error}") from error
    for variant in options.variants:
        if variant not in scenario.variants:
            hint = did_you_mean(variant, scenario.variants)
            raise UserError(f"--variant: {scenario.name} has no variant '{variant}': {hint}")
    variants = [v for v in scenario.variants if not options.variants or v in options.variants]
    repetitions = options.repetitions or scenario.repetitions
    try:
        chosen = choose(options.engine, scenario, variants)
    except ScenarioError as error:
        raise UserError(str(error)) from error
    for note in chosen.notes:
        typer.echo(note, err=True)
    choices = {
        engine: Choice(names, repetitions, options.seed)
        for engine, names in chosen.variants.items()
    }
    return Prepared(scenario, choices)


def _override(text: str) -> tuple[str, object]:
    path, equals, value = text.partition("=")
    if not equals or not path:
        raise UserError(f"--set: '{text}': write PATH=VALUE, such as links.wifi.rate='20 Mbit/s'")
    return path.strip(), parse_value(value, "--set")


def _folder(scenario: Scenario, options: RunOptions, *, alone: bool) -> Path:
    name = scenario.name.replace("/", "-").replace(" ", "-")
    if options.out is not None:
        return options.out if alone else options.out / name
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    folder = Path("out", f"{name}-{stamp}")
    suffix = 2
    while folder.exists():
        folder = Path("out", f"{name}-{stamp}-{suffix}")
        suffix += 1
    return folder


def _run(
    prepared: Prepared,
    engine: str,
    folder: Path,
    options: RunOptions,
    interruption: Interruption,
    failures: list[str],
) -> Result:
    scenario, choice = prepared.scenario, prepared.choices[engine]
    try:
        result = Result.create(folder, _description(scenario, choice, engine))
        planned = jobs(scenario, choice, result, captures=options.capture)
        with RunProgress(planned, scenario.name, shown=not options.as_json) as progress:
            executor = _engine(engine, options)
            interruption.stop = executor.stop
            if not interruption.requested:
                failures += executor.execute(planned, progress)
    except (RecordingError, ScenarioError) as error:
        raise UserError(str(error)) from error
    finally:
        interruption.stop = None
    return result


def _engine(name: str, options: RunOptions) -> Engine:
    return SimEngine(options.workers) if name == EngineName.SIM else KernelEngine()


def _report(reported: Sequence[tuple[Path, Sequence[Result]]], *, as_json: bool) -> None:
    """Writes a page into the folder of each scenario and prints all of them."""
    # Plotting is slow to load: nobody waits for it before the first run, or when there is none.
    from mptcplab.cli.report import print_reports
    from mptcplab.report import report, to_html

    every = []
    try:
        for folder, results in reported:
            reports = [report(result) for result in results]
            publish(folder / "report.html", to_html(reports).encode())
            every += reports
    except RecordingError as error:
        raise UserError(str(error)) from error
    print_reports(every, as_json=as_json)
    for folder, _ in reported:
        typer.echo(f"report: {folder / 'report.html'}", err=True)


def _description(scenario: Scenario, choice: Choice, engine: str) -> Description:
    return Description(
        scenario=ScenarioEntry(
            name=scenario.name,
            title=scenario.title,
            source=scenario.source,
            text=scenario.text,
            variants=tuple(
                VariantEntry(name=name, protocol=scenario.variants[name].protocol)
                for name in choice.variants
            ),
            expect=tuple(scenario.expect),
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
        command=("mptcplab", *sys.argv[1:]),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )
