"""Smoothed round-trip times of subflows, as their senders see them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from mptcplab.metrics.plan_view import PlanView
from mptcplab.metrics.rows import Row, grouped
from mptcplab.metrics.statistics import mean_and_percentiles
from mptcplab.recording import Recording

OPEN = ("ESTABLISHED", "CLOSE-WAIT")
"""States in which an end has not closed its side."""
_COLUMNS = ("t_ns", "node", "subflow", "state", "rtt_us", "bytes_acked")


@dataclass(frozen=True)
class SubflowSamples:
    """The samples of a subflow's sending end, in the order of time, up to its end."""

    subflow: str
    interface: str | None
    """The client's; null where it is not known."""
    rows: Sequence[Row]
    """With `t_ns`, `rtt_us`, `bytes_acked`."""


def round_trip_figures(
    transfers: Sequence[Row], recording: Recording, plan: PlanView
) -> dict[str, float | None]:
    """Mean and percentiles in seconds: of all subflows, and of those over each client interface.

    Of the samples in which the sender had got an acknowledgement of payload; empty without any.
    """
    every: list[float] = []
    by_interface: dict[str, list[float]] = {}
    for own in round_trip_samples(transfers, recording, plan):
        times = [row["rtt_us"] / 1e6 for row in own.rows]
        every += times
        if own.interface is not None:
            by_interface.setdefault(own.interface, []).extend(times)
    figures = mean_and_percentiles("rtt_s", every) if every else {}
    for interface, times in by_interface.items():
        figures |= mean_and_percentiles(f"rtt_s.{interface}", times)
    return figures


def round_trip_samples(
    transfers: Sequence[Row], recording: Recording, plan: PlanView
) -> Sequence[SubflowSamples]:
    """The samples of the sending ends, each subflow by itself."""
    clients, senders = {row["client"] for row in transfers}, senders_of(transfers)
    samples = [
        row
        for row in recording.rows("subflow_samples", _COLUMNS)
        if row["node"] in senders and (row["rtt_us"] or 0) > 0 and (row["bytes_acked"] or 0) > 1
    ]
    samples.sort(key=lambda row: row["t_ns"])
    return [
        SubflowSamples(subflow, _client_interface(subflow, clients, plan), _until_its_end(rows))
        for (subflow,), rows in grouped(samples, "subflow").items()
    ]


def senders_of(transfers: Sequence[Row]) -> set[str]:
    """The nodes that send the payload of these transfers."""
    return {row["server"] if row["way"] == "down" else row["client"] for row in transfers}


def _until_its_end(rows: Sequence[Row]) -> Sequence[Row]:
    """The samples of a subflow up to its end, rows by time.

    The kernel keeps a subflow that was closed for as long as its FIN is not acknowledged, and its
    last round-trip time with it. A subflow ends with its last sample in which it was open, or,
    closing, had more of its data acknowledged than a sample before.
    """
    for place in range(1, len(rows)):
        row = rows[place]
        is_open = row["state"] is None or row["state"] in OPEN
        if not is_open and row["bytes_acked"] <= rows[place - 1]["bytes_acked"]:
            return rows[:place]
    return rows


def _client_interface(subflow: str, clients: Collection[str], plan: PlanView) -> str | None:
    for end in subflow.split("-"):
        address = end.rpartition(":")[0].strip("[]")
        node, interface = plan.interface_of_address.get(address, (None, None))
        if node in clients:
            return interface
    return None
