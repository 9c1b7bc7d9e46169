"""The work of a controller over time: the load of links, and the subflows of each path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from mptcplab.page.charts import TIME, Axis, Chart, Kind, Mark, NamedChart, Panel, Series
from mptcplab.recording import Recording
from mptcplab.report.decisions import Decision
from mptcplab.report.palette import COLOURS
from mptcplab.report.text import printable

MOST_LINES = len(COLOURS)
"""Links, and paths, of a chart: those with most to show."""
MOST_MARKS = 24
"""The last ones."""
OVER, MOVED = "over ", "moved, over "
"""Begins of decisions that give a subflow a path."""
ENDS = frozenset({"refused", "not installed"})
"""Decisions after which a subflow has none."""
_BACK = (6, 4)
_TIME_AXIS = Axis("time", "s")


def control_charts(
    recording: Recording, decisions: Sequence[Decision], name: str
) -> list[NamedChart]:
    """The charts of a run, of those that have something to show.

    Their identifiers begin with `name`.

    Raises:
        RecordingError: a table is damaged.

    """
    marks = tuple(_marks(decisions))
    loads = tuple(_loads(recording))
    counts = tuple(_counts(recording, decisions))
    found = []
    if loads:
        note = "Each direction of a link by itself; dashed: the other direction of the link before."
        chart = Chart(_TIME_AXIS, Axis("load", "Mbit/s"), (Panel("", loads, marks),), TIME)
        found.append(NamedChart(f"{name}-load", "Load of links over time", note, chart))
    if counts:
        note = "From the decision of the controller to the last sample of the subflow."
        chart = Chart(_TIME_AXIS, Axis("subflows"), (Panel("", counts, marks),), TIME)
        found.append(NamedChart(f"{name}-subflows", "Subflows by path", note, chart))
    return found


def _marks(decisions: Sequence[Decision]) -> Iterator[Mark]:
    told = [
        one
        for one in decisions
        if one.time_s > 0 and not one.words.startswith((OVER, "waits")) and one.words != "refused"
    ]
    for one in told[-MOST_MARKS:]:
        yield Mark(one.time_s, f"{one.words.partition(',')[0]}: {one.subject}", one.id)


def _loads(recording: Recording) -> Iterator[Series]:
    """The load of both directions of the links that carried most, a colour each."""
    samples = recording.frame("link_samples").sort("t_ns", maintain_order=True)
    groups = samples.group_by(["link", "from", "to"], maintain_order=True)
    courses: dict[str, list[tuple[str, pl.DataFrame]]] = {}
    for (link, sender, _), rows in groups:
        if len(rows) > 1 and rows["delivered_bytes"].max():
            courses.setdefault(str(link), []).append((str(sender), rows))
    carried = {
        link: sum(rows["delivered_bytes"][-1] for _, rows in ways) for link, ways in courses.items()
    }
    shown = sorted(sorted(carried), key=lambda link: -carried[link])[:MOST_LINES]
    for number, link in enumerate(sorted(shown)):
        for place, (sender, rows) in enumerate(courses[link]):
            times_s = rows["t_ns"].to_numpy() / 1e9
            grown = np.maximum(np.diff(rows["delivered_bytes"].to_numpy()), 0)
            yield Series(
                f"{link} from {sender.partition('.')[0]}",
                f"var(--s{number})",
                times_s[1:],
                grown * 8e-6 / np.diff(times_s),
                Kind.MEANS,
                _BACK if place else (),
                float(times_s[0]),
            )


def _counts(recording: Recording, decisions: Sequence[Decision]) -> Iterator[Series]:
    """The number of subflows of the paths that had most of them."""
    samples = recording.frame("subflow_samples")
    last = samples.group_by("subflow").agg(pl.col("t_ns").max())
    ends_s = {printable(name): t_ns / 1e9 for name, t_ns in last.iter_rows()}
    steps: dict[str, list[tuple[float, int]]] = {}
    for path, time_s, change in _steps(decisions, ends_s):
        steps.setdefault(path, []).append((time_s, change))
    most = {path: sum(change > 0 for _, change in own) for path, own in steps.items()}
    shown = sorted(sorted(most), key=lambda path: -most[path])[:MOST_LINES]
    end_s = max(ends_s.values(), default=0.0)
    for number, path in enumerate(sorted(shown)):
        own = sorted(steps[path])
        times_s = [0.0, *(time_s for time_s, _ in own), max(end_s, own[-1][0])]
        counts = np.cumsum([0, *(change for _, change in own), 0])
        yield Series(
            path, f"var(--s{number})", np.array(times_s), counts.astype(np.float64), Kind.STEPS
        )


def _steps(
    decisions: Sequence[Decision], ends_s: Mapping[str, float]
) -> Iterator[tuple[str, float, int]]:
    """Of each path the times at which it had a subflow more, or one less."""
    paths: dict[str, tuple[str, float]] = {}
    for one in decisions:
        path = one.words.removeprefix(MOVED).removeprefix(OVER)
        has_path = one.words.startswith((OVER, MOVED))
        if not has_path and one.words not in ENDS:
            continue
        if (before := paths.pop(one.subject, None)) is not None:
            yield before[0], one.time_s, -1
        if has_path:
            paths[one.subject] = path, one.time_s
            yield path, one.time_s, 1
    for subject, (path, since_s) in paths.items():
        if subject in ends_s:
            yield path, max(since_s, ends_s[subject]), -1
