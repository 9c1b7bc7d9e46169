"""The verdict: whether MPTCP is worth it, in sentences with the figures that carry them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from mptcplab.measure.figures import Figures, SizeFigures, best
from mptcplab.measure.passing_words import passing_sentences
from mptcplab.measure.plan import LONGEST_MS, Direction
from mptcplab.measure.words import digits, listed, shown, size_words
from mptcplab.metrics.statistics import Estimate

LEAST_BENEFIT = 0.1
"""A benefit nearer to 0 than this is none that a user would notice."""
_NOUNS = {Direction.DOWN: "downloads", Direction.UP: "uploads"}
_LINKS = {Direction.DOWN: "downlink", Direction.UP: "uplink"}
_UNEQUAL = 4
"""A path with so many times less goodput than the best one adds little."""
_NEAR_LIMIT = 0.9
"""A goodput beyond this part of the target's limit may be that limit."""


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


def worth_of(size: SizeFigures, limit_mbps: float | None) -> Worth:
    """By its benefit of delay. MPTCP is not worth it where it did not always finish."""
    if _is_limited(size, limit_mbps):
        return Worth.UNKNOWN
    one = worth(size.delay)
    return Worth.UNDECIDED if one is Worth.YES and size.unfinished else one


def _is_limited(size: SizeFigures, limit_mbps: float | None) -> bool:
    every = (*size.path_goodputs, size.mptcp_goodput, size.at_once_goodput)
    known = [one.mean for one in every if one.mean is not None]
    return limit_mbps is not None and max(known, default=0) >= _NEAR_LIMIT * limit_mbps


def verdict(figures: Figures) -> list[str]:
    """Some sentences, one at least."""
    sentences = [*_obstacles(figures), *_other_addresses(figures)]
    if len(figures.paths) > 1:
        for direction in Direction:
            sentences += _direction(figures, direction)
    sentences += passing_sentences([path.interface for path in figures.paths], figures.passing)
    if figures.partial is not None:
        sentences.append(
            f"{figures.partial}. So it ended early: these are the figures up to there."
        )
    return sentences


def _obstacles(figures: Figures) -> list[str]:
    names = [path.interface for path in figures.paths]
    if len(names) == 1:
        only = f"Only {names[0]} reaches the target: there is nothing to add up."
        return [only, *_stripped(figures)]
    told = _stripped(figures)
    has_joined = any(one.join for one in figures.survival)
    is_capable = any(one.capable for one in figures.survival)
    if is_capable and not has_joined and not figures.endpoints:
        told.append(
            "This machine's path manager opens no further subflows, so MPTCP had one path only: "
            f"`ip mptcp endpoint add ADDRESS subflow` for the addresses of {listed(names)} lets "
            "it, and so does this command with CAP_NET_ADMIN, for as long as it lasts."
        )
    elif is_capable:
        told += [
            f"Whether subflows over {path.interface} join is not known: {one.unknown}."
            for path, one in zip(figures.paths, figures.survival, strict=True)
            if one.capable is not False and one.unknown is not None
        ]
    return told


def _other_addresses(figures: Figures) -> list[str]:
    if not figures.other_addresses:
        return []
    names = listed([path.interface for path in figures.paths])
    addresses = listed(sorted(figures.other_addresses))
    return [
        f"MPTCP had subflows from {addresses}, which is not to be measured: "
        f"this host has endpoints beside those of {names}. `ip mptcp endpoint delete` takes them "
        "away; with CAP_NET_ADMIN they are left out for as long as it lasts."
    ]


def _stripped(figures: Figures) -> list[str]:
    told = []
    for path, one in zip(figures.paths, figures.survival, strict=True):
        if one.capable is False:
            told.append(
                f"MPTCP does not survive on {path.interface}: {listed(one.stripped)} "
                f"{'does' if len(one.stripped) == 1 else 'do'} not come through, and connections "
                "that begin there are TCP."
            )
        elif one.join is False:
            told.append(f"No subflow over {path.interface} joins: MP_JOIN does not come through.")
        elif one.stripped:
            told.append(f"{path.interface} takes out options: {listed(one.stripped)}.")
    return told


def _direction(figures: Figures, direction: Direction) -> list[str]:
    noun = _NOUNS[direction]
    limit = figures.rate_limit_mbps
    sizes = figures.sizes[direction]
    judged = [worth_of(size, limit) for size in sizes]
    told = []
    if judged and judged[-1] is Worth.UNKNOWN:
        size = size_words(sizes[-1].size_bytes)
        told.append(f"No verdict on {noun} of {size}: {_reason(sizes[-1], limit)}.")
    while judged and judged[-1] is Worth.UNKNOWN:
        judged.pop()
    if judged:
        told.append(_judgement(figures, direction, sizes[: len(judged)], judged))
    for one in sizes:
        told += _failures(figures, noun, one)
    return told


