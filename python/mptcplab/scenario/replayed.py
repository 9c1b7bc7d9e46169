"""The opportunities of a link's trace, from its file or made by its seed."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from mptcplab.scenario import varying_rate
from mptcplab.scenario.link import Trace
from mptcplab.scenario.mahimahi import read_trace


def opportunities_ms(trace: Trace, folder: Path) -> list[int]:
    """Times in milliseconds at which 1504 bytes can pass; the last one is the trace's length.

    `folder` is where a relative file starts. Raises `TraceError` for a file that cannot be
    replayed.
    """
    if trace.file is not None:
        return read_trace(folder / trace.file, trace.file)
    assert trace.varying is not None
    return _made(trace.varying)


_made = lru_cache(maxsize=16)(varying_rate.opportunities_ms)
