"""Whether a process of which a file speaks is still the one that was meant."""

import os
from pathlib import Path


def is_alive_since(pid: int, written: float) -> bool:
    """Whether process ``pid`` exists and began before ``written`` (seconds since the epoch).

    A process that began later has only been given the number of one that is gone.
    """
    began = _began(pid)
    return began is not None and began <= written + 1.0


def _began(pid: int) -> float | None:
    """When process ``pid`` began (field 22 of /proc/PID/stat, proc(5)); ``None`` if it is gone."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    if after_name[0] in "ZX":
        return None
    ticks = int(after_name[19])
    return _boot_time() + ticks / os.sysconf("SC_CLK_TCK")


def _boot_time() -> float:
    for line in Path("/proc/stat").read_text().splitlines():
        if line.startswith("btime "):
            return float(line.split()[1])
    raise OSError("/proc/stat has no btime")
