"""Courses over time for the plots, from the one recording that represents a variant."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from mptcplab.metrics import transfers as figures
from mptcplab.metrics.comparison import VariantMetrics
from mptcplab.metrics.plan_view import PlanView
from mptcplab.metrics.programs import KIND as PROGRAMS
from mptcplab.metrics.round_trips import round_trip_samples
from mptcplab.metrics.rows import Row, grouped, total
from mptcplab.page.charts import Mark, Numbers
from mptcplab.page.thinning import AS_THEY_ARE
from mptcplab.recording import Recording
from mptcplab.report.chosen import ASIDE, representative
from mptcplab.report.rates import rates
from mptcplab.report.text import printable

LEAST_POINTS = 5
"""Round-trip times of fewer samples than this show no course."""
MOST_SUBFLOWS = 4
"""With more subflows over one interface, they are one line with gaps."""
MARKS_APART = 0.02
"""Least part of the whole time between two marks."""


@dataclass(frozen=True)
class Line:
    """A figure over time, or over another one."""

    label: str
    subject: str
    """Its subject, a client's interface or a client; colours follow it."""
    places: Numbers
    """Times in s, or values of the other figure."""
    values: Numbers
    since_s: float | None = None
    """Where each value is a mean since the time before: the time before the first."""


@dataclass(frozen=True)
class Course:
    """A variant over time."""

    variant: str
    repetition: int
    throughput_mbps: tuple[Line, ...]
    rtt_ms: tuple[Line, ...]
    rtt_ms_by_payload: tuple[Line, ...]
    """Over the payload of the subflow that had been acknowledged, in MB."""
    payload_mb: tuple[Line, ...]
    queue_packets: tuple[Line, ...]
    marks: tuple[Mark, ...]


def course(variant: VariantMetrics) -> Course | None:
    """The course of a variant's representative run; null where it has none.

    Raises:
        RecordingError: a table is damaged.

    """
    run = representative(variant)
    if run is None:
        return None
    recording = run.recording
    plan = PlanView(recording)
    return Course(
        variant=variant.name,
        repetition=run.repetition,
        throughput_mbps=_throughput(recording, plan),
        rtt_ms=_round_trips(recording, plan),
        rtt_ms_by_payload=_round_trips_by_payload(recording, plan),
        payload_mb=_payload(recording, plan),
        queue_packets=_queues(recording, plan),
        marks=_marks(plan, recording.manifest.duration_s or 0.0),
    )


def outputs(variant: VariantMetrics) -> dict[str, list[str]]:
    """Output of the commands of a variant's representative run, lines by flow."""
    run = representative(variant)
    if run is None:
        return {}
    rows = run.recording.frame("outputs").sort("t_ns", maintain_order=True)
    return {
        str(traffic): [printable(text) for text in own["text"].fill_null("")]
        for (traffic,), own in rows.group_by(["traffic"], maintain_order=True)
    }


def _told_transfers(recording: Recording, plan: PlanView) -> list[Row]:
    """The transfers, without the way of a command that only asked for what came the other way."""
    transfers = figures.timed_transfers(recording, plan)
    whole = {key: total(own, "bytes") for (key,), own in grouped(transfers, "traffic").items()}
    aside = {
        (flow, way)
        for (flow, way), own in grouped(transfers, "traffic", "way").items()
        if total(own, "bytes") < ASIDE * whole[flow]
    }
    return [
        row
        for row in transfers
        if row["kind"] != PROGRAMS or (row["traffic"], row["way"]) not in aside
    ]


def _throughput(recording: Recording, plan: PlanView) -> tuple[Line, ...]:
    """Rates by the counters of the clients' interfaces, each way that payload takes.

    One line an interface, or, where there are several clients, one a client.
    """
    transfers = _told_transfers(recording, plan)
    samples = recording.frame("interface_samples")
    unaccounted = plan.command_clients - {
        row["client"] for row in transfers if row["kind"] == PROGRAMS
    }
    taken = {"down", "up"} if unaccounted else {row["way"] for row in transfers}
    ways = [way for way in ("down", "up") if way in taken]
    clients = plan.in_order([*(row["client"] for row in transfers), *plan.command_clients])
    subject = "interface" if len(clients) == 1 else "node"
    carried = (
        samples.filter(pl.col("node").is_in(clients))
        .group_by(pl.col(subject).alias("subject"), "t_ns", maintain_order=True)
        .agg(pl.col("rx_bytes", "tx_bytes").sum())
        .sort("t_ns")
    )
    lines = []
    names = clients if subject == "node" else carried["subject"].unique(maintain_order=True)
    for name in names:
        own = carried.filter(subject=name)
        for way in ways:
            counter = own["rx_bytes" if way == "down" else "tx_bytes"]
            times_s, mbps = rates(own["t_ns"].to_numpy(), counter.to_numpy())
            label = name if len(ways) == 1 else f"{name} {way}"
            if mbps.size:
                lines.append(Line(label, name, times_s, mbps, own["t_ns"][0] / 1e9))
    return _without_the_idle(lines)


