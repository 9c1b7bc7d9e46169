"""Statistics over repetitions and over samples."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean

from mptcplab.metrics.definitions import PERCENTILES

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A figure over repetitions."""

    samples: tuple[float | None, ...]
    """One a repetition, in order; null where the repetition has no such figure."""
    mean: float | None
    """Mean of the samples that are known; null where none is, and of a recovery time where a
    repetition never recovered."""
    ci95: tuple[float, float] | None
    """95 % confidence interval of the mean; null without a mean, below two known samples, and where
    all of them are of one run."""

    @property
    def known(self) -> int:
        """Number of known samples."""
        return sum(sample is not None for sample in self.samples)

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval, as in mean ± half width."""
        return None if self.ci95 is None else (self.ci95[1] - self.ci95[0]) / 2


def estimate(samples: Sequence[float | None], *, are_one_run: bool = False) -> Estimate:
    """Mean and confidence interval of the mean, by Student's t: mean ± t(0.975, n − 1) · s / √n.

    There is none of repetitions that `are_one_run`: the same figure again is no further sample.
    """
    known = [sample for sample in samples if sample is not None]
    if not known:
        return Estimate(tuple(samples), None, None)
    mean = fmean(known)
    if len(known) == 1 or are_one_run:
        return Estimate(tuple(samples), mean, None)
    half = student_t(1 - (1 - CONFIDENCE) / 2, len(known) - 1) * math.sqrt(
        variance(known) / len(known)
    )
    return Estimate(tuple(samples), mean, (mean - half, mean + half))


def difference_of_means(left: Sequence[float], right: Sequence[float]) -> Estimate:
    """Mean of the left less that of the right, and its interval after Welch.

    None below two samples of a side, but where they all are the same: those have no chance in them.
    """
    mean = fmean(left) - fmean(right)
    shares = [
        (variance(side) / len(side), len(side) - 1)
        for side in (left, right)
        if len(side) > 1 and len(set(side)) > 1
    ]
    total = sum(share for share, _ in shares)
    if min(len(left), len(right)) < 2 or not shares:
        return Estimate((), mean, None)
    freedom = total**2 / sum(share**2 / free for share, free in shares)
    half = student_t(1 - (1 - CONFIDENCE) / 2, max(1, int(freedom))) * math.sqrt(total)
    return Estimate((), mean, (mean - half, mean + half))


def variance(values: Sequence[float]) -> float:
    """Variance of two samples or more, by the corrected two-pass algorithm.

    Chan, Golub, LeVeque: Algorithms for Computing the Sample Variance, 1983 (1.7). Nothing of it is
    by fractions, as in Python's `statistics`, which take some fifty times as long.
    """
    mean = fmean(values)
    apart = [value - mean for value in values]
    squares = math.fsum(one * one for one in apart) - math.fsum(apart) ** 2 / len(values)
    return max(squares, 0.0) / (len(values) - 1)


@cache
def student_t(probability: float, freedom: int) -> float:
    """Quantile of Student's t distribution for a probability in [0.5, 1), by bisection."""
    low, high = 0.0, 1.0
    while _student_t_below(high, freedom) < probability:
        high *= 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if _student_t_below(middle, freedom) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _student_t_below(t: float, freedom: int) -> float:
    """P(T ≤ t) for t ≥ 0: Abramowitz and Stegun 26.7.3 (odd) and 26.7.4 (even freedom)."""
    angle = math.atan2(t, math.sqrt(freedom))
    cosine_squared = math.cos(angle) ** 2
    odd = freedom % 2
    term, total = 1.0, 1.0
    for k in range(1 + odd, freedom - 2, 2):
        term *= cosine_squared * k / (k + 1)
        total += term
    if not odd:
        within = math.sin(angle) * total
    elif freedom == 1:
        within = 2 * angle / math.pi
    else:
        within = 2 / math.pi * (angle + math.sin(angle) * math.cos(angle) * total)
    return (1 + within) / 2


def percentile(values: Sequence[float], percent: float) -> float | None:
    """Percentile by linear interpolation between order statistics (Hyndman and Fan, type 7)."""
    if not values:
        return None
    ordered = sorted(values)
    place = (len(ordered) - 1) * percent / 100
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def mean_and_percentiles(name: str, values: Sequence[float]) -> dict[str, float | None]:
    """Mean of times under this name, percentiles as its parts; null where there are no times."""
    ordered = sorted(values)
    figures: dict[str, float | None] = {name: sum(values) / len(values) if values else None}
    return figures | {f"{name}.p{p}": percentile(ordered, p) for p in PERCENTILES}


def jain_index(values: Sequence[float]) -> float | None:
    """Jain's fairness index (Σx)² / (n · Σx²): 1 when all are equal, 1/n when one has all.

    Null for fewer than two values, and when all are zero.
    Jain, Chiu, Hawe: A Quantitative Measure of Fairness, DEC-TR-301, 1984.
    """
    squares = sum(value * value for value in values)
    if len(values) < 2 or squares == 0:
        return None
    return sum(values) ** 2 / (len(values) * squares)


def worst(values: Sequence[float | None]) -> float | None:
    """Largest of the values; null if one is unknown, or if there are none."""
    known = [value for value in values if value is not None]
    return max(known) if known and len(known) == len(values) else None
