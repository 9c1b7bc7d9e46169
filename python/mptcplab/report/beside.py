"""Several results on one page: their metrics as bars, their samples as distributions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mptcplab.page.categories import Part, bar_rows
from mptcplab.page.charts import Axis, Chart
from mptcplab.report.charts import chart_of, colour_of, rows_of
from mptcplab.report.contents import boxes, distribution
from mptcplab.report.model import Report
from mptcplab.report.numbers import estimate_shown, heading, scale
from mptcplab.report.palette import Style, styles
from mptcplab.report.series import completion_times_s, frame_delays_ms, latencies_ms
from mptcplab.report.settings import labels

MOST_METRICS = 4
MOST_LINES = 12
"""Of a distribution, a variant of a result each; of more none could be followed."""
MOST_BOXES = 40


@dataclass(frozen=True)
class Beside:
    """Results beside each other: bars of a metric, a distribution, or boxes."""

    id: str
    title: str
    rows: str = ""
    chart: Chart | None = None


def beside(reports: Sequence[Report]) -> list[Beside]:
    """The leading metrics of several results, and distributions of their samples."""
    if len(reports) < 2:
        return []
    known = dict(zip(labels(reports), reports, strict=True))
    looks = styles(known)
    names = list(dict.fromkeys(name for report in reports for name in report.columns))
    found = [
        Beside(f"beside-{name}", heading(name)[0], rows)
        for name in names[:MOST_METRICS]
        if (rows := _bars(known, looks, name))
    ]
    for identifier, samples, title, unit in (
        ("completion", completion_times_s, "completion time", "s"),
        ("latency", latencies_ms, "latency", "ms"),
        ("frames", frame_delays_ms, "delay of frames", "ms"),
    ):
        told = {
            f"{variant.name}, {label}": samples(variant)
            for label, report in known.items()
            for variant in report.variants
        }
        content = distribution(told, title, unit)
        if content is not None and len(told) <= MOST_LINES:
            chart = chart_of(content, {})
            found.append(
                Beside(f"beside-{identifier}-samples", f"{title}, all samples", chart=chart)
            )
        drawn = boxes(told, title, unit)
        if drawn is not None and len(told) <= MOST_BOXES:
            rows = rows_of(drawn) or ""
            found.append(Beside(f"beside-{identifier}-boxes", f"{title} as boxes", rows))
    return found


def _bars(known: dict[str, Report], looks: dict[str, Style], metric: str) -> str:
    """A row a variant, a bar a result; empty where none has the metric."""
    rows: dict[str, list[list[Part]]] = {}
    for label, report in known.items():
        for variant in report.variants:
            figure = variant.metrics.get(metric)
            if figure is None or figure.mean is None:
                continue
            factor = scale(metric)
            words = f"{estimate_shown(metric, figure)}, {label}"
            half = (figure.half_width or 0.0) * factor
            part = Part(label, colour_of(looks[label]), 0.0, figure.mean * factor, words, half)
            rows.setdefault(variant.name, []).append([part])
    title, unit = heading(metric)
    return bar_rows(rows, Axis(title, unit)) if rows else ""
