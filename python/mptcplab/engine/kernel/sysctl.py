"""Settings of the kernel."""

from __future__ import annotations

from pathlib import Path


def read_sysctl(name: str) -> str | None:
    """The value of a sysctl by its dotted name, null where this kernel has none."""
    try:
        return " ".join(Path("/proc/sys", *name.split(".")).read_text().split())
    except OSError:
        return None
