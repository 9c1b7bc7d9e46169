"""Samples of the kernel engine that are measured once and kept: a file of JSON lines, one a run."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mptcplab.scenario import for_variant

from .cells import Cell

KEPT = Path(__file__).parent / "kernel" / "cells.jsonl"
_SETTINGS = {"topology", "hosts", "routers", "links", "traffic", "events", "vary"}


@dataclass(frozen=True)
class Run:
    """A run of a cell on the kernel, and the machine that carried it out."""

    cell: str
    settings: str
    """See `settings`."""
    seed: int
    goodput: float | None
    """In Mbit/s."""
    completion_s: float | None
    kernel: str
    """Release of Linux."""
    processors: int
    load: float
    """Load average over a minute when the run began."""
    at: str
    """When it ended: date and time of UTC."""

    def figures(self) -> dict[str, float]:
        """Its figures by metric."""
        every = {"goodput": self.goodput, "completion_s": self.completion_s}
        return {metric: value for metric, value in every.items() if value is not None}

    def line(self) -> str:
        """The run as a line of the file."""
        return json.dumps(asdict(self)) + "\n"


def settings(cell: Cell) -> str:
    """A hash of all that a cell's runs depend on."""
    return hashlib.sha256(json.dumps(tree(cell), sort_keys=True).encode()).hexdigest()[:12]


def tree(cell: Cell) -> dict[str, Any]:
    """All that a cell's runs depend on, but not titles, notes and findings.

    Defaults count, since one that changes makes other runs. What is null, false or empty does not,
    so that a new key leaves the tree as it is.
    """
    scenario = for_variant(cell.scenario, cell.variant)
    variant = cell.scenario.variants[cell.variant]
    found = scenario.model_dump(mode="json", include=_SETTINGS)
    found["variant"] = variant.model_dump(mode="json", include={"protocol", "via"})
    made: dict[str, Any] = given(found)
    return made


def given(value: Any) -> Any:
    """A tree without what is null, false or empty."""
    if isinstance(value, dict):
        made = {key: given(own) for key, own in value.items()}
        return {key: own for key, own in made.items() if _is_given(own)}
    return [given(own) for own in value] if isinstance(value, list) else value


def _is_given(value: Any) -> bool:
    return value is not None and value is not False and value not in ("", [], {})


def read(file: Path) -> list[Run]:
    """The runs of a file, in order; none where there is no file."""
    if not file.exists():
        return []
    with file.open(encoding="utf-8") as lines:
        return [Run(**json.loads(line)) for line in lines]


def by_cell(runs: Iterable[Run]) -> dict[tuple[str, str, str], list[Run]]:
    """The runs of each cell with each of its settings, by release of Linux."""
    found = defaultdict(list)
    for run in runs:
        found[run.cell, run.settings, run.kernel].append(run)
    return found


def latest(runs: Iterable[Run]) -> dict[tuple[str, str], list[Run]]:
    """The runs of each cell with each of its settings, on the release that was measured last."""
    found = by_cell(runs)
    last = sorted(found, key=lambda key: max(run.at for run in found[key]))
    return {(cell, settings): found[cell, settings, kernel] for cell, settings, kernel in last}


def append(file: Path, run: Run) -> None:
    """Adds a run to a file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as lines:
        lines.write(run.line())
