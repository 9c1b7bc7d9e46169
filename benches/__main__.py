"""The command line of the benchmarks."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys

from . import (
    broker,
    cross_check,
    experiments,
    fidelity,
    figures,
    netcat,
    ns3,
    set_up,
    speed,
    subflow,
    throughput,
    trace,
    ways,
)

_BENCHES = {
    "fidelity": fidelity.measure,
    "throughput": throughput.measure,
    "ways": ways.measure,
    "set-up": set_up.measure,
    "subflow": subflow.measure,
    "speed": speed.measure,
    "cross-check": cross_check.measure,
    "experiments": experiments.measure,
    "ns-3": ns3.measure,
    "trace": trace.measure,
    "broker": broker.measure,
    "netcat": netcat.measure,
}
_ON_REQUEST = {"broker", "cross-check", "experiments", "netcat", "ns-3", "speed", "trace"}
"""Those that take long or install something: not run unless named."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benches", description=__doc__)
    parser.add_argument(
        "bench", nargs="*", help=f"{', '.join(_BENCHES)} (all but {', '.join(sorted(_ON_REQUEST))})"
    )
    parser.add_argument("--repeat", type=int, default=5, help="runs of each (5)")
    parser.add_argument("--seconds", type=float, default=4.0, help="length of a run (4)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    options = parser.parse_args()
    unknown = set(options.bench) - set(_BENCHES)
    if unknown:
        parser.error(f"no bench {', '.join(sorted(unknown))}: there are {', '.join(_BENCHES)}")
    results = {}
    for name in options.bench or [name for name in _BENCHES if name not in _ON_REQUEST]:
        before = os.getloadavg()[0]
        measured = _BENCHES[name](options.repeat, options.seconds)
        results[name] = measured
        if not options.json:
            print(f"\n## {name}\n")
            print(_conditions(options.repeat, before), end="\n\n")
            print(figures.table(measured), flush=True)
    if options.json:
        rows = {name: [each.as_dict() for each in measured] for name, measured in results.items()}
        print(json.dumps(rows))
    missed = any(each.met is False for measured in results.values() for each in measured)
    return 1 if missed else 0


def _conditions(repeat: int, load: float) -> str:
    machine = f"{os.cpu_count()} processors, Linux {platform.release()}"
    return f"{machine}; {repeat} runs; load average {load:.1f} before them"


if __name__ == "__main__":
    sys.exit(main())
