"""`run`: every variant and repetition of scenarios, with progress, and their report."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mptcplab.cli.errors import FINDING_STATUS, UserError
from mptcplab.cli.interruption import INTERRUPTED_STATUS, Interruption
from mptcplab.cli.live import Live, LiveOptions, shown_live
from mptcplab.cli.progress import display
from mptcplab.engine.choice import EngineName
from mptcplab.engine.job import Job
from mptcplab.progress import RunProgress
from mptcplab.recording import RecordingError, Result
from mptcplab.recording.files import publish
from mptcplab.scenario import Scenario, ScenarioError, parse_value
from mptcplab.session import (
    Followed,
    Prepared,
    Settings,
    execute,
    folder_name,
    fresh_folder,
    load_known,
    prepare,
)

if TYPE_CHECKING:
    from mptcplab.report import Report

PAGE = "report.html"


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
    vary: str | None
    overrides: tuple[str, ...]
    capture: bool
    out: Path | None
    as_json: bool
    html: bool = False
    """Whether to write a page into the folder of each scenario."""
    explain: bool = False
    """Whether each result is explained."""
    fail: bool = False
    """A finding that does not hold has a status of its own."""
    pause_at: str | None = None
    """A time, or the label of an event, at which each run on the kernel pauses by itself."""
    live: LiveOptions | None = None
    """Null: runs are not shown but for how far they are."""


def run_scenarios(options: RunOptions) -> None:
    """Runs what the options say and reports on it."""
    prepared, settings = _prepared(options)
    interruption = Interruption()
    reported: list[tuple[Path, list[Result]]] = []
    failures: list[str] = []
    with interruption.listening():
        with nullcontext() if options.live is None else shown_live(options.live) as live:
            for one in prepared:
                if interruption.requested:
                    break
                folder = _folder(one.scenario, options, alone=len(prepared) == 1)
                results: list[Result] = []
                for engine in one.choices:
                    if not interruption.requested:
                        own = folder if len(one.choices) == 1 else folder / engine
                        followed = _followed(options, live, own)
                        results.append(
                            _run(one, engine, own, settings, followed, interruption, failures)
                        )
                reported.append((folder, results))
        holds = _report(reported, failures, options)
    if failures:
        raise UserError("\n".join(dict.fromkeys(failures)))
    if interruption.requested:
        typer.echo("interrupted: what was measured until then is kept", err=True)
        raise typer.Exit(INTERRUPTED_STATUS)
    if options.fail and not holds:
        raise typer.Exit(FINDING_STATUS)


def _prepared(options: RunOptions) -> tuple[list[Prepared], Settings]:
    try:
        scenarios = [load_known(name) for name in options.scenarios]
        settings = _settings(options)
        prepared = [prepare(scenario, settings) for scenario in scenarios]
    except ScenarioError as error:
        raise UserError(str(error)) from error
    for note in (note for one in prepared for note in one.notes):
        typer.echo(note, err=True)
    if options.pause_at is not None and any(EngineName.SIM in one.choices for one in prepared):
        raise UserError(
            "--pause-at pauses runs on the kernel: give --engine kernel, or stop a simulated run "
            "with `mptcplab debug`"
        )
    return prepared, settings


def _settings(options: RunOptions) -> Settings:
    return Settings(
        engine=options.engine,
        variants=options.variants,
        repetitions=options.repetitions,
        seed=options.seed,
        duration=options.duration,
        vary=None if options.vary is None else variation(options.vary),
        overrides=dict(override(text) for text in options.overrides),
        captures=options.capture,
        workers=options.workers,
        is_live=options.live is not None,
        pause_at=options.pause_at,
    )


def variation(text: str) -> dict[str, str]:
    """The scenario's `vary` of `start=50ms`."""
    key, equals, value = text.partition("=")
    if key.strip() != "start" or not equals:
        raise UserError(f"--vary: {text!r}: write start=TIME, such as start=50ms")
    return {"start": value}


def override(text: str) -> tuple[str, object]:
    """The path and the value of `--set`."""
    path, equals, value = text.partition("=")
    if not equals or not path:
        raise UserError(f"--set: '{text}': write PATH=VALUE, such as links.wifi.rate='20 Mbit/s'")
    return path.strip(), parse_value(value, "--set")


def _folder(scenario: Scenario, options: RunOptions, *, alone: bool) -> Path:
    if options.out is None:
        return fresh_folder(scenario.name)
    return options.out if alone else options.out / folder_name(scenario.name)


def _followed(options: RunOptions, live: Live | None, folder: Path) -> Followed:
    """Makes the progress of the runs that go into a folder."""
    if live is not None:
        live.session.folders.append(str(folder))
        return live.followed

    def followed(planned: Sequence[Job], name: str) -> RunProgress:
        shown = None if options.as_json else display(name, len(planned))
        return RunProgress(planned, name, shown)

    return followed


def _run(
    prepared: Prepared,
    engine: str,
    folder: Path,
    settings: Settings,
    followed: Followed,
    interruption: Interruption,
    failures: list[str],
) -> Result:
    try:
        (result,), failed = execute(
            engine,
            [(prepared, folder)],
            settings,
            command=("mptcplab", *sys.argv[1:]),
            followed=followed,
            interruption=interruption,
            meanwhile=_load_report,
        )
    except (RecordingError, ScenarioError) as error:
        raise UserError(str(error)) from error
    failures += failed
    return result


def _load_report() -> None:
    """Loads what the report needs, which takes as long as a short simulation."""
    for module in ("mptcplab.cli.report", "mptcplab.report.terminal"):
        import_module(module)


def _report(
    reported: Sequence[tuple[Path, Sequence[Result]]], failures: list[str], options: RunOptions
) -> bool:
    """Prints all reports, and writes the pages that were asked for; false where one fails."""
    # Slow to load: not before the first run, nor when there is none.
    from mptcplab.cli.report import every_finding_holds, print_reports
    from mptcplab.report import report

    every, last = [], []
    for folder, results in reported:
        try:
            if options.explain:
                _explain(results, failures, is_quiet=options.as_json)
            reports = [report(result) for result in results]
            every += reports
            last.append(_page(folder, reports) if options.html else _hint(folder, results))
        except RecordingError as error:
            failures.append(str(error))
    if every:
        print_reports(every, as_json=options.as_json)
    for line in last:
        typer.echo(line, err=True)
    return every_finding_holds(every)


def _explain(results: Sequence[Result], failures: list[str], *, is_quiet: bool) -> None:
    """Lets each result keep an explanation; what cannot be explained is reported without."""
    from mptcplab.cli.explain import explained

    for result in results:
        try:
            explained(result, is_quiet=is_quiet)
        except UserError as error:
            failures.append(str(error))


def _page(folder: Path, reports: Sequence[Report]) -> str:
    from mptcplab.report import to_html

    publish(folder / PAGE, to_html(reports).encode())
    return f"report: {folder / PAGE}"


def _hint(folder: Path, results: Sequence[Result]) -> str:
    """The command that makes the page."""
    words = ["mptcplab", "report", *(str(result.folder) for result in results)]
    return f"page: {shlex.join([*words, '--html', str(folder / PAGE)])}"
