"""The simulator beside ns-3: one bulk transfer over one link, processor time against each other.

ns-3 comes as its wheel, pinned, into an environment of its own. Only the run of each simulator is
counted: not the start of the interpreter, and not the building of the network.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import venv
from pathlib import Path
from typing import Any

from mptcplab import _native
from mptcplab.engine.compile import compile_plan
from mptcplab.scenario import loads

from ..effort import Effort
from ..figures import Figure, figure

_HERE = Path(__file__).parent
_ENVIRONMENT = _HERE / "venv"
_SIMULATED_S = 100
_SCENARIO = """\
name: bulk
hosts:
  client: {interfaces: {a: {}}}
  server: {interfaces: {a: {}}}
links:
  a:
    between: [client.a, server.a]
    rate: 100 Mbit/s
    delay: 10 ms
    framing: 2 B
    queue: 167 packets
traffic:
  - bulk: {from: client, to: server, way: up, duration: SECONDS s}
variants:
  tcp: {protocol: tcp, via: a}
repetitions: 1
"""
"""As in `program.py`; ns-3's point-to-point header has 2 bytes."""


def measure(effort: Effort) -> list[Figure]:
    """Both simulators, one after the other, as often as asked."""
    interpreter = _environment()
    ours, theirs = [], []
    simulated_s = effort.sized(_SIMULATED_S, 1)
    for _ in range(effort.repeat):
        ours.append(_ours(simulated_s))
        theirs.append(_theirs(interpreter, simulated_s))
    ratios = [b["processor_s"] / a["processor_s"] for a, b in zip(ours, theirs, strict=True)]
    figures = []
    for name, runs in (("mptcplab", ours), ("ns-3", theirs)):
        used = [run["processor_s"] for run in runs]
        rates = [run["bytes"] * 8 / simulated_s / 1e6 for run in runs]
        figures.append(figure(f"{name}: processor time of {simulated_s} s", "s", used))
        figures.append(figure(f"{name}: goodput", "Mbit/s", rates))
    figures.append(figure("processor time, ns-3 over mptcplab", "", ratios, 20.0))
    return figures


def _ours(simulated_s: int) -> dict[str, float]:
    text = _SCENARIO.replace("SECONDS", str(simulated_s))
    plan = compile_plan(loads(text), "tcp", seed=1).model_dump_json()
    chunks: list[bytes] = []

    def take(chunk: bytes) -> bool:
        chunks.append(chunk)
        return True

    before = time.process_time()
    _native.simulate(plan, take)
    used = time.process_time() - before
    rows: list[dict[str, Any]] = [json.loads(line) for line in b"".join(chunks).splitlines()]
    (transfer,) = [row for row in rows if row["record"] == "transfers"]
    return {"processor_s": used, "bytes": transfer["bytes"]}


def _theirs(interpreter: Path, simulated_s: int) -> dict[str, float]:
    ended = subprocess.run(
        [interpreter, _HERE / "program.py", str(simulated_s)],
        stdout=subprocess.PIPE,
        # The wheel complains there about symbols of its own.
        stderr=subprocess.DEVNULL,
        check=True,
    )
    measured: dict[str, float] = json.loads(ended.stdout)
    return measured


def _environment() -> Path:
    """The interpreter that has ns-3; made at the first call."""
    interpreter = _ENVIRONMENT / "bin/python"
    made = _ENVIRONMENT / "made"
    if not made.exists():
        print("installing ns-3 into an environment of its own", file=sys.stderr)
        venv.create(_ENVIRONMENT, with_pip=True)
        requirements = _HERE / "requirements.txt"
        subprocess.run(
            [
                interpreter,
                "-m",
                "pip",
                "install",
                "-q",
                "--no-compile",
                "--require-hashes",
                "-r",
                requirements,
            ],
            check=True,
        )
        made.touch()
    return interpreter
