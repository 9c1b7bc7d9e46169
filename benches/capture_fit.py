"""How well a scenario that `mptcplab explain CAPTURE` fits tells the network behind a capture.

Networks of two or three unequal paths are drawn by a seed (`--repeat`); `--seconds` does not
matter. Each is run in the simulator with captures, by hosts that nothing tunes, and a scenario is
fitted to the capture of the data's sender and to that of its receiver. Deviations are those of the
estimates from the network, and of the fitted scenario's figures from the captured ones. Of the
first cases the first change that helps in the fitted scenario is made in the network itself, with
other seeds, and held against the one that an explanation of the recording, which knows the
network, tells first. Each fit is a line of `out/capture-fit-SEED.csv`.
"""

from __future__ import annotations

import csv
import json
import math
import random
import statistics
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mptcplab.engine import run
from mptcplab.explanation import explain_recording
from mptcplab.explanation.candidates import NOTICEABLE
from mptcplab.explanation.told import Change, Remedy
from mptcplab.explanation.trials import Trials
from mptcplab.fit import Fit, FitError, fitted
from mptcplab.scenario import Scenario, loads
from mptcplab.trace import read, view

from .effort import Effort
from .figures import Figure, figure, quantile

_CASES = 40
_WITH_REMEDIES = 8
_FIRST_SEED = 1000
"""Far from those that trials run with."""
_SEEDS = 5
_ENOUGH = 0.9
"""Part of the gain that counts as as good a remedy."""
_COLUMNS = (
    "case", "captured_by", "path", "rate_mbps", "fitted_rate_mbps", "delay_ms", "fitted_delay_ms",
    "loss", "fitted_loss", "goodput_mbps", "simulated_mbps", "goodput_deviation", "remedy",
    "remedy_gain_mbps", "best", "best_gain_mbps",
)  # fmt: skip


@dataclass(frozen=True)
class Way:
    """A path as it is."""

    rate_mbps: float
    delay_ms: float
    loss: float


@dataclass(frozen=True)
class Case:
    """A network and a transfer over it."""

    name: str
    paths: Sequence[Way]
    way: str
    scenario: Scenario


