"""`compare`: results, or sweeps, side by side with the first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import typer
from matplotlib.figure import Figure
from rich.markup import escape
from rich.text import Text

from mptcplab.campaign.compared import over_each_other, shared
from mptcplab.campaign.plots import distributions_beside
from mptcplab.campaign.report import cell_of, sweep_report, title_of
from mptcplab.campaign.result import Sweep
from mptcplab.campaign.show import MOST_ROWS
from mptcplab.cli.errors import UserError
from mptcplab.cli.export import (
    Export,
    export_results,
    refuse_unknown,
    write_figure,
    write_table,
)
from mptcplab.cli.output import console, json_text
from mptcplab.cli.report import SWEEP
from mptcplab.front.comparisons import Compared, Comparison, compare, pairing
from mptcplab.metrics import Estimate
from mptcplab.recording import RecordingError, Result
from mptcplab.report import report
from mptcplab.report.layout import Column, Kind, laid_out
from mptcplab.report.numbers import estimate_shown, heading
from mptcplab.report.settings import labels, unlike_settings

_FIGURES = ("first", "second", "difference")


def compare_folders(folders: Sequence[Path], wanted: Export, *, as_json: bool) -> None:
    """Prints every other folder beside the first, and writes what is wanted."""
    if len(folders) < 2:
        raise UserError("compare: give two folders or more")
    are_sweeps = [(folder / SWEEP).is_file() for folder in folders]
    if any(are_sweeps) and not all(are_sweeps):
        raise UserError("compare: give results, or sweeps, not both")
    try:
        if all(are_sweeps):
            _sweeps([Sweep.open(folder) for folder in folders], wanted, as_json=as_json)
        else:
            _results([Result.open(folder) for folder in folders], wanted, as_json=as_json)
    except RecordingError as error:
        raise UserError(str(error)) from error
    except (ValueError, KeyError) as error:
        raise UserError(str(error.args[0])) from error


def _results(results: Sequence[Result], wanted: Export, *, as_json: bool) -> None:
    found = [compare(results[0], other) for other in results[1:]]
    reports = [report(result) for result in results]
    export_results(dict(zip(labels(reports), reports, strict=True)), wanted)
    if as_json:
        told = [
            {
                "second": one.labels[1],
                "settings": list(one.settings),
                "rows": one.frame().to_dicts(),
            }
            for one in found
        ]
        typer.echo(json_text({"first": found[0].labels[0], "comparisons": told}))
        return
    for one in found:
        of = [row for row in _wanted(one, wanted.metrics) if row.ci95 is not None]
        pairs = pairing([row.paired is not None for row in of])
        rows = list(_rows(one, wanted.metrics))
        _print(one.labels, one.settings, ("variant", "metric"), rows, pairs)


def _rows(one: Comparison, metrics: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for row in _wanted(one, metrics):
        words = ", ".join(part for part in heading(row.metric) if part)
        figures = (row.first, row.second, row.apart)
        yield (row.variant, words, *(estimate_shown(row.metric, of) for of in figures))


def _wanted(one: Comparison, metrics: Sequence[str]) -> Sequence[Compared]:
    return [row for row in one.rows if row.metric in metrics] if metrics else one.told


def _sweeps(sweeps: Sequence[Sweep], wanted: Export, *, as_json: bool) -> None:
    for words in (words for sweep in sweeps for words in sweep.store.damage()):
        typer.echo(words, err=True)
    first = sweeps[0]
    for sweep in sweeps:
        refuse_unknown(wanted.metrics, sweep.metrics())
    metrics = tuple(dict.fromkeys(wanted.metrics)) or (*sweep_report(first).columns, "goodput")[:1]
    found = {metric: _shared(sweeps, metric) for metric in metrics}
    if wanted.table is not None:
        parts = [
            frame.with_columns(pl.lit(other).alias("with"), pl.lit(metric).alias("metric"))
            for metric, frames in found.items()
            for other, frame in frames.items()
        ]
        write_table(pl.concat(parts), wanted.table)
    if wanted.figure is not None:
        figure = _figure(sweeps, metrics[0], found[metrics[0]], wanted.inches)
        write_figure(figure, wanted.figure)
    beside = {str(other.folder): _settings(first, other) for other in sweeps[1:]}
    if as_json:
        told = [
            {"second": other, "settings": beside[other]}
            | {"metric": metric, "rows": frame.to_dicts()}
            for metric, frames in found.items()
            for other, frame in frames.items()
        ]
        typer.echo(json_text({"first": str(first.folder), "comparisons": told}))
        return
    head = (*first.axes, "variant")
    for metric, frames in found.items():
        for other, frame in frames.items():
            rows = [
                (*(str(row[name]) for name in head), *_shown(metric, row))
                for row in frame.to_dicts()
            ]
            console().print(Text(title_of(metric)))
            both = (str(first.folder), other)
            known = frame.filter(pl.col("difference_low").is_not_null())
            _print(both, beside[other], head, rows, pairing(known["paired"].to_list()))


def _shared(sweeps: Sequence[Sweep], metric: str) -> dict[str, pl.DataFrame]:
    """The first sweep beside each other one, by the folder of the other."""
    frames = {str(other.folder): shared(sweeps[0], other, metric) for other in sweeps[1:]}
    if any(frame.is_empty() for frame in frames.values()):
        names = dict.fromkeys(str(sweep.folder) for sweep in sweeps)
        raise UserError(f"no point and variant with {metric} is in all of {', '.join(names)}")
    return frames


def _figure(
    sweeps: Sequence[Sweep], metric: str, frames: Mapping[str, pl.DataFrame], inches: float
) -> Figure:
    """The sweeps over each other: curves over the longest axis, or distributions over draws."""
    first = sweeps[0]
    drawn = {k for sweep in sweeps for axis in sweep.every_axis if axis.is_drawn for k in axis.keys}
    if not drawn:
        longest = max(first.every_axis, key=lambda axis: len(axis.rows))
        names = {str(sweep.folder): sweep for sweep in sweeps}
        return over_each_other(names, metric, longest.keys[0], inches)
    # Only points that all have: other draws would be apart by chance.
    key = [*first.axes, "variant"]
    common = list(frames.values())
    for frame in frames.values():
        common = [one.join(frame, on=key, how="semi", nulls_equal=True) for one in common]
    told = {str(first.folder): common[0].select(*key, pl.col("first").alias(metric))}
    for other, frame in zip(frames, common, strict=True):
        told[other] = frame.select(*key, pl.col("second").alias(metric))
    others = [name for name in first.axes if name not in drawn]
    return distributions_beside(told, others, metric, inches)


def _settings(first: Sweep, other: Sweep) -> list[str]:
    return list(unlike_settings(first.campaign.result, other.campaign.result))


def _shown(metric: str, row: dict[str, Any]) -> Iterator[str]:
    for name in _FIGURES:
        low, high = row[f"{name}_low"], row[f"{name}_high"]
        ends = None if low is None else (low, high)
        yield cell_of(metric, Estimate((row[name],), row[name], ends))


def _print(
    both: Sequence[str],
    settings: Sequence[str],
    head: Sequence[str],
    rows: Sequence[tuple[str, ...]],
    pairing: str = "",
) -> None:
    screen = console()
    screen.print(f"[bold]{escape(both[1])}[/bold] beside [bold]{escape(both[0])}[/bold]")
    if settings:
        screen.print(Text(f"It has {'; '.join(settings)}."))
    screen.print(Text(f"means ± half the 95 % confidence interval, where there is one{pairing}"))
    cells = [*zip(*rows[:MOST_ROWS], strict=True)] or [()] * (len(head) + len(_FIGURES))
    keys = [
        Column(name, own, Kind.WORDS if name == "metric" else Kind.VALUE, is_left=True)
        for name, own in zip(head, cells, strict=False)
    ]
    figures = [Column(name, own) for name, own in zip(_FIGURES, cells[len(head) :], strict=True)]
    screen.print(*laid_out([*keys, *figures], screen), sep="")
    if len(rows) > MOST_ROWS:
        screen.print(Text(f"  … and {len(rows) - MOST_ROWS} more: --json has all"))
