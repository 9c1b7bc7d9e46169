"""Random values of a sweep: named distributions, drawn by a seed.

A draw depends on the seed, its number and its path alone: other paths and a larger count leave it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from functools import cached_property
from statistics import NormalDist
from typing import Any

from pydantic import Field, model_validator

from mptcplab.scenario.fields import Model
from mptcplab.scenario.spacing import between, scale_of


class Ends(Model):
    """Both ends of an interval."""

    low: Any = Field(alias="from")
    high: Any = Field(alias="to")


class Normal(Model):
    """A normal distribution without its part below 0."""

    mean: Any
    deviation: Any = Field(description="The standard deviation, in the unit of the mean")


class Exponential(Model):
    """An exponential distribution."""

    mean: Any


class Distribution(Model):
    """A distribution by its name."""

    uniform: Ends | None = Field(None, description="Equally likely between two ends")
    log_uniform: Ends | None = Field(
        None,
        alias="log-uniform",
        description="The logarithm is equally likely between those of two ends",
    )
    normal: Normal | None = None
    exponential: Exponential | None = None
    choice: list[Any] | None = Field(
        None, min_length=1, description="One of these, each equally likely"
    )

    @model_validator(mode="after")
    def _one(self) -> Distribution:
        names = ("uniform", "log_uniform", "normal", "exponential", "choice")
        if sum(getattr(self, name) is not None for name in names) != 1:
            raise ValueError(
                "a distribution is one of uniform, log-uniform, normal, exponential and choice"
            )
        self.quantile(0.25)
        return self

    @cached_property
    def quantile(self) -> Callable[[float], Any]:
        """Gives the value below which a share of all draws is; the share is above 0 and below 1.

        Raises:
            ValueError: the parameters fit no distribution.

        """
        if self.choice is not None:
            values = self.choice
            return lambda share: values[int(share * len(values))]
        if self.normal is not None:
            return _normal(self.normal)
        if self.exponential is not None:
            scale = scale_of(self.exponential.mean)
            mean = scale.position(self.exponential.mean)
            return lambda share: scale.value(-math.log1p(-share) * mean)
        ends = self.uniform or self.log_uniform
        assert ends is not None
        return between(ends.low, ends.high, is_log=self.uniform is None)


def drawn_share(seed: int, number: int, path: str) -> float:
    """A number above 0 and below 1, uniform; `number` is the draw's, from 1."""
    digest = hashlib.sha256(f"{path}/{seed}/{number}".encode()).digest()
    return (int.from_bytes(digest[:6]) + 0.5) / 2**48


def _normal(of: Normal) -> Callable[[float], Any]:
    scale = scale_of(of.mean, of.deviation)
    deviation = scale.position(of.deviation)
    if deviation <= 0:
        raise ValueError("the standard deviation of a normal distribution is above 0")
    whole = NormalDist(scale.position(of.mean), deviation)
    below = whole.cdf(0.0)

    def value(share: float) -> Any:
        return scale.value(max(0.0, whole.inv_cdf(min(below + share * (1 - below), 1 - 1e-15))))

    return value