def measure(effort: Effort) -> list[Figure]:
    """Deviations over all cases: the median of each, and what 90 % of them do not exceed."""
    draw = random.Random(effort.repeat)
    cases = [_case(draw, number) for number in range(effort.sized(_CASES, 2))]
    with_remedies = effort.sized(_WITH_REMEDIES, 1)
    found: dict[str, list[float]] = {}
    enough: list[float] = []
    file = Path(f"out/capture-fit-{effort.repeat}.csv")
    file.parent.mkdir(exist_ok=True)
    with file.open("w", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(_COLUMNS)
        for number, case in enumerate(cases):
            with tempfile.TemporaryDirectory() as folder:
                recording = run(
                    case.scenario, "mptcp", Path(folder) / "run", seed=1, engine="sim",
                    captures=True,
                )  # fmt: skip
                sender = "server" if case.way == "down" else "client"
                for host in ("client", "server"):
                    end = "sender" if host == sender else "receiver"
                    tries = number < with_remedies and end == "sender"
                    fit = _fit(Path(folder) / "run", host, remedies=tries)
                    if fit is None:
                        found.setdefault(f"{end}: no fit", []).append(1.0)
                        continue
                    _note(found, end, case, fit)
                    told: Sequence[object] = ("", "", "", "")
                    if tries:
                        best = explain_recording(recording, case.scenario).remedies
                        told, is_enough = _judged(case, fit.remedies, best)
                        enough.append(float(is_enough))
                    rows.writerows(_rows(case, end, fit, told))
                    out.flush()
    return [*_figures(found), *_shares(enough), figure("cases", "", [len(cases)])]


def _case(draw: random.Random, number: int) -> Case:
    paths = [
        Way(
            _log_uniform(draw, 3, 80),
            _log_uniform(draw, 3, 120),
            draw.choice((0.0, 0.0, 0.0, _log_uniform(draw, 0.0005, 0.01))),
        )
        for _ in range(draw.choice((2, 2, 3)))
    ]
    way = draw.choice(("up", "down"))
    names = [f"p{index}" for index in range(len(paths))]
    interfaces: dict[str, Any] = {name: {} for name in names}
    links = {
        name: {
            "between": [f"client.{name}", f"server.{name}"],
            "rate": f"{path.rate_mbps:.4g} Mbit/s",
            "delay": f"{path.delay_ms:.4g} ms",
            "loss": f"{100 * path.loss:.4f} %",
        }
        for name, path in zip(names, paths, strict=True)
    }
    tree = {
        "hosts": {"client": {"interfaces": interfaces}, "server": {"interfaces": interfaces}},
        "links": links,
        "variants": {"mptcp": {"protocol": "mptcp"}},
        "traffic": [
            {"bulk": {"from": "client", "to": "server", "direction": way, "duration": "10 s"}}
        ],
    }
    name = f"case-{number}"
    return Case(name, paths, way, loads(json.dumps({"name": name, **tree}), name))


def _log_uniform(draw: random.Random, least: float, most: float) -> float:
    return math.exp(draw.uniform(math.log(least), math.log(most)))


def _fit(folder: Path, host: str, *, remedies: bool) -> Fit | None:
    files = sorted(str(file) for file in folder.glob(f"{host}-*.pcapng"))
    with read(files) as trace:
        try:
            return fitted(view(trace), remedies=remedies)
        except FitError:
            return None


def _note(found: dict[str, list[float]], end: str, case: Case, fit: Fit) -> None:
    """Notes the deviations of a fit, as parts of what is; those of losses in percentage points."""

    def note(name: str, value: float) -> None:
        found.setdefault(f"{end}: {name}", []).append(abs(value))

    note("goodput", fit.goodput.part)
    for estimate in fit.paths:
        own = case.paths[int(estimate.client_address.split(".")[2]) - 1]
        note("rate of a path", estimate.rate_mbps / own.rate_mbps - 1)
        note("delay of a path", estimate.delay_ms / own.delay_ms - 1)
        note("loss of a path, percentage points", 100 * (estimate.loss - own.loss))
    for one in fit.deviations:
        if one.figure == "rtt_ms":
            note("mean round trip of a path", one.part)


def _judged(
    case: Case, told: Sequence[Remedy], best: Sequence[Remedy]
) -> tuple[Sequence[object], bool]:
    """Both first remedies in the network itself; whether the fitted one gains enough."""
    changes = [one[0].change if one else None for one in (told, best)]
    trials = Trials(case.scenario, "mptcp", _FIRST_SEED)
    places = [None if change is None else trials.add(change) for change in changes]
    trials.reach(dict.fromkeys((0, *(one for one in places if one is not None)), _SEEDS))
    base = trials[0]
    gains = [0.0 if one is None else trials[one].gain_over(base).mean or 0.0 for one in places]
    mean = base.mean_mbps(of_others=False)
    is_enough = gains[0] >= min(_ENOUGH * gains[1], gains[1] - NOTICEABLE * mean)
    words = [_words(change) for change in changes]
    return (words[0], f"{gains[0]:.3f}", words[1], f"{gains[1]:.3f}"), is_enough


def _words(change: Change | None) -> str:
    return "" if change is None else json.dumps(dict(change.values))


def _rows(case: Case, end: str, fit: Fit, told: Sequence[object]) -> Iterable[Sequence[object]]:
    goodput = fit.goodput
    for one in fit.paths:
        own = case.paths[int(one.client_address.split(".")[2]) - 1]
        yield (
            case.name, end, one.name, f"{own.rate_mbps:.3f}", f"{one.rate_mbps:.3f}",
            f"{own.delay_ms:.3f}", f"{one.delay_ms:.3f}", f"{own.loss:.5f}", f"{one.loss:.5f}",
            f"{goodput.real:.3f}", f"{goodput.simulated:.3f}", f"{goodput.part:.4f}", *told,
        )  # fmt: skip


def _figures(found: dict[str, list[float]]) -> Iterable[Figure]:
    for name, values in sorted(found.items()):
        if name.endswith("no fit"):
            yield figure(name, "", [sum(values)])
            continue
        unit = "" if name.endswith("points") else "%"
        shown = values if unit == "" else [100 * value for value in values]
        yield figure(f"{name}, median", unit, [statistics.median(shown)])
        yield figure(f"{name}, 90 % at most", unit, [quantile(shown, 0.9)])


def _shares(enough: Sequence[float]) -> Iterable[Figure]:
    if enough:
        share = sum(enough) / len(enough)
        yield figure("remedy as good as with the network known", "of 1", [share])
