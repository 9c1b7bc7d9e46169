"""Whether the sim engine works here: it needs nothing of the machine, but can be built wrongly."""

from __future__ import annotations

import json
import time

from mptcplab._native import SimulationError, simulate
from mptcplab.engine.finding import Finding, Verdict
from mptcplab.engine.self_test import self_test

_NAME = "sim engine"


def examine() -> Finding:
    """Simulates a small transfer over two paths."""
    plan = self_test()
    chunks: list[bytes] = []

    def take(chunk: bytes) -> bool:
        chunks.append(chunk)
        return True

    begun = time.perf_counter()
    try:
        simulate(plan.model_dump_json(), take)
    except SimulationError as error:
        return Finding(_NAME, Verdict.BAD, str(error))
    took_ms = 1000 * (time.perf_counter() - begun)
    rows = [json.loads(line) for line in b"".join(chunks).splitlines()]
    transfer = next(row for row in rows if row["record"] == "transfers")
    if transfer["error"] is not None or not transfer["joins"]:
        return Finding(_NAME, Verdict.BAD, transfer["error"] or "no second subflow joined")
    return Finding(_NAME, Verdict.GOOD, f"2 MB over two paths were simulated in {took_ms:.0f} ms")
