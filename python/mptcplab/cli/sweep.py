"""`sweep`: every point of a scenario's sweep, into one folder, and its report."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from mptcplab.campaign.cluster_address import Cluster
from mptcplab.campaign.record import MOST_ATTEMPTS
from mptcplab.campaign.report import sweep_report
from mptcplab.campaign.result import Sweep
from mptcplab.campaign.session import Outcome, carry_out, prepare_sweep, refused_workers
from mptcplab.cli.errors import UserError
from mptcplab.cli.interruption import INTERRUPTED_STATUS, Interruption
from mptcplab.cli.progress import display
from mptcplab.cli.report import print_sweep
from mptcplab.cli.run import override, variation
from mptcplab.engine.choice import EngineName
from mptcplab.engine.job import EngineError
from mptcplab.recording import RecordingError
from mptcplab.scenario import ScenarioError, parse_value
from mptcplab.session import Prepared, Settings, fresh_folder, load_known

_RANGE = re.compile(r"(?P<first>.+?)\.\.(?P<last>.+?):(?P<count>\d{1,6})(:(?P<scale>\w+))?")


@dataclass(frozen=True)
class SweepOptions:
    """The command's options."""

    scenario: str
    axes: tuple[str, ...]
    is_zipped: bool
    draws: int | None
    engine: EngineName
    variants: tuple[str, ...]
    repetitions: int | None
    seed: int
    duration: str | None
    vary: str | None
    overrides: tuple[str, ...]
    workers: int | None
    cluster: str | None
    tls: tuple[Path | None, Path | None, Path | None]
    """Authority, certificate and key for the cluster."""
    samples: bool
    out: Path | None
    as_json: bool


def run_sweep(options: SweepOptions) -> None:
    """Runs what is missing of a sweep and reports on it."""
    cluster = _cluster(options)
    prepared = _prepared(options)
    folder = options.out or fresh_folder(f"{prepared.scenario.name}-sweep")
    interruption = Interruption()
    with interruption.listening():
        try:
            outcome = carry_out(
                prepared,
                folder,
                samples=options.samples,
                workers=options.workers,
                command=("mptcplab", *sys.argv[1:]),
                interruption=interruption,
                shown=None if options.as_json else display,
                cluster=cluster,
            )
            for line in _told(outcome):
                typer.echo(line, err=True)
            report = sweep_report(Sweep.open(folder))
            print_sweep(report, as_json=options.as_json)
            page = shlex.join(["mptcplab", "report", str(folder), "--html", "FILE"])
            typer.echo(f"page: {page}", err=True)
        except (RecordingError, EngineError) as error:
            raise UserError(str(error)) from error
    if not outcome.is_whole:
        again = f"the same command with --out {shlex.quote(str(folder))} goes on where it ended"
        typer.echo(f"interrupted: {again}", err=True)
    if report.failures:
        raise typer.Exit(1)
    if not outcome.is_whole:
        raise typer.Exit(INTERRUPTED_STATUS)


def axis(text: str) -> tuple[str, Any]:
    """The key and the values of `PATH=VALUES`, as a scenario has them."""
    key, equals, values = text.partition("=")
    if not equals or not key.strip() or not values.strip():
        raise UserError(f"--axis: '{text}': write PATH=VALUES, such as links.wifi.delay=5ms,20ms")
    found = _RANGE.fullmatch(values.strip())
    if found is not None:
        made: dict[str, Any] = {
            "from": parse_value(found["first"], "--axis"),
            "to": parse_value(found["last"], "--axis"),
            "count": int(found["count"]),
        }
        return key.strip(), made | ({} if found["scale"] is None else {"scale": found["scale"]})
    if values.strip()[0] in "[{":
        return key.strip(), parse_value(values, "--axis")
    return key.strip(), [parse_value(value, "--axis") for value in values.split(",")]


def _cluster(options: SweepOptions) -> Cluster | None:
    if options.cluster is None:
        if any(options.tls):
            raise UserError("--tls-ca, --tls-cert, --tls-key: they go with --cluster ADDRESS")
        return None
    if options.workers is not None:
        raise UserError("--workers: the cluster has workers of its own: leave it out")
    if options.samples:
        raise UserError("--samples: recordings stay on one machine: leave --cluster out")
    try:
        return Cluster(options.cluster, *options.tls)
    except EngineError as error:
        raise UserError(str(error)) from error


def _prepared(options: SweepOptions) -> Prepared:
    if options.engine is EngineName.BOTH:
        raise UserError("--engine both: sweep on each engine, and compare the two")
    _check_workers(options, options.engine)
    # The abilities of this machine say nothing of the workers.
    on_sim = options.cluster is not None and options.engine is EngineName.AUTO
    try:
        settings = Settings(
            engine=EngineName.SIM if on_sim else options.engine,
            variants=options.variants,
            repetitions=options.repetitions,
            seed=options.seed,
            duration=options.duration,
            vary=None if options.vary is None else variation(options.vary),
            overrides=dict(override(text) for text in options.overrides) | _draws(options),
            workers=options.workers,
        )
        prepared = prepare_sweep(load_known(options.scenario), settings, _sweep(options))
    except ScenarioError as error:
        raise UserError(str(error)) from error
    (engine,) = prepared.choices
    _check_workers(options, engine)
    for note in prepared.notes:
        typer.echo(note, err=True)
    return prepared


def _check_workers(options: SweepOptions, engine: str) -> None:
    refused = refused_workers(engine, options.workers)
    if refused is not None:
        raise UserError(f"--workers {options.workers}: {refused}")


def _sweep(options: SweepOptions) -> dict[str, Any] | None:
    """The sweep that the options give in place of the scenario's own."""
    axes: dict[str, Any] = {}
    for text in options.axes:
        key, values = axis(text)
        if key in axes:
            raise UserError(f"--axis {key}: is given twice")
        axes[key] = values
    if not axes:
        return None
    if options.draws is not None:
        raise UserError("--draws: --axis takes the place of the scenario's sweep and of its draws")
    return {"zipped": [axes]} if options.is_zipped else {"axes": axes}


def _draws(options: SweepOptions) -> dict[str, Any]:
    return {} if options.draws is None else {"sweep.drawn.count": options.draws}


def _told(outcome: Outcome) -> Iterator[str]:
    yield from outcome.notes
    again = f", {outcome.done_again} of them had failed" if outcome.done_again else ""
    runs = f"{outcome.runs} runs: {outcome.found} found, {outcome.done} done"
    yield f"{outcome.folder}: {runs}{again}"
    if outcome.to_be_tried_again:
        yield (
            f"{outcome.to_be_tried_again} runs failed by the machine, not by their plan: the same "
            f"command tries them again, each {MOST_ATTEMPTS} times in all"
        )
