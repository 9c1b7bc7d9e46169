"""Requests that an address may make: a bucket of tokens for each."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from ipaddress import ip_address
from time import monotonic

_MOST_ADDRESSES = 20_000
_BURST_S = 4
"""A bucket holds what comes into it in this time."""


class Rates:
    """The buckets; those that were not used for the longest time are forgotten."""

    def __init__(self, per_second: float, clock: Callable[[], float] = monotonic) -> None:
        self._per_second = per_second
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """By address: tokens, and the time when there were so many."""

    def take(self, address: str) -> bool:
        """Whether a request may be made now."""
        now = self._clock()
        most = self._per_second * _BURST_S
        left, then = self._buckets.pop(address, (most, now))
        left = min(left + (now - then) * self._per_second, most)
        is_allowed = left >= 1
        self._buckets[address] = (left - 1 if is_allowed else left, now)
        if len(self._buckets) > _MOST_ADDRESSES:
            self._buckets.popitem(last=False)
        return is_allowed


def network(address: str) -> str:
    """The address; of IPv6 the network of 64 bits, as a host has all of its addresses."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if found.version == 4:
        return address
    mapped = found.ipv4_mapped
    return str(mapped) if mapped is not None else str(int(found) >> 64)
