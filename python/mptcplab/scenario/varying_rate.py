"""Rate traces that are made by a seed, for links whose rate changes by chance.

The rate is a Gauss-Markov process of the first order, as radio channels are often modelled: every
100 ms

    x ← a·x + √(1 − a²)·g,    a = 1 / (1 + 100 ms / correlation_time),
    rate = mean + deviation·x, kept within 5 % and 195 % of the mean,

where g is drawn from a normal distribution (the sum of twelve uniform values less 6). The rates are
then multiplied by what makes the mean of the whole trace the given one. Only additions,
multiplications, divisions and square roots are used: a trace is the same on every machine.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from itertools import islice

from pydantic import Field, model_validator

from mptcplab.scenario.fields import DurationNs, Model, PositiveTimeNs, RateBps, RefusalError
from mptcplab.scenario.mahimahi import OPPORTUNITY_BYTES

STEP_NS = 100_000_000
_STEP_MS = 100
_OPPORTUNITY_BITS = OPPORTUNITY_BYTES * 8
_LOWEST, _HIGHEST = 0.05, 1.95
_MOST_OPPORTUNITIES = 2_000_000


class VaryingRate(Model):
    """A rate that varies by chance; the trace of it repeats."""

    mean: RateBps = Field(description="Of the whole trace")
    deviation: RateBps = Field(description="Standard deviation, below the mean")
    correlation_time: PositiveTimeNs = Field(
        1_000_000_000, description="In which the rate forgets what it was"
    )
    length: DurationNs = Field(
        20_000_000_000, ge=1_000_000_000, description="After which it repeats; in steps of 100 ms"
    )
    seed: int = Field(1, ge=0, lt=2**64, description="Another number, another trace")

    @model_validator(mode="after")
    def _possible(self) -> VaryingRate:
        if self.deviation >= self.mean:
            raise RefusalError("deviation", "must be below the mean")
        if self.length % STEP_NS:
            raise RefusalError("length", "is a multiple of 100 ms")
        amount = self.mean * self.length // (10**9 * _OPPORTUNITY_BITS)
        if not 1 <= amount <= _MOST_OPPORTUNITIES:
            text = f"{amount} packets in all: a trace has 1 to {_MOST_OPPORTUNITIES}"
            raise RefusalError("length", text)
        return self


def opportunities_ms(rate: VaryingRate) -> list[int]:
    """The trace of a varying rate: times in milliseconds at which 1504 bytes can pass.

    The last one is its length.
    """
    length_ms = rate.length // 1_000_000
    count = rate.mean * length_ms // (1000 * _OPPORTUNITY_BITS)
    rates = list(islice(_rates(rate), length_ms // _STEP_MS))
    scale = count / math.fsum(rates)
    times: list[int] = []
    passed = 0.0
    for step, one in enumerate(rates):
        gained = one * scale
        while len(times) < count - 1 and len(times) + 1 <= passed + gained:
            share = (len(times) + 1 - passed) / gained
            times.append(step * _STEP_MS + min(int(share * _STEP_MS) + 1, _STEP_MS))
        passed += gained
    return [*times, *[length_ms] * (count - len(times))]


def _rates(rate: VaryingRate) -> Iterator[float]:
    """Bits a second in steps of 100 ms, without end."""
    chance = random.Random(rate.seed)
    kept = 1 / (1 + STEP_NS / rate.correlation_time)
    fresh = math.sqrt(1 - kept * kept)
    lowest, highest = _LOWEST * rate.mean, _HIGHEST * rate.mean
    x = _normal(chance)
    while True:
        yield min(max(rate.mean + rate.deviation * x, lowest), highest)
        x = kept * x + fresh * _normal(chance)


def _normal(chance: random.Random) -> float:
    """A value of mean 0 and variance 1: the sum of twelve uniform ones, less 6."""
    return math.fsum(chance.random() for _ in range(12)) - 6
