"""How much one link carries: one TCP connection over a link without a limit, both ends here."""

from __future__ import annotations

from .effort import Effort
from .figures import Figure, figure
from .one_link import plan, run


def measure(effort: Effort) -> list[Figure]:
    """Goodput and processor time, for packets of 1500 bytes and for offloaded segments."""
    rates: dict[bool, list[float]] = {False: [], True: []}
    cores: dict[bool, list[float]] = {False: [], True: []}
    workload = {
        "kind": "bulk",
        "way": "up",
        "streams": 1,
        "duration_ns": round(effort.seconds * 1e9),
        "bytes": None,
    }
    for _ in range(effort.repeat):
        for offload in (False, True):
            outcome = run(plan(workload, offload=offload))
            (transfer,) = outcome.of("transfers")
            span_s = (transfer["end_ns"] - transfer["connected_ns"]) / 1e9
            rates[offload].append(transfer["bytes"] * 8 / span_s / 1e9)
            cores[offload].append(outcome.cpu_s / outcome.wall_s)
    names = {False: "packets of 1500 bytes", True: "offloaded segments"}
    targets = {False: 1.0, True: 4.0}
    return [
        each
        for offload in (False, True)
        for each in (
            figure(names[offload], "Gbit/s", rates[offload], targets[offload]),
            figure(f"{names[offload]}: processors in use", "", cores[offload]),
        )
    ]
