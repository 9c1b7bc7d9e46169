"""A run as far as it has come: throughput by path, subflows, events."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from mptcplab.engine import watch

MOST_POINTS = 20_000
"""Samples of a path; of more every other one is dropped."""
MOST_EVENTS = 200
"""The last ones."""
RECENT_NS = 1_000_000_000
"""The throughput that is told is that over the last second."""
GOODPUT = "received"
"""Name of what the applications got over all paths."""


@dataclass(frozen=True)
class Event:
    """Something that happened in a run."""

    t_ns: int
    kind: str
    subject: str
    label: str


@dataclass
class Counter:
    """A counter that was sampled."""

    times_ns: list[int] = field(default_factory=list)
    values: list[int] = field(default_factory=list)
    rates: tuple[float, float] | None = None
    """The lowest and the highest Mbit/s between two samples; null before the second one."""

    def add(self, t_ns: int, value: int) -> bool:
        """Adds a sample; true where older ones were dropped."""
        if self.times_ns and t_ns <= self.times_ns[-1]:
            return False
        self.times_ns.append(t_ns)
        self.values.append(value)
        self._widen(self.since(len(self.times_ns) - 1).mbps())
        if len(self.times_ns) <= MOST_POINTS:
            return False
        self.times_ns, self.values = self.times_ns[::2], self.values[::2]
        self.rates = None
        self._widen(self.mbps())
        return True

    def since(self, place: int) -> Counter:
        """A copy of the samples from a place on, and of the one before, which their rates need."""
        start = max(0, place - 1)
        return Counter(self.times_ns[start:], self.values[start:], self.rates)

    def mbps(self) -> list[tuple[float, float]]:
        """Each time in seconds but the first, with the Mbit/s since the time before."""
        samples = zip(self.times_ns, self.values, strict=True)
        return [
            (t / 1e9, (value - last) * 8e3 / (t - t0))
            for (t0, last), (t, value) in pairwise(samples)
        ]

    def extremes(self) -> list[tuple[float, float]]:
        """Two points as of `mbps` that have the same range as all of them."""
        if self.rates is None:
            return []
        low, high = self.rates
        return [(self.times_ns[1] / 1e9, low), (self.times_ns[-1] / 1e9, high)]

    def _widen(self, points: Sequence[tuple[float, float]]) -> None:
        known = [mbps for _, mbps in points] + [*(self.rates or ())]
        if known:
            self.rates = min(known), max(known)

    def recent_mbps(self) -> float:
        """Mbit/s over the last second that was sampled."""
        if len(self.times_ns) < 2:
            return 0.0
        end_ns = self.times_ns[-1]
        start = max(0, bisect_right(self.times_ns, end_ns - RECENT_NS) - 1)
        start = min(start, len(self.times_ns) - 2)
        return (self.values[-1] - self.values[start]) * 8e3 / (end_ns - self.times_ns[start])


@dataclass(frozen=True)
class Line:
    """The throughput of one way of a path, or of what the applications got."""

    path: str
    way: str
    """Empty where there is one way only."""
    counter: Counter

    @property
    def label(self) -> str:
        """Path and way."""
        return f"{self.path} {self.way}".rstrip()


@dataclass(frozen=True)
class Subflow:
    """The last sample of an established subflow."""

    t_ns: int
    path: str
    is_backup: bool
    rtt_us: int | None
    cwnd: int | None


class Course:
    """The knowledge of a run; rows as of `mptcplab.engine.watch` go in."""

    def __init__(self, number: int, words: str, expected_s: float | None) -> None:
        self.number = number
        self.words = words
        self.expected_s = expected_s
        self.reached_s = 0.0
        self.has_ended = False
        self.version = 0
        """Changes with the lines, and where points were dropped."""
        self.events: deque[Event] = deque(maxlen=MOST_EVENTS)
        self.changes: list[Event] = []
        """Events of links and interfaces."""
        self._ways: tuple[str, ...] = ()
        self._is_one_client = True
        self._counters: dict[tuple[str, str], Counter] = {}
        self._subflows: dict[tuple[str, str], Subflow] = {}
        self._sampled_ns = 0
        """Time of the last sample of a subflow."""

    def copy(self) -> Course:
        """A copy whose lines and events stay as they are now."""
        made = copy(self)
        made.events = self.events.copy()
        made.changes = self.changes.copy()
        made._counters = {key: one.since(0) for key, one in self._counters.items()}
        made._subflows = self._subflows.copy()
        return made

    def take(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Takes rows, in the order in which they were told."""
        for row in rows:
            match row["record"]:
                case watch.BEGUN:
                    self._ways = tuple(row["ways"])
                    self._is_one_client = len(row["nodes"]) == 1
                case "interface_samples":
                    for way in self._ways:
                        value = row["rx_bytes" if way == "down" else "tx_bytes"]
                        self._count((self._path(row), way), row["t_ns"], value)
                case "deliveries":
                    self._count((GOODPUT, ""), row["t_ns"], row["bytes"])
                case "subflow_samples":
                    self._subflow(row)
                case "events":
                    self._event(row)
        oldest_ns = self._sampled_ns - RECENT_NS
        for key in [key for key, one in self._subflows.items() if one.t_ns < oldest_ns]:
            del self._subflows[key]

    @property
    def lines(self) -> list[Line]:
        """Each way of each path, and then what the applications got."""
        is_one_way = len(self._ways) == 1
        found = [
            Line(path, "" if is_one_way else way, counter)
            for (path, way), counter in self._counters.items()
        ]
        return sorted(found, key=lambda line: line.path == GOODPUT)

    @property
    def paths(self) -> list[str]:
        """Names of the paths, in the order in which they were seen."""
        return list(dict.fromkeys(line.path for line in self.lines if line.path != GOODPUT))

    def subflows(self, path: str) -> list[Subflow]:
        """Those over a path that the last samples have."""
        oldest_ns = self._sampled_ns - RECENT_NS // 2
        return [
            one for one in self._subflows.values() if one.path == path and one.t_ns >= oldest_ns
        ]

    def _path(self, row: Mapping[str, Any]) -> str:
        interface = str(row["interface"])
        return interface if self._is_one_client else f"{row['node']}.{interface}"

    def _count(self, key: tuple[str, str], t_ns: int, value: int) -> None:
        counter = self._counters.get(key)
        if counter is None:
            counter = self._counters[key] = Counter()
            self.version += 1
        if counter.add(t_ns, value):
            self.version += 1

    def _subflow(self, row: Mapping[str, Any]) -> None:
        key = row["node"], row["subflow"]
        if row["interface"] is None or row["state"] != "ESTABLISHED":
            self._subflows.pop(key, None)
            return
        self._sampled_ns = max(self._sampled_ns, row["t_ns"])
        self._subflows[key] = Subflow(
            row["t_ns"],
            self._path(row),
            bool(row["backup"]),
            row["rtt_us"],
            row["cwnd"],
        )

    def _event(self, row: Mapping[str, Any]) -> None:
        event = Event(row["t_ns"], row["kind"], row["subject"], row["label"])
        self.events.append(event)
        if event.kind in ("link", "interface", "backup") and len(self.changes) < MOST_EVENTS:
            self.changes.append(event)
