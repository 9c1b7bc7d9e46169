"""`explain`: why MPTCP was as slow as it was, and what helps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import typer
from rich.text import Text

from mptcplab.cli.errors import UserError
from mptcplab.cli.output import console, json_text
from mptcplab.cli.progress import display
from mptcplab.engine.job import EngineError, Job
from mptcplab.explain import Cause, Explanation, Remedy, explain
from mptcplab.explain.account import Account
from mptcplab.metrics import measure
from mptcplab.progress import RunProgress
from mptcplab.recording import Recording, RecordingError, Result
from mptcplab.recording.result import RESULT
from mptcplab.report.layout import Column, Kind, laid_out
from mptcplab.scenario import Scenario, ScenarioError, loads_kept

_ROWS = 5
"""Remedies in the terminal; --json has all."""
_PHRASES = {
    "fallback": "the connection fell back to TCP",
    "join_refused": "a subflow was refused",
    "no_join": "no further subflow was opened",
    "late_subflow": "a subflow joined late",
    "backup": "a path stood by as a backup",
    "send_buffer_too_small": "the send buffer is too small",
    "receive_buffer_too_small": "the receive buffer is too small",
    "head_of_line_blocking": "data of a slow path holds up the rest",
    "loss": "packets are lost by chance",
    "uncoupled_at_shared_bottleneck": "the subflows take more than a flow's share of a queue",
    "bufferbloat": "a long queue stands full",
    "application_limited": "the application offers less than the paths take",
}


def explain_folder(
    folder: Path,
    against: str | None,
    workers: int | None,
    *,
    remedies: bool,
    trials: bool,
    as_json: bool,
) -> None:
    """Explains the result or the recording in a folder."""
    try:
        result, recording = _chosen(folder)
        scenario = _scenario(recording)
        beside = None if against is None else _against(_result_of(recording) or result, against)
        with ExitStack() as shown:

            def follow(jobs: Sequence[Job]) -> RunProgress:
                is_seen = not as_json and console(stderr=True).is_terminal
                bar = display("explain", len(jobs)) if is_seen else None
                # The bar of an earlier round of trials.
                shown.close()
                return shown.enter_context(RunProgress(jobs, "explain", bar))

            told = explain(
                recording,
                scenario,
                workers=workers,
                remedies=remedies,
                trials=trials,
                follow=follow,
            )
        goodput = measure(recording).metrics.get("goodput")
    except (RecordingError, ScenarioError, EngineError) as error:
        raise UserError(str(error)) from error
    if as_json:
        run = {"variant": recording.manifest.variant, "repetition": recording.manifest.repetition}
        own = {**run, "goodput_mbps": goodput}
        if against is not None:
            own["against"] = {"variant": against, "goodput_mbps": beside}
        typer.echo(json_text({**own, **told.to_json()}))
        return
    screen = console()
    variant = recording.manifest.variant
    for sentence in sentences(variant, goodput, against, beside, told, remedies=remedies):
        screen.print(Text(sentence))
    if told.accounts:
        longest = max(told.accounts, key=lambda one: one.duration_ns)
        screen.print(*laid_out(_account(longest), screen), sep="")
    if told.causes:
        screen.print(*laid_out(_causes(told.causes), screen), sep="")
    if told.remedies:
        screen.print(*laid_out(_remedies(told.remedies[:_ROWS]), screen), sep="")
        for line in told.remedies[0].change.settings:
            screen.print(Text(f"  {line}"))


def sentences(
    variant: str,
    goodput: float | None,
    against: str | None,
    beside: float | None,
    told: Explanation,
    *,
    remedies: bool = True,
) -> list[str]:
    """Sentences of the goodput, of the main cause, of the best remedy, of what was not tried."""
    carried = "nothing" if goodput is None else f"{goodput:.3g} Mbit/s"
    first = f"{variant} carried {carried}"
    if against is not None and beside is not None:
        first += f", {against} {beside:.3g} Mbit/s"
    if told.untried is not None:
        return [f"{first}.", f"Nothing was tried: {told.untried.rstrip('.')}."]
    if not told.causes:
        why = "Nothing that was looked for costs it 5 % or more."
    else:
        worst = told.causes[0]
        where = "" if worst.path is None else f" (path {worst.path})"
        why = f"The main cause: {_PHRASES[worst.name]}{where}; {worst.evidence[0]}."
    found = [f"{first}.", why]
    if told.remedies:
        best = told.remedies[0]
        found.append(
            f"In the simulator, where it carries {told.goodput_mbps:.3g} Mbit/s, "
            f"{_words(best)} makes that {best.goodput.mean:.3g}."
        )
    elif remedies:
        found.append("No single change that was tried helps.")
    if told.refused:
        number = len(told.refused)
        changes = "1 change" if number == 1 else f"{number} changes"
        reason = told.refused[0].reason.splitlines()[0].rstrip(".")
        found.append(f"{changes} could not be tried, the first because: {reason}.")
    return found


def _account(of: Account) -> list[Column]:
    """The longest times of a connection first, each beside that of its paths."""
    states = sorted(of.times_ns, key=lambda state: -of.times_ns[state])
    beside = {state for times in of.paths_ns.values() for state in times}
    states += sorted(beside - set(states))
    columns = [
        Column("state", states, Kind.VALUE, is_left=True),
        Column("connection", [_seconds(of.times_ns.get(state)) for state in states]),
    ]
    return columns + [
        Column(f"path {path}", [_seconds(times.get(state)) for state in states])
        for path, times in of.paths_ns.items()
    ]


def _seconds(spent_ns: int | None) -> str:
    return "" if spent_ns is None else f"{spent_ns / 1e9:.2f} s"


def _causes(causes: Sequence[Cause]) -> list[Column]:
    return [
        Column("cause", [one.name for one in causes], Kind.WORDS, is_left=True),
        Column("path", [one.path or "" for one in causes], Kind.VALUE, is_left=True),
        Column("cost", [_cost(one) for one in causes]),
        Column("evidence", ["; ".join(one.evidence) for one in causes], Kind.WORDS, is_left=True),
    ]


def _remedies(remedies: Sequence[Remedy]) -> list[Column]:
    return [
        Column("change", [_words(one) for one in remedies], Kind.WORDS, is_left=True),
        Column("Mbit/s", [f"{one.goodput.mean:.1f}" for one in remedies]),
        Column("gain", [_with_half(one) for one in remedies]),
        Column("stock kernel", ["yes" if one.change.stock_kernel else "no" for one in remedies]),
    ]


def _words(remedy: Remedy) -> str:
    return ", ".join(f"{path}={_value(value)}" for path, value in remedy.change.values.items())


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _with_half(remedy: Remedy) -> str:
    half = remedy.gain.half_width
    return f"{remedy.gain.mean:.1f}" if half is None else f"{remedy.gain.mean:.1f} ± {half:.1f}"


def _cost(cause: Cause) -> str:
    if cause.cost_mbps is not None:
        return f"{cause.cost_mbps:.1f} Mbit/s"
    if cause.cost_s is not None:
        return f"{cause.cost_s:.2f} s"
    return "not tried" if cause.at_most_mbps is None else f"at most {cause.at_most_mbps:.1f} Mbit/s"


def _chosen(folder: Path) -> tuple[Result, Recording]:
    """The recording to explain, and the result that it belongs to."""
    result = Result.open(folder)
    names = [one.name for one in result.variants if one.protocol == "mptcp"]
    found = [recordings[0] for name in names if (recordings := result.recordings(name))]
    if not found:
        raise UserError(f"{folder}: has no recording of a variant over MPTCP: nothing to explain")
    if len(found) == 1:
        return result, found[0]
    goodputs = [
        (measure(one).metrics.get("goodput") or 0.0, place) for place, one in enumerate(found)
    ]
    return result, found[min(goodputs)[1]]


def _scenario(recording: Recording) -> Scenario | None:
    """The scenario of the result in which a recording lies; null where it lies in none."""
    result = _result_of(recording)
    return None if result is None else loads_kept(result.description.scenario.text)


def _result_of(recording: Recording) -> Result | None:
    folder = recording.folder.resolve().parent.parent
    return Result.open(folder) if (folder / RESULT).is_file() else None


def _against(result: Result, variant: str) -> float | None:
    found = result.recordings(variant) if variant in result else []
    if not found:
        known = ", ".join(result)
        raise UserError(f"--against {variant}: there is no recording of it: choose one of {known}")
    return measure(found[0]).metrics.get("goodput")
