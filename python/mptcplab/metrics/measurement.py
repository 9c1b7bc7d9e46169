"""All metrics of one recording."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mptcplab.metrics.establishment import establishment_figures
from mptcplab.metrics.frames import frame_figures
from mptcplab.metrics.ideal import share_of_ideal
from mptcplab.metrics.latency import latency_figures
from mptcplab.metrics.overhead import header_overhead
from mptcplab.metrics.path_recovery import path_recovery_figures
from mptcplab.metrics.paths import (
    PathFigures,
    path_figures,
)
from mptcplab.metrics.plan_view import PlanView
from mptcplab.metrics.programs import program_results
from mptcplab.metrics.received import received_figures
from mptcplab.metrics.recovery import recovery_figures
from mptcplab.metrics.round_trips import round_trip_figures
from mptcplab.metrics.rows import Row, grouped, known, known_sum, total
from mptcplab.metrics.statistics import mean_and_percentiles
from mptcplab.metrics.steadiness import Steadiness, steadiness
from mptcplab.metrics.streams import stream_figures
from mptcplab.metrics.totals import connection_totals, subflow_totals
from mptcplab.metrics.transfers import (
    completed_share,
    completion_times_s,
    fairness,
    goodput_by,
    goodput_mbps,
    is_multipath,
    longest_silence_s,
    mean_completion_s,
    own_transfers,
    payload_transfers,
    single_path_findings,
    sized_transfers,
    timed_transfers,
)
from mptcplab.metrics.variation import variation_figures
from mptcplab.recording import Recording


@dataclass(frozen=True)
class Measurement:
    """The figures of one recording."""

    metrics: Mapping[str, float | None]
    """By full metric name (:mod:`mptcplab.metrics.definitions`)."""
    paths: Sequence[PathFigures]
    single_path: Sequence[str]
    """Why it is not the multipath run that it claims to be; empty if it is, or claims nothing."""
    steadiness: Steadiness | None
    """How steady the goodput was; null where that is not judged."""
    program_bytes: int
    """Payload that the connections of commands carried, both ways."""


def measure(recording: Recording, view: PlanView | None = None) -> Measurement:
    """Computes every metric of a recording; `view` is that of its plan, where there is one already.

    Raises:
        RecordingError: a table is missing or damaged.

    """
    plan = PlanView(recording) if view is None else view
    transfers = timed_transfers(recording, plan)
    payload = payload_transfers(transfers)
    own = own_transfers(transfers)
    subflows, connections = subflow_totals(recording, plan), connection_totals(recording)
    paths = path_figures(payload, subflows, plan)
    steady = steadiness(own_transfers(payload), recording, plan)
    metrics: dict[str, float | None] = {}
    for part in (
        _goodputs(payload, paths),
        _shares(paths),
        _carried(paths),
        _completion(transfers, recording, plan),
        recovery_figures(own_transfers(payload), recording, plan),
        path_recovery_figures(own_transfers(payload), recording, plan),
        {
            "longest_silence_s": longest_silence_s(payload),
            "jain": fairness(payload),
            "retransmitted_bytes": known_sum([one.bytes_retrans for one in subflows]),
            "reinjected_bytes": known_sum([one.bytes_retrans for one in connections.values()]),
        },
        stream_figures(own_transfers(payload)),
        establishment_figures(own, recording),
        header_overhead(subflows, recording, plan),
        share_of_ideal(own_transfers(payload), plan),
        received_figures(payload, subflows, connections),
        latency_figures(recording),
        round_trip_figures(own, recording, plan),
        frame_figures(recording, plan),
        _joins(own, plan),
        {} if steady is None else {"steady": float(steady.is_steady)},
        variation_figures(own_transfers(payload), recording),
    ):
        metrics |= {name: value for name, value in part.items() if name not in metrics}
    program_bytes = total(transfers, "bytes") - total(own, "bytes")
    return Measurement(metrics, paths, single_path_findings(own, plan), steady, program_bytes)


def _goodputs(payload: Sequence[Row], paths: Sequence[PathFigures]) -> dict[str, float | None]:
    """Where a name means several things, the first in this order has it."""
    figures: dict[str, float | None] = {"goodput": goodput_mbps(payload)}
    for parts in (
        goodput_by(payload, "way"),
        _sum_by_interface((path, path.goodput_mbps) for path in paths),
        goodput_by(payload, "traffic"),
        goodput_by(payload, "client"),
        {f"{path.client}.{path.interface}": path.goodput_mbps for path in paths},
    ):
        for part, value in parts.items():
            figures.setdefault(f"goodput.{part}", value)
    return figures


def _carried(paths: Sequence[PathFigures]) -> dict[str, float | None]:
    rates = [(path, path.carried_mbps) for path in paths]
    figures = {f"carried.{interface}": rate for interface, rate in _sum_by_interface(rates).items()}
    for path, rate in rates:
        figures.setdefault(f"carried.{path.client}.{path.interface}", rate)
    return figures


def _sum_by_interface(
    rates: Iterable[tuple[PathFigures, float | None]],
) -> dict[str, float | None]:
    sums: dict[str, float | None] = {}
    for path, rate in rates:
        so_far = sums.get(path.interface, 0.0)
        sums[path.interface] = None if so_far is None or rate is None else so_far + rate
    return sums


def _shares(paths: Sequence[PathFigures]) -> dict[str, float | None]:
    total = sum(path.payload_bytes for path in paths)
    figures: dict[str, float | None] = {}
    for interface in dict.fromkeys(path.interface for path in paths):
        carried = sum(path.payload_bytes for path in paths if path.interface == interface)
        figures[f"share.{interface}"] = carried / total
    for path in paths:
        figures[f"share.{path.client}.{path.interface}"] = path.share
    return figures


def _completion(
    transfers: Sequence[Row], recording: Recording, plan: PlanView
) -> dict[str, float | None]:
    figures: dict[str, float | None] = {}
    programs = program_results(recording, plan)
    sized = sized_transfers(transfers)
    if sized or programs:
        times = completion_times_s(transfers, recording, plan)
        figures |= mean_and_percentiles("completion_s", times)
        by_flow = grouped(sized, "traffic")
        if len(by_flow) > 1:
            for (name,), own in by_flow.items():
                figures[f"completion_s.{name}"] = mean_completion_s(own)
    figures["completed"] = completed_share(transfers, programs)
    return figures


def _joins(transfers: Sequence[Row], plan: PlanView) -> dict[str, float | None]:
    mptcp = [row for row in transfers if row["protocol"] == "mptcp"]
    if not mptcp:
        return {}
    joins, multipath = known(mptcp, "joins"), is_multipath(mptcp, plan)
    return {
        "joins": float(min(joins)) if joins else None,
        "multipath": None if multipath is None else float(multipath),
    }
