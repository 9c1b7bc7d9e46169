"""Sweeps: a scenario at many choices of values."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from mptcplab.campaign.description import SWEEP
from mptcplab.campaign.result import Point, Sweep
from mptcplab.campaign.session import carry_out, prepare_sweep
from mptcplab.front.asked import asked, call_text, in_python
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
    out: Folder | None = None,
    replace: bool = False,
    progress: bool = True,
) -> Sweep:
    """Runs a scenario at every choice of values: those of `axes` are crossed.

    `axes` are dotted paths, each with its values or a range: `{"links.wifi.delay": ["5 ms",
    "20 ms"]}`, `{"links.wifi.rate": {"from": "1 Mbit/s", "to": "1 Gbit/s", "count": 4, "scale":
    "log"}}`. Without them it is the scenario's own `sweep`. A sweep that was interrupted is taken
    up again where `out` is its folder and the arguments are the same; nothing is run twice.
    `samples` keeps the recording of each run, with all tables. The other arguments, and what is
    raised, are as of `run`.

    Raises:
        ScenarioError: there is no axis, or one has no value or the same twice.

    """
    settings = asked(
        engine=engine,
        variants=variants,
        repeat=repeat,
        seed=seed,
        duration=duration,
        vary=vary,
        set=set,
        capture=False,
        workers=workers,
    )
    told = {} if axes is None else {path: axes[path] for path in axes}
    try:
        own = scenario if isinstance(scenario, Scenario) else load_known(scenario)
        prepared = prepare_sweep(own, settings, None if axes is None else {"axes": _lists(told)})
    except ScenarioError as error:
        raise in_python(error) from None
    if out is None:
        folder = fresh_folder(f"{own.name}-sweep")
    else:
        folder = room(out, SWEEP, replace, is_resumed=True)
    if progress and sys.stderr is not None:
        for note in prepared.notes:
            print(note, file=sys.stderr)
    interruption = Interruption()
    with interruption.listening(held_signals()):
        outcome = carry_out(
            prepared,
            folder,
            samples=samples,
            workers=workers,
            command=[call_text("sweep", scenario, {**locals(), "capture": False}, told)],
            interruption=interruption,
            shown=(lambda _, runs: Lines(runs)) if progress else None,
        )
    made = Sweep.open(folder)
    if not outcome.is_whole:
        raise Interrupted(made, "Sweep.open")
    return made


def _lists(axes: Mapping[str, Any]) -> dict[str, Any]:
    """The axes as a scenario has them."""
    return {
        path: dict(of) if isinstance(of, Mapping) else list(of) if not isinstance(of, str) else of
        for path, of in axes.items()
    }
