"""Our pictures and listings in the place of the document's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mptcplab.metrics import VariantMetrics, compare
from mptcplab.page.charts import Axis
from mptcplab.recording import RecordingError, Result
from mptcplab.report.chosen import representative
from mptcplab.report.contents import TIME, Content, boxes, courses_over_time, path_utilisation
from mptcplab.report.palette import styles
from mptcplab.report.series import Course, Line, completion_times_s, course
from mptcplab.reproduction.bars import Bars, bars
from mptcplab.reproduction.beside import Account, ItemAccount
from mptcplab.reproduction.captures import addresses, exchange
from mptcplab.reproduction.model import CAPTURED, Plot, PlotKind
from mptcplab.reproduction.needs import need_of
from mptcplab.reproduction.running import result_folder
from mptcplab.reproduction.subflows import listing


@dataclass(frozen=True)
class Picture:
    """A plot, or lines of text."""

    kind: PlotKind
    title: str
    content: Content | Bars | None = None
    lines: tuple[str, ...] = ()
    missing: str = ""
    """Why there is neither, or the variants that it lacks; empty where it is whole."""


def pictures(account: Account, out: Path) -> list[list[Picture]]:
    """The pictures of each item of a document, drawn from the recordings below `out`.

    There is one for each plot of an item; where a recording is not there, or holds nothing for it,
    it says so.

    Raises:
        RecordingError: a recording is damaged.

    """
    return [_of_item(item, out) for item in account.items]


def _of_item(account: ItemAccount, out: Path) -> list[Picture]:
    return [
        _bars(account) if plot.kind is PlotKind.BARS else _picture(plot, out)
        for plot in account.item.plots
    ]


_NOT_MEASURED = "not measured"


def _bars(account: ItemAccount) -> Picture:
    content = bars(account)
    missing = "" if content else _NOT_MEASURED
    return Picture(PlotKind.BARS, "The figures of the table", content, missing=missing)


def _picture(plot: Plot, out: Path) -> Picture:
    title = f"{_TITLES[plot.kind]}: {plot.scenario}, {', '.join(plot.variants)}"
    folder = result_folder(out, need_of(plot))
    if not folder.is_dir():
        return Picture(plot.kind, title, missing=_NOT_MEASURED)
    result = Result.open(folder)
    if plot.kind in CAPTURED:
        return _captured(plot, result, title)
    measured = {one.name: one for one in compare(_with(result, plot.variants)) if one.runs}
    variants = [measured[name] for name in plot.variants if name in measured]
    if not variants:
        return Picture(plot.kind, title, missing=_NOT_MEASURED)
    if plot.kind is PlotKind.SUBFLOWS:
        run = representative(variants[0])
        lines = () if run is None else listing(run.recording, plot.node)
        return _told(plot, title, lines)
    content = _content(plot, variants)
    if content is None:
        return Picture(plot.kind, title, missing=_NOTHING)
    absent = ", ".join(name for name in plot.variants if name not in measured)
    missing = f"{_NOT_MEASURED}: {absent}" if absent else ""
    return Picture(plot.kind, title, content, missing=missing)


_NOTHING = "what was measured holds nothing for it"


def _told(plot: Plot, title: str, lines: tuple[str, ...]) -> Picture:
    return Picture(plot.kind, title, lines=lines, missing="" if lines else _NOTHING)


def _with(result: Result, variants: Sequence[str]) -> Result:
    """The result with these variants alone: to measure the others takes long."""
    described = result.description
    own = tuple(one for one in described.scenario.variants if one.name in variants)
    scenario = described.scenario.model_copy(update={"variants": own})
    return replace(result, description=described.model_copy(update={"scenario": scenario}))


_TITLES = {
    PlotKind.THROUGHPUT: "Throughput over time",
    PlotKind.SHARES: "Share of the payload by path",
    PlotKind.BOXES: "Completion times",
    PlotKind.CUMULATIVE: "Payload acknowledged over time",
    PlotKind.ROUND_TRIPS: "Round-trip times by the payload acknowledged",
    PlotKind.EXCHANGE: "Events of the protocol in our capture",
    PlotKind.ADDRESSES: "Packets from each address in our capture",
    PlotKind.SUBFLOWS: "Subflows",
}


def _content(plot: Plot, variants: Sequence[VariantMetrics]) -> Content | None:
    if plot.kind is PlotKind.BOXES:
        return boxes(
            {one.name: completion_times_s(one) for one in variants}, "completion time", "s"
        )
    if plot.kind is PlotKind.SHARES:
        names = [path.interface for one in variants for path in one.paths]
        return path_utilisation(variants, styles(names))
    courses = [found for found in map(course, variants) if found is not None]
    lines, y, x = _LINES[plot.kind]
    looks = styles(line.subject for one in courses for line in lines(one))
    return courses_over_time(courses, lines, y, looks, x)


_ACKNOWLEDGED = Axis("payload acknowledged", "MB")
_LINES: dict[PlotKind, tuple[Callable[[Course], Sequence[Line]], Axis, Axis]] = {
    PlotKind.THROUGHPUT: (lambda c: c.throughput_mbps, Axis("throughput", "Mbit/s"), TIME),
    PlotKind.CUMULATIVE: (lambda c: c.payload_mb, _ACKNOWLEDGED, TIME),
    PlotKind.ROUND_TRIPS: (lambda c: c.rtt_ms_by_payload, Axis("RTT", "ms"), _ACKNOWLEDGED),
}
"""Lines of a plot, and its axes."""


def _captured(plot: Plot, result: Result, title: str) -> Picture:
    recordings = result.recordings(plot.variants[0])
    if not recordings:
        return Picture(plot.kind, title, missing=_NOT_MEASURED)
    files = sorted(recordings[0].folder.glob("*.pcapng"))
    if not files:
        raise RecordingError(f"{recordings[0].folder}: holds no capture")
    if plot.kind is PlotKind.ADDRESSES:
        return _told(plot, title, addresses(files))
    return _told(plot, title, exchange(files, plot))
