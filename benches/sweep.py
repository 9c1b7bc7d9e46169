"""How long does the sweep of 3000 random experiments take? `mptcplab sweep`, recordings included.

The target, 3000 experiments in at most 60 s on two processors, is for what the study calls an
experiment: a pair of paths, by TCP over each, by TCP over both and by MPTCP. These are the variants
that both benefits need, `tcp-both` for the sum that is reachable. The 3000 are the points of
`louvain/experiments`, 1500 draws over disjoint paths and over paths with a common link: 12,000
runs, whose manifests, transfers and metrics are kept. The fifth variant, `mptcp-buffer`, is a
question of ours beside the study's and is left out. The processor time is that of all processes,
and depends less on what else the machine does; where fewer processors were busy with it than there
are, others had them. `--seconds` does not matter.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from .effort import Effort
from .figures import Figure, figure

DRAWS = 1500
"""Each is two experiments: over disjoint paths, and over paths with a common link."""
VARIANTS = ("tcp-eth", "tcp-wifi", "tcp-both", "mptcp")
_LONGEST_S = 60.0
_PROCESSORS = 2


def measure(effort: Effort) -> list[Figure]:
    """Time of the command, processor time of a run, and how many processors the command had."""
    draws = effort.sized(DRAWS, 2)
    runs = 2 * draws * len(VARIANTS)
    taken = [_sweep(draws) for _ in range(effort.repeat)]
    most_ms = 1000 * _LONGEST_S * _PROCESSORS / (2 * DRAWS * len(VARIANTS))
    return [
        figure(
            f"{2 * draws} experiments on {os.cpu_count()} processors",
            "s",
            [wall_s for wall_s, _ in taken],
            high=_LONGEST_S,
        ),
        figure(
            "processor time of a run",
            "ms",
            [1000 * processor_s / runs for _, processor_s in taken],
            high=most_ms,
        ),
        figure(
            "processors busy with it",
            "",
            [processor_s / wall_s for wall_s, processor_s in taken],
        ),
    ]


def _sweep(draws: int) -> tuple[float, float]:
    """Wall-clock and processor seconds of the command."""
    with TemporaryDirectory() as folder:
        before, begun_s = _processor_s(), time.perf_counter()
        made(draws, Path(folder) / "out")
        return time.perf_counter() - begun_s, _processor_s() - before


def made(draws: int, out: Path) -> None:
    """Runs the sweep into a folder."""
    command = Path(sys.executable).with_name("mptcplab")
    words = ["sweep", "louvain/experiments", "--engine", "sim", "--draws", str(draws)]
    words += [word for variant in VARIANTS for word in ("--variant", variant)]
    subprocess.run([command, *words, "--out", out], check=True, capture_output=True)


def _processor_s() -> float:
    """That of the processes that were started here, and of those that these started."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
