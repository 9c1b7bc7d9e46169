"""Payload over time."""

NS_PER_S = 1e9


def mbps(payload_bytes: float, lasted_ns: int) -> float:
    """Mbit/s of a payload that took so long, which is more than no time."""
    return payload_bytes * 8 / lasted_ns * NS_PER_S / 1e6