def _without_the_idle(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Without lines that never reach a thousandth of the highest: acknowledgements, neighbours."""
    highest = max((line.values.max() for line in lines), default=0.0)
    return tuple(line for line in lines if line.values.max() >= highest / 1000)


def _round_trips(recording: Recording, plan: PlanView) -> tuple[Line, ...]:
    """Smoothed round-trip times of the subflows, as their senders see them."""
    lines = _of_subflows(recording, plan, ("t_ns", 1e9), ("rtt_us", 1e3))
    return tuple(line for line in lines if np.isfinite(line.values).sum() >= LEAST_POINTS)


def _payload(recording: Recording, plan: PlanView) -> tuple[Line, ...]:
    """Payload of the subflows that was acknowledged so far, in MB."""
    return _of_subflows(recording, plan, ("t_ns", 1e9), ("bytes_acked", 1e6))


def _round_trips_by_payload(recording: Recording, plan: PlanView) -> tuple[Line, ...]:
    """The round-trip times by the sequence number: by the payload that had been acknowledged."""
    lines = _of_subflows(recording, plan, ("bytes_acked", 1e6), ("rtt_us", 1e3))
    return tuple(line for line in lines if np.isfinite(line.values).sum() >= LEAST_POINTS)


def _of_subflows(
    recording: Recording, plan: PlanView, along: tuple[str, float], up: tuple[str, float]
) -> tuple[Line, ...]:
    """A line a subflow, named by the client's interface: a column of its samples over another.

    Each is a column and the number by which its values are divided.
    """
    lines: dict[str, list[tuple[list[float], list[float]]]] = {}
    for own in round_trip_samples(_told_transfers(recording, plan), recording, plan):
        places, values = ([row[column] / unit for row in own.rows] for column, unit in (along, up))
        lines.setdefault(own.interface or own.subflow, []).append((places, values))
    found: list[Line] = []
    for interface, groups in lines.items():
        if len(groups) > MOST_SUBFLOWS:
            found.append(_joined(interface, groups))
            continue
        for number, pair in enumerate(groups, start=1):
            label = interface if len(groups) == 1 else f"{interface} {number}"
            found.append(_joined(interface, [pair], label))
    return tuple(found)


def _joined(
    interface: str, groups: Sequence[tuple[list[float], list[float]]], label: str | None = None
) -> Line:
    """The figures of several subflows as one line with gaps."""
    step = max(1, sum(len(places) for places, _ in groups) // AS_THEY_ARE)
    along: list[float] = []
    values: list[float] = []
    for places, own in groups:
        along += [*places[::step], np.nan]
        values += [*own[::step], np.nan]
    return Line(label or interface, interface, np.array(along[:-1]), np.array(values[:-1]))


def _queues(recording: Recording, plan: PlanView) -> tuple[Line, ...]:
    """The queues of the links, each direction that fills to a tenth of the fullest one."""
    samples = recording.frame("link_samples").sort("t_ns")
    clients = {*recording.frame("transfers")["client"], *plan.command_clients}
    fullest = samples["queued_packets"].max()
    least = max(2.0, fullest / 10) if isinstance(fullest, int) else 2.0
    lines = []
    for (link, source, target), rows in samples.group_by(
        ["link", "from", "to"], maintain_order=True
    ):
        step = max(1, rows.height // AS_THEY_ARE)
        thin = rows.group_by(pl.int_range(pl.len()) // step, maintain_order=True).agg(
            pl.col("t_ns").first(), pl.col("queued_packets").max()
        )
        values = thin["queued_packets"].fill_null(0).to_numpy().astype(np.float64)
        if values.size < 2 or values.max() < least:
            continue
        ends = [str(end).partition(".") for end in (source, target)]
        subject = next((name for node, _, name in ends if node in clients), str(link))
        lines.append((str(link), ends[0][0], subject, thin["t_ns"].to_numpy() / 1e9, values))
    both_ways = Counter(link for link, *_ in lines)
    return tuple(
        Line(link if both_ways[link] == 1 else f"{link} from {node}", subject, times_s, values)
        for link, node, subject, times_s, values in lines
    )


def _marks(plan: PlanView, duration_s: float) -> tuple[Mark, ...]:
    """The changes of the network; those that would be printed over each other are one mark."""
    marks: list[Mark] = []
    for change in plan.changes:
        time_s = change.at_ns / 1e9
        if marks and time_s - marks[-1].time_s < MARKS_APART * duration_s:
            marks[-1] = Mark(marks[-1].time_s, f"{marks[-1].label}, {change.label}")
        else:
            marks.append(Mark(time_s, change.label))
    return tuple(marks)


def completion_times_s(variant: VariantMetrics) -> list[float]:
    """The completion time of every sized transfer, and every command, of every run."""
    times: list[float] = []
    for run in variant.runs:
        plan = PlanView(run.recording)
        transfers = figures.timed_transfers(run.recording, plan)
        times += figures.completion_times_s(transfers, run.recording, plan)
    return times


def frame_delays_ms(variant: VariantMetrics) -> list[float]:
    """The delay of every frame of every run that was delivered."""
    return [
        time / 1e6 for run in variant.runs for time in run.recording.frame("frames")["delay_ns"]
    ]


def latencies_ms(variant: VariantMetrics) -> list[float]:
    """The time to the answer of every echo and request of every run that was answered."""
    return [
        time / 1e6
        for run in variant.runs
        for time in run.recording.frame("latencies")["rtt_ns"].drop_nulls()
    ]
