"""An explanation in words: sentences, and the cells of its tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mptcplab.explanation.told import Cause, Change, Explanation, Proof, Refused, Remedy
from mptcplab.metrics.statistics import Estimate

PHRASES: Mapping[str, str] = {
    "fallback": "the connection fell back to TCP",
    "join_refused": "a subflow was refused",
    "no_join": "no further subflow was opened",
    "late_subflow": "a subflow joined late",
    "backup": "a path stood by as a backup",
    "send_buffer_too_small": "the send buffer is too small",
    "receive_buffer_too_small": "the receive buffer is too small",
    "head_of_line_blocking": "data of a slow path holds up the rest",
    "loss": "packets are lost by chance",
    "uncoupled_at_shared_bottleneck": "the subflows take more than a flow's share of a queue",
    "bufferbloat": "a long queue stands full",
    "application_limited": "the application offers less than the paths take",
}
"""Name of a cause → what it is."""
_LINK_DOWN = "link_down"
_NOTICEABLE = 0.05
"""Part of the time below which nothing is told."""


def sentences(
    told: Explanation,
    against: str | None = None,
    beside_mbps: float | None = None,
    *,
    is_one_of_many: bool = False,
) -> list[str]:
    """Three of the goodput, the main cause and the best remedy; one of what was not tried.

    `beside_mbps` is the goodput of the variant `against`; `is_one_of_many` where there are other
    repetitions, whose mean is another figure.
    """
    carried = "nothing" if told.goodput_mbps is None else f"{told.goodput_mbps:.3g} Mbit/s"
    first = f"{told.variant} carried {carried}"
    if is_one_of_many:
        first += f" in repetition {told.repetition}"
    if against is not None and beside_mbps is not None:
        first += f", {against} {beside_mbps:.3g} Mbit/s"
    if told.untried is not None:
        return [f"{first}.", f"Nothing was tried: {told.untried.rstrip('.')}."]
    found = [f"{first}.", cause_words(told)]
    if told.remedies:
        found.append(best_words(told.remedies[0]))
    elif told.were_remedies_tried:
        found.append("No single change that was tried helps.")
    found += [proof_words(one) for one in told.proofs]
    if told.unproven is not None:
        found.append(f"Nothing was run on the kernel engine: {told.unproven.rstrip('.')}.")
    return [*found, *refused_words(told.refused)]


def cause_words(told: Explanation) -> str:
    """A sentence of the main cause."""
    if not told.causes:
        return f"Nothing that was looked for costs it 5 % or more{_down_words(told)}."
    worst = told.causes[0]
    where = "" if worst.path is None else f" (path {worst.path})"
    # Of what could not be tried, the rates of unused links alone tell how much it may cost.
    is_weighed = (worst.cost_mbps, worst.cost_s, worst.at_most_mbps) != (None, None, None)
    lead = "The main cause" if is_weighed else "A cause that could not be tried"
    return f"{lead}: {PHRASES[worst.name]}{where}; {worst.evidence[0]}."


def _down_words(told: Explanation) -> str:
    """The time that failed links took of the longest connection: no change gives it back."""
    if not told.connections:
        return ""
    longest = max(told.connections, key=lambda one: one.duration_s)
    down_s = {path: times.get(_LINK_DOWN, 0.0) for path, times in longest.paths.items()}
    failed = [
        f"that of path {path} for {spent_s:.2f} s"
        for path, spent_s in down_s.items()
        if spent_s >= _NOTICEABLE * longest.duration_s > 0
    ]
    return f"; but links were down, {', '.join(failed)}" if failed else ""


def best_words(best: Remedy) -> str:
    """A sentence of the best remedy, by the seeds that ran with it and without."""
    return (
        f"In the simulator, where it carries {best.without_mbps:.3g} Mbit/s on average, "
        f"{change_words(best.change)} makes that {best.goodput.mean:.3g}."
    )


def commands(remedies: Sequence[Remedy]) -> list[str]:
    """The commands of the best remedy, and of the best that a stock kernel can do.

    A comment tells those apart of which the first needs a kernel with patches or modules.
    """
    best = remedies[0].change
    if best.stock_kernel:
        return list(best.settings)
    found = ["# the best; no stock kernel can do it:", *best.settings] if best.settings else []
    of_stock = next((one.change for one in remedies if one.change.stock_kernel), None)
    if of_stock is not None and of_stock.settings:
        # Lines that a terminal would wrap are no comments any more where they are pasted.
        found += ["# the best that a stock kernel can do:", *of_stock.settings]
    return found


def refused_words(refused: Sequence[Refused]) -> list[str]:
    """A sentence of the changes that could not be tried; none where all could."""
    if not refused:
        return []
    changes = "1 change" if len(refused) == 1 else f"{len(refused)} changes"
    reason = refused[0].reason.splitlines()[0].rstrip(".")
    return [f"{changes} could not be tried, the first because: {reason}."]


def change_words(change: Change) -> str:
    """A change as for `--set`."""
    return ", ".join(f"{path}={_value(value)}" for path, value in change.values.items())


def proof_words(proof: Proof) -> str:
    """A sentence of a remedy on the kernel engine."""
    before, after = _with_half(proof.before), _with_half(proof.after)
    return (
        f"On the kernel engine {change_words(proof.change)} makes {before} Mbit/s {after}: "
        f"a gain of {_with_half(proof.gain)}."
    )


def gain_words(remedy: Remedy) -> str:
    """Its gain with half of the interval, Mbit/s."""
    return _with_half(remedy.gain)


def _with_half(of: Estimate) -> str:
    half = of.half_width
    return f"{of.mean:.1f}" if half is None else f"{of.mean:.1f} ± {half:.1f}"


def cost_words(cause: Cause) -> str:
    """Its cost, with the unit."""
    if cause.cost_mbps is not None:
        return f"{cause.cost_mbps:.1f} Mbit/s"
    if cause.cost_s is not None:
        return f"{cause.cost_s:.2f} s"
    return "not tried" if cause.at_most_mbps is None else f"at most {cause.at_most_mbps:.1f} Mbit/s"


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
