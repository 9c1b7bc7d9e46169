"""A scenario fitted to measured paths, and why MPTCP over them was as slow as it was.

TCP over each path alone tells its rate: that of the simulated link over which the same transfer
takes as long. Round trips tell delays, and under load queues. TCP over all paths at once tells
whether they share a link.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np

from mptcplab.engine import run
from mptcplab.explanation import Explanation, explain_recording
from mptcplab.explanation.trials import Follow
from mptcplab.fit.deviation import Deviation
from mptcplab.fit.error import FitError
from mptcplab.fit.measured_scenario import MPTCP, LinkEstimate, scenario_of, variant_of
from mptcplab.measure.figures import Figures, SizeFigures
from mptcplab.measure.plan import Direction
from mptcplab.measure.transfer import Transfer
from mptcplab.metrics.at_once import at_once
from mptcplab.metrics.plan_view import PlanView
from mptcplab.plan import Plan
from mptcplab.recording import Recording
from mptcplab.scenario import Scenario, ScenarioError
from mptcplab.temporary import temporary_folder

_NS_PER_S = 1e9
_SEEDS = (1, 2, 3)
_TRIES = 12
"""Rates that are tried for a link."""
_CLOSE = 0.005
"""Part of a time or goodput up to which it may differ from the measured one."""
_MOST_FASTER = 20.0
"""A link has at most so many times the goodput of its path: beyond that delays alone count."""
_SHARED = 0.9
"""Part of the goodput over links of their own below which the paths share one."""
_FULL = 0.95
"""Part of the round trips under load that are shorter than those of a full queue."""
_LEAST_QUEUE_BYTES = 16 * 1500


@dataclass(frozen=True)
class MeasuredFit:
    """Why MPTCP over measured paths was as slow as it was."""

    direction: Direction
    size_bytes: int
    links: Sequence[LinkEstimate]
    """In the order of the paths, the one on which MPTCP began first."""
    shared_mbps: float | None
    """Rate of a link that all paths share; null where none is seen."""
    scenario: Scenario
    beside: Sequence[Deviation]
    """How well it fits: MPTCP first, to which nothing was fitted."""
    told: Explanation
    """Of the fitted scenario; its goodput is the measured one."""

    def to_json(self) -> dict[str, Any]:
        """As in `mptcplab probe --explain --json`."""
        return {
            "direction": self.direction.value,
            "bytes": self.size_bytes,
            "links": [one.to_json() for one in self.links],
            "shared_mbps": self.shared_mbps,
            "scenario": self.scenario.provenance.text(),
            "beside": [one.to_json("measured") for one in self.beside],
            **self.told.to_json(),
        }


def explained(
    figures: Figures, *, workers: int | None = None, follow: Follow | None = None
) -> MeasuredFit:
    """Explains MPTCP's transfers of the largest size in the direction that it helped less.

    Args:
        figures: Those that were measured.
        workers: Simulations at once; one a core unless given.
        follow: Makes the progress of each round of trials.

    Raises:
        FitError: there is nothing that a scenario can be fitted to.
        EngineError: a run failed.

    """
    direction, of = _chosen(figures)
    try:
        with temporary_folder("mptcplab-fit-") as folder:
            return _Fitting(figures, direction, of, folder).explained(workers, follow)
    except ScenarioError as error:
        raise FitError(str(error.problems[0])) from error


def _chosen(figures: Figures) -> tuple[Direction, SizeFigures]:
    if len(figures.paths) < 2:
        raise FitError("only one path reaches the target")
    for path, one in zip(figures.paths, figures.survival, strict=True):
        if one.capable is False or one.join is False:
            raise FitError(f"MPTCP does not survive on {path.interface}: that is the reason")
    if any(one.mean is None for one in figures.idle_rtt):
        raise FitError("the round trip of a path is not known")
    found = [
        (direction, size)
        for direction in Direction
        for size in figures.sizes[direction]
        if _is_known(size)
    ]
    if not found:
        raise FitError("no size has times of TCP over each path and of MPTCP over all")
    largest = {direction: (direction, size) for direction, size in found}
    return min(largest.values(), key=lambda one: one[1].delay.mean or 0.0)


def _is_known(size: SizeFigures) -> bool:
    times = (*size.path_times, size.mptcp_time, size.delay)
    return all(one.mean is not None for one in times) and bool(_whole(size))


def _whole(size: SizeFigures) -> Sequence[Transfer]:
    """The transfers by MPTCP that count and have finished."""
    return [
        one for one in size.mptcp if one is not None and one.is_counted and one.time_s is not None
    ]


class _Fitting:
    """One direction and size."""

    def __init__(self, figures: Figures, direction: Direction, of: SizeFigures, folder: Path):
        self._figures = figures
        self._direction = direction
        self._of = of
        self._folder = folder
        self._runs = 0
        self._shared_mbps: float | None = None
        # The first path matters: the one on which most transfers began.
        begins = [one.begin or 0 for one in _whole(of)]
        self._begin = max(sorted(set(begins)), key=begins.count)
        paths = range(len(figures.paths))
        self._order = sorted(paths, key=lambda path: path != self._begin)
        self._links = [self._link(path, self._goodput(path)) for path in self._order]

    def explained(self, workers: int | None, follow: Follow | None) -> MeasuredFit:
        beside = [self._fit_rate(place) for place in range(len(self._links))]
        beside = [*self._fit_shared(), *beside]
        scenario = self._scenario()
        recordings = [self._run(MPTCP, seed) for seed in _SEEDS]
        own = fmean(_mbps(one, self._of.size_bytes) for one in recordings)
        measured = self._mptcp_mbps()
        told = explain_recording(recordings[0], scenario, workers=workers, follow=follow)
        told = _for_hosts(told, self._real_names(recordings[0]))
        return MeasuredFit(
            self._direction,
            self._of.size_bytes,
            self._links,
            self._shared_mbps,
            scenario,
            [Deviation("mptcp_mbps", None, measured, own), *beside],
            replace(told, goodput_mbps=measured),
        )

    def _real_names(self, recording: Recording) -> Mapping[str, str]:
        """Address or interface in the simulation → the one of the real hosts, where it is known."""
        found = {}
        for node in Plan.model_validate(recording.manifest.plan).nodes:
            for place, interface in enumerate(node.interfaces):
                for address in interface.addresses:
                    real = {"server": "TARGET"}.get(node.name, "GATEWAY")
                    if node.name == "client":
                        path = self._figures.paths[self._order[place]]
                        real = path.source
                        found[interface.name] = path.interface
                    found[str(address.address)] = real
        return found

    def _goodput(self, path: int) -> float:
        mean = self._of.path_goodputs[path].mean
        assert mean is not None
        return mean

    def _mptcp_mbps(self) -> float:
        """Of transfers that began on the path on which the simulated ones do."""
        began = [one for one in _whole(self._of) if (one.begin or 0) == self._begin]
        return fmean(one.goodput_mbps for one in began if one.goodput_mbps is not None)

    def _link(self, path: int, rate_mbps: float) -> LinkEstimate:
        idle_ms = median(one for one in self._figures.idle_rtt[path].samples if one is not None)
        loaded = self._figures.loaded_rtts[path] if self._figures.loaded_rtts else ()
        queue_bytes = None
        if loaded:
            queued_ms = max(0.0, float(np.quantile(loaded, _FULL)) - idle_ms)
            queue_bytes = max(_LEAST_QUEUE_BYTES, round(queued_ms * rate_mbps * 1e3 / 8))
        interface = self._figures.paths[path].interface
        return LinkEstimate(interface, rate_mbps, idle_ms / 2, queue_bytes)

    def _scenario(self) -> Scenario:
        return scenario_of(
            self._links,
            self._direction,
            self._of.size_bytes,
            self._shared_mbps,
            self._figures.congestion_control,
        )

    def _run(self, variant: str, seed: int = _SEEDS[0]) -> Recording:
        self._runs += 1
        folder = self._folder / str(self._runs)
        return run(self._scenario(), variant, folder, seed=seed, engine="sim")

    def _fit_rate(self, place: int) -> Deviation:
        """Finds the rate of a link over which TCP alone takes as long as was measured."""
        path = self._order[place]
        measured_s = self._of.path_times[path].mean
        assert measured_s is not None
        bits = 8e-6 * self._of.size_bytes
        most_mbps = _MOST_FASTER * self._goodput(path)

        def simulated(rate_mbps: float) -> float:
            self._links[place] = self._link(path, rate_mbps)
            return _lasted_s(self._run(variant_of(place)))

        def better(rate_mbps: float, taken_s: float) -> float:
            # The growth of windows does not depend on the rate, and stays.
            beside_s = taken_s - bits / rate_mbps
            left_s = measured_s - beside_s
            return most_mbps if left_s <= 0 else min(most_mbps, bits / left_s)

        taken_s = _approached(simulated, better, self._links[place].rate_mbps, measured_s)
        return Deviation("tcp_s", self._links[place].interface, measured_s, taken_s)

    def _fit_shared(self) -> list[Deviation]:
        """Finds the rate of a link that all paths share, where TCP over all tells of one."""
        measured_mbps = self._of.at_once_goodput.mean
        if not measured_mbps:
            return []
        own_mbps = self._at_once()
        if measured_mbps < _SHARED * own_mbps:

            def simulated(rate_mbps: float) -> float:
                self._shared_mbps = rate_mbps
                return self._at_once()

            def better(rate_mbps: float, reached_mbps: float) -> float:
                return rate_mbps * measured_mbps / reached_mbps

            own_mbps = _approached(simulated, better, measured_mbps, measured_mbps)
        return [Deviation("at_once_mbps", None, measured_mbps, own_mbps)]

    def _at_once(self) -> float:
        recording = self._run("tcp-at-once")
        goodput = at_once(recording, PlanView(recording)).goodput_mbps
        if not goodput:
            raise FitError("TCP over all paths at once carries nothing in the simulator")
        return goodput


def _for_hosts(told: Explanation, names: Mapping[str, str]) -> Explanation:
    """The same with paths and commands of the real hosts."""
    every = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    simulated = re.compile(rf"(?<![\w.])(?:{every})(?![\w.])")

    def real(lines: Sequence[str]) -> Sequence[str]:
        return [simulated.sub(lambda found: names[found[0]], line) for line in lines]

    causes = [
        replace(one, path=one.path and names.get(one.path, one.path), evidence=real(one.evidence))
        for one in told.causes
    ]
    remedies = [
        replace(one, change=replace(one.change, settings=real(one.change.settings)))
        for one in told.remedies
    ]
    return replace(told, causes=causes, remedies=remedies)


def _approached(
    simulated: Callable[[float], float],
    better: Callable[[float, float], float],
    rate_mbps: float,
    wanted: float,
) -> float:
    """Improves a rate until what it leads to is close to what is wanted; gives that."""
    found = simulated(rate_mbps)
    for _ in range(_TRIES):
        if abs(found - wanted) <= _CLOSE * wanted:
            break
        following = better(rate_mbps, found)
        if abs(following - rate_mbps) <= _CLOSE * _CLOSE * rate_mbps:
            break
        rate_mbps = following
        found = simulated(rate_mbps)
    return found


def _lasted_s(recording: Recording) -> float:
    """Seconds from when the only transfer was connected to its last byte, as agents count."""
    (row,) = recording.transfers.iter_rows(named=True)
    if row["end_ns"] is None or row["connected_ns"] is None or row["error"] is not None:
        raise FitError("a transfer does not end in the simulator")
    return float(row["end_ns"] - row["connected_ns"]) / _NS_PER_S


def _mbps(recording: Recording, size_bytes: int) -> float:
    return 8e-6 * size_bytes / _lasted_s(recording)
