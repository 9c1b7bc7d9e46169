"""The cells of the cross-check on the kernel engine, once for all times.

Each run is added to `benches/kernel/cells.jsonl` as soon as it has ended, and what stands there is
not measured again: a measurement that was interrupted goes on where it was. To measure a cell anew,
take its lines out of the file.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from mptcplab.engine.choice import KERNEL

from . import kept
from .cells import Cell, cells, drawn
from .effort import Effort
from .figures import Figure, figure
from .samples import Part, samples

LEAST_RUNS = 3


def measure(effort: Effort) -> list[Figure]:
    """Measures what is missing of all cells; in the shortest form a run of one, which is not
    kept."""
    if effort.shortest:
        runs = [measured(cell, 1) for cell in islice(cells(), 1)]
    else:
        every = [*cells(), *drawn()]
        runs = [run for cell in every for run in missing(cell, max(effort.repeat, LEAST_RUNS))]
    return [figure("runs measured", "", [float(len(runs))])]


def missing(cell: Cell, runs: int, file: Path = kept.KEPT) -> Iterator[kept.Run]:
    """Measures a cell until the file has so many runs of it on this release of Linux, and gives
    what was measured."""
    key = cell.name, kept.settings(cell), release()
    known = len(kept.by_cell(kept.read(file)).get(key, []))
    for seed in range(known + 1, runs + 1):
        run = measured(cell, seed)
        if run is None:
            return
        kept.append(file, run)
        yield run


def measured(cell: Cell, seed: int) -> kept.Run | None:
    """A run of a cell on the kernel; none where it has no figure."""
    load = os.getloadavg()[0]
    [found] = samples(KERNEL, [Part(cell.scenario, [cell.variant])], 1, seed)
    values = {metric: sample[0] for (_, metric), sample in found.items()}
    print(f"{cell.name}: {values}", flush=True)
    if not values:
        return None
    return kept.Run(
        cell=cell.name,
        settings=kept.settings(cell),
        seed=seed,
        goodput=values.get("goodput"),
        completion_s=values.get("completion_s"),
        kernel=release(),
        processors=os.cpu_count() or 1,
        load=round(load, 1),
        at=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def release() -> str:
    """The release of Linux, without what its builder calls it."""
    return platform.release().partition("-")[0]
