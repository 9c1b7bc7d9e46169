"""Does `earliest-completion` choose as well for downloads that follow each other as for one alone?

Cells off the grid, drawn by a fixed seed, and every ninth one of it, as far as neither a transfer
nor its policies take long: see `benches/selector_cells.py`. The client opens each connection when
the one before has ended; the rules of all of them are still there. Compared are the mean times of
all downloads but the first, which has the network for itself in any case.

`--repeat` and `--seconds` do not matter.
"""

from __future__ import annotations

import math
import multiprocessing
from collections.abc import Sequence

from .effort import Effort
from .figures import Figure, figure
from .selector import AS_GOOD, MUCH_SLOWER
from .selector_cells import (
    OURS,
    POLICIES,
    TCP_FALLBACK,
    AnyCell,
    cells,
    completions_following_s,
    drawn,
)

_DOWNLOADS = 6
_DRAWN, _DRAWN_SEED = 60, 77
_EACH = 9
_MOST_BYTES, _MOST_S = 5_000_000, 20
_OURS = OURS, TCP_FALLBACK


def measure(effort: Effort) -> list[Figure]:
    """How often ours is as good as the best other policy, and its worst cell."""
    every = _chosen()
    chosen = every[: effort.sized(len(every), 2)]
    jobs = [(cell, run) for cell in chosen for run in (*POLICIES, TCP_FALLBACK)]
    with multiprocessing.get_context("spawn").Pool() as pool:
        found = pool.starmap(_mean_s, jobs, chunksize=1)
    times_s = dict(zip(jobs, found, strict=True))
    figures = [figure("cells", "", [float(len(chosen))])]
    for ours in _OURS:
        others = [policy for policy in POLICIES if policy != OURS]
        ratios = [
            times_s[cell, ours] / min(times_s[cell, other] for other in others) for cell in chosen
        ]
        figures += _figures(ours, ratios)
    return figures


def _figures(ours: str, ratios: Sequence[float]) -> list[Figure]:
    as_good = sum(ratio <= AS_GOOD for ratio in ratios) / len(ratios)
    return [
        figure(f"{ours}: cells in which it takes at most {AS_GOOD:g} times the best other's time",
               "", [as_good]),
        figure(f"{ours}: its time in the worst cell, relative to the best other's", "",
               [max(ratios)], high=MUCH_SLOWER if ours == TCP_FALLBACK else None),
    ]  # fmt: skip


def _chosen() -> list[AnyCell]:
    every: list[AnyCell] = [*drawn(_DRAWN, _DRAWN_SEED), *list(cells())[::_EACH]]
    return [
        cell
        for cell in every
        if cell.size <= _MOST_BYTES
        and 8 * cell.size < _MOST_S * max(path.rate_bps for path in cell.paths)
    ]


def _mean_s(cell: AnyCell, run: str) -> float:
    following_s = completions_following_s(cell, run, _DOWNLOADS)
    return math.fsum(following_s) / len(following_s)
