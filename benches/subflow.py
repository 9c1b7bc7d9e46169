"""How long it takes from asking for a subflow to its being established.

The path has a round trip of 10 ms by the emulator, and the program gives its commands itself.
Beside it stands connect() over the same path, which is one round trip, too.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from .effort import Effort
from .figures import Figure, figure, quantile
from .one_link import PORT, plan, run

_ROUND_TRIP_MS = 10
_MOST_BEYOND_MS = 2
_OPENS = 100


def measure(effort: Effort) -> list[Figure]:
    """All opens of all runs."""
    count = effort.sized(_OPENS, 3)
    runs = [_times_ms(seed, count) for seed in range(1, effort.repeat + 1)]
    connects = [each for run in runs for each in run[0]]
    opens = [each for run in runs for each in run[1]]
    return [
        figure(
            f"from open_subflow to the established subflow, {len(opens)} times",
            "ms",
            opens,
            _ROUND_TRIP_MS,
            _ROUND_TRIP_MS + _MOST_BEYOND_MS,
        ),
        figure(
            "the same, 95th percentile of a run", "ms", [quantile(run[1], 0.95) for run in runs]
        ),
        figure(f"connect() over the same path, {len(connects)} times", "ms", connects),
    ]


def _times_ms(seed: int, count: int) -> tuple[list[float], list[float]]:
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder, "told")
        probe = [sys.executable, str(Path(__file__).with_name("subflow_probe.py"))]
        workload = {
            "kind": "command",
            "argv": [*probe, "open", str(told), "{server}", str(PORT), str(count)],
            "server_argv": [*probe, "serve", str(PORT)],
            "duration_ns": None,
        }
        described = plan(workload, seed=seed, delay_ns=_ROUND_TRIP_MS * 1_000_000 // 2)
        described["traffic"][0]["protocol"] = "mptcp"
        for node in described["nodes"]:
            node["mptcp"] = node["mptcp"] | {"by_application": True}
        run(described)
        connects, opens = json.loads(told.read_text(encoding="utf-8"))
        return connects, opens
