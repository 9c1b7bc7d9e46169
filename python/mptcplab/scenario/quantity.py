"""Figures of any kind, in the units of the metrics: Mbit/s, seconds, bytes, fractions of 1."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from mptcplab.scenario.units import (
    UnitError,
    likely_quantity,
    parse_probability,
    parse_rate,
    parse_size,
    parse_time,
)


@dataclass(frozen=True)
class Quantity:
    """A number in the unit of the metrics."""

    value: float
    unit: Literal["", "Mbit/s", "s", "B"]


def parse_quantity(value: object) -> Quantity:
    """Reads a figure: a bare number, `146 Mbit/s`, `15 s`, `5 MB` or `20 %`."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Quantity(float(value), "")
    if isinstance(value, str):
        text = value.strip()
        if text.endswith("%"):
            return Quantity(parse_probability(text), "")
        if re.search(r"bit/s$", text):
            return Quantity(parse_rate(text) / 10**6, "Mbit/s")
        if re.search(r"[0-9 ](ns|us|µs|μs|ms|s|min)$", text):
            return Quantity(parse_time(text) / 10**9, "s")
        if re.search(r"[0-9 ][kMG]?i?B$", text):
            return Quantity(float(parse_size(text)), "B")
        meant = likely_quantity(text)
        if meant is not None:
            raise UnitError(f'did you mean "{meant}"?')
    raise UnitError('is no figure: write it like "146 Mbit/s", "15 s", "20 %" or 0.9')
