"""Load and state of every link over time, for the drawing of the network at a moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from mptcplab.metrics.comparison import VariantMetrics
from mptcplab.metrics.plan_view import PlanView
from mptcplab.page.thinning import interval_ends
from mptcplab.recording import Recording
from mptcplab.report.chosen import representative

MOST_INTERVALS = 300
"""Of a run."""
MOST_VALUES = 200_000
"""Of all intervals of all directions of links, of all variants: more links have longer ones."""
LOST, FULL = ("dropped_loss",), ("dropped_queue", "dropped_aqm")
"""Counters of what a link lost at random, and of what its queue dropped."""


def link_loads(variants: Sequence[VariantMetrics]) -> list[dict[str, Any]]:
    """The links of each variant's representative run over time, as data of a page.

    `ends_s` are the ends of intervals, from 0 on. Of each direction of a link that carried
    something `mbps` holds the load of each interval; `rates`, `lost` and `full` hold an interval's
    index and a value: the rate in Mbit/s where it changes (null: unlimited, or a trace), and, where
    there were any, the packets lost at random, in per cent of those that the interval sent, and
    dropped by the queue, in per cent of those that it sent or dropped. `down` has the spans in s in
    which a link was down.

    Raises:
        RecordingError: a table is damaged.

    """
    runs = [(variant.name, representative(variant)) for variant in variants]
    room = MOST_VALUES // max(1, len(runs))
    return [
        told
        for name, run in runs
        if run is not None and (told := _loads(name, run.recording, room)) is not None
    ]


def _loads(variant: str, recording: Recording, room: int) -> dict[str, Any] | None:
    samples = recording.frame("link_samples").sort("t_ns", maintain_order=True)
    times = samples["t_ns"].unique().sort().to_numpy()
    if len(times) < 2:
        return None
    groups = samples.group_by(["link", "from", "to"], maintain_order=True)
    directions = [(key, rows) for key, rows in groups if rows["delivered_bytes"].max()]
    most = max(1, min(MOST_INTERVALS, room // max(1, len(directions))))
    edges = times[interval_ends(times, most)]
    end_s = float(edges[-1]) / 1e9
    return {
        "variant": variant,
        "ends_s": [round(float(edge) / 1e9, 6) for edge in edges[1:]],
        "ways": [
            {"link": link, "from": source, "to": target, **_course(rows, edges)}
            for (link, source, target), rows in directions
        ],
        "down": {link: list(spans) for link, spans in _down(PlanView(recording), end_s).items()},
    }


def _course(rows: pl.DataFrame, edges: np.ndarray[Any, np.dtype[np.int64]]) -> dict[str, Any]:
    """The load, rate and losses of a direction in each interval."""
    places = np.searchsorted(rows["t_ns"].to_numpy(), edges, side="right") - 1
    seconds = np.diff(edges) / 1e9

    def grown(*names: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        counted = rows.select(pl.sum_horizontal(names).cast(pl.Float64)).to_series().to_numpy()
        return np.diff(np.where(places >= 0, counted[places], 0.0))

    lost, dropped = np.maximum(grown(*LOST), 0), np.maximum(grown(*FULL), 0)
    # Not those offered: a queue that drains sends and drops what was offered before. The interval
    # in which a link goes down has too few by those in flight, which were sent before.
    handled = grown("offered_packets") - grown("queued_packets") - grown("dropped_down")
    sent = np.maximum(handled - dropped, np.maximum(lost, 1))
    mbps = np.maximum(grown("delivered_bytes"), 0) * 8e-6 / seconds
    rates = rows["rate_bps"].gather(np.maximum(places[1:], 0)).to_list()
    return {
        "mbps": [float(f"{value:.4g}") for value in mbps],
        "rates": [
            (place, None if rate is None else rate / 1e6)
            for place, rate in enumerate(rates)
            if place == 0 or rate != rates[place - 1]
        ],
        "lost": list(_some(100 * lost / sent)),
        "full": list(_some(100 * dropped / np.maximum(handled, np.maximum(dropped, 1)))),
    }


def _some(values: np.ndarray[Any, np.dtype[np.float64]]) -> Iterator[tuple[int, float]]:
    """Places and values of those that are not 0."""
    return ((int(place), float(f"{values[place]:.3g}")) for place in np.flatnonzero(values))


def _down(plan: PlanView, end_s: float) -> dict[str, list[tuple[float, float]]]:
    """The spans of time in which links were down."""
    found: dict[str, list[tuple[float, float]]] = {}
    since = dict.fromkeys(plan.down_at_first, 0.0)
    for change in plan.changes:
        if change.link is None or change.up is None:
            continue
        if not change.up:
            since.setdefault(change.link, change.at_ns / 1e9)
        elif change.link in since:
            found.setdefault(change.link, []).append((since.pop(change.link), change.at_ns / 1e9))
    for link, start_s in since.items():
        found.setdefault(link, []).append((start_s, end_s))
    return found
