"""The plots of a result: what a page shows, and what is written as a file."""

from collections.abc import Sequence
from dataclasses import dataclass

from mptcplab.metrics import VariantMetrics
from mptcplab.page.charts import Axis
from mptcplab.report.contents import (
    Content,
    boxes,
    courses_over_time,
    distribution,
    path_utilisation,
)
from mptcplab.report.model import Report
from mptcplab.report.palette import Style, styles
from mptcplab.report.plot_names import PlotName
from mptcplab.report.series import (
    Course,
    completion_times_s,
    course,
    frame_delays_ms,
    latencies_ms,
)

_THROUGHPUT, _QUEUE = Axis("throughput", "Mbit/s"), Axis("queue", "packets")
_RTT, _PAYLOAD = Axis("RTT", "ms"), Axis("payload", "MB")
MOST_PANELS = 6
"""Variants that are shown over time; a page has to stay readable."""


@dataclass(frozen=True)
class Plot:
    """A plot and what to say about it."""

    name: PlotName
    title: str
    note: str
    content: Content


def plots(report: Report) -> list[Plot]:
    """The plots that the report has data for, the most telling first."""
    chosen = report.variants[:MOST_PANELS]
    courses = [found for found in map(course, chosen) if found is not None]
    colours = _colours(report.variants, courses)
    which = _which(report, courses)
    drawn = [
        (
            PlotName.THROUGHPUT,
            "Throughput over time",
            "By the counters of the clients' interfaces, headers included. " + which,
            courses_over_time(courses, lambda c: c.throughput_mbps, _THROUGHPUT, colours),
        ),
        (
            PlotName.PATHS,
            "Use of the paths",
            "Payload by the client's interface, mean of the repetitions.",
            path_utilisation(report.variants, colours),
        ),
        (
            PlotName.COMPLETION,
            "Completion times",
            "Part of the transfers that were complete within a time; all repetitions together.",
            distribution(
                {v.name: completion_times_s(v) for v in report.variants}, "completion time", "s"
            ),
        ),
        (
            PlotName.BOXES,
            "Completion times by variant",
            "Median, quartiles, and the furthest within 1.5 times their distance; circles are the "
            "transfers beyond. All repetitions together.",
            boxes({v.name: completion_times_s(v) for v in report.variants}, "completion time", "s"),
        ),
        (
            PlotName.LATENCY,
            "Latency",
            "Part of the echoes and requests answered within a time; all repetitions together.",
            distribution({v.name: latencies_ms(v) for v in report.variants}, "latency", "ms"),
        ),
        (
            PlotName.FRAMES,
            "Delay of frames",
            "Part of the delivered frames that came within a time; all repetitions together.",
            distribution({v.name: frame_delays_ms(v) for v in report.variants}, "delay", "ms"),
        ),
        (
            PlotName.RTT,
            "Round-trip time",
            "Smoothed, of each subflow, as its sender's kernel sees it. " + which,
            courses_over_time(courses, lambda c: c.rtt_ms, _RTT, colours),
        ),
        (
            PlotName.RTT_BY_PAYLOAD,
            "Round-trip time by sequence number",
            "Smoothed, over what had been acknowledged on the subflow. " + which,
            courses_over_time(courses, lambda c: c.rtt_ms_by_payload, _RTT, colours, _PAYLOAD),
        ),
        (
            PlotName.PAYLOAD,
            "Payload of the subflows",
            "Acknowledged so far, of each subflow, as its sender's kernel counts it. " + which,
            courses_over_time(courses, lambda c: c.payload_mb, _PAYLOAD, colours),
        ),
        (
            PlotName.QUEUES,
            "Queues",
            "Packets that wait in the links; directions with hardly any are left out. " + which,
            courses_over_time(courses, lambda c: c.queue_packets, _QUEUE, colours),
        ),
    ]
    return [
        Plot(name, title, note, content)
        for name, title, note, content in drawn
        if content is not None
    ]


def _colours(variants: Sequence[VariantMetrics], courses: Sequence[Course]) -> dict[str, Style]:
    """A style for each interface and client, the same in all plots."""
    names = [path.interface for variant in variants for path in variant.paths]
    for one in courses:
        for lines in (one.throughput_mbps, one.rtt_ms, one.queue_packets):
            names += [line.subject for line in lines]
    return styles(names)


def _which(report: Report, courses: Sequence[Course]) -> str:
    words = []
    if len(report.variants) > MOST_PANELS:
        words.append(f"The first {MOST_PANELS} of {len(report.variants)} variants are shown.")
    if any(len(variant.runs) > 1 for variant in report.variants):
        chosen = ", ".join(f"{one.variant} {one.repetition}" for one in courses)
        words.append(f"Of each variant the repetition with the median result is shown ({chosen}).")
    return " ".join(words)
