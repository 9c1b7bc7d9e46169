"""A scenario fitted to measured paths in words and tables."""

from __future__ import annotations

from mptcplab.explanation import Remedy
from mptcplab.explanation.words import (
    PHRASES,
    best_words,
    cause_words,
    change_words,
    cost_words,
    gain_words,
    refused_words,
)
from mptcplab.fit.measured import MeasuredFit
from mptcplab.measure.plan import Direction
from mptcplab.measure.render import Table, Why
from mptcplab.measure.words import size_words

_GOOD = 0.25
"""Deviation of the goodput of MPTCP up to which a scenario fits well. Real ones vary by as much."""
_ROWS = 5
"""Changes in the tables; --json has all."""
_NOUNS = {Direction.DOWN: "Downloads", Direction.UP: "Uploads"}


def why(of: MeasuredFit) -> Why:
    """The section of a page and of the terminal."""
    best = _best(of)
    settings = () if best is None else best.change.settings
    tables = [*_causes(of), *_changes(of), _links(of)]
    return Why(tuple(_sentences(of)), tuple(tables), tuple(settings))


def untold(reason: str) -> Why:
    """The section where nothing can be explained."""
    return Why((f"Nothing was explained: {reason.rstrip('.')}.",))


def _sentences(of: MeasuredFit) -> list[str]:
    told, mptcp = of.told, of.beside[0]
    fits = "fits" if abs(mptcp.part) <= _GOOD else "does not fit well"
    found = [
        f"{_NOUNS[of.direction]} of {size_words(of.size_bytes)}: a scenario fitted to TCP over "
        f"each path {fits}: by MPTCP it carries {mptcp.simulated:.3g} Mbit/s, where "
        f"{mptcp.real:.3g} were measured ({100 * mptcp.part:+.0f} %).".replace("-", "−")
    ]
    if of.shared_mbps is not None:
        found.append(
            "TCP over all paths at once carries less than their sum: they share a link of "
            f"{of.shared_mbps:.3g} Mbit/s."
        )
    if told.untried is not None:
        return [*found, f"Nothing was tried: {told.untried.rstrip('.')}."]
    found.append(cause_words(told))
    best = _best(of)
    if best is not None:
        found.append(best_words(best))
    elif told.were_remedies_tried:
        found.append("No single change that was tried helps.")
    return [*found, *refused_words(told.refused)]


def _best(of: MeasuredFit) -> Remedy | None:
    """The change that gains most of those that these hosts can make as they are."""
    remedies = of.told.remedies
    stock = (one for one in remedies if one.change.stock_kernel)
    return next(stock, remedies[0] if remedies else None)


def _links(of: MeasuredFit) -> Table:
    rows = [
        (
            one.interface,
            f"{one.rate_mbps:.3g}",
            f"{one.delay_ms:.3g}",
            "–" if one.queue_bytes is None else f"{one.queue_bytes / 1e3:.0f}",
        )
        for one in of.links
    ]
    note = (
        "The rate is that over which TCP alone takes as long as was measured: of a path that loses "
        "packets it is what it lets through. Buffers are those of hosts that were not tuned."
    )
    return Table(
        "The fitted paths",
        ("path", "rate Mbit/s", "delay one way ms", "queue kB"),
        tuple(rows),
        note,
    )


def _causes(of: MeasuredFit) -> list[Table]:
    rows = [
        (PHRASES[one.name], one.path or "–", cost_words(one), "; ".join(one.evidence))
        for one in of.told.causes
    ]
    note = "The cost is what goes more in the simulator without the cause alone."
    head = ("cause", "path", "cost", "evidence")
    return [Table("Causes", head, tuple(rows), note, words=(0, 1, 3))] if rows else []


def _changes(of: MeasuredFit) -> list[Table]:
    rows = [
        (
            change_words(one.change),
            f"{one.goodput.mean:.1f}",
            gain_words(one),
            "yes" if one.change.stock_kernel else "no",
        )
        for one in of.told.remedies[:_ROWS]
    ]
    note = (
        "Tried in the simulator; `client` is this host and `server` the target. A stock kernel is "
        "one without patches and further modules."
    )
    head = ("change", "goodput Mbit/s", "gain Mbit/s", "stock kernel")
    return (
        [Table("Single changes that help", head, tuple(rows), note, words=(0, 3))] if rows else []
    )
