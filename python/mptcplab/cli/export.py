"""Tables and figures of results and sweeps as files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from mptcplab.cli.errors import UserError
from mptcplab.report.export import ExportError, figure_bytes, table_bytes, width_inches
from mptcplab.scenario.problem import near

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mptcplab.campaign.report import SweepReport
    from mptcplab.campaign.result import Sweep
    from mptcplab.metrics import VariantMetrics
    from mptcplab.report import Report
    from mptcplab.report.contents import Drawing


@dataclass(frozen=True)
class Export:
    """Which files to write, and of what."""

    table: Path | None
    figure: Path | None
    metrics: tuple[str, ...]
    """The most telling ones where empty; the figure is of the first."""
    width: str
    over: tuple[str, ...] = ()
    """Axes of a sweep that the figure is over; those that tell most where empty."""
    plot: str | None = None
    """The plot of a result that the figure is; bars of the metric where null."""

    @property
    def inches(self) -> float:
        """The width of the figure.

        Raises:
            UserError: it is none.

        """
        return inches_of(self.width)


def inches_of(width: str) -> float:
    """The inches of the option `--width`.

    Raises:
        UserError: it is no width.

    """
    try:
        return width_inches(width)
    except ExportError as error:
        raise UserError(f"--width {error}") from error


def export_sweep(report: SweepReport, wanted: Export) -> None:
    """Writes the files of a sweep, of the metrics of its report."""
    sweep = report.sweep
    metrics = report.columns or ("goodput",)
    if wanted.table is not None:
        write_table(sweep.frame(*metrics), wanted.table)
    if wanted.figure is not None:
        write_figure(_figure_of(sweep, metrics[0], wanted), wanted.figure)


def _figure_of(sweep: Sweep, metric: str, wanted: Export) -> Figure:
    from mptcplab.campaign.plots import AxisError, figure_over, telling_figure

    if not wanted.over:
        return telling_figure(sweep, metric, wanted.inches)
    try:
        return figure_over(sweep, metric, wanted.over, wanted.inches)
    except AxisError as error:
        raise UserError(f"--over {error}") from error


def refuse_unknown(metrics: Iterable[str], known: Collection[str]) -> None:
    """Looks whether these metrics are known.

    Raises:
        UserError: one is not.

    """
    for name in metrics:
        if name not in known:
            meant = near(name, known)
            there = f"the metrics are {', '.join(sorted(known))}" if known else "there is none yet"
            hint = there if meant is None else f'did you mean "{meant}"? ({there})'
            raise UserError(f"--metric {name!r}: {hint}")


def export_results(labelled: Mapping[str, Report], wanted: Export) -> None:
    """Writes the files of results, which have these names."""
    results = {label: report.variants for label, report in labelled.items()}
    columns = dict.fromkeys(name for report in labelled.values() for name in report.columns)
    metrics = wanted.metrics or tuple(columns) or ("goodput",)
    known = {name for own in results.values() for one in own for name in one.metrics}
    refuse_unknown(metrics, known)
    if wanted.table is not None:
        write_table(results_frame(results, metrics), wanted.table)
    if wanted.figure is None:
        return
    if wanted.plot is not None:
        (only,) = labelled.values()
        write_figure(_plot_of(only, wanted.plot)(wanted.inches), wanted.figure)
        return
    from mptcplab.report.bars import bars

    write_figure(bars(results, metrics[0], wanted.inches), wanted.figure)


def _plot_of(report: Report, name: str) -> Drawing:
    from mptcplab.report.figures import plots

    drawings = {one.name.value: one.content for one in plots(report)}
    if name not in drawings:
        there = ", ".join(drawings) or "none"
        raise UserError(f"--plot {name}: {report.folder} has no data for it: it has {there}")
    return drawings[name]


def results_frame(
    results: Mapping[str, Sequence[VariantMetrics]], metrics: Sequence[str]
) -> pl.DataFrame:
    """One row a result and variant, with each metric and its interval."""
    rows = []
    for label, variants in results.items():
        for variant in variants:
            row: dict[str, object] = {"result": label, "variant": variant.name}
            row["n"] = variant.sample_size
            for metric in metrics:
                found = variant.metrics.get(metric)
                ends = (None, None) if found is None or found.ci95 is None else found.ci95
                row[metric] = None if found is None else found.mean
                row |= {f"{metric}_low": ends[0], f"{metric}_high": ends[1]}
            rows.append(row)
    figures = [f"{metric}{end}" for metric in metrics for end in ("", "_low", "_high")]
    types = dict.fromkeys(figures, pl.Float64)
    return pl.DataFrame(rows, schema_overrides=types, infer_schema_length=None)


def write_table(frame: pl.DataFrame, file: Path) -> None:
    """Writes a table by the suffix of the file."""
    try:
        _write(file, table_bytes(frame, file))
    except ExportError as error:
        raise UserError(str(error)) from error


def write_figure(figure: Figure, file: Path) -> None:
    """Writes a figure by the suffix of the file."""
    try:
        _write(file, figure_bytes(figure, file))
    except ExportError as error:
        raise UserError(str(error)) from error


def _write(file: Path, content: bytes) -> None:
    try:
        file.write_bytes(content)
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}") from error
