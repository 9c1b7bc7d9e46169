"""The report of a sweep as data: everything that is shown of it, computed once."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from mptcplab.campaign.column import row_words
from mptcplab.campaign.record import COMPLETE, FAILED
from mptcplab.campaign.result import Sweep
from mptcplab.metrics import Estimate, definition_of, names_of
from mptcplab.report.numbers import (
    estimate_shown,
    estimate_with_unit,
    heading,
    shown,
    shown_with_unit,
)
from mptcplab.scenario.sweep import Axis, overrides_of, point

SAME = "*"
"""After a figure whose repetitions are all alike."""
MOST_COLUMNS = 6
"""Metrics that have a table, beside those of the scenario's findings."""
PERCENTILES = (5, 25, 50, 75, 95)
_WANTED = (
    "goodput",
    "aggregation_benefit",
    "completion_s",
    "delay_benefit",
    "completed",
    "recovery_s",
    "handover_gap_s",
    "jain",
    "jain.streams",
    "latency_s.p50",
    "latency_s.p99",
)
"""Metrics with a table, the most telling first, where they are known."""


@dataclass(frozen=True)
class Failure:
    """A run that failed."""

    run: int
    words: str
    """Point, variant and repetition."""
    why: str
    command: str
    """Repeats it."""


@dataclass(frozen=True)
class Table:
    """Figures of one metric."""

    metric: str
    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    keys: int
    """The first columns, which say what the figures are of."""
    note: str = ""
    """A sentence on the marked cells."""


@dataclass(frozen=True)
class SweepReport:
    """Content of the report of a sweep."""

    sweep: Sweep
    sentences: tuple[str, ...]
    """Sentences on the runs, and how far they are."""
    columns: tuple[str, ...]
    """The metrics that are shown."""
    is_chosen: bool
    """The reader has chosen them: each has its plots."""
    tables: tuple[Table, ...]
    failures: tuple[Failure, ...]
    warnings: tuple[str, ...]


def sweep_report(sweep: Sweep, metrics: Sequence[str] = ()) -> SweepReport:
    """Computes the report of a sweep, of these metrics or else of the most telling ones.

    Raises:
        RecordingError: a table is damaged.
        KeyError: no run has one of these metrics.

    """
    columns = tuple(dict.fromkeys(metrics)) or _columns(sweep)
    figures = sweep.estimates(*columns) if columns else None
    return SweepReport(
        sweep,
        tuple(_sentences(sweep)),
        columns,
        bool(metrics),
        () if figures is None else tuple(_table(sweep, figures, metric) for metric in columns),
        tuple(_failures(sweep)),
        (*sweep.store.damage(), *_sameness(sweep), *_warnings(sweep)),
    )


def _columns(sweep: Sweep) -> tuple[str, ...]:
    known = sweep.metrics()
    expected = _expected(sweep)
    wanted = [name for name in dict.fromkeys((*_WANTED, *expected)) if name in known]
    if not wanted:
        return ()
    means = sweep.estimates(*wanted)
    told = {
        name
        for name in wanted
        if (own := means.filter(metric=name)["mean"].drop_nulls()).len()
        and (name != "completed" or name in expected or own.min() != 1)
    }
    most = [name for name in _WANTED if name in told][:MOST_COLUMNS]
    return tuple(dict.fromkeys((*most, *(name for name in expected if name in told))))


def _expected(sweep: Sweep) -> tuple[str, ...]:
    """The metrics that the scenario's findings are about."""
    every = (name for text in sweep.campaign.result.scenario.expect for name in names_of(text))
    return tuple(dict.fromkeys(name.metric for name in every))


def _sentences(sweep: Sweep) -> Iterator[str]:
    told = sweep.campaign.result
    for axis in sweep.every_axis:
        yield _axis_words(axis)
    times = f"{told.repetitions} repetitions" if told.repetitions > 1 else "one run each"
    yield (
        f"{len(sweep)} points × {len(sweep.variants)} variants ({', '.join(sweep.variants)}), "
        f"{times}, on the {told.engine} engine, seed {told.seed}"
    )
    counts = dict(
        sweep.store.collect(sweep.store.scan("runs").group_by("status").len()).iter_rows()
    )
    well, failed = counts.get(COMPLETE, 0), counts.get(FAILED, 0)
    if well + failed < sweep.grid.runs:
        yield f"{well + failed} of {sweep.grid.runs} runs done: the same command goes on"
    if failed:
        yield f"{failed} of {sweep.grid.runs} runs failed"


def _axis_words(axis: Axis) -> str:
    if axis.is_drawn:
        return f"{len(axis.rows)} draws of {', '.join(axis.keys)}"
    rows = [row_words(row) for row in axis.rows]
    few = rows if len(rows) <= 8 else [*rows[:3], "…", *rows[-2:]]
    return f"{row_words(axis.keys)}: {', '.join(few)}"


