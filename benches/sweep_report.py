"""How long does `mptcplab report` take on a sweep of 100,000 runs, and how much memory?

The sweep is that of the bench `sweep`, eight times as large; it is made anew, which takes some
minutes. `--repeat` reports are made of it, each by a process of its own: tables on the terminal,
and the page. `--seconds` does not matter.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from .effort import Effort
from .figures import Figure, figure
from .sweep import VARIANTS, made

RUNS = 100_000
_LONGEST_S = 10.0
_MOST_MIB = 1024.0


def measure(effort: Effort) -> list[Figure]:
    """Time and largest memory of the report, without and with its page."""
    draws = effort.sized(-(-RUNS // (2 * len(VARIANTS))), 2)
    with TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        made(draws, out)
        plain = [_report(out) for _ in range(effort.repeat)]
        paged = [_report(out, "--html", str(Path(folder) / "page.html")) for _ in plain]
    named = f"report on {2 * draws * len(VARIANTS)} runs"
    return [
        figure(named, "s", [wall_s for wall_s, _ in plain], high=_LONGEST_S),
        figure(f"{named}, largest memory", "MiB", [mib for _, mib in plain], high=_MOST_MIB),
        figure(f"{named}, with its page", "s", [wall_s for wall_s, _ in paged], high=_LONGEST_S),
        figure(f"{named}, with its page, largest memory", "MiB", [mib for _, mib in paged]),
    ]


def _report(out: Path, *words: str) -> tuple[float, float]:
    """Seconds of the command, and its largest resident set in MiB."""
    command = Path(sys.executable).with_name("mptcplab")
    begun_s = time.perf_counter()
    process = subprocess.Popen([command, "report", out, *words], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    taken_s = time.perf_counter() - begun_s
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"report ended with status {process.returncode}")
    return taken_s, used.ru_maxrss / 1024
