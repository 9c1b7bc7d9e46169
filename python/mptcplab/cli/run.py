"""`run`: every variant and repetition of scenarios, with progress, and their report."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from mptcplab.cli.errors import UserError
from mptcplab.cli.scenarios import load_scenario, with_known_metrics
from mptcplab.engine.kernel.compile import Capture
from mptcplab.engine.kernel.lab import LabError
from mptcplab.engine.kernel.run import Run, Task
from mptcplab.engine.session import Choice, tasks
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

INTERRUPTED_STATUS = 130
"""Exit status after Ctrl-C, as shells have it."""
UNKNOWN_RUN_S = 10.0
"""Length of a run, for the progress bar, until one of its kind has ended."""


@dataclass(frozen=True)
class RunOptions:
    """The command's options."""

    scenarios: tuple[str, ...]
    engine: str
    variants: tuple[str, ...]
    repetitions: int | None
    seed: int
    duration: str | None
    overrides: tuple[str, ...]
    capture: bool
    out: Path | None
    as_json: bool


@dataclass
class Interruption:
    """Whether Ctrl-C was pressed, and what it has to stop."""

    requested: bool = False
    current: Run | None = field(default=None)

    def request(self, _signal: int, _frame: FrameType | None) -> None:
        """The signal's handler: the second one ends everything at once."""
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        if self.current is not None:
            self.current.stop()


def run_scenarios(options: RunOptions) -> None:
    """Runs what the options say and reports on it."""
    prepared = [_prepare(name, options) for name in options.scenarios]
    interruption = Interruption()
    results = []
    failures: list[str] = []
    with _signals(interruption):
        for scenario, choice in prepared:
            if interruption.requested:
                break
            folder = _folder(scenario, options, alone=len(prepared) == 1)
            results.append(_run(scenario, choice, folder, options, interruption, failures))
        _report(results, as_json=options.as_json)
    if failures:
        raise UserError("\n".join(failures))
    if interruption.requested:
        typer.echo("interrupted: what was measured until then is kept", err=True)
        raise typer.Exit(INTERRUPTED_STATUS)


def _prepare(name: str, options: RunOptions) -> tuple[Scenario, Choice]:
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
    return scenario, Choice(variants, repetitions, options.seed)


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
    scenario: Scenario,
    choice: Choice,
    folder: Path,
    options: RunOptions,
    interruption: Interruption,
    failures: list[str],
) -> Result:
    try:
        result = Result.create(folder, _description(scenario, choice, options.engine))
    except RecordingError as error:
        raise UserError(str(error)) from error
    planned = list(tasks(scenario, choice))
    with RunProgress(len(planned), scenario.name, shown=not options.as_json) as progress:
        for number, task in enumerate(planned):
            if interruption.requested:
                break
            progress.begin(number, task)
            folder = result.recording_folder(task.variant, task.repetition)
            capture = Capture(folder.resolve()) if options.capture else None
            try:
                with Run(task, folder, capture) as run:
                    interruption.current = run
                    if interruption.requested:
                        run.stop()
                    run.execute(progress.reached(run.expected_s))
            except LabError as error:
                failures.append(f"{scenario.name}, variant {task.variant}: {error}")
                break
            except (RecordingError, ScenarioError) as error:
                raise UserError(str(error)) from error
            finally:
                interruption.current = None
    return result


def _report(results: Sequence[Result], *, as_json: bool) -> None:
    """Writes a page into each result and prints all of them."""
    # Plotting is slow to load: nobody waits for it before the first run, or when there is none.
    from mptcplab.cli.report import print_reports
    from mptcplab.report import report, to_html

    try:
        reports = [report(result) for result in results]
        for result, one in zip(results, reports, strict=True):
            publish(result.folder / "report.html", to_html([one]).encode())
    except RecordingError as error:
        raise UserError(str(error)) from error
    print_reports(reports, as_json=as_json)
    for result in results:
        typer.echo(f"report: {result.folder / 'report.html'}", err=True)


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


@contextmanager
def _signals(interruption: Interruption) -> Iterator[None]:
    """Ctrl-C and a polite kill end the session with what was measured."""
    previous = {
        number: signal.signal(number, interruption.request)
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


class RunProgress:
    """A progress bar over all runs of a session, in seconds of their expected length."""

    def __init__(self, runs: int, name: str, *, shown: bool) -> None:
        self._runs = runs
        self._name = name
        self._number = 0
        self._expected_s = UNKNOWN_RUN_S
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            disable=not shown,
            transient=True,
        )
        self._task = self._bar.add_task(name, total=float(runs))

    def __enter__(self) -> RunProgress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def begin(self, number: int, task: Task) -> None:
        """Run `number` (from 0) begins."""
        self._number = number
        words = f"{self._name} {task.variant} {task.repetition} ({number + 1}/{self._runs})"
        self._bar.update(self._task, description=words, completed=float(number))

    def reached(self, expected_s: float | None) -> Callable[[float], None]:
        """What the run calls with the second that it has reached."""
        if expected_s is not None:
            self._expected_s = expected_s
        longest = self._expected_s

        def update(seconds: float) -> None:
            # A run that takes longer than expected stays just short of its end.
            share = min(seconds / longest, 0.99) if longest else 0.0
            self._bar.update(self._task, completed=self._number + share)
            if expected_s is None and seconds > self._expected_s:
                self._expected_s = seconds

        return update