def _table(sweep: Sweep, figures: pl.DataFrame, metric: str) -> Table:
    own = figures.filter(metric=metric)
    words = title_of(metric)
    if any(axis.is_drawn for axis in sweep.every_axis):
        return _distribution(sweep, own, metric, words)
    known = [name for name in sweep.variants if name in set(own["variant"])]
    cells: dict[int, dict[str, str]] = {}
    for row in own.iter_rows(named=True):
        cells.setdefault(row["point"], {})[row["variant"]] = _shown(metric, row)
    rows = [
        (
            *map(str, point(sweep.every_axis, number).values()),
            *(by_variant.get(name, "–") for name in known),
        )
        for number, by_variant in cells.items()
    ]
    some = own.filter(pl.col("low").is_not_null()).height
    note = " (means ± half the 95 % confidence interval)" if some else ""
    head = (*sweep.axes, *known)
    below = f"{SAME} the repetitions are alike in every metric" if _marked(own).height else ""
    return Table(metric, f"{words}{note}", head, tuple(rows), len(sweep.axes), below)


def _distribution(sweep: Sweep, own: pl.DataFrame, metric: str, words: str) -> Table:
    """Percentiles over the points of each choice of the axes that are not drawn."""
    *others, drawn = sweep.every_axis
    keys = [key for axis in others for key in axis.keys]
    told = own.filter(pl.col("mean").is_not_null()).with_columns(
        choice=(pl.col("point") - 1) // len(drawn.rows) + 1
    )
    quantiles = [
        pl.col("mean").quantile(percent / 100, "linear").alias(f"p{percent}")
        for percent in PERCENTILES
    ]
    told_of = shown_with_unit if _is_of_bytes(metric) else shown
    made = told.group_by("choice", "variant", maintain_order=True).agg(
        pl.len().alias("points"), pl.col("mean").mean().alias("average"), *quantiles
    )
    rows = [
        (
            *map(str, point(others, choice).values()),
            variant,
            str(points),
            *(told_of(metric, value) for value in figures),
        )
        for choice, variant, points, *figures in made.iter_rows()
    ]
    head = (*keys, "variant", "points", "mean", *(f"{percent} %" for percent in PERCENTILES))
    title = f"{words}: mean and percentiles over the points"
    return Table(metric, title, head, tuple(rows), len(keys) + 1)


def title_of(metric: str) -> str:
    """The title of a table of this metric; without the unit where each cell has its own."""
    title, unit = heading(metric)
    return f"{title}, {unit}" if unit and not _is_of_bytes(metric) else title


def cell_of(metric: str, figure: Estimate) -> str:
    """A figure in a table of this metric; bytes have a prefix that differs from cell to cell."""
    told = estimate_with_unit if _is_of_bytes(metric) else estimate_shown
    return told(metric, figure)


def _is_of_bytes(metric: str) -> bool:
    definition = definition_of(metric)
    return definition is not None and definition.unit == "B"


def _shown(metric: str, row: Mapping[str, Any]) -> str:
    ends = None if row["low"] is None else (row["low"], row["high"])
    samples = (row["mean"],) * row["known"]
    mark = SAME if row["same"] and ends is not None else ""
    return cell_of(metric, Estimate(samples, row["mean"], ends)) + mark


def _marked(own: pl.DataFrame) -> pl.DataFrame:
    """The estimates whose repetitions are alike, where not all of the sweep's are."""
    return own.filter(pl.col("same"), pl.col("low").is_not_null())


def _failures(sweep: Sweep) -> Iterator[Failure]:
    failed = sweep.store.collect(sweep.store.scan("runs").filter(status=FAILED).sort("run"))
    for row in failed.iter_rows(named=True):
        values = point(sweep.every_axis, row["point"])
        at = ", ".join(f"{key} {value}" for key, value in values.items())
        words = f"{row['variant']}, repetition {row['repetition']}, at {at}"
        yield Failure(
            row["run"], words, row["error"], repeating(sweep, row["variant"], row["seed"], values)
        )


def repeating(sweep: Sweep, variant: str, seed: int, values: Mapping[str, Any]) -> str:
    """The command that repeats a run at these values."""
    campaign = sweep.campaign
    words = ["mptcplab", "run", campaign.source, "--engine", campaign.result.engine]
    words += ["--variant", variant, "--repeat", "1", "--seed", str(seed)]
    for path, value in (campaign.overrides | overrides_of(values)).items():
        if not path.startswith("sweep"):
            words += ["--set", f"{path}={value if isinstance(value, str) else json.dumps(value)}"]
    return shlex.join(words)


def _sameness(sweep: Sweep) -> Iterator[str]:
    """That repetitions are no samples, as in the report of one result."""
    if sweep.are_one_run:
        yield (
            f"all {sweep.campaign.result.repetitions} repetitions of each point and variant have "
            "the same figures, and count as one run: there is nothing to repeat"
        )


def _warnings(sweep: Sweep) -> Iterator[str]:
    """The warnings of runs, each once, with how many runs have it."""
    said = sweep.store.scan("runs").filter(pl.col("warnings").is_not_null())
    split = said.select(pl.col("warnings").str.split("\n")).explode("warnings")
    # Numbers differ from run to run.
    plain = split.with_columns(kind=pl.col("warnings").str.replace_all(r"\d+(\.\d+)?", "#"))
    counted = plain.group_by("kind", maintain_order=True).agg(
        pl.len().alias("runs"), pl.col("warnings").first()
    )
    made = sweep.store.collect(counted.sort("runs", descending=True, maintain_order=True))
    for row in made.iter_rows(named=True):
        which = "a run" if row["runs"] == 1 else f"{row['runs']} runs, the first"
        yield f"{which}: {row['warnings']}"
