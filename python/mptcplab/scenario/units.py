"""Quantities as people write them (`48 Mbit/s`, `12 ms`), parsed once into integers.

Rates become bits a second, times nanoseconds, sizes bytes; probabilities become fractions of 1.
Every parser raises `UnitError` with the hint in its text.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext

from mptcplab.scenario.problem import did_you_mean

_LARGEST = 2**63 - 1
# Digits and exponent are bounded so that no input makes an enormous integer.
_NUMBER = r"(?P<number>[+-]?(?:\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(?:[eE][+-]?\d{1,2})?)"
_QUANTITY = re.compile(_NUMBER + r"\s*(?P<unit>[^\s\d.].*)?")
_DECIMAL_COMMA = re.compile(r"([+-]?\d+),(\d+)\b(.*)")


class UnitError(ValueError):
    """A quantity that cannot be read; the text says how to write it."""


class TooLargeError(UnitError):
    """A quantity beyond 63 bits."""


@dataclass(frozen=True)
class Dimension:
    """A kind of quantity and its units."""

    noun: str
    """With its article, for messages: `a rate`."""
    example: str
    """A quantity written well."""
    units: Mapping[str, Decimal]
    """Unit → how many base units it is."""
    usual: str
    """The unit to suggest for a bare number."""
    mistakes: Mapping[str, tuple[int, str]]
    """Lower-cased wrong unit → (factor, right unit)."""
    base: str
    """The base unit, for messages."""


_RATE_PREFIXES = {"": "bit/s", "k": "kbit/s", "m": "Mbit/s", "g": "Gbit/s"}
RATE = Dimension(
    noun="a rate",
    example="48 Mbit/s",
    units={
        "bit/s": Decimal(1),
        "kbit/s": Decimal(10**3),
        "Mbit/s": Decimal(10**6),
        "Gbit/s": Decimal(10**9),
    },
    usual="Mbit/s",
    mistakes={
        f"{prefix}{ending}": (factor, unit)
        for prefix, unit in _RATE_PREFIXES.items()
        for factor, endings in (
            (1, ("b", "bit", "bits", "bps", "bit/s", "bits/s", "bit/sec", "b/s", "bitps")),
            (8, ("byte/s", "bytes/s")),
        )
        for ending in endings
    }
    | {"k": (1, "kbit/s"), "m": (1, "Mbit/s"), "g": (1, "Gbit/s")},
    base="bit/s",
)
TIME = Dimension(
    noun="a time",
    example="10 ms",
    units={
        "ns": Decimal(1),
        "us": Decimal(10**3),
        "\u00b5s": Decimal(10**3),  # micro sign
        "\u03bcs": Decimal(10**3),  # Greek letter mu, which many keyboards give
        "ms": Decimal(10**6),
        "s": Decimal(10**9),
        "min": Decimal(60 * 10**9),
    },
    usual="ms",
    mistakes={
        "nsec": (1, "ns"),
        "usec": (1, "µs"),
        "msec": (1, "ms"),
        "msecs": (1, "ms"),
        "millis": (1, "ms"),
        "milliseconds": (1, "ms"),
        "sec": (1, "s"),
        "secs": (1, "s"),
        "second": (1, "s"),
        "seconds": (1, "s"),
        "m": (1, "min"),
        "mins": (1, "min"),
        "minute": (1, "min"),
        "minutes": (1, "min"),
        "h": (60, "min"),
        "hour": (60, "min"),
        "hours": (60, "min"),
    },
    base="ns",
)
SIZE = Dimension(
    noun="a size",
    example="500 kB",
    units={
        "B": Decimal(1),
        "kB": Decimal(10**3),
        "MB": Decimal(10**6),
        "GB": Decimal(10**9),
        "KiB": Decimal(2**10),
        "MiB": Decimal(2**20),
        "GiB": Decimal(2**30),
    },
    usual="B",
    mistakes={
        "byte": (1, "B"),
        "bytes": (1, "B"),
        "k": (1, "kB"),
        "kb": (1, "kB"),
        "kbyte": (1, "kB"),
        "kbytes": (1, "kB"),
        "m": (1, "MB"),
        "mb": (1, "MB"),
        "mbyte": (1, "MB"),
        "mbytes": (1, "MB"),
        "g": (1, "GB"),
        "gb": (1, "GB"),
        "gbyte": (1, "GB"),
        "gbytes": (1, "GB"),
        "kib": (1, "KiB"),
        "mib": (1, "MiB"),
        "gib": (1, "GiB"),
    },
    base="B",
)

_COUNTED = {"packet": "packets", "packets": "packets", "BDP": "BDP"}
"""Units of a queue's limit that are no dimension → a name for each kind."""


def parse_rate(value: object) -> int:
    """Bits a second of `48 Mbit/s`."""
    if isinstance(value, str) and re.fullmatch(r".*[0-9 ][kKMG]?B/s", value):
        number, prefix = _split(RATE, value)
        right = _RATE_PREFIXES[prefix[:-3].lower()]
        raise UnitError(f'did you mean "{_plain(number * 8)} {right}"? (rates are in bits)')
    return _whole(RATE, *_quantity(RATE, value))


def parse_time(value: object, *, usual: str = TIME.usual) -> int:
    """Nanoseconds of `12 ms`. `usual` is the unit to suggest for a bare number."""
    dimension = replace(TIME, usual=usual)
    return _whole(dimension, *_quantity(dimension, value))


