"""The switches' controller in a run: the path of each subflow, its decisions, the load of links."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from mptcplab.metrics.comparison import VariantMetrics
from mptcplab.metrics.plan_view import PlanView
from mptcplab.page.charts import NamedChart
from mptcplab.page.templates import anchor
from mptcplab.recording import Recording
from mptcplab.report.chosen import representative
from mptcplab.report.control_charts import control_charts
from mptcplab.report.decisions import Decision
from mptcplab.report.flow_entries import FlowEntries, flow_entries
from mptcplab.report.text import printable

KIND = "controller"
"""The kind of a decision in the table of events."""
MOST_DECISIONS = 400
"""More are left to the table of events."""


@dataclass(frozen=True)
class LinkLoad:
    """A direction of a link over the whole run."""

    link: str
    sender: str
    receiver: str
    rate_mbps: float | None
    """At the end of the run; null where it is not limited."""
    mean_mbps: float

    @property
    def share_percent(self) -> float | None:
        """The mean of the rate; null without a rate."""
        return 100 * self.mean_mbps / self.rate_mbps if self.rate_mbps else None


@dataclass(frozen=True)
class ControlAccount:
    """The work of the controller in one run."""

    variant: str
    repetition: int
    controller: str
    """Its policy, its command or its address."""
    words: tuple[tuple[str, int], ...]
    """Decisions about subflows, and how often each was made, the most frequent first."""
    decisions: tuple[Decision, ...]
    left_out: int
    """Decisions that are not there."""
    charts: tuple[NamedChart, ...]
    loads: tuple[LinkLoad, ...]
    flow_entries: FlowEntries


def control_accounts(variants: Sequence[VariantMetrics], section: str) -> list[ControlAccount]:
    """The accounts of the variants' representative runs, of those that had a controller.

    Identifiers of what they show in a page begin with that of their section.

    Raises:
        RecordingError: a table is damaged.

    """
    return [account for variant in variants if (account := _account(variant, section)) is not None]


def _account(variant: VariantMetrics, section: str) -> ControlAccount | None:
    run = representative(variant)
    if run is None:
        return None
    recording = run.recording
    controller = PlanView(recording).controller
    if controller is None:
        return None
    rows = recording.frame("events").filter(kind=KIND).sort("t_ns", maintain_order=True)
    name = anchor(section, "controller", variant.name)
    connections = dict(_connections(recording))
    decisions = [
        Decision(
            id=f"{name}-decision-{number}" if number <= MOST_DECISIONS else "",
            time_s=row["t_ns"] / 1e9,
            connection=connections.get(row["subject"], ""),
            subject=printable(row["subject"]),
            words=printable(row["label"]),
        )
        for number, row in enumerate(rows.iter_rows(named=True), start=1)
    ]
    counted = Counter(one.words for one in decisions if "-" in one.subject)
    return ControlAccount(
        variant=variant.name,
        repetition=recording.manifest.repetition,
        controller=controller,
        words=tuple(counted.most_common()),
        decisions=tuple(decisions[:MOST_DECISIONS]),
        left_out=max(0, len(decisions) - MOST_DECISIONS),
        charts=tuple(control_charts(recording, decisions, name)),
        loads=tuple(_loads(recording)),
        flow_entries=flow_entries(recording),
    )


def _connections(recording: Recording) -> Iterator[tuple[str, str]]:
    """The transfer of each subflow: by its token, and of its first subflow by its addresses."""
    samples = recording.frame("subflow_samples").select("node", "token", "subflow").unique()
    by_token: dict[tuple[str, int], list[str]] = {}
    for node, token, subflow in samples.iter_rows():
        if token is not None:
            by_token.setdefault((node, token), []).append(subflow)
    for row in recording.frame("transfers").iter_rows(named=True):
        name = f"{row['traffic']} {row['index']}"
        for subflow in by_token.get((row["client"], row["token"]), []):
            yield subflow, name
        if row["source"] is not None:
            yield f"{row['source']}-{row['target']}", name


def _loads(recording: Recording) -> Iterator[LinkLoad]:
    """The load of each direction of each link that carried something."""
    keys = ["link", "from", "to"]
    samples = recording.frame("link_samples").sort("t_ns", maintain_order=True)
    of_run = [
        (pl.col(name).last() - pl.col(name).first()).alias(name)
        for name in ("t_ns", "delivered_bytes")
    ]
    loads = samples.group_by(keys).agg(pl.col("rate_bps").last(), *of_run).sort(keys)
    loads = loads.filter(pl.col("t_ns") > 0, pl.col("delivered_bytes") > 0)
    for row in loads.iter_rows(named=True):
        yield LinkLoad(
            link=row["link"],
            sender=row["from"],
            receiver=row["to"],
            rate_mbps=None if row["rate_bps"] is None else row["rate_bps"] / 1e6,
            mean_mbps=8e3 * row["delivered_bytes"] / row["t_ns"],
        )
