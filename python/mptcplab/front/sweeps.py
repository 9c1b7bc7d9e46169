"""Sweeps: a scenario at many choices of values."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from mptcplab.campaign.cluster_address import Cluster
from mptcplab.campaign.description import SWEEP
from mptcplab.campaign.result import Point, Sweep
from mptcplab.campaign.session import carry_out, prepare_sweep, refused_workers
from mptcplab.engine.job import EngineError
from mptcplab.front.asked import asked, call_text, engine_called, in_python, words_in_python
from mptcplab.front.calls import Folder, Interrupted, held_signals, room
from mptcplab.interruption import Interruption
from mptcplab.progress import Lines
from mptcplab.scenario import Scenario, ScenarioError
from mptcplab.session import fresh_folder, load_known

__all__ = ["Point", "Sweep", "sweep"]


def sweep(
    scenario: Scenario | str | PathLike[str],
    axes: Mapping[str, Sequence[Any] | Mapping[str, Any]] | None = None,
    *,
    engine: str = "auto",
    variants: str | Sequence[str] | None = None,
    repeat: int | None = None,
    seed: int = 1,
    duration: str | None = None,
    vary: Mapping[str, Any] | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002
    samples: bool = False,
    workers: int | None = None,
    cluster: str | None = None,
    tls_ca: str | PathLike[str] | None = None,
    tls_cert: str | PathLike[str] | None = None,
    tls_key: str | PathLike[str] | None = None,
    out: Folder | None = None,
    replace: bool = False,
    progress: bool = True,
) -> Sweep:
    """Runs a scenario at every choice of values: those of `axes` are crossed.

    `axes` are dotted paths, each with its values or a range: `{"links.wifi.delay": ["5 ms",
    "20 ms"]}`, `{"links.wifi.rate": {"from": "1 Mbit/s", "to": "1 Gbit/s", "count": 4, "scale":
    "log"}}`. Without them it is the scenario's own `sweep`. A sweep that was interrupted is taken
    up again where `out` is its folder and the arguments are the same; nothing is run twice.
    `samples` keeps the recording of each run, with all tables. `cluster` is the address of a Dask
    scheduler whose workers do the runs, and `tls_ca`, `tls_cert` and `tls_key` are the files of the
    certificates for it; `auto` is the simulator there. The other arguments, and what is raised, are
    as of `run`.

    Raises:
        ScenarioError: there is no axis, or one has no value or the same twice.
        EngineError: the cluster cannot work; what was done is kept.

    """
    reached = _cluster(cluster, (tls_ca, tls_cert, tls_key), samples=samples, workers=workers)
    settings = asked(
        # The abilities of this machine say nothing of the workers.
        engine="sim" if reached is not None and engine == "auto" else engine,
        variants=variants,
        repeat=repeat,
        seed=seed,
        duration=duration,
        vary=vary,
        set=set,
        capture=False,
        workers=workers,
    )
    _check_workers(settings.engine, workers)
    told = {} if axes is None else {path: axes[path] for path in axes}
    try:
        own = scenario if isinstance(scenario, Scenario) else load_known(scenario)
        prepared = prepare_sweep(own, settings, None if axes is None else {"axes": _lists(told)})
    except ScenarioError as error:
        raise in_python(error) from None
    _check_workers(engine_called(prepared), workers)
    if out is None:
        folder = fresh_folder(f"{own.name}-sweep")
    else:
        folder = room(out, SWEEP, replace, is_resumed=True)
    if progress and sys.stderr is not None:
        for note in prepared.notes:
            print(note, file=sys.stderr)
    interruption = Interruption()
    with interruption.listening(held_signals()):
        try:
            outcome = carry_out(
                prepared,
                folder,
                samples=samples,
                workers=workers,
                command=[call_text("sweep", scenario, {**locals(), "capture": False}, told)],
                interruption=interruption,
                shown=(lambda _, runs: Lines(runs)) if progress else None,
                cluster=reached,
            )
        except EngineError as error:
            raise EngineError(words_in_python(str(error))) from error
    if progress and sys.stderr is not None:
        for note in outcome.notes:
            print(note, file=sys.stderr)
    made = Sweep.open(folder)
    if not outcome.is_whole:
        raise Interrupted(made, "Sweep.open")
    return made


def _cluster(
    address: str | None,
    tls: Sequence[str | PathLike[str] | None],
    *,
    samples: bool,
    workers: int | None,
) -> Cluster | None:
    """The scheduler that is asked for; null for this machine.

    Raises:
        ValueError: the arguments do not go together.
        EngineError: the address is none, or one that only TLS may reach.

    """
    files = [None if file is None else Path(file) for file in tls]
    if address is None:
        if any(files):
            raise ValueError("tls_ca, tls_cert, tls_key: they go with cluster=ADDRESS")
        return None
    if workers is not None:
        raise ValueError("workers: the cluster has workers of its own: leave it out")
    if samples:
        raise ValueError("samples: recordings stay on one machine: leave cluster out")
    try:
        return Cluster(address, *files)
    except EngineError as error:
        raise EngineError(words_in_python(str(error))) from None


def _check_workers(engine: str, workers: int | None) -> None:
    """Raises `ValueError` where a sweep on the engine cannot have so many workers."""
    refused = refused_workers(engine, workers)
    if refused is not None:
        raise ValueError(f"workers={workers}: {words_in_python(refused)}")


def _lists(axes: Mapping[str, Any]) -> dict[str, Any]:
    """The axes as a scenario has them."""
    return {
        path: dict(of) if isinstance(of, Mapping) else list(of) if not isinstance(of, str) else of
        for path, of in axes.items()
    }