def parse_size(value: object) -> int:
    """Bytes of `500 kB`."""
    return _whole(SIZE, *_quantity(SIZE, value))


def comparable(value: object) -> Hashable:
    """A value that is equal for equal quantities, however they are written: `5ms` and `5 ms`.

    Its repr is the same for equal ones, too. Entries of mappings and lists are compared likewise.
    """
    if isinstance(value, Mapping):
        entries = [(repr(key), comparable(of)) for key, of in value.items()]
        return "mapping", tuple(sorted(entries, key=lambda entry: entry[0]))
    if isinstance(value, list | tuple):
        return "list", tuple(map(comparable, value))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "number", _as_float(value)
    found = _QUANTITY.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        return "other", repr(value)
    number, unit = Decimal(found["number"]), found["unit"]
    if unit in _COUNTED:
        return _COUNTED[unit], float(number)
    try:
        for dimension in (TIME, RATE, SIZE):
            if unit in dimension.units:
                return dimension.noun, _whole(dimension, number, dimension.units[unit])
        return "number", parse_probability(value)
    except UnitError:
        return "other", repr(value)


def _as_float(number: float) -> float:
    """The number as a float, unless it is an integer that a float cannot hold."""
    try:
        made = float(number)
    except OverflowError:
        return number
    return made if made == number else number


def parse_probability(value: object) -> float:
    """Fraction of `0.1 %`, or of a bare number between 0 and 1."""
    words = 'a probability is a percentage, such as "0.1 %", or a fraction, such as 0.001'
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise UnitError(words)
    found = _QUANTITY.fullmatch(str(value).strip())
    if found is None or found["unit"] not in (None, "%"):
        raise UnitError(words)
    number = Decimal(found["number"])
    fraction = number if found["unit"] is None else number / 100
    if number < 0:
        raise UnitError("a probability must not be negative")
    if fraction > 1:
        if found["unit"] is None and number <= 100:
            raise UnitError(f'above 1: did you mean "{_plain(number)} %"?')
        raise UnitError("a probability is at most 100 %")
    return float(fraction)


def likely_quantity(text: str) -> str | None:
    """The probable meaning of a number with a wrong unit of any kind: a rate, a time, a size."""
    found = _QUANTITY.fullmatch(text.strip())
    if found is None or found["unit"] is None:
        return None
    for dimension in (RATE, TIME, SIZE):
        factor, right = dimension.mistakes.get(found["unit"].lower(), (1, ""))
        if right:
            return f"{_plain(Decimal(found['number']) * factor)} {right}"
    return None


def format_rate(bits_per_second: int) -> str:
    """The rate in its largest unit that keeps the number at or above 1."""
    return _format(
        bits_per_second, (("Gbit/s", 10**9), ("Mbit/s", 10**6), ("kbit/s", 10**3)), "bit/s"
    )


def format_time(nanoseconds: int) -> str:
    """The time in its largest unit that keeps the number at or above 1."""
    return _format(nanoseconds, (("s", 10**9), ("ms", 10**6), ("µs", 10**3)), "ns")


def format_size(size_bytes: int) -> str:
    """The size in its largest decimal unit that keeps the number at or above 1."""
    return _format(size_bytes, (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)), "B")


def _format(amount: int, units: tuple[tuple[str, int], ...], base: str) -> str:
    for name, factor in units:
        if abs(amount) >= factor:
            return f"{_plain(Decimal(amount) / factor)} {name}"
    return f"{amount} {base}"


def _plain(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _split(dimension: Dimension, value: object) -> tuple[Decimal, str]:
    """Number and unit (perhaps empty) as written."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise UnitError(f'{dimension.noun} is a number with a unit, such as "{dimension.example}"')
    text = str(value).strip()
    comma = _DECIMAL_COMMA.fullmatch(text)
    if comma is not None:
        raise UnitError(f'did you mean "{comma[1]}.{comma[2]}{comma[3]}"?')
    found = _QUANTITY.fullmatch(text)
    if found is not None:
        return Decimal(found["number"]), found["unit"] or ""
    raise UnitError(f'{dimension.noun} is a number with a unit, such as "{dimension.example}"')


def _quantity(dimension: Dimension, value: object) -> tuple[Decimal, Decimal]:
    """Number and factor of its unit."""
    number, unit = _split(dimension, value)
    if not unit:
        raise UnitError(
            f'{dimension.noun} needs a unit: did you mean "{_plain(number)} {dimension.usual}"?'
        )
    if unit not in dimension.units:
        factor, right = dimension.mistakes.get(unit.lower(), (1, ""))
        if right:
            raise UnitError(f'did you mean "{_plain(number * factor)} {right}"?')
        known = [name for name in dimension.units if name.isascii()]
        raise UnitError(f'unknown unit "{unit}": {did_you_mean(unit, known)}')
    return number, dimension.units[unit]


def _whole(dimension: Dimension, number: Decimal, factor: Decimal) -> int:
    if number < 0:
        raise UnitError(f"{dimension.noun} must not be negative")
    with localcontext() as context:
        context.prec = 60
        amount = number * factor
        if amount > _LARGEST:
            raise TooLargeError("too large")
        if amount != amount.to_integral_value():
            raise UnitError(f"finer than 1 {dimension.base}, the smallest step")
        return int(amount)
