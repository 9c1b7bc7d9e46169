"""Courses over time for the plots, from the one recording that represents a variant."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median_low

import numpy as np
import numpy.typing as npt
import polars as pl

from mptcplab.metrics import transfers as figures
from mptcplab.metrics.comparison import Run, VariantMetrics
from mptcplab.metrics.plan import Plan
from mptcplab.recording import Recording

MOST_POINTS = 240
"""Points of a line; more cannot be told apart in print and make the page large."""
MARKS_APART = 0.02
"""Least part of the whole time between two marks."""

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """A figure over time."""

    label: str
    interface: str
    """The client's interface that it is about; colours follow it."""
    times_s: Numbers
    values: Numbers


@dataclass(frozen=True)
class Mark:
    """Something that happened."""

    time_s: float
    label: str


@dataclass(frozen=True)
class Course:
    """A variant over time."""

    variant: str
    repetition: int
    throughput_mbps: tuple[Line, ...]
    rtt_ms: tuple[Line, ...]
    queue_packets: tuple[Line, ...]
    marks: tuple[Mark, ...]


def representative(variant: VariantMetrics) -> Run | None:
    """The run with the median completion time or else goodput; of an even number, the lower one."""
    for metric in ("completion_s", "goodput"):
        known = [run for run in variant.runs if run.measurement.metrics.get(metric) is not None]
        if known:
            values = [run.measurement.metrics[metric] or 0.0 for run in known]
            return known[values.index(median_low(values))]
    return variant.runs[0] if variant.runs else None


def course(variant: VariantMetrics) -> Course | None:
    """The course of a variant's representative run; null where it has none.

    Raises:
        RecordingError: a table is damaged.

    """
    run = representative(variant)
    if run is None:
        return None
    recording = run.recording
    plan = Plan(recording)
    return Course(
        variant=variant.name,
        repetition=run.repetition,
        throughput_mbps=_throughput(recording),
        rtt_ms=_round_trips(recording, plan),
        queue_packets=_queues(recording),
        marks=_marks(plan, recording.manifest.duration_s or 0.0),
    )


def _throughput(recording: Recording) -> tuple[Line, ...]:
    """Rates by the counters of the clients' interfaces, each way that payload takes."""
    transfers = recording.frame("transfers")
    samples = recording.frame("interface_samples").sort("t_ns")
    ways = [way for way in ("down", "up") if way in set(transfers["way"])]
    clients = transfers["client"].unique(maintain_order=True).to_list()
    lines = []
    for client in clients:
        own = samples.filter(node=client)
        for interface in own["interface"].unique(maintain_order=True):
            counters = own.filter(interface=interface)
            for way in ways:
                bytes_ = counters["rx_bytes" if way == "down" else "tx_bytes"]
                times_s, rates = _rates(counters["t_ns"].to_numpy(), bytes_.to_numpy())
                label = interface if len(clients) == 1 else f"{client}.{interface}"
                if len(ways) > 1:
                    label += f" {way}"
                if rates.size and rates.max() > 0:
                    lines.append(Line(label, interface, times_s, rates))
    return _without_the_idle(lines)


def _without_the_idle(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Without lines that never reach a thousandth of the highest: acknowledgements, neighbours."""
    highest = max((line.values.max() for line in lines), default=0.0)
    return tuple(line for line in lines if line.values.max() >= highest / 1000)


def _rates(
    times_ns: npt.NDArray[np.int64], counter: npt.NDArray[np.int64]
) -> tuple[Numbers, Numbers]:
    """Mbit/s between samples, over as many samples at a time as keep to the points of a line."""
    step = max(1, len(times_ns) // MOST_POINTS)
    times, values = times_ns[::step], counter[::step]
    seconds = np.diff(times) / 1e9
    carried = np.maximum(np.diff(values), 0)
    return times[1:] / 1e9, carried * 8 / 1e6 / np.maximum(seconds, 1e-9)


def _round_trips(recording: Recording, plan: Plan) -> tuple[Line, ...]:
    """Smoothed round-trip times of the subflows, as their senders see them."""
    transfers = recording.frame("transfers")
    senders = {
        row["server"] if row["way"] == "down" else row["client"] for row in transfers.to_dicts()
    }
    samples = (
        recording.frame("subflow_samples")
        .filter(
            pl.col("node").is_in(list(senders)), pl.col("rtt_us") > 0, pl.col("bytes_acked") > 1
        )
        .sort("t_ns")
    )
    lines: dict[str, list[pl.DataFrame]] = {}
    for (subflow,), rows in samples.group_by(["subflow"], maintain_order=True):
        interface = _client_interface(str(subflow), set(transfers["client"]), plan)
        lines.setdefault(interface or str(subflow), []).append(rows)
    found = []
    for interface, groups in lines.items():
        for number, rows in enumerate(groups[:4], start=1):
            thin = rows.gather_every(max(1, rows.height // MOST_POINTS))
            label = interface if len(groups) == 1 else f"{interface} {number}"
            values = thin["rtt_us"].to_numpy() / 1e3
            found.append(Line(label, interface, thin["t_ns"].to_numpy() / 1e9, values))
    return tuple(line for line in found if line.times_s.size > 1)


def _client_interface(subflow: str, clients: set[str], plan: Plan) -> str | None:
    for end in subflow.split("-"):
        address = end.rpartition(":")[0].strip("[]")
        node, interface = plan.interface_of_address.get(address, (None, None))
        if node in clients:
            return interface
    return None


def _queues(recording: Recording) -> tuple[Line, ...]:
    """The queues of the links, each direction in which packets ever waited."""
    samples = recording.frame("link_samples").sort("t_ns")
    clients = set(recording.frame("transfers")["client"])
    lines = []
    for (link, source, target), rows in samples.group_by(
        ["link", "from", "to"], maintain_order=True
    ):
        step = max(1, rows.height // MOST_POINTS)
        thin = rows.group_by(pl.int_range(pl.len()) // step, maintain_order=True).agg(
            pl.col("t_ns").first(), pl.col("queued_packets").max()
        )
        values = thin["queued_packets"].fill_null(0).to_numpy().astype(np.float64)
        ends = [str(end).partition(".") for end in (source, target)]
        interface = next((name for node, _, name in ends if node in clients), str(link))
        if values.size > 1 and values.max() >= 2:
            label = f"{link} from {source}"
            lines.append(Line(label, interface, thin["t_ns"].to_numpy() / 1e9, values))
    return tuple(lines)


def _marks(plan: Plan, duration_s: float) -> tuple[Mark, ...]:
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
    """The completion time of every sized transfer of every run."""
    return [
        time
        for run in variant.runs
        for time in figures.completion_times_s(
            figures.timed_transfers(run.recording, Plan(run.recording))
        )
    ]


def latencies_ms(variant: VariantMetrics) -> list[float]:
    """The time to the answer of every echo and request of every run that was answered."""
    return [
        time / 1e6
        for run in variant.runs
        for time in run.recording.frame("latencies")["rtt_ns"].drop_nulls()
    ]
