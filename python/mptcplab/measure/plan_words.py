"""The plan of a probe in words, before it begins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mptcplab.measure.passing import BothSettings
from mptcplab.measure.plan import LOOKS, Kind, Step

_WORDS = {
    Kind.SURVIVAL: "survival: options of MPTCP on each path",
    Kind.PAYLOAD: "payload: bytes that both ends compare, and checksums of MPTCP",
    Kind.FAST_OPEN: "fast-open: data in the SYN, of TCP and of MPTCP",
    Kind.IDLE: "idle: round-trip times",
    Kind.TCP: "tcp: transfers over each path",
    Kind.MPTCP: "mptcp: transfers over all paths",
    Kind.AT_ONCE: "at-once: transfers by TCP over all paths at once",
    Kind.LOADED: "loaded: round-trip times beside a download",
}


def plan_lines(planned: Sequence[Step], settings: BothSettings) -> list[str]:
    """All that is measured, how often, and all that is not, with the reason."""
    counted = Counter(step.kind for step in planned)
    lines = []
    for kind, words in _WORDS.items():
        if counted[kind]:
            most = "at most " if kind in LOOKS and kind is not Kind.PAYLOAD else ""
            lines.append(f"{words} ({most}{counted[kind]})")
    obstacles = (
        ("checksums of MPTCP", settings.no_checksum()),
        ("data in the SYN", settings.no_fast_open()),
    )
    return lines + [f"not tested: {words}: {why}" for words, why in obstacles if why is not None]
