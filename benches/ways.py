"""Two ways of getting frames from a namespace and back, compared by a program of their own.

`crates/lab/engine-kernel/benches/ways.rs` moves frames between two namespaces by the same loop over
TAP devices and over AF_PACKET sockets; this runs it and reads what it prints.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from .effort import Effort
from .figures import Figure, figure


def measure(effort: Effort) -> list[Figure]:
    """Goodput and processor time of both ways, measured in turn."""
    command = ["cargo", "bench", "--quiet", "--locked", "--workspace", "--bench", "ways"]
    output = subprocess.run(
        [*command, "--", str(effort.repeat), str(effort.seconds)],
        cwd=Path(__file__).parents[1],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    rows = [json.loads(line) for line in output.splitlines()]
    figures = []
    for name in dict.fromkeys(row["way"] for row in rows):
        mine = [row for row in rows if row["way"] == name]
        figures.append(figure(name, "Gbit/s", [row["gbps"] for row in mine]))
        cores = [row["cpu_s"] / row["wall_s"] for row in mine]
        figures.append(figure(f"{name}: processors in use", "", cores))
    return figures
