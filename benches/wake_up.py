"""How long a program takes to wake up on this machine: what the simulator draws from.

From captures of plain TCP on the kernel engine: the time between the SYN/ACK and the client's
request. All of them are printed; those of an otherwise idle machine stand in
`crates/lab/engine-sim/src/traffic/wake_up.rs`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from mptcplab import engine, trace
from mptcplab.engine.choice import KERNEL
from mptcplab.scenario import load

from .effort import Effort
from .figures import Figure, figure, quantile

_VARIANTS = ("tcp-10k", "tcp-100k")
"""Of `birzeit/short-equal`, with 20 downloads each."""


def measure(effort: Effort) -> list[Figure]:
    """The quartiles of each round of 40 downloads."""
    rounds = [sorted(_round_us(seed)) for seed in range(1, effort.repeat + 1)]
    for times_us in rounds:
        print(", ".join(f"{time_us:.0f}" for time_us in times_us), flush=True)
    return [
        figure(f"SYN/ACK to request, {name}", "µs", [quantile(times_us, q) for times_us in rounds])
        for name, q in (("lower quartile", 0.25), ("median", 0.5), ("upper quartile", 0.75))
    ]


def _round_us(seed: int) -> Iterator[float]:
    scenario = load("birzeit/short-equal")
    for variant in _VARIANTS:
        with tempfile.TemporaryDirectory(prefix="mptcplab-") as folder:
            out = Path(folder) / "run"
            engine.run(scenario, variant, out, engine=KERNEL, seed=seed, captures=True)
            for capture in out.glob("client-*.pcapng"):
                yield from _waits_us(capture)


def _waits_us(capture: Path) -> list[float]:
    with trace.read([capture]) as read:
        answered_ns = pl.col("start_ns") + pl.col("handshake_rtt_ns")
        waits = read.subflows.select((pl.col("client_first_data_ns") - answered_ns) / 1000)
        return waits.to_series().drop_nulls().to_list()