def _reason(size: SizeFigures, limit_mbps: float | None) -> str:
    """The reason for which nothing is known."""
    if limit_mbps is not None and _is_limited(size, limit_mbps):
        return f"the target limits them to {digits(limit_mbps, 3)} Mbit/s"
    if not size.tried:
        return "it ended before MPTCP was tried"
    if size.fell_back == size.tried:
        return "MPTCP fell back to TCP"
    if size.fell_back + size.on_other_paths == size.tried:
        return "MPTCP was on other paths, too"
    if size.mptcp_time.mean is None and all(one.mean is None for one in size.path_times):
        return f"none finished within {LONGEST_MS // 1_000} s"
    return "no repetition has figures of MPTCP and of all paths"


def _judgement(
    figures: Figures,
    direction: Direction,
    sizes: Sequence[SizeFigures],
    judged: Sequence[Worth],
) -> str:
    """Of the largest size, and of the smaller ones beside it."""
    noun = _NOUNS[direction]
    largest = sizes[-1]
    words = size_words(largest.size_bytes)
    beside = _beside(figures, largest)
    is_one = largest.delay.ci95 is None
    if is_one:
        beside = f"one sample, no interval: {beside}"
    if judged[-1] is Worth.YES:
        first = len(judged)
        while first > 0 and judged[first - 1] is Worth.YES:
            first -= 1
        if first < len(judged) - 1:
            words = f"{size_words(sizes[first].size_bytes)} to {words}"
        text = f"MPTCP {'was faster' if is_one else 'is worth it'} for {noun} of {words}: {beside}"
        if first > 0:
            smaller = size_words(sizes[first - 1].size_bytes)
            text += f"; {_SMALLER[judged[first - 1]]} for those of {smaller}"
        return text + "."
    if judged[-1] is Worth.NO:
        verb = "made" if is_one else "makes"
        text = f"MPTCP {verb} {noun} of {words} slower: {beside}"
        return text + _culprit(figures, direction, largest) + "."
    text = f"For {noun} of {words} MPTCP makes no clear difference: {beside}"
    if Worth.NO in judged[:-1]:
        text += "; smaller ones are slower with it"
    return text + "."


_SMALLER = {Worth.NO: "not", Worth.UNDECIDED: "unclear", Worth.UNKNOWN: "not known"}


def _failures(figures: Figures, noun: str, size: SizeFigures) -> list[str]:
    words = size_words(size.size_bytes)
    told = []
    if size.unfinished:
        told.append(f"{size.unfinished} of {size.tried} did not finish")
    if size.fell_back:
        told.append(f"{size.fell_back} of {size.tried} fell back to TCP and are not counted")
    if size.on_other_paths:
        told.append(
            f"{size.on_other_paths} of {size.tried} were on other paths, too, and are not counted"
        )
    sentences = [f"Of the {noun} of {words} by MPTCP {' and '.join(told)}."] if told else []
    for path, unfinished in zip(figures.paths, size.path_unfinished, strict=True):
        if unfinished:
            sentences.append(
                f"Of the {noun} of {words} by TCP over {path.interface} {unfinished} did not "
                f"finish within {LONGEST_MS // 1_000} s."
            )
    return sentences


def _beside(figures: Figures, size: SizeFigures) -> str:
    """MPTCP's goodput beside that of the best path."""
    number = best(size.path_goodputs)
    name = "?" if number is None else figures.paths[number].interface
    other = None if number is None else size.path_goodputs[number]
    known = [one.subflows for one in size.mptcp if one is not None and one.subflows is not None]
    alone = " over one subflow" if known and max(known) == 1 else ""
    return (
        f"{shown(size.mptcp_goodput)} Mbit/s{alone}, TCP over {name} alone {shown(other)} "
        f"(delay benefit {shown(size.delay)})"
    )


def _culprit(figures: Figures, direction: Direction, size: SizeFigures) -> str:
    """The path that MPTCP cannot use, or that is too slow beside the best one and carried some."""
    number = best(size.path_goodputs)
    slow = best(size.path_goodputs, least=True)
    if number is None or slow is None:
        return ""
    of_best = figures.survival[number]
    carried = size.path_bytes
    if not carried[number] and (of_best.capable is False or of_best.join is False):
        return f"; MPTCP cannot use {figures.paths[number].interface}"
    fast_mean, slow_mean = size.path_goodputs[number].mean, size.path_goodputs[slow].mean
    if not fast_mean or slow_mean is None or slow_mean * _UNEQUAL > fast_mean or not carried[slow]:
        return ""
    name = figures.paths[slow].interface
    speed = digits(slow_mean, 3)
    return f"; the {_LINKS[direction]} of {name} has {speed} Mbit/s: use {name} as backup"
