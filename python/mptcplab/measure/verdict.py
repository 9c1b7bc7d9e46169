"""The verdict: whether MPTCP is worth it, in sentences with the figures that carry them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from mptcplab.measure.figures import Figures, SizeFigures, best
from mptcplab.measure.plan import Direction
from mptcplab.metrics.statistics import Estimate

LEAST_BENEFIT = 0.1
"""A benefit nearer to 0 than this is none that a user would notice."""
_NOUNS = {Direction.DOWN: "downloads", Direction.UP: "uploads"}
_LINKS = {Direction.DOWN: "downlink", Direction.UP: "uplink"}
_UNEQUAL = 4
"""A path with so many times less goodput than the best one adds little."""


class Worth(StrEnum):
    """Meaning of a benefit."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "undecided"
    """No difference, or none that chance does not explain."""
    UNKNOWN = "unknown"


def worth(benefit: Estimate) -> Worth:
    """By the mean, and by its interval where there is one."""
    if benefit.mean is None:
        return Worth.UNKNOWN
    low, high = benefit.ci95 or (benefit.mean, benefit.mean)
    if benefit.mean >= LEAST_BENEFIT and low > 0:
        return Worth.YES
    if benefit.mean <= -LEAST_BENEFIT and high < 0:
        return Worth.NO
    return Worth.UNDECIDED


def verdict(figures: Figures) -> list[str]:
    """About three sentences."""
    sentences = _obstacles(figures)
    if len(figures.paths) > 1:
        for direction in Direction:
            sentences += _direction(figures, direction)
    if figures.is_partial:
        sentences.append("It was stopped before its end: these are the figures up to there.")
    return sentences


def _obstacles(figures: Figures) -> list[str]:
    names = [path.interface for path in figures.paths]
    if len(names) == 1:
        only = f"Only {names[0]} reaches the target: there is nothing to add up."
        return [only, *_stripped(figures)]
    told = _stripped(figures)
    has_joined = any(one.join for one in figures.survival)
    if not has_joined and not figures.endpoints and any(one.capable for one in figures.survival):
        told.append(
            "This machine's path manager opens no further subflows, so MPTCP had one path only: "
            f"`ip mptcp endpoint add ADDRESS subflow` for the addresses of {_listed(names)} lets "
            "it, and so does this command with CAP_NET_ADMIN, for as long as it lasts."
        )
    return told


def _stripped(figures: Figures) -> list[str]:
    told = []
    for path, one in zip(figures.paths, figures.survival, strict=True):
        if one.capable is False:
            told.append(
                f"MPTCP does not survive on {path.interface}: {_listed(one.stripped)} "
                f"{'does' if len(one.stripped) == 1 else 'do'} not come through, and connections "
                "that begin there are TCP."
            )
        elif one.join is False:
            told.append(f"No subflow over {path.interface} joins: MP_JOIN does not come through.")
        elif one.stripped:
            told.append(f"{path.interface} takes out options: {_listed(one.stripped)}.")
    return told


def _direction(figures: Figures, direction: Direction) -> list[str]:
    noun = _NOUNS[direction]
    sizes = figures.sizes[direction]
    judged = [worth(size.delay) for size in sizes]
    if not judged or judged[-1] is Worth.UNKNOWN:
        return []
    largest = sizes[-1]
    beside = _beside(figures, largest)
    if judged[-1] is Worth.YES:
        first = len(judged)
        while first > 0 and judged[first - 1] is Worth.YES:
            first -= 1
        least = size_words(sizes[first].size_bytes)
        text = f"MPTCP is worth it for {noun} of {least} and more: {beside}"
        if first > 0:
            text += f"; not for those of {size_words(sizes[first - 1].size_bytes)}"
        return [text + "."]
    if judged[-1] is Worth.NO:
        text = f"MPTCP makes {noun} of {size_words(largest.size_bytes)} slower: {beside}"
        return [text + _culprit(figures, direction, largest) + "."]
    smaller = [one for one, size in zip(judged, sizes, strict=True) if size is not largest]
    text = f"For {noun} of {size_words(largest.size_bytes)} MPTCP makes no clear difference: "
    if Worth.NO in smaller:
        beside += "; smaller ones are slower with it"
    return [text + beside + "."]


def _beside(figures: Figures, size: SizeFigures) -> str:
    """MPTCP's goodput beside that of the best path."""
    number = best(size.path_goodputs)
    name = "?" if number is None else figures.paths[number].interface
    other = None if number is None else size.path_goodputs[number]
    return (
        f"{_figure(size.mptcp_goodput)} Mbit/s, TCP over {name} alone {_figure(other)} "
        f"(delay benefit {_figure(size.delay)})"
    )


def _culprit(figures: Figures, direction: Direction, size: SizeFigures) -> str:
    """The path that MPTCP cannot use, or that is too slow beside the best one."""
    number = best(size.path_goodputs)
    slow = best(size.path_goodputs, least=True)
    if number is None or slow is None:
        return ""
    of_best = figures.survival[number]
    if of_best.capable is False or of_best.join is False:
        return f"; MPTCP cannot use {figures.paths[number].interface}"
    fast_mean, slow_mean = size.path_goodputs[number].mean, size.path_goodputs[slow].mean
    if not fast_mean or slow_mean is None or slow_mean * _UNEQUAL > fast_mean:
        return ""
    name = figures.paths[slow].interface
    return f"; the {_LINKS[direction]} of {name} has {slow_mean:.3g} Mbit/s: use {name} as backup"


def _figure(one: Estimate | None) -> str:
    if one is None or one.mean is None:
        return "–"
    half = one.half_width
    text = f"{one.mean:.3g}" if half is None else f"{one.mean:.3g} ± {half:.2g}"
    return text.replace("-", "−")


def size_words(size_bytes: int) -> str:
    """`300 kB`."""
    for factor, unit in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size_bytes >= factor:
            return f"{size_bytes / factor:.3g} {unit}"
    return f"{size_bytes} B"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + f" and {names[-1]}"
