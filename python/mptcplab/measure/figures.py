"""From experiments to figures, with the lab's own definitions of both benefits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from mptcplab.measure.other_addresses import Addresses, other_addresses_of_all
from mptcplab.measure.passing import BothSettings, Passing, passing
from mptcplab.measure.plan import Direction, Kind, Path, Step
from mptcplab.measure.survival import Observation, Survival, no_mptcp, survival
from mptcplab.measure.transfer import Transfer, transfer
from mptcplab.metrics.benefit import transfer_benefits
from mptcplab.metrics.statistics import Estimate, estimate

LEAST_LOAD_S = 1.0
"""A shorter transfer does not fill the queue of a path."""


@dataclass(frozen=True)
class SizeFigures:
    """Transfers of one size in one direction."""

    size_bytes: int
    path_times: tuple[Estimate, ...]
    """Seconds by TCP over each path."""
    mptcp_time: Estimate
    path_goodputs: tuple[Estimate, ...]
    """Mbit/s."""
    mptcp_goodput: Estimate
    at_once_goodput: Estimate
    """TCP over all paths at once."""
    aggregation: Estimate
    delay: Estimate
    mptcp: tuple[Transfer | None, ...] = ()
    """Of each repetition; null where there was none."""
    path_unfinished: tuple[int, ...] = ()
    """Transfers by TCP over each path that did not finish."""

    @property
    def tried(self) -> int:
        """Transfers by MPTCP."""
        return sum(one is not None for one in self.mptcp)

    @property
    def fell_back(self) -> int:
        """Those of them that were TCP, by the account of an end."""
        return sum(one is not None and one.is_mptcp is False for one in self.mptcp)

    @property
    def unfinished(self) -> int:
        """Those of them that count, and did not finish."""
        return sum(one is not None and one.is_counted and one.time_s is None for one in self.mptcp)

    @property
    def on_other_paths(self) -> int:
        """Those of them that were MPTCP on other paths, too."""
        return sum(
            one is not None and one.is_mptcp is not False and bool(one.other_addresses)
            for one in self.mptcp
        )

    @property
    def path_bytes(self) -> tuple[int, ...]:
        """Data that MPTCP carried over each path."""
        counted = [one for one in self.mptcp if one is not None and one.is_counted]
        known = [one.path_bytes for one in counted if one.path_bytes]
        return tuple(map(sum, zip(*known, strict=True))) or (0,) * len(self.path_times)


@dataclass(frozen=True)
class Figures:
    """All that was measured."""

    paths: tuple[Path, ...]
    survival: tuple[Survival, ...]
    idle_rtt: tuple[Estimate, ...]
    """Milliseconds, of each path; a sample is the median of a repetition."""
    loaded_rtt: tuple[Estimate, ...]
    sizes: Mapping[Direction, tuple[SizeFigures, ...]]
    """By direction, the smallest first."""
    endpoints: int
    """From which the kernel opens subflows, where its limit allows any."""
    add_addr: bool | None
    """An address that the target announced was accepted."""
    partial: str | None = None
    """The reason, a sentence without its stop, for which it ended early."""
    used_bytes: int = 0
    rate_limit_mbps: float | None = None
    """Of the target."""
    congestion_control: str | None = None
    """That both ends were to use; null: that of each end's system."""
    idle_rtts: tuple[tuple[float, ...], ...] = ()
    """Milliseconds, of each echo on each path."""
    loaded_rtts: tuple[tuple[float, ...], ...] = ()
    other_addresses: Addresses = frozenset()
    """Local addresses on none of the paths from which MPTCP had subflows."""
    passing: tuple[Passing, ...] = ()
    """Of each path."""
    settings: BothSettings | None = None
    """Null: not known."""


@dataclass
class Measured:
    """Experiments that were carried out, and their results."""

    paths: tuple[Path, ...]
    sent_options: tuple[str, ...]
    endpoints: tuple[str, ...] | None = None
    """Addresses that are endpoints of the path manager; null: not known."""
    rate_limit_mbps: float | None = None
    done: list[tuple[Step, Mapping[str, Any]]] = field(default_factory=list)
    partial: str | None = None
    congestion_control: str | None = None
    """That both ends were to use; null: that of each end's system."""
    is_lost: bool = False
    """It ended early as the target was lost, or refused."""
    used_bytes: int = 0
    settings: BothSettings | None = None
    """Null: not known, of an agent of another version."""

    @property
    def trials(self) -> dict[int, list[Observation]]:
        """Those of survival, by path."""
        found: dict[int, list[Observation]] = {}
        for step, result in self.done:
            if step.kind is Kind.SURVIVAL and step.path is not None:
                witness, mptcp = result["connections"]
                rtts = mptcp["rtts_us"]
                seconds = sum(rtts) / 1e6 + len(rtts) * step.interval_ms / 1e3
                found.setdefault(step.path, []).append(Observation(witness, mptcp, seconds))
        return found

    @property
    def survival(self) -> list[Survival]:
        """Of each path."""
        return survival(self.paths, self.trials, self.sent_options, self.endpoints)

    @property
    def capable(self) -> list[int]:
        """Numbers of the paths on which MPTCP survives, in their order."""
        return sorted(
            path for path, trial in self.trials.items() if any(one.is_capable for one in trial)
        )

    @property
    def obstacle(self) -> str | None:
        """The reason for which further experiments would tell nothing."""
        return no_mptcp(self.trials)


