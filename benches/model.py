"""A second, plain writing of the link model, for packets with known times of sending.

One direction with a fixed rate, a drop-tail queue and a constant delay: a packet that finds the
serialiser busy waits, one that finds `limit` packets waiting is dropped; after its serialisation
it travels for `delay_ns`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Wire:
    """A direction of a link."""

    serialisation_ns: int
    """Time that a packet takes to send, framing included; a whole number at these rates."""
    delay_ns: int
    limit_packets: int


def arrivals_ns(wire: Wire, sent_ns: Iterable[int]) -> list[int | None]:
    """When each packet arrives; `None` where it is dropped."""
    begins: deque[int] = deque()
    free = 0
    arrivals: list[int | None] = []
    for now in sent_ns:
        while begins and begins[0] <= now:
            begins.popleft()
        if len(begins) >= wire.limit_packets:
            arrivals.append(None)
            continue
        begin = max(free, now)
        if begin > now:
            begins.append(begin)
        free = begin + wire.serialisation_ns
        arrivals.append(free + wire.delay_ns)
    return arrivals


def longest_busy_period(wire: Wire, arrivals: list[int | None]) -> list[int]:
    """Numbers of the packets of the longest time through which the serialiser never paused."""
    longest: list[int] = []
    period: list[int] = []
    last = None
    for number, at in enumerate(arrivals):
        if at is None:
            continue
        if last is None or at - last > wire.serialisation_ns:
            period = []
        period.append(number)
        if len(period) > len(longest):
            longest = period
        last = at
    return longest
