"""`run`: the options."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mptcplab.cli.commands.common import Explain, Fail, Json, one_of, path
from mptcplab.shortage import ask


class EngineOption(StrEnum):
    """Where a scenario runs."""

    AUTO = "auto"
    KERNEL = "kernel"
    SIM = "sim"
    BOTH = "both"


def run(
    scenarios: Annotated[list[str], typer.Argument(metavar="SCENARIO...")],
    engine: Annotated[
        EngineOption,
        typer.Option(
            parser=one_of(EngineOption),
            metavar="|".join(EngineOption),
            help="The real stack, virtual time, both side by side; auto: the real one if it can.",
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
        typer.Option(
            min=1,
            max=1024,
            help="Runs at once; unless given one a core if simulated, one on the kernel.",
        ),
    ] = None,
    capture: Annotated[
        bool, typer.Option("--capture", help="Write a pcapng file of each host's interface.")
    ] = False,
    pause_at: Annotated[
        str | None,
        typer.Option(
            "--pause-at",
            metavar="TIME|EVENT",
            help="Pause each run on the kernel at 2s, say, or at an event, by its label.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(parser=path, metavar="DIR", help="Folder of the result; must be new."),
    ] = None,
    html: Annotated[
        bool, typer.Option("--html", help="Write one page, report.html, into the folder.")
    ] = False,
    live: Annotated[
        bool, typer.Option("--live", help="Show throughput by path and events while it runs.")
    ] = False,
    serve: Annotated[
        bool, typer.Option("--serve", help="Show them on a page of this machine, too.")
    ] = False,
    serve_at: Annotated[
        str | None,
        typer.Option(
            "--serve-at",
            metavar="ADDRESS:PORT",
            help="Where the page is: 127.0.0.1:8080, say; any free port unless given.",
        ),
    ] = None,
    explain: Explain = False,
    fail: Fail = False,
    json: Json = False,
) -> None:
    """Run scenarios, every variant and repetition, and report."""
    ask()
    if engine is EngineOption.SIM:
        from mptcplab.engine.sim.process import Worker

        Worker.start_ahead()
    from mptcplab.cli.live import LiveOptions
    from mptcplab.cli.run import RunOptions, run_scenarios
    from mptcplab.engine.choice import EngineName

    is_shown = live or serve or serve_at is not None
    run_scenarios(
        RunOptions(
            scenarios=tuple(scenarios),
            engine=EngineName(engine.value),
            workers=workers,
            variants=tuple(variant or ()),
            repetitions=repeat,
            seed=seed,
            duration=duration,
            vary=vary,
            overrides=tuple(overrides or ()),
            capture=capture,
            pause_at=pause_at,
            out=out,
            html=html,
            live=LiveOptions(serve, serve_at) if is_shown else None,
            explain=explain,
            fail=fail,
            as_json=json,
        )
    )