def figures(measured: Measured) -> Figures:
    """All figures."""
    seen = [one for trial in measured.trials.values() for one in trial]
    probes = [one.mptcp["probe"]["seen"] for one in seen]
    count = range(len(measured.paths))
    known = other_addresses_of_all(measured.done, measured.paths)
    return Figures(
        paths=measured.paths,
        survival=tuple(measured.survival),
        idle_rtt=tuple(_rtt(measured, Kind.IDLE, path) for path in count),
        loaded_rtt=tuple(_rtt(measured, Kind.LOADED, path) for path in count),
        idle_rtts=tuple(_rtts(measured, Kind.IDLE, path) for path in count),
        loaded_rtts=tuple(_rtts(measured, Kind.LOADED, path) for path in count),
        sizes={direction: _sizes(measured, direction, known) for direction in Direction},
        endpoints=max((one.endpoints for one in seen), default=0),
        add_addr=True if any(one["accepted"] for one in probes) else None,
        partial=measured.partial,
        used_bytes=measured.used_bytes,
        rate_limit_mbps=measured.rate_limit_mbps,
        congestion_control=measured.congestion_control,
        other_addresses=known,
        passing=tuple(passing(measured.paths, measured.done, measured.settings)),
        settings=measured.settings,
    )


def _rtt(measured: Measured, kind: Kind, path: int) -> Estimate:
    """Of the pings alone, or of those beside a transfer that was long enough."""
    every = _echoes(measured, kind, path)
    return estimate([median(rtts) / 1e3 if rtts else None for rtts in every])


def _rtts(measured: Measured, kind: Kind, path: int) -> tuple[float, ...]:
    """Of each of these pings."""
    return tuple(rtt / 1e3 for rtts in _echoes(measured, kind, path) for rtt in rtts)


def _echoes(measured: Measured, kind: Kind, path: int) -> Iterator[Sequence[int]]:
    """Round-trip times of each repetition, µs; none beside a load that was too short."""
    for step, result in measured.done:
        if step.kind is kind and step.path == path:
            *loads, pings = result["connections"]
            is_short = any(one["probe"]["duration_us"] < LEAST_LOAD_S * 1e6 for one in loads)
            yield () if is_short else pings["rtts_us"]


_TRANSFERS = (Kind.TCP, Kind.MPTCP, Kind.AT_ONCE)


def _sizes(measured: Measured, direction: Direction, known: Addresses) -> tuple[SizeFigures, ...]:
    done = [step for step, _ in measured.done if step.kind in _TRANSFERS]
    found = {step.size_bytes for step in done if step.direction is direction}
    return tuple(_size(measured, direction, size, known) for size in sorted(found))


Repetition = Mapping[tuple[Kind, int | None], Transfer]
"""Its transfers of one size, by kind and path."""
_NOTHING = Transfer()


def _size(measured: Measured, direction: Direction, size: int, known: Addresses) -> SizeFigures:
    by_repetition: dict[int, dict[tuple[Kind, int | None], Transfer]] = {}
    for step, result in measured.done:
        is_wanted = step.kind in _TRANSFERS and step.size_bytes == size
        if is_wanted and step.direction is direction:
            key = (step.kind, step.path)
            found = transfer(step, result, measured.paths, known)
            by_repetition.setdefault(step.repetition, {})[key] = found
    every = [by_repetition[one] for one in sorted(by_repetition)]
    count = range(len(measured.paths))

    def of(kind: Kind, path: int | None, take: Callable[[Transfer], float | None]) -> Estimate:
        return estimate([take(one.get((kind, path), _NOTHING)) for one in every])

    benefits = [_benefits(one, len(measured.paths), size) for one in every]
    tcp = [[one.get((Kind.TCP, path)) for one in every] for path in count]
    return SizeFigures(
        size_bytes=size,
        path_times=tuple(of(Kind.TCP, path, _time) for path in count),
        mptcp_time=of(Kind.MPTCP, None, _time),
        path_goodputs=tuple(of(Kind.TCP, path, _goodput) for path in count),
        mptcp_goodput=of(Kind.MPTCP, None, _goodput),
        at_once_goodput=of(Kind.AT_ONCE, None, _goodput),
        aggregation=estimate([aggregation for aggregation, _ in benefits]),
        delay=estimate([delay for _, delay in benefits]),
        mptcp=tuple(one.get((Kind.MPTCP, None)) for one in every),
        path_unfinished=tuple(
            sum(one is not None and one.time_s is None for one in of_path) for of_path in tcp
        ),
    )


def _benefits(one: Repetition, paths: int, size: int) -> tuple[float | None, float | None]:
    """Of aggregation and of delay; of a transfer that did not finish, by the bound of its rate.

    None where all that was to be compared did not finish, and where MPTCP does not count: it fell
    back to TCP, or was on other paths, too.
    """
    single = [one.get((Kind.TCP, path), _NOTHING) for path in range(paths)]
    mptcp = one.get((Kind.MPTCP, None), _NOTHING)
    is_finished = any(transfer.time_s is not None for transfer in (*single, mptcp))
    if not mptcp.is_counted or not is_finished:
        return None, None
    at_once = one.get((Kind.AT_ONCE, None), _NOTHING).goodput_mbps
    rates = [transfer.rate_bound_mbps for transfer in single]
    return transfer_benefits(size, mptcp.rate_bound_mbps, rates, at_once)


def _time(one: Transfer) -> float | None:
    return one.time_s if one.is_counted else None


def _goodput(one: Transfer) -> float | None:
    return one.goodput_mbps if one.is_counted else None


def best(estimates: Sequence[Estimate], *, least: bool = False) -> int | None:
    """The number of the greatest mean, or of the least; null where none is known."""
    known: Iterable[tuple[float, int]] = [
        (one.mean, number) for number, one in enumerate(estimates) if one.mean is not None
    ]
    return (min if least else max)(known, default=(0.0, None))[1]
