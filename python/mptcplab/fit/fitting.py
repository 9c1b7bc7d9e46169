"""A capture's connection fitted, held against what was captured, and the changes that help it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from mptcplab.engine import run
from mptcplab.explanation import Refused, Remedy
from mptcplab.explanation.account import account
from mptcplab.explanation.changes import Changes, in_full
from mptcplab.explanation.observed import Observed
from mptcplab.explanation.trials import Follow, Trials
from mptcplab.explanation.verdict import SEEDS, judged
from mptcplab.fit.deviation import Deviation
from mptcplab.fit.error import FitError
from mptcplab.fit.paths import PathEstimate, path_estimates
from mptcplab.fit.scenario import VARIANT, scenario_of
from mptcplab.plan import Plan
from mptcplab.recording import Recording
from mptcplab.scenario import Scenario, ScenarioError
from mptcplab.temporary import temporary_folder
from mptcplab.trace import View, read, view
from mptcplab.trace.accounts import Account, accounts
from mptcplab.trace.coverage import coverage
from mptcplab.trace.words import size

_FIRST_SEED = 1
_RUNS = 3
"""Simulated captures that are held against the captured one."""


@dataclass(frozen=True)
class Fit:
    """A scenario that behaves as a captured connection did, as far as packets tell."""

    connection: int
    """Its number in the capture."""
    paths: Sequence[PathEstimate]
    scenario: Scenario
    deviations: Sequence[Deviation]
    """How well it fits."""
    notes: Sequence[str]
    """The things that the scenario leaves out, in words."""
    remedies: Sequence[Remedy] = ()
    """Changes that help in it, those that gain most first."""
    simulated_mbps: float | None = None
    """Goodput as it is, over the seeds of most trials; null where no change was tried."""
    refused: Sequence[Refused] = ()
    """Changes that could not be tried."""

    @property
    def goodput(self) -> Deviation:
        """That of the goodput."""
        return self.deviations[0]

    def to_json(self) -> dict[str, Any]:
        """As in `mptcplab explain CAPTURE --json`."""
        return {
            "connection": self.connection,
            "paths": [one.to_json() for one in self.paths],
            "scenario": self.scenario.provenance.text(),
            "deviations": [one.to_json("captured") for one in self.deviations],
            "notes": list(self.notes),
        }


def fitted(
    seen: View, *, workers: int | None = None, follow: Follow | None = None, remedies: bool = True
) -> Fit:
    """Fits a scenario to the chosen connection over MPTCP that carried most.

    Args:
        seen: Connections of a capture, with the table of packets.
        workers: Simulations at once; one a core unless given.
        follow: Makes the progress of each round of trials.
        remedies: Whether changes are tried in the fitted scenario.

    Raises:
        FitError: there is no connection that a scenario can be fitted to.
        TraceError: a table is missing.
        EngineError: a run failed.

    """
    of = _most(list(accounts(seen)))
    held = coverage(of, seen)
    if held is not None and held.lacks_paths:
        raise FitError(
            f"the capture holds {size(held.captured_bytes)} of the "
            f"{size(held.acknowledged_bytes)} of data of connection {of.row['connection']}: give "
            "the captures of all interfaces of the host together"
        )
    paths = path_estimates(seen, of)
    if not paths:
        raise FitError(
            f"connection {of.row['connection']} carried too little data to tell the rate of a path"
        )
    try:
        scenario = in_full(scenario_of(paths, of, _first_window_bytes(seen, of)))
        with temporary_folder("mptcplab-fit-") as folder:
            recordings = [
                run(
                    scenario, VARIANT, folder / str(seed), seed=seed, engine="sim",
                    captures=True,
                )
                for seed in range(_FIRST_SEED, _FIRST_SEED + _RUNS)
            ]  # fmt: skip
            found = Fit(
                of.row["connection"],
                paths,
                scenario,
                _deviations(of, paths, [_again(one, of) for one in recordings]),
                _notes(of),
            )
            return _with_remedies(found, recordings[0], workers, follow) if remedies else found
    except ScenarioError as error:
        raise FitError(str(error.problems[0])) from error


def _most(found: Sequence[Account]) -> Account:
    """The connection that carried most over MPTCP."""
    if not found:
        raise FitError("there is no connection")
    over_mptcp = [one for one in found if one.row["protocol"] == "mptcp"]
    own = [one for one in over_mptcp if one.row["fallback"] is None]
    if not own:
        raise FitError("no connection was over MPTCP to its end: of other paths nothing is seen")
    return max(own, key=lambda one: one.row[f"{one.sender}_bytes"])


def _first_window_bytes(seen: View, of: Account) -> int | None:
    """The window that the sender of the data had after the first 100 ms with any."""
    number = of.row["connection"]
    for row in seen.samples.sort("t_ns").iter_rows(named=True):
        if row["connection"] == number and row["from"] == of.sender and row["window_bytes"]:
            return int(row["window_bytes"])
    return None


def _again(recording: Recording, of: Account) -> Mapping[tuple[str, str | None], float]:
    """The same figures of a simulated capture, made at the same end."""
    plan = Plan.model_validate(recording.manifest.plan)
    names = {
        str(address.address): interface.name
        for node in plan.nodes
        if node.name == "client"
        for interface in node.interfaces
        for address in interface.addresses
    }
    other = {"client": "server", "server": "client"}[of.sender]
    host = other if of.is_near_receiver else of.sender
    files = sorted(recording.folder.glob(f"{host}-*.pcapng"))
    with read([str(file) for file in files], workers=1) as trace:
        chosen = view(trace)
        own = _most(list(accounts(chosen)))
        return _figures(own, path_estimates(chosen, own), names)


def _figures(
    of: Account, paths: Sequence[PathEstimate], names: Mapping[str, str]
) -> Mapping[tuple[str, str | None], float]:
    """The figures that are compared; a path's name is that of its client's address."""
    sent, last_ns = of.row[f"{of.sender}_bytes"], of.row[f"{of.sender}_last_data_ns"]
    found: dict[tuple[str, str | None], float] = {}
    if last_ns is not None and last_ns > of.row["start_ns"]:
        found["goodput_mbps", None] = 8e3 * sent / (last_ns - of.row["start_ns"])
    for one in paths:
        name = names.get(one.client_address)
        if name is not None:
            found["carried_mbps", name] = one.carried_mbps
            if one.rtt_ms is not None:
                found["rtt_ms", name] = one.rtt_ms
    return found


def _deviations(
    of: Account,
    paths: Sequence[PathEstimate],
    simulated: Sequence[Mapping[tuple[str, str | None], float]],
) -> Sequence[Deviation]:
    captured = _figures(of, paths, {one.client_address: one.name for one in paths})
    found = []
    for key, value in captured.items():
        own = [figures.get(key, 0.0) for figures in simulated]
        if value > 0:
            found.append(Deviation(*key, value, fmean(own)))
    return found


def _notes(of: Account) -> Sequence[str]:
    """The things that the scenario leaves out."""
    notes = []
    for one in of.subflows:
        row = one.row
        ended_s = (row["end_ns"] - of.row["start_ns"]) / 1e9
        if row["end"] in ("reset", "silent") and row["end_ns"] < of.row["end_ns"]:
            notes.append(f"subflow {row['subflow']} ended after {ended_s:.3g} s, and does not here")
    if of.is_near_receiver:
        notes.append("losses and queues are guessed from where the data arrives")
    return notes


def _with_remedies(
    found: Fit, recording: Recording, workers: int | None, follow: Follow | None
) -> Fit:
    """Tries the list of changes in the fitted scenario."""
    observed = Observed(recording)
    one = account(observed, observed.connections[0])
    changes = Changes(found.scenario, VARIANT, observed.plan, one.connection)
    tries = Trials(found.scenario, VARIANT, _FIRST_SEED, workers, follow)
    _, helping = judged(tries, (), list(changes.remedies()))
    return replace(
        found,
        remedies=helping,
        simulated_mbps=fmean(each.own_mbps for each in tries[0].runs[:SEEDS]),
        refused=tries.refused,
    )
