"""The report as one page that needs nothing else: no script, no font, no picture from elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from mptcplab.metrics import VariantMetrics
from mptcplab.report import numbers
from mptcplab.report.engines import side_by_side
from mptcplab.report.flows import named, with_any
from mptcplab.report.model import Report
from mptcplab.report.pages import templates
from mptcplab.report.palette import Style, styles
from mptcplab.report.plots import boxes, courses_over_time, distribution, path_utilisation
from mptcplab.report.series import (
    Course,
    completion_times_s,
    course,
    frame_delays_ms,
    latencies_ms,
    outputs,
)
from mptcplab.report.settings import beside_document, labels, unlike
from mptcplab.report.terminal import (
    PROGRAM_COLUMNS,
    path_figures,
    program_sentences,
    theirs,
    verdict_numbers,
)
from mptcplab.scenario import ScenarioError, loads_kept
from mptcplab.scenario.topology import draw_svg

MOST_PANELS = 6
"""Variants that are shown over time; a page has to stay readable."""


@dataclass(frozen=True)
class Plot:
    """A plot and what to say about it."""

    title: str
    note: str
    svg: Markup


def to_html(reports: Sequence[Report]) -> str:
    """One self-contained page of HTML with a section for each report.

    Raises:
        RecordingError: a recording that a plot needs is damaged.

    """
    environment = templates("mptcplab.report")
    environment.globals |= {
        "beside_document": beside_document,
        "estimate": numbers.estimate_shown,
        "estimate_with_unit": numbers.estimate_with_unit,
        "heading": numbers.heading,
        "named": named,
        "number": numbers.number,
        "path_figures": path_figures,
        "program_columns": PROGRAM_COLUMNS,
        "program_sentences": program_sentences,
        "theirs": theirs,
        "verdict_numbers": verdict_numbers,
        "with_any": with_any,
    }
    sections = [
        {
            "report": report,
            "label": label,
            "unlike": other,
            "settings": settings,
            "topology": topology(report),
            "plots": plots(report),
            "outputs": {v.name: found for v in report.variants if (found := outputs(v))},
        }
        for report, label, (other, settings) in zip(
            reports, labels(reports), unlike(reports), strict=True
        )
    ]
    template = environment.get_template("page.html.j2")
    return template.render(sections=sections, pairs=side_by_side(reports))


def topology(report: Report) -> Markup | None:
    """The drawing of the scenario; null if this version cannot read the scenario's text."""
    try:
        return Markup(draw_svg(loads_kept(report.description.scenario.text)))
    except ScenarioError:
        return None


def plots(report: Report) -> list[Plot]:
    """The plots that the report has data for, the most telling first."""
    chosen = report.variants[:MOST_PANELS]
    courses = [found for found in map(course, chosen) if found is not None]
    colours = _colours(report.variants, courses)
    which = _which(report, courses)
    drawn = [
        (
            "Throughput over time",
            "By the counters of the clients' interfaces, headers included. " + which,
            courses_over_time(courses, lambda c: c.throughput_mbps, "Mbit/s", colours),
        ),
        (
            "Use of the paths",
            "Payload by the client's interface, mean of the repetitions.",
            path_utilisation(report.variants, colours),
        ),
        (
            "Completion times",
            "Part of the transfers that were complete within a time; all repetitions together.",
            distribution(
                {v.name: completion_times_s(v) for v in report.variants}, "completion time in s"
            ),
        ),
        (
            "Completion times by variant",
            "Median, quartiles, and the furthest within 1.5 times their distance; circles are the "
            "transfers beyond. All repetitions together.",
            boxes({v.name: completion_times_s(v) for v in report.variants}, "completion time in s"),
        ),
        (
            "Latency",
            "Part of the echoes and requests answered within a time; all repetitions together.",
            distribution({v.name: latencies_ms(v) for v in report.variants}, "latency in ms"),
        ),
        (
            "Delay of frames",
            "Part of the delivered frames that came within a time; all repetitions together.",
            distribution({v.name: frame_delays_ms(v) for v in report.variants}, "delay in ms"),
        ),
        (
            "Round-trip time",
            "Smoothed, of each subflow, as its sender's kernel sees it. " + which,
            courses_over_time(courses, lambda c: c.rtt_ms, "RTT in ms", colours),
        ),
        (
            "Round-trip time by sequence number",
            "Smoothed, over what had been acknowledged on the subflow. " + which,
            courses_over_time(
                courses, lambda c: c.rtt_ms_by_payload, "RTT in ms", colours, "payload in MB"
            ),
        ),
        (
            "Payload of the subflows",
            "Acknowledged so far, of each subflow, as its sender's kernel counts it. " + which,
            courses_over_time(courses, lambda c: c.payload_mb, "MB", colours),
        ),
        (
            "Queues",
            "Packets that wait in the links; directions with hardly any are left out. " + which,
            courses_over_time(courses, lambda c: c.queue_packets, "packets", colours),
        ),
    ]
    return [Plot(title, note, Markup(svg)) for title, note, svg in drawn if svg is not None]


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
