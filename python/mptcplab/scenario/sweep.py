"""`sweep:` of a scenario: settings that take several values, and how these are combined."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StrictStr, model_validator

from mptcplab.scenario.draw import Distribution, drawn_share
from mptcplab.scenario.fields import Model, RefusalError, Short
from mptcplab.scenario.problem import quoted
from mptcplab.scenario.spacing import spaced
from mptcplab.scenario.tree import Path
from mptcplab.scenario.units import comparable

MOST_POINTS = 100_000


class Values(Model):
    """The values of a setting: a list, or a range."""

    values: list[Any] | None = Field(None, min_length=1)
    first: Any = Field(None, alias="from", description="First value of a range")
    last: Any = Field(None, alias="to", description="Last value of a range")
    count: Annotated[int, Field(ge=2, le=MOST_POINTS)] | None = Field(
        None, description="Values of a range, both ends included"
    )
    scale: Literal["linear", "log"] = "linear"

    @model_validator(mode="after")
    def _one_form(self) -> Values:
        given = [part is not None for part in (self.first, self.last, self.count)]
        if self.values is not None and any(given):
            raise ValueError("give a list of values, or a range by from, to and count")
        if self.values is None and not all(given):
            raise ValueError("a range has from, to and count")
        _ = self.listed
        return self

    @cached_property
    def listed(self) -> list[Any]:
        """Every value, in order."""
        if self.values is not None:
            return self.values
        assert self.count is not None
        return spaced(self.first, self.last, self.count, is_log=self.scale == "log")


def _distinct(of: Values) -> Values:
    """Raises `RefusalError` at a value that means the same as one before it, as 10.0 does 10."""
    # Those of a range differ already.
    found = _repeated((value,) for value in of.values or ())
    if found is not None:
        place, text = found
        raise RefusalError(str(place), text)
    return of


def _repeated(rows: Iterable[tuple[Any, ...]]) -> tuple[int, str] | None:
    """Place of the first row that means the same as one before it, and words for it."""
    before: dict[Hashable, tuple[Any, ...]] = {}
    for place, row in enumerate(rows):
        same = before.setdefault(comparable(row), row)
        if same is not row:
            here, there = (" with ".join(map(quoted, one)) for one in (row, same))
            return place, f"{here}: is there already" + (f" as {there}" if here != there else "")
    return None


_SHORT = Short("values", {"type": "array", "minItems": 1, "description": "values"})
Axes = dict[StrictStr, Annotated[Values, AfterValidator(_distinct), _SHORT]]
Zipped = dict[StrictStr, Annotated[Values, _SHORT]]


class Drawn(Model):
    """Settings that are drawn together, several times."""

    count: Annotated[int, Field(ge=1, le=MOST_POINTS)] = Field(description="How many draws")
    seed: Annotated[int, Field(ge=0)] = 1
    values: dict[StrictStr, Distribution] = Field(min_length=1)


@dataclass(frozen=True)
class Axis:
    """Settings that change together: one, those that are zipped, or those that are drawn."""

    keys: tuple[str, ...]
    """Dotted paths, as written; a key may be several, divided by commas, that have one value."""
    rows: Sequence[tuple[Any, ...]]
    """A value for each key."""
    place: Path
    """Where the keys stand in the scenario."""
    is_drawn: bool = False


class Sweep(Model):
    """The points that `mptcplab sweep` runs: every combination of a value of each axis."""

    axes: Axes = Field({}, description="Dotted path → values, crossed with those of the others")
    zipped: list[Zipped] = Field([], description="Axes whose values go together, each with as many")
    drawn: Drawn | None = Field(None, description="Values drawn at random")

    @model_validator(mode="after")
    def _fits(self) -> Sweep:
        made = self.every_axis
        if not made:
            raise ValueError("names no axis: give axes, zipped or drawn")
        for place, group in enumerate(self.zipped):
            lengths = {key: len(of.listed) for key, of in group.items()}
            if len(set(lengths.values())) != 1:
                words = ", ".join(f"{key} has {count}" for key, count in lengths.items())
                raise RefusalError("zipped", f"entry {place}: values go together: {words}")
            repeated = _repeated(zip(*(of.listed for of in group.values()), strict=True))
            if repeated is not None:
                raise RefusalError("zipped", f"entry {place}: {repeated[1]}")
        known: set[str] = set()
        for path in (path for axis in made for key in axis.keys for path in paths_of(key)):
            if path in known:
                raise ValueError(f"{path} is set twice")
            known.add(path)
        points = math.prod(len(axis.rows) for axis in made)
        if points > MOST_POINTS:
            raise ValueError(f"{points} points: at most {MOST_POINTS}")
        return self

    @cached_property
    def every_axis(self) -> tuple[Axis, ...]:
        """The axes in order; the last one changes fastest."""
        crossed = [
            Axis((key,), [(value,) for value in of.listed], ("sweep", "axes"))
            for key, of in self.axes.items()
        ]
        together = [
            Axis(
                tuple(group),
                list(zip(*(of.listed for of in group.values()), strict=False)),
                ("sweep", "zipped", place),
            )
            for place, group in enumerate(self.zipped)
        ]
        return (*crossed, *together, *self._drawn_axis)

    @property
    def _drawn_axis(self) -> list[Axis]:
        if self.drawn is None:
            return []
        keys = tuple(self.drawn.values)
        return [Axis(keys, _Draws(self.drawn), ("sweep", "drawn", "values"), is_drawn=True)]


class _Draws(Sequence[tuple[Any, ...]]):
    """The rows of draws, each made when it is asked for."""

    def __init__(self, drawn: Drawn) -> None:
        self._drawn = drawn

    def __len__(self) -> int:
        return self._drawn.count

    def __getitem__(self, place: Any) -> Any:
        if not 0 <= place < len(self):
            raise IndexError(place)
        seed = self._drawn.seed
        return tuple(
            of.quantile(drawn_share(seed, place + 1, key)) for key, of in self._drawn.values.items()
        )


def paths_of(key: str) -> list[str]:
    """The dotted paths of a key."""
    return [path.strip() for path in key.split(",")]


def points(axes: Sequence[Axis]) -> Iterator[dict[str, Any]]:
    """Every combination: key → value; the last axis changes fastest."""
    for rows in product(*(axis.rows for axis in axes)):
        yield _values(axes, rows)


def point(axes: Sequence[Axis], number: int) -> dict[str, Any]:
    """The combination of a number, from 1."""
    rows = []
    left = number - 1
    for axis in reversed(axes):
        left, place = divmod(left, len(axis.rows))
        rows.append(axis.rows[place])
    return _values(axes, rows[::-1])


def overrides_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted path → value of a combination's keys."""
    return {path: value for key, value in values.items() for path in paths_of(key)}


def _values(axes: Sequence[Axis], rows: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
    return {
        key: value
        for axis, row in zip(axes, rows, strict=True)
        for key, value in zip(axis.keys, row, strict=True)
    }
