"""What two captures tell together, as texts, tables and JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from mptcplab.report.numbers import number
from mptcplab.trace import words
from mptcplab.trace.pairing import Pair

PATHS = (
    "packets",
    "lost",
    "loss\n%",
    "lost\ndata",
    "reordered",
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


def clock_lines(pair: Pair) -> Iterable[str]:
    """How the clocks go, and how sure that is."""
    clock = pair.clock
    far = "server" if pair.near == "client" else "client"
    yield f"The first capture is nearer to the {pair.near}, the other one to the {far}."
    side = "ahead" if clock.offset_ns >= 0 else "behind"
    speed = "fast" if clock.drift >= 0 else "slow"
    yield (
        f"The other capture's clock is {words.length(abs(clock.offset_ns))} {side}, ± "
        f"{words.length(clock.offset_uncertainty_ns)} at most; exact if the least delays of both "
        f"directions are equal. It goes {number(abs(clock.drift) * 1e6)} ppm {speed}, ± "
        f"{number(clock.drift_uncertainty * 1e6)} ppm at most. Both are taken out of all delays."
    )


def path_cells(row: Mapping[str, Any]) -> Sequence[str]:
    """A direction of a subflow, in cells below `PATHS`."""

    def delays(*which: str) -> str:
        return "/".join(words.milliseconds(row[f"delay_{one}_ns"]) for one in which)

    return (
        words.count(row["packets"]),
        words.count(row["lost"]),
        number(100 * row["loss"]),
        words.size(row["lost_bytes"]),
        words.count(row["reordered"]),
        delays("min", "median", "mean"),
        delays("p95", "max"),
        delays("deviation"),
        words.count(row["strays"]),
    )


def choice_cells(row: Mapping[str, Any]) -> Sequence[str]:
    """What an end knew of a subflow, in cells below `CHOICES`."""
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


def _row(row: Mapping[str, Any], cells: Sequence[str]) -> Sequence[str]:
    return (str(row["subflow"]), row["from"], *cells)


def pair_json(pair: Pair) -> dict[str, Any]:
    """The clock, the paths and the summary of the choices."""
    clock = pair.clock
    return {
        "near": pair.near,
        "clock": {
            "zero_ns": clock.zero_ns,
            "offset_ns": clock.offset_ns,
            "offset_uncertainty_ns": round(clock.offset_uncertainty_ns),
            "drift_ppm": clock.drift * 1e6,
            "drift_uncertainty_ppm": clock.drift_uncertainty * 1e6,
        },
        "paths": _rows(pair.paths),
        "choices": _rows(pair.choice_summary),
    }


def _rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    return [
        {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in row.items()
        }
        for row in frame.iter_rows(named=True)
    ]
