"""The figures of each flow, where a scenario has several."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mptcplab.metrics import VariantMetrics
from mptcplab.metrics.plan_view import PlanView
from mptcplab.report.numbers import heading

_SHOWN = (("goodput", ""), ("completion_s", ""), ("latency_s", ".p50"), ("latency_s", ".p99"))
"""Metrics that flows have, each with the part of it that is shown."""


@dataclass(frozen=True)
class FlowTable:
    """A metric of every flow that has it."""

    title: str
    metrics: tuple[tuple[str, str], ...]
    """A flow's name and the full name of its metric, in the order of the scenario."""


def flow_tables(variants: Sequence[VariantMetrics]) -> tuple[FlowTable, ...]:
    """The tables of the metrics that several flows have.

    The goodput is left out of flows that have a completion time, and where it is that of the
    clients, which have a table of their own.
    """
    flows = list(dict.fromkeys(name for variant in variants for name in _flows(variant)))
    clients = {path.client for variant in variants for path in variant.paths}
    tables = []
    for name, part in _SHOWN:
        full = [(flow, f"{name}.{flow}{part}") for flow in flows]
        metrics = [one for one in full if with_any(variants, [one])]
        if name == "goodput":
            metrics = [
                (flow, metric)
                for flow, metric in metrics
                if not with_any(variants, [(flow, f"completion_s.{flow}")])
            ]
        if len(metrics) > (max(1, len(clients)) if name == "goodput" else 1):
            title, unit = heading(f"{name}{part}")
            tables.append(FlowTable(f"{title} by flow, {unit}", tuple(metrics)))
    return tuple(tables)


def named(metric: str, parts: Iterable[str]) -> list[tuple[str, str]]:
    """Each part beside the full name of the metric with it."""
    return [(part, f"{metric}.{part}") for part in parts]


def with_any(
    variants: Iterable[VariantMetrics], metrics: Sequence[tuple[str, str]]
) -> list[VariantMetrics]:
    """The variants that have any of the named metrics."""
    return [one for one in variants if any(metric in one.metrics for _, metric in metrics)]


def own_client(variant: VariantMetrics) -> str | None:
    """The one client with flows of MPTCP, beside others whose flows have TCP in every variant.

    Null where all clients have MPTCP, or several.
    """
    if variant.protocol != "mptcp" or not variant.runs:
        return None
    clients = PlanView(variant.runs[0].recording).clients
    own = {client for client, protocol in clients if protocol == "mptcp"}
    others = {client for client, _ in clients} - own
    return own.pop() if len(own) == 1 and others else None


def _flows(variant: VariantMetrics) -> Sequence[str]:
    return PlanView(variant.runs[0].recording).flows if variant.runs else ()
