"""From experiments to figures, with the lab's own definitions of both benefits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from mptcplab.measure.plan import Direction, Kind, Path, Step
from mptcplab.measure.survival import Observation, Survival, survival
from mptcplab.metrics.benefit import aggregation_benefit, delay_benefit
from mptcplab.metrics.statistics import Estimate, estimate


@dataclass(frozen=True)
class Transfer:
    """A transfer, as its receiver saw it."""

    goodput_mbps: float | None
    """Null where nothing came."""
    time_s: float | None
    """Null where not all came."""


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
    """From which the kernel opens subflows."""
    add_addr: bool | None
    """An address that the target announced was accepted."""
    is_partial: bool = False
    used_bytes: int = 0


@dataclass
class Measured:
    """Experiments that were carried out, and their results."""

    paths: tuple[Path, ...]
    sent_options: tuple[str, ...]
    done: list[tuple[Step, Mapping[str, Any]]] = field(default_factory=list)
    is_partial: bool = False
    used_bytes: int = 0

    @property
    def observations(self) -> dict[int, Observation]:
        """Those of survival, by path."""
        return {
            step.path: Observation(*result["connections"])
            for step, result in self.done
            if step.kind is Kind.SURVIVAL and step.path is not None
        }

    @property
    def first_capable(self) -> int:
        """The first path on which MPTCP survives; the first of all where it does on none."""
        capable = [path for path, seen in self.observations.items() if seen.is_capable]
        return min(capable, default=0)


def figures(measured: Measured) -> Figures:
    """All figures."""
    seen = measured.observations
    probes = [one.mptcp["probe"]["seen"] for one in seen.values()]
    count = range(len(measured.paths))
    return Figures(
        paths=measured.paths,
        survival=tuple(survival(measured.paths, seen, measured.sent_options)),
        idle_rtt=tuple(_rtt(measured, Kind.IDLE, path) for path in count),
        loaded_rtt=tuple(_rtt(measured, Kind.TCP, path) for path in count),
        sizes={direction: _sizes(measured, direction) for direction in Direction},
        endpoints=max((one.endpoints for one in seen.values()), default=0),
        add_addr=True if any(one["accepted"] for one in probes) else None,
        is_partial=measured.is_partial,
        used_bytes=measured.used_bytes,
    )


def transfer(step: Step, result: Mapping[str, Any]) -> Transfer:
    """Figures of a transfer, of its receiving ends.

    Of several connections at once: what all of them had carried when the first one ended.
    """
    receiver = "probe" if step.direction is Direction.DOWN else "target"
    ends = [one[receiver] for one in result["connections"]]
    received = [one for one in ends if one is not None and one["received_bytes"]]
    if step.loaded:
        received = [one for one in ends[:1] if one is not None and one["received_bytes"]]
    if not received:
        return Transfer(None, None)
    first = min(received, key=lambda one: int(one["duration_us"]))
    is_whole = sum(one["received_bytes"] for one in received) == step.size_bytes
    seconds = max(first["duration_us"], 1) / 1e6
    goodput = first["moved_by_all_bytes"] * 8 / seconds / 1e6
    return Transfer(goodput, seconds if is_whole else None)


def _rtt(measured: Measured, kind: Kind, path: int) -> Estimate:
    """Of the pings alone, or of those beside transfers."""
    samples = []
    for step, result in measured.done:
        if step.kind is kind and step.path == path and (step.loaded or kind is Kind.IDLE):
            rtts = result["connections"][-1]["rtts_us"]
            samples.append(median(rtts) / 1e3 if rtts else None)
    return estimate(samples)


def _sizes(measured: Measured, direction: Direction) -> tuple[SizeFigures, ...]:
    found = {step.size_bytes for step, _ in measured.done if step.direction is direction}
    return tuple(_size(measured, direction, size) for size in sorted(found))


def _size(measured: Measured, direction: Direction, size: int) -> SizeFigures:
    by_repetition: dict[int, dict[tuple[Kind, int | None], Transfer]] = {}
    for step, result in measured.done:
        if step.direction is direction and step.size_bytes == size:
            key = (step.kind, step.path)
            by_repetition.setdefault(step.repetition, {})[key] = transfer(step, result)
    every = [by_repetition[one] for one in sorted(by_repetition)]
    count = range(len(measured.paths))
    nothing = Transfer(None, None)

    def of(kind: Kind, path: int | None, take: Callable[[Transfer], float | None]) -> Estimate:
        return estimate([take(one.get((kind, path), nothing)) for one in every])

    def benefits(
        formula: Callable[..., float | None],
        take: Callable[[Transfer], float | None],
        at_once: Callable[[float], float],
    ) -> Estimate:
        samples = []
        for one in every:
            single = [take(one.get((Kind.TCP, path), nothing)) for path in count]
            both = one.get((Kind.AT_ONCE, None), nothing).goodput_mbps
            mptcp = take(one.get((Kind.MPTCP, None), nothing))
            ideal = None if both is None else at_once(both)
            samples.append(formula(mptcp, single, ideal))
        return estimate(samples)

    return SizeFigures(
        size_bytes=size,
        path_times=tuple(of(Kind.TCP, path, _time) for path in count),
        mptcp_time=of(Kind.MPTCP, None, _time),
        path_goodputs=tuple(of(Kind.TCP, path, _goodput) for path in count),
        mptcp_goodput=of(Kind.MPTCP, None, _goodput),
        at_once_goodput=of(Kind.AT_ONCE, None, _goodput),
        aggregation=benefits(aggregation_benefit, _goodput, lambda goodput: goodput),
        delay=benefits(delay_benefit, _time, lambda goodput: size * 8 / goodput / 1e6),
    )


def _time(one: Transfer) -> float | None:
    return one.time_s


def _goodput(one: Transfer) -> float | None:
    return one.goodput_mbps


def best(estimates: Sequence[Estimate], *, least: bool = False) -> int | None:
    """The number of the greatest mean, or of the least; null where none is known."""
    known: Iterable[tuple[float, int]] = [
        (one.mean, number) for number, one in enumerate(estimates) if one.mean is not None
    ]
    return (min if least else max)(known, default=(0.0, None))[1]
