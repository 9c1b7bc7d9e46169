"""How fast does a session go to another moment? `lisbon/A1` over MPTCP, 20 s of it.

`python -m benches debug`. The session runs to the end once, as copies are taken on the way; then it
goes to 100 moments that a seed draws, one after the other. Memory is the most that the process had.
"""

from __future__ import annotations

import random
import resource
import time

from mptcplab.debugger import debug

from .effort import Effort
from .figures import Figure, figure

_SECONDS = 20
_JUMPS = 100
_LONGEST_MS = 200.0
_MOST_MIB = 1024.0


def measure(effort: Effort) -> list[Figure]:
    """The 95th percentile of the jumps, the first way through, and the memory of the process."""
    seconds = effort.sized(_SECONDS, 1)
    first, percentiles = zip(*(_jumps(seconds, seed) for seed in range(effort.repeat)), strict=True)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [
        figure("jump, 95th percentile", "ms", list(percentiles), high=_LONGEST_MS),
        figure("the first way to the end", "s", list(first)),
        figure("memory", "MiB", [memory], high=_MOST_MIB),
    ]


def _jumps(seconds: int, seed: int) -> tuple[float, float]:
    """Seconds of the first way, and the 95th percentile of the jumps in milliseconds."""
    session = debug("lisbon/A1", variant="mptcp", duration=f"{seconds} s")
    begun = time.perf_counter()
    session.run()
    first_s = time.perf_counter() - begun
    drawn = random.Random(seed)
    took_ms = []
    for _ in range(_JUMPS):
        moment = drawn.randrange(seconds * 10**9)
        begun = time.perf_counter()
        session.back_to(moment)
        took_ms.append(1000 * (time.perf_counter() - begun))
    return first_s, sorted(took_ms)[_JUMPS * 95 // 100 - 1]
