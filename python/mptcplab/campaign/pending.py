"""The runs of a campaign that were not begun, and what workers are told of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from mptcplab.campaign.description import Campaign
from mptcplab.campaign.grid import Grid
from mptcplab.campaign.ledger import Ledger
from mptcplab.campaign.record import Record
from mptcplab.scenario import Scenario

MOST_BATCH = 48
"""Runs that a worker is given at once."""


class Pending:
    """The runs that are missing and that no worker has, in order but for those given back."""

    def __init__(self, ledger: Ledger) -> None:
        self._missing = ledger.missing()
        self._again: deque[int] = deque()
        self._size = len(ledger.grid.variants)

    def take(self, most: int) -> list[int]:
        """Some of them, `most` and `MOST_BATCH` at most, but a whole unit at least.

        A point is compiled for all variants at once.
        """
        count = max(self._size, min(MOST_BATCH, most) // self._size * self._size)
        again = [self._again.popleft() for _ in range(min(count, len(self._again)))]
        return [*again, *islice(self._missing, count - len(again))]

    def give_back(self, runs: Iterable[int]) -> None:
        """Has runs done by another worker."""
        self._again.extend(runs)

    def __bool__(self) -> bool:
        if not self._again:
            self._again.extend(islice(self._missing, 1))
        return bool(self._again)


def setup(scenario: Scenario, campaign: Campaign, samples: Path | None) -> dict[str, Any]:
    """The description of a campaign for its workers; recordings are kept in `samples`."""
    return {
        "scenario": {
            "text": scenario.text,
            "origin": scenario.origin,
            "folder": str(scenario.folder.resolve()),
            "name": scenario.name,
        },
        "versions": campaign.versions.model_dump(),
        "seed": campaign.result.seed,
        "samples": None if samples is None else str(samples.resolve()),
    }


def identity(grid: Grid, run: int, seed: int) -> Record:
    """The part of a run's record that is known before it begins; `seed` is the campaign's."""
    point, repetition, variant = grid.place(run)
    return {
        "run": run,
        "point": point,
        "repetition": repetition,
        "variant": variant,
        "seed": grid.seed(run, seed),
    }
