"""`sweep`: the options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mptcplab.cli.commands.common import Json, ScenarioName, one_of, path
from mptcplab.cli.commands.run import EngineOption
from mptcplab.shortage import ask


def sweep(
    scenario: ScenarioName,
    axis: Annotated[
        list[str] | None,
        typer.Option(
            "--axis",
            metavar="PATH=VALUES",
            help="links.wifi.delay=5ms,20ms, or a range: links.wifi.rate=1Mbit/s..1Gbit/s:7:log; "
            "repeat for more, which are crossed. In place of the scenario's own `sweep`.",
        ),
    ] = None,
    zipped: Annotated[
        bool, typer.Option("--zip", help="Let the values of the axes go together.")
    ] = False,
    draws: Annotated[
        int | None,
        typer.Option(min=1, max=100_000, help="Draws of the scenario's `sweep.drawn`."),
    ] = None,
    engine: Annotated[
        EngineOption,
        typer.Option(
            parser=one_of(EngineOption),
            metavar="auto|kernel|sim",
            help="The real stack, or virtual time; auto: the real one if it can.",
        ),
    ] = EngineOption.AUTO,
    variant: Annotated[
        list[str] | None,
        typer.Option("--variant", metavar="NAME", help="Run this variant only; repeat for more."),
    ] = None,
    repeat: Annotated[
        int | None, typer.Option(min=1, max=1000, help="Repetitions of each variant.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all that is random.")] = 1,
    duration: Annotated[
        str | None, typer.Option(metavar="TIME", help="Duration of every bulk transfer: 10s.")
    ] = None,
    vary: Annotated[
        str | None,
        typer.Option(
            metavar="start=TIME",
            help="Start traffic up to so much later, drawn by the seed: start=50ms.",
        ),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="links.wifi.rate='20 Mbit/s', say."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=1024, help="Simulated runs at once; one a core unless given."),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Run on the workers of a Dask scheduler: tls://HOST:8786, or "
            "tcp://127.0.0.1:8786.",
        ),
    ] = None,
    tls_ca: Annotated[
        Path | None,
        typer.Option(parser=path, metavar="FILE", help="Authority of the cluster's certificates."),
    ] = None,
    tls_cert: Annotated[
        Path | None,
        typer.Option(parser=path, metavar="FILE", help="Certificate to show to the scheduler."),
    ] = None,
    tls_key: Annotated[
        Path | None,
        typer.Option(parser=path, metavar="FILE", help="Its key, where that is another file."),
    ] = None,
    samples: Annotated[
        bool, typer.Option("--samples", help="Keep a recording of each run, with all tables.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            parser=path,
            metavar="DIR",
            help="Folder of the result: new, or one of the same sweep, which is taken up again.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Run a scenario at many choices of values, and report."""
    ask()
    from mptcplab.cli.sweep import SweepOptions, run_sweep
    from mptcplab.engine.choice import EngineName

    run_sweep(
        SweepOptions(
            scenario=scenario,
            axes=tuple(axis or ()),
            is_zipped=zipped,
            draws=draws,
            engine=EngineName(engine.value),
            variants=tuple(variant or ()),
            repetitions=repeat,
            seed=seed,
            duration=duration,
            vary=vary,
            overrides=tuple(overrides or ()),
            workers=workers,
            cluster=cluster,
            tls=(tls_ca, tls_cert, tls_key),
            samples=samples,
            out=out,
            as_json=json,
        )
    )
