"""The runs of a campaign by number."""

from __future__ import annotations

from dataclasses import dataclass

PART_RUNS = 2048
"""Runs of one Parquet file, about; all variants of a repetition are in the same one."""


@dataclass(frozen=True)
class Grid:
    """Points × repetitions × variants; the variants change fastest.

    A *unit* is one repetition of one point, by all variants.
    """

    points: int
    repetitions: int
    variants: tuple[str, ...]
    draws: int = 1
    """How many draws there are for each choice of other values; they are next to one another."""

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return self.units * len(self.variants)

    @property
    def units(self) -> int:
        """How many units there are."""
        return self.points * self.repetitions

    @property
    def part_units(self) -> int:
        """Units of a part."""
        return max(1, PART_RUNS // len(self.variants))

    @property
    def parts(self) -> int:
        """How many parts there are."""
        return -(-self.units // self.part_units)

    def runs_of_part(self, part: int) -> range:
        """The runs of a part, from 0."""
        first = part * self.part_units
        last = min(first + self.part_units, self.units)
        return range(first * len(self.variants), last * len(self.variants))

    def runs_of_unit(self, unit: int) -> range:
        """The runs of a unit, from 0: one a variant, in order."""
        return range(unit * len(self.variants), (unit + 1) * len(self.variants))

    def runs_of_point(self, point: int) -> range:
        """The runs of a point, from 1."""
        size = self.repetitions * len(self.variants)
        return range((point - 1) * size, point * size)

    def seed(self, run: int, seed: int) -> int:
        """The seed of a run, by that of the campaign.

        Points share the seeds of their repetitions, as variants do: what differs between them is
        not chance. But each draw is an experiment of its own.
        """
        point, repetition, _ = self.place(run)
        draw = (point - 1) % self.draws
        return seed + draw * self.repetitions + repetition - 1

    def part_of(self, run: int) -> int:
        """The part that a run is in."""
        return run // len(self.variants) // self.part_units

    def place(self, run: int) -> tuple[int, int, str]:
        """Point and repetition, both from 1, and variant of a run."""
        unit, variant = divmod(run, len(self.variants))
        point, repetition = divmod(unit, self.repetitions)
        return point + 1, repetition + 1, self.variants[variant]
