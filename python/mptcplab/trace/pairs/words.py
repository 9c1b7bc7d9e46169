"""Results of two captures together, as texts, tables and JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from mptcplab.report.numbers import UNKNOWN, number
from mptcplab.trace import words
from mptcplab.trace.pairs.clock import Clock
from mptcplab.trace.pairs.pair import Pair

PATHS = (
    "packets",
    "lost",
    "loss\n%",
    "lost\ndata",
    "reordered",
    "by at most\npackets/ms",
    "delay ms\nmin/median/mean",
    "95 %/max\nms",
    "deviation\nms",
    "strays",
)
CHOICES = (
    "taken",
    "of",
    "had lowest\nRTT",
    "taken\nthen",
    "RTT ms\nmedian",
    "in flight\nmedian",
    "news old\nmedian",
    "95 %",
)
REINJECTIONS = ("packets", "reinjected", "useful", "redundant", "did not\ncome", "lead ms\nmedian")

LISTED = 10
"""Connections whose numbers in both captures are printed."""


def clock_lines(pair: Pair) -> Iterable[str]:
    """Which the other capture is, what is what in it, how the clocks go and how sure that is."""
    far = "server" if pair.near == "client" else "client"
    yield f"The other capture: {', '.join(pair.files)}."
    yield (
        f"The first capture is nearer to the {pair.near}, the other one to the {far}. "
        f"{_numbers(pair)}"
    )
    yield from _clock(pair.clock)
    if pair.negative_delays:
        yield (
            f"{words.count(pair.negative_delays)} packets came before they were sent: the delays "
            "below are wrong by as much at least."
        )


def _numbers(pair: Pair) -> str:
    """Which connection of the first capture is which of the other."""
    same = pair.subflows.select("connection", "peer_connection").unique().sort("connection")
    each = [f"{here} there {there}" for here, there in same.iter_rows() if here != there]
    if not each:
        return "Connections have the same numbers in both."
    others = " The others have the same numbers." if len(each) < same.height else ""
    more = f" and {len(each) - LISTED} more" if len(each) > LISTED else ""
    return f"Of connections, {', '.join(each[:LISTED])}{more} are the same.{others}"


def _clock(clock: Clock) -> Iterable[str]:
    if clock.same:
        yield "Both captures were made by one clock: no offset and no drift is taken out."
        return
    offset, within = with_uncertainty(clock.offset_ns, clock.offset_uncertainty_ns, TIMES)
    side = "ahead" if clock.offset_ns >= 0 else "behind"
    speed = "fast" if clock.drift >= 0 else "slow"
    if not clock.consistent:
        yield (
            "No offset and drift fit all packets: a clock was set while it was captured, or goes "
            f"unevenly. {offset} {side} is taken out, which is ± {within} wrong at least; compare "
            "shorter captures."
        )
        return
    yield (
        f"The other capture's clock is {offset} {side}, ± {within} at most; exact if the least "
        "delays of both directions are equal. This is taken out of all delays."
    )
    _, bound = with_uncertainty(0, 1e6 * clock.drift_uncertainty, PPM)
    if clock.drift == 0:
        yield f"No drift is evident, and none is taken out; it is {bound} at most."
    elif clock.drift_apart:
        ppm, apart = with_uncertainty(1e6 * clock.drift, 1e6 * clock.drift_apart, PPM)
        yield f"It goes {ppm} {speed}: both directions tell so, ± {apart}. This is taken out, too."
    else:
        ppm, bound = with_uncertainty(1e6 * clock.drift, 1e6 * clock.drift_uncertainty, PPM)
        yield f"It goes {ppm} {speed}, ± {bound} at most: without, packets came before they left."


Units = tuple[tuple[str, float], ...]
TIMES: Units = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))
PPM: Units = (("ppm", 1.0),)


def with_uncertainty(value: float, uncertainty: float, units: Units) -> tuple[str, str]:
    """Returns the size of a value, and its uncertainty.

    Both have one unit; the uncertainty is rounded up to two digits, the value to its last one.
    """
    size = max(abs(value), uncertainty)
    unit, scale = next(((unit, scale) for unit, scale in units if size >= scale), units[-1])
    step = 10.0 ** (math.floor(math.log10(uncertainty / scale)) - 1) if uncertainty else 1e-3
    decimals = max(0, -round(math.log10(step)))
    told = math.ceil(uncertainty / scale / step - 1e-6) * step
    rounded = round(abs(value) / scale / step) * step
    return f"{rounded:.{decimals}f} {unit}", f"{told:.{decimals}f} {unit}"


def path_cells(row: Mapping[str, Any]) -> Sequence[str]:
    """Returns a direction of a subflow, in cells below `PATHS`."""

    def delays(*which: str) -> str:
        return "/".join(words.milliseconds(row[f"delay_{one}_ns"]) for one in which)

    return (
        words.count(row["packets"]),
        words.count(row["lost"]),
        number(100 * row["loss"]),
        words.size(row["lost_bytes"]),
        words.count(row["reordered"]),
        f"{row['reordering_extent_max']}/{words.milliseconds(row['late_max_ns'])}"
        if row["reordered"]
        else UNKNOWN,
        delays("min", "median", "mean"),
        delays("p95", "max"),
        delays("deviation"),
        words.count(row["strays"]),
    )


def choice_cells(row: Mapping[str, Any]) -> Sequence[str]:
    """Returns the knowledge of an end about a subflow, in cells below `CHOICES`."""
    return (
        words.count(row["taken"]),
        words.count(row["offered"]),
        words.count(row["lowest_rtt"]),
        words.count(row["taken_as_lowest_rtt"]),
        words.milliseconds(row["rtt_median_ns"]),
        words.size(row["in_flight_median_bytes"]),
        words.length(row["age_median_ns"]),
        words.length(row["age_p95_ns"]),
    )


def reinjection_cells(row: Mapping[str, Any]) -> Sequence[str]:
    """Returns the reinjections over a subflow, in cells below `REINJECTIONS`."""
    sizes = ("reinjected_bytes", "useful_bytes", "redundant_bytes", "lost_bytes")
    return (
        words.count(row["packets"]),
        *(words.size(row[name]) for name in sizes),
        words.milliseconds(row["lead_median_ns"]),
    )


Titled = tuple[str, Sequence[str], list[Sequence[str]]]
"""Title, head and rows of a table; the first two columns are subflow and end."""


def pair_tables(pair: Pair, connection: int) -> Iterable[Titled]:
    """Delay, loss and reordering by path, and what was known when a subflow was chosen."""
    own = pair.paths.filter(connection=connection)
    yield (
        "one-way delay, loss and reordering",
        ("subflow", "from", *PATHS),
        [_row(row, path_cells(row)) for row in own.iter_rows(named=True)],
    )
    known = pair.choice_summary.filter(connection=connection)
    if known["subflow"].n_unique() > 1:
        yield (
            "what the sender knew of each subflow when it sent new data",
            ("subflow", "from", *CHOICES),
            [_row(row, choice_cells(row)) for row in known.iter_rows(named=True)],
        )
    copies = pair.reinjections.filter(connection=connection)
    if not copies.is_empty():
        yield (
            "reinjected data at its receiver",
            ("subflow", "from", *REINJECTIONS),
            [_row(row, reinjection_cells(row)) for row in copies.iter_rows(named=True)],
        )


def _row(row: Mapping[str, Any], cells: Sequence[str]) -> Sequence[str]:
    return (str(row["subflow"]), row["from"], *cells)


def pair_json(pair: Pair) -> dict[str, Any]:
    """Returns the clock, what is what, the paths and the summary of the choices."""
    clock = pair.clock
    return {
        "near": pair.near,
        "clock": {
            "zero_ns": clock.zero_ns,
            "offset_ns": clock.offset_ns,
            "offset_uncertainty_ns": math.ceil(clock.offset_uncertainty_ns),
            "drift_ppm": clock.drift * 1e6,
            "drift_uncertainty_ppm": clock.drift_uncertainty * 1e6,
            "drift_apart_ppm": clock.drift_apart * 1e6,
            "consistent": clock.consistent,
            "same": clock.same,
        },
        "files": list(pair.files),
        "subflows": _rows(pair.subflows),
        "negative_delays": pair.negative_delays,
        "paths": _rows(pair.paths),
        "choices": _rows(pair.choice_summary),
        "reinjections": _rows(pair.reinjections),
    }


def _rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    return [
        {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in row.items()
        }
        for row in frame.iter_rows(named=True)
    ]
