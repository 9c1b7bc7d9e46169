"""A run that goes on, in words and figures, for every place where it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from mptcplab.live.course import GOODPUT, Counter, Course, Event, Subflow

BLOCKS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True)
class PathRow:
    """A path, or what the applications got, as cells of a table."""

    name: str
    mbps: tuple[str, ...]
    """Mbit/s over the last second, one for each way."""
    carried_mb: str
    subflows: str
    rtt_ms: str
    cwnd: str
    counter: Counter
    """That of its busiest way."""

    @property
    def rate(self) -> float:
        """Mbit/s of its busiest way over the last second."""
        return self.counter.recent_mbps()


def ways(course: Course) -> list[str]:
    """The ways of the payload; one without a name where there is one only."""
    return list(dict.fromkeys(line.way for line in course.lines if line.path != GOODPUT)) or [""]


def path_rows(course: Course) -> list[PathRow]:
    """A row a path, and at the end one of what the applications got."""
    return [_row(course, path) for path in course.paths] + [
        PathRow(
            GOODPUT,
            (_mbps(line.counter),) + ("",) * (len(ways(course)) - 1),
            _megabytes([line.counter]),
            "",
            "",
            "",
            line.counter,
        )
        for line in course.lines
        if line.path == GOODPUT
    ]


def _row(course: Course, path: str) -> PathRow:
    counters = [line.counter for line in course.lines if line.path == path]
    subflows = course.subflows(path)
    backups = sum(one.is_backup for one in subflows)
    count = str(len(subflows)) if subflows else "–"
    return PathRow(
        path,
        tuple(_mbps(counter) for counter in counters),
        _megabytes(counters),
        f"{count} ({backups} backup)" if backups else count,
        _least_rtt(subflows),
        "–" if not subflows else str(sum(one.cwnd or 0 for one in subflows)),
        max(counters, key=Counter.recent_mbps),
    )


def _mbps(counter: Counter) -> str:
    rate = counter.recent_mbps()
    return f"{rate:.1f}" if rate < 1000 else f"{rate:.0f}"


def _megabytes(counters: Sequence[Counter]) -> str:
    return f"{sum(counter.values[-1] for counter in counters) / 1e6:.1f}"


def _least_rtt(subflows: Sequence[Subflow]) -> str:
    known = [one.rtt_us for one in subflows if one.rtt_us]
    return f"{min(known) / 1000:.1f}" if known else "–"


def time_of(course: Course) -> str:
    """How far the run is: `3.2 of 20 s`."""
    if course.expected_s is None:
        return f"{course.reached_s:.1f} s"
    return f"{min(course.reached_s, course.expected_s):.1f} of {course.expected_s:g} s"


def event_words(event: Event) -> str:
    """`8.000 s  interface phone.wlan down`."""
    is_named = event.label.startswith(event.subject)
    words = event.label if is_named else f"{event.subject}: {event.label}"
    return f"{event.t_ns / 1e9:.3f} s  {event.kind} {words}"


def blocks(counter: Counter, width: int, highest: float) -> str:
    """The course of the throughput as a row of blocks, from the first sample to the last.

    A block is the mean over its part of the time; the full one is `highest`, in Mbit/s.
    """
    times, values = counter.times_ns, counter.values
    if len(times) < 2 or highest <= 0:
        return ""
    count = min(width, len(times) - 1)
    ends = [round(at * (len(times) - 1) / count) for at in range(count + 1)]
    rates = [(values[b] - values[a]) * 8e3 / (times[b] - times[a]) for a, b in pairwise(ends)]
    full = len(BLOCKS) - 1
    return "".join(BLOCKS[max(0, min(full, round(rate / highest * full)))] for rate in rates)


def highest_mbps(course: Course, width: int) -> float:
    """The highest mean over a part of so many of any line."""
    found = 0.0
    for line in course.lines:
        times, values = line.counter.times_ns, line.counter.values
        step = max(1, (len(times) - 1) // width)
        for at in range(step, len(times), step):
            rate = (values[at] - values[at - step]) * 8e3 / (times[at] - times[at - step])
            found = max(found, rate)
    return found
