"""Whether the goodput of a run had come to a steady state (ours; ``docs/metrics.md`` defines it).

The last third is divided into ten batches, whose means are nearly independent of each other where
single deliveries are not (Schmeiser, Batch Size Effects in the Analysis of Simulation Output,
Operations Research 30(3), 1982, recommends ten to thirty).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mptcplab.metrics.deliveries import BIN_NS, Numbers, delivered_until, delivery_bins
from mptcplab.metrics.plan_view import PlanView
from mptcplab.metrics.rows import Row
from mptcplab.metrics.statistics import student_t
from mptcplab.metrics.transfers import together_ns
from mptcplab.recording import Recording

LAST = 3
"""The last part of the time that is looked at: a third."""
BATCHES = 10
LEAST = 0.1
"""From what part of the goodput on a difference is told of."""
SHORTEST = 0.5
"""All transfers have to be going on together for this part of the time of any."""


@dataclass(frozen=True)
class Steadiness:
    """The goodput of the last third of the time in which all transfers were going on."""

    trend: float
    """Change over the last third as a line tells it, part of the mean there; 0 if by chance."""
    lead: float
    """(mean of the last third − mean of the whole time) / mean of the whole time."""

    @property
    def is_steady(self) -> bool:
        """Whether the goodput neither changed in the last third nor had been another before."""
        return not (self.has_trend or self.has_lead)

    @property
    def has_trend(self) -> bool:
        """Whether the goodput changed in the last third."""
        return abs(self.trend) >= LEAST

    @property
    def has_lead(self) -> bool:
        """Whether the goodput of the last third is another than that of the whole time."""
        return abs(self.lead) >= LEAST

    @property
    def reason(self) -> str:
        """Why it is not steady, in words."""
        reasons = []
        if self.has_trend:
            verb = "grew" if self.trend > 0 else "fell"
            part = f"{abs(self.trend):.0%}"
            reasons.append(f"over the last third the goodput {verb} by {part} of its mean")
        if self.has_lead:
            side = "more" if self.lead > 0 else "less"
            reasons.append(f"the last third carried {abs(self.lead):.0%} {side} than a mean third")
        return "; ".join(reasons).replace("%", " %")


def steadiness(transfers: Sequence[Row], recording: Recording, plan: PlanView) -> Steadiness | None:
    """How steady the goodput of transfers with a duration was; null where it is not judged.

    That is so where a transfer has a size or failed, where the network changed in the meantime or
    a link follows a trace, and where the transfers were hardly going on together.
    """
    span = _span(transfers, plan)
    if span is None:
        return None
    start_ns, end_ns = span
    edges = np.linspace(end_ns - (end_ns - start_ns) / LAST, end_ns, BATCHES + 1)
    if edges[1] - edges[0] < BIN_NS:
        return None
    times_ns = np.concatenate(([start_ns], edges))
    carried = delivered_until(delivery_bins(recording), transfers, times_ns)
    return judged(np.diff(carried[1:]), float(carried[-1] - carried[0]))


def judged(batches: Numbers, whole: float) -> Steadiness | None:
    """The verdict on the payload of the batches of the last third, and ``whole``, on that of all.

    The trend is that of the least-squares line, and counts where its slope is other than 0 by
    Student's t (95 %, two-sided). Null where nothing was carried.
    """
    mean = float(batches.mean())
    if mean <= 0:
        return None
    places = np.arange(len(batches)) - (len(batches) - 1) / 2
    slope = float((places * batches).sum() / (places**2).sum())
    rest = float(((batches - mean - slope * places) ** 2).sum())
    error = math.sqrt(rest / (len(batches) - 2) / float((places**2).sum()))
    is_trend = abs(slope) > student_t(0.975, len(batches) - 2) * error
    return Steadiness(
        trend=slope * len(batches) / mean if is_trend else 0.0,
        lead=LAST * mean * len(batches) / whole - 1,
    )


def _span(transfers: Sequence[Row], plan: PlanView) -> tuple[int, int] | None:
    """The time in which all transfers were going on, where it can be judged."""
    together = together_ns(transfers)
    if together is None or plan.follows_traces:
        return None
    first_ns = min(row["start_ns"] for row in transfers)
    last_ns = max(row["until_ns"] for row in transfers)
    if together[1] - together[0] < SHORTEST * (last_ns - first_ns):
        return None
    if any(first_ns < change.at_ns < last_ns for change in plan.changes):
        return None
    return together
