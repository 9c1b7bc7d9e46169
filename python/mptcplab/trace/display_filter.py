"""Display filters of Wireshark that choose what was chosen here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

HANDSHAKE = "tcp.flags.syn == 1 || tcp.options.mptcp.subtype == 0 || tcp.options.mptcp.subtype == 1"
"""SYN, or MP_CAPABLE, or MP_JOIN."""
KEYS = "tcp.options.mptcp.subtype == 0"
"""MP_CAPABLE."""


def display_filter(
    subflows: pl.DataFrame,
    chosen: pl.DataFrame,
    of_keys: pl.DataFrame,
    span_ns: tuple[int | None, int | None],
) -> str:
    """Returns the filter of the `chosen` subflows, in a span of time, with their handshakes.

    Of the subflows `of_keys` only what carries MP_CAPABLE is chosen. All three are rows of the
    table `subflows`, the first one holds all that the capture has: where another subflow has the
    same addresses and ports, the times of its packets tell them apart.
    """
    shared = _shared(subflows)
    whole = [_subflow(row, shared) for row in chosen.iter_rows(named=True)]
    if span_ns != (None, None):
        whole = [f"({_any(whole)} && (({_span(*span_ns)}) || {HANDSHAKE}))"]
    keys = [_subflow(row, shared) for row in of_keys.iter_rows(named=True)]
    if keys:
        whole.append(f"({_any(keys)} && {KEYS})")
    return " || ".join(whole)


Pair = tuple[frozenset[str], frozenset[int]]


def _shared(subflows: pl.DataFrame) -> set[Pair]:
    """Returns the addresses and ports that several subflows have."""
    seen: set[Pair] = set()
    shared: set[Pair] = set()
    for row in subflows.iter_rows(named=True):
        (shared if _pair(row) in seen else seen).add(_pair(row))
    return shared


def _pair(row: Mapping[str, Any]) -> Pair:
    return (
        frozenset((row["client_address"], row["server_address"])),
        frozenset((row["client_port"], row["server_port"])),
    )


def _subflow(row: Mapping[str, Any], shared: set[Pair]) -> str:
    protocol = "ipv6" if ":" in row["client_address"] else "ip"
    words = [
        f"{field} == {row[f'{end}_{column}']}"
        for column, field in (("address", f"{protocol}.addr"), ("port", "tcp.port"))
        for end in ("client", "server")
    ]
    if _pair(row) in shared:
        words.append(_span(row["start_ns"], row["end_ns"]))
    return f"({' && '.join(words)})"


def _span(begin_ns: int | None, end_ns: int | None) -> str:
    bounds = ((">=", begin_ns), ("<=", end_ns))
    return " && ".join(
        f"frame.time_epoch {sign} {_seconds(at)}" for sign, at in bounds if at is not None
    )


def _seconds(at_ns: int) -> str:
    """Returns seconds with all nine digits: a float would not hold them."""
    return f"{at_ns // 10**9}.{at_ns % 10**9:09d}"


def _any(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({' || '.join(parts)})"
