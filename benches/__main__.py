"""The command line of the benchmarks."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from dataclasses import replace

from . import (
    agent_accuracy,
    agents_in_the_lab,
    aggregation,
    answer,
    broker,
    capture_fit,
    cross_cells,
    cross_check,
    cross_subset,
    debug,
    experiments,
    explain,
    fidelity,
    figures,
    kernel_cells,
    netcat,
    ns3,
    program_times,
    selector,
    selector_following,
    selector_kernel,
    server_chaos,
    server_load,
    server_pages,
    set_up,
    speed,
    subflow,
    sweep,
    sweep_report,
    switches,
    throughput,
    trace,
    ways,
)
from .effort import SHORTEST, Effort

_BENCHES = {
    "fidelity": fidelity.measure,
    "throughput": throughput.measure,
    "aggregation": aggregation.measure,
    "ways": ways.measure,
    "switches": switches.measure,
    "program-times": program_times.measure,
    "set-up": set_up.measure,
    "answer": answer.measure,
    "subflow": subflow.measure,
    "speed": speed.measure,
    "debug": debug.measure,
    "cross-check": cross_check.measure,
    "cross-cells": cross_cells.measure,
    "cross-random": cross_cells.measure_random,
    "cross-subset": cross_subset.measure,
    "selector": selector.measure,
    "selector-drawn": selector.measure_drawn,
    "selector-following": selector_following.measure,
    "selector-kernel": selector_kernel.measure,
    "kernel-cells": kernel_cells.measure,
    "experiments": experiments.measure,
    "explain": explain.measure,
    "capture-fit": capture_fit.measure,
    "sweep": sweep.measure,
    "sweep-report": sweep_report.measure,
    "ns-3": ns3.measure,
    "trace": trace.measure,
    "trace-turns": trace.measure_turns,
    "broker": broker.measure,
    "netcat": netcat.measure,
    "agent-accuracy": agent_accuracy.measure,
    "agents-in-the-lab": agents_in_the_lab.measure,
    "server-chaos": server_chaos.measure,
    "server-load": server_load.measure,
    "server-load-postgresql": server_load.measure_postgresql,
    "server-pages": server_pages.measure,
    "server-pages-postgresql": server_pages.measure_postgresql,
}
_ON_REQUEST = {
    "agent-accuracy",
    "agents-in-the-lab",
    "broker",
    "capture-fit",
    "cross-cells",
    "cross-check",
    "cross-random",
    "cross-subset",
    "debug",
    "experiments",
    "explain",
    "kernel-cells",
    "netcat",
    "ns-3",
    "program-times",
    "selector",
    "selector-drawn",
    "selector-following",
    "selector-kernel",
    "server-chaos",
    "server-load",
    "server-load-postgresql",
    "server-pages",
    "server-pages-postgresql",
    "speed",
    "sweep",
    "sweep-report",
    "trace",
    "trace-turns",
}
"""Those that take long or install something: not run unless named."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benches", description=__doc__)
    parser.add_argument(
        "bench", nargs="*", help=f"{', '.join(_BENCHES)} (all but {', '.join(sorted(_ON_REQUEST))})"
    )
    parser.add_argument(
        "--repeat", "--seeds", type=int, default=5, help="runs of each, or seeds from 1 on (5)"
    )
    parser.add_argument("--seconds", type=float, default=4.0, help="length of a run (4)")
    parser.add_argument(
        "--shortest",
        action="store_true",
        help="each once and as short as it can be: whether it works, not what it measures",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    options = parser.parse_args()
    unknown = set(options.bench) - set(_BENCHES)
    if unknown:
        parser.error(f"no bench {', '.join(sorted(unknown))}: there are {', '.join(_BENCHES)}")
    effort = SHORTEST if options.shortest else Effort(options.repeat, options.seconds)
    usual = [name for name in _BENCHES if options.shortest or name not in _ON_REQUEST]
    results = {}
    for name in options.bench or usual:
        before = os.getloadavg()[0]
        measured = _BENCHES[name](effort)
        loads = before, os.getloadavg()[0]
        if effort.shortest:
            measured = [replace(each, target="", met=None) for each in measured]
        results[name] = measured
        if not options.json:
            print(f"\n## {name}\n")
            print(_conditions(effort.repeat, loads), end="\n\n")
            print(figures.table(measured), flush=True)
    if options.json:
        rows = {name: [each.as_dict() for each in measured] for name, measured in results.items()}
        print(json.dumps(rows))
    missed = any(each.met is False for measured in results.values() for each in measured)
    return 1 if missed else 0


def _conditions(repeat: int, loads: tuple[float, float]) -> str:
    machine = f"{os.cpu_count()} processors, Linux {platform.release()}"
    before, after = loads
    return f"{machine}; {repeat} runs; load average {before:.1f} before them and {after:.1f} after"


if __name__ == "__main__":
    sys.exit(main())
