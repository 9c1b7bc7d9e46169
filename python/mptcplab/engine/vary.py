"""Values that a repetition draws by its seed, so that repetitions of a scenario differ."""

from __future__ import annotations

import hashlib


def start_delay_ns(seed: int, traffic: str, most_ns: int) -> int:
    """How much later a flow starts: uniform in 0 to `most_ns`, both included.

    It depends on the repetition's seed and the flow's name alone: it is the same on both engines
    and in all variants, and does not move when other traffic is added.
    """
    digest = hashlib.sha256(f"start/{traffic}/{seed}".encode()).digest()
    return int.from_bytes(digest[:16]) * (most_ns + 1) >> 128
